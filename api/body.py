"""Reads a request's body: bounded, JSON, nothing else.

Never looks at what the JSON says.
"""

import asyncio
import re
from collections.abc import Mapping

from starlette.requests import Request

from domain.problems import PayloadTooLarge, Refusal, RequestTooSlow, UnsupportedMediaType

_JSON = re.compile(r'\s*application/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?', re.IGNORECASE)


DEADLINE_S = 30
"""For the whole body: 35 KB/s at the default limit, slower than any line that is worth waiting for."""


async def json_body(request: Request, limit_bytes: int, deadline_s: float = DEADLINE_S) -> bytes:
    """The body of a JSON request, never more than `limit_bytes` of it in memory.

    Raises:
        Refusal: `UnsupportedMediaType`, `PayloadTooLarge`, `RequestTooSlow`.
    """
    if not _JSON.fullmatch(request.headers.get("content-type", "")):
        raise Refusal(UnsupportedMediaType())
    # A body that says it is too long is not read at all.
    if _announced(request.headers) > limit_bytes:
        raise Refusal(PayloadTooLarge(limit_bytes))
    try:
        async with asyncio.timeout(deadline_s):
            return await _read(request, limit_bytes)
    except TimeoutError:
        raise Refusal(RequestTooSlow(deadline_s)) from None


async def _read(request: Request, limit_bytes: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit_bytes:
            raise Refusal(PayloadTooLarge(limit_bytes))
    return bytes(body)


def _announced(headers: Mapping[str, str]) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0
