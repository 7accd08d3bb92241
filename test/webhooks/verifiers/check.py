"""Reads cases as JSON from stdin and prints what the documented Python function says of each; the argument is its folder."""
import base64
import json
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from verify_webhook import verify_legacy_webhook, verify_webhook  # noqa: E402


def said(case):
    body = base64.b64decode(case["body"])
    if case["legacy"]:
        return verify_legacy_webhook(body, case["header"], case["secret"])
    return verify_webhook(body, case["header"], case["secret"], now_s=case["now_s"])


print(json.dumps([said(case) for case in json.load(sys.stdin)]))
