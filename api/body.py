"""Reads a request's body: bounded, JSON, nothing else.

Never looks at what the JSON says.
"""

import asyncio
import re
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.requests import Request

from domain.problems import PayloadTooLarge, Refusal, RequestTooSlow, UnsupportedMediaType

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_QUOTED = r'"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[\t -~])*+"'
# Possessive throughout: a header of 64 KiB must not make the expression try every way to share out its blanks.
_PARAMETER = re.compile(rf"[ \t]*+;[ \t]*+(?:({_WORD})=({_WORD}|{_QUOTED}))?+", re.ASCII)
_JSON = re.compile(rf"[ \t]*+application/json((?:{_PARAMETER.pattern})*+)[ \t]*+", re.ASCII | re.IGNORECASE)


DEADLINE_S = 30
"""For the whole body: 35 KB/s at the default limit, slower than any line that is worth waiting for."""


async def json_body(request: Request, limit_bytes: int, deadline_s: float = DEADLINE_S) -> bytes:
    """The body of a JSON request, never more than `limit_bytes` of it in memory.

    Raises:
        Refusal: `UnsupportedMediaType`, `PayloadTooLarge`, `RequestTooSlow`.
    """
    if not _is_plain_json(request.headers):
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


def _is_plain_json(headers: Headers) -> bool:
    """One Content-Type that says JSON in UTF-8, and no coding around it that we would have to undo."""
    types = headers.getlist("content-type")
    return (
        len(types) == 1
        and _says_json(types[0])
        and _listed(headers, "content-encoding") <= {"identity"}
        and _listed(headers, "transfer-encoding") <= {"chunked"}
    )


def _says_json(content_type: str) -> bool:
    """Any parameters may follow (RFC 9110, section 5.6.6), an empty one too; only `charset` means something to us."""
    found = _JSON.fullmatch(content_type)
    if found is None:
        return False
    parameters = _PARAMETER.findall(found[1])
    return all(value.strip('"').lower() == "utf-8" for name, value in parameters if name.lower() == "charset")


def _listed(headers: Headers, name: str) -> set[str]:
    return {item for line in headers.getlist(name) for part in line.split(",") if (item := part.strip().lower())}


def _announced(headers: Mapping[str, str]) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0
