"""Verifies webhooks of the payment service. Copy this file into your project: it needs Python 3.8 or newer and no packages."""
import hashlib
import hmac
import re
import time
from typing import Optional


def _hmac(secret: str, message: bytes) -> bytes:
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest().encode()


def verify_webhook(raw_body: bytes, header: str, secret: str, tolerance_s: int = 300, now_s: Optional[float] = None) -> bool:
    """Whether a delivery is genuine and at most `tolerance_s` seconds old.

    `raw_body`: the bytes of the body as they came, before they are parsed. `header`: X-PSP-Signature. `secret`: the endpoint's whole secret, `whs_...`.
    """
    pairs = [tuple(text.strip() for text in part.partition("=")[::2]) for part in header.split(",")]
    timestamp = next((value for name, value in pairs if name == "t"), "")
    now_s = time.time() if now_s is None else now_s
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(now_s - int(timestamp)) > tolerance_s:
        return False
    expected = _hmac(secret, timestamp.encode() + b"." + raw_body)
    # While a rotated secret and the new one overlap there are two of them, and either will do.
    return any([hmac.compare_digest(expected, value.encode()) for name, value in pairs if name == "v2"])


def verify_legacy_webhook(raw_body: bytes, header: str, secret: str) -> bool:
    """Whether a delivery of an endpoint marked `legacy` is genuine.

    It has no timestamp: remember the ids that you have handled. Use it for such endpoints alone, because a signature of this format can be made out
    of any `v1` that was ever seen.
    """
    return hmac.compare_digest(b"sha256=" + _hmac(secret, raw_body), header.encode())
