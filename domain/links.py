"""The signature of a download link: what it covers and what a bad one means.

Never keeps or makes a secret, and never looks at a clock.
"""

import hashlib
import hmac
import json
from datetime import datetime

from domain.messages import StoreKey
from domain.problems import LinkExpired, LinkForged, Refusal


def signature_of(secret: bytes, key: StoreKey, file_name: str, expires: str) -> str:
    """Hex HMAC-SHA256 over all that a link says; `expires` is its Unix time in seconds, as the link spells it."""
    # JSON keeps the members apart, whatever characters they hold.
    message = json.dumps(["partmill-link-v1", key, file_name, expires])
    return hmac.new(secret, message.encode(), hashlib.sha256).hexdigest()


def check_link(secret: bytes, key: StoreKey, file_name: str, expires: str, signature: str, now: datetime) -> None:
    """Return if we made this link and it has not expired.

    Raises:
        Refusal: `LinkForged`, also where a time that has passed was written into it; `LinkExpired`.
    """
    expected = signature_of(secret, key, file_name, expires)
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        raise Refusal(LinkForged())
    if now.timestamp() >= int(expires):  # the signature matched, so `expires` is a number that we wrote
        raise Refusal(LinkExpired())


def link_expiry(now: datetime, lifetime_s: int) -> datetime:
    """When a link handed out now expires: the same for each half of a lifetime, and never less than half away."""
    half = lifetime_s // 2
    return datetime.fromtimestamp((int(now.timestamp()) // half + 2) * half, now.tzinfo)
