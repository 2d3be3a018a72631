"""Reads a request's body: bounded, JSON, nothing else.

Never looks at what the JSON says.
"""

import re
from collections.abc import Mapping

from starlette.requests import Request

from domain.problems import PayloadTooLarge, Refusal, UnsupportedMediaType

_JSON = re.compile(r'\s*application/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?', re.IGNORECASE)


async def json_body(request: Request, limit_bytes: int) -> bytes:
    """The body of a JSON request, never more than `limit_bytes` of it in memory.

    Raises:
        Refusal: `UnsupportedMediaType`, `PayloadTooLarge`.
    """
    if not _JSON.fullmatch(request.headers.get("content-type", "")):
        raise Refusal(UnsupportedMediaType())
    # A body that says it is too long is not read at all.
    if _announced(request.headers) > limit_bytes:
        raise Refusal(PayloadTooLarge(limit_bytes))
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit_bytes:
            raise Refusal(PayloadTooLarge(limit_bytes))
    return bytes(body)


def _announced(headers: Mapping[str, str]) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0
