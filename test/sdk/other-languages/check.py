"""Does with the copyable file what a shop does; prints what it saw as JSON. The argument is the file's folder."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from payment_service import ApiError, PaymentService  # noqa: E402

service = PaymentService(os.environ["PSP_API_KEY"], os.environ["PSP_URL"])
order = {"amount": 12300, "order_id": "заказ 1"}
created = service.create_payment(order, "order-python")
again = service.create_payment(order, "order-python")
read = service.get_payment(created["payment"]["id"])
refused = []
for call in (lambda: service.create_payment({"amount": 0, "ttl_minutes": 0}), lambda: service.get_payment("../balance")):
    try:
        call()
    except ApiError as error:
        refused.append([error.status, error.code, [field["path"] for field in error.fields]])
print(json.dumps({"created": created, "again": again, "read": read, "refused": refused}))
