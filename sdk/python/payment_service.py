"""Creates and reads payments. Copy this file into your project: it needs Python 3.8 or newer and no packages."""
import json
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Dict, Optional


class ApiError(Exception):
    """The service refused a call. Branch on `code`; `fields` names each wrong field."""

    def __init__(self, status: int, error: Dict[str, Any], request_id: Optional[str]):
        super().__init__(f"{error.get('code')}: {error.get('message')} (request {request_id})")
        self.status = status
        self.code = error.get("code")
        self.fields = error.get("fields", [])
        self.request_id = request_id


class PaymentService:
    def __init__(self, api_key: str, base_url: str, timeout_s: float = 30):
        self._api_key = api_key
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s

    def create_payment(self, body: Dict[str, Any], idempotency_key: Optional[str] = None) -> Dict[str, Any]:
        """Creates a payment; send the buyer to its `payment_url`.

        Keep `idempotency_key` with the order. A call that had no answer is repeated with the same key and body, and gives the same payment.
        """
        return self.call("POST", "/payments", body, idempotency_key or str(uuid.uuid4()))

    def get_payment(self, payment_id: str) -> Dict[str, Any]:
        """Reads a payment by its id or its public number (`P-100063`)."""
        return self.call("GET", "/payments/" + urllib.parse.quote(payment_id, safe=""))

    def call(self, method: str, path: str, body: Any = None, idempotency_key: Optional[str] = None) -> Dict[str, Any]:
        """Makes any other call of the API: `call("GET", "/balance")`."""
        return self._send(method, f"/v1/public{path}", body, idempotency_key)

    def graph(self, query: str, variables: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """Runs an operation of the graph; with a person's token in place of the key, theirs, too."""
        return self._send("POST", "/graphql", {"query": query, "variables": variables or {}})

    def _send(self, method: str, path: str, body: Any = None, idempotency_key: Optional[str] = None) -> Dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._api_key}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base_url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as response:
                return json.load(response)
        except urllib.error.HTTPError as refusal:
            text = refusal.read()
            try:
                error = json.loads(text)["error"]
            except (ValueError, KeyError, TypeError):
                error = {"code": None, "message": text[:200].decode(errors="replace")}
            raise ApiError(refusal.code, error, refusal.headers.get("X-Request-Id")) from None
