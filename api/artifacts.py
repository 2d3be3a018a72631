"""Downloads from the local store: GET and HEAD, ranges, conditional requests.

Never serves anything without a link of ours that has not expired.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import BinaryIO
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from adapters.local_store import LocalArtifactStore
from adapters.signed_links import SignedLinks
from api.byte_ranges import Span, Unsatisfiable, Validators, not_modified, precondition_failed, wanted
from domain.addresses import ARTIFACTS
from domain.messages import StoreKey
from domain.ports import StoreUnreachable
from domain.problems import ArtifactGone, Refusal, StoreUnavailable

CHUNK_BYTES = 256 * 1024
"""Read at a time: a change of threads costs 0.1 ms, and a slow client holds no more than this."""

MEDIA_TYPES = {"step": "model/step", "stl": "model/stl", "brep": "application/octet-stream"}
"""By file name extension; registered by IANA, save for the last."""


class Downloads:
    """The endpoint of the local store's links."""

    def __init__(self, store: LocalArtifactStore, links: SignedLinks, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._links = links
        self._clock = clock

    async def download(self, request: Request) -> Response:
        """Serves the file behind a download link; supports ranges and conditional requests."""
        key = StoreKey(ARTIFACTS + request.path_params["key"])
        file_name = self._links.check(key, request.query_params, self._clock())
        file = await self._opened(key)
        answer = _answer(request, file, file_name)
        if not isinstance(answer, StreamingResponse):
            file.close()
        return answer

    async def _opened(self, key: StoreKey) -> BinaryIO:
        try:
            file = await self._store.open(key)
        except StoreUnreachable as error:
            raise Refusal(StoreUnavailable()) from error
        if file is None:
            raise Refusal(ArtifactGone())
        return file


def _answer(request: Request, file: BinaryIO, file_name: str) -> Response:
    seen = os.fstat(file.fileno())
    version = _version(seen)
    headers = {"ETag": version.etag, "Last-Modified": version.last_modified, "Cache-Control": "private, no-transform"}
    if precondition_failed(request.headers, version):
        return Response(status_code=412, headers=headers)
    if not_modified(request.headers, version):
        return Response(status_code=304, headers=headers)
    headers |= {"Accept-Ranges": "bytes", "Content-Disposition": _attachment(file_name)}
    media_type = MEDIA_TYPES.get(file_name.rpartition(".")[2], "application/octet-stream")
    if request.method == "HEAD":  # ranges are defined for GET only
        return Response(None, 200, headers | {"Content-Length": str(seen.st_size)}, media_type)
    try:
        span = wanted(request.headers, version, seen.st_size)
    except Unsatisfiable:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{seen.st_size}"})
    if span is not None:
        headers["Content-Range"] = f"bytes {span.start}-{span.stop - 1}/{seen.st_size}"
    sent = span or Span(0, seen.st_size)
    headers["Content-Length"] = str(sent.stop - sent.start)
    return StreamingResponse(_chunks(file, sent), 206 if span else 200, headers, media_type)


def _version(seen: os.stat_result) -> Validators:
    # Objects are replaced, never changed: a new version has a new file, so its time and size tell it apart.
    return Validators(f'"{seen.st_mtime_ns:x}-{seen.st_size:x}"', datetime.fromtimestamp(seen.st_mtime, UTC))


def _attachment(file_name: str) -> str:
    """RFC 6266; the second form is for names that the first can't spell."""
    plain = "".join(sign if sign.isascii() and sign.isprintable() and sign not in '"\\%' else "_" for sign in file_name)
    extended = "" if plain == file_name else f"; filename*=UTF-8''{quote(file_name, safe='')}"
    return f'attachment; filename="{plain}"{extended}'


async def _chunks(file: BinaryIO, span: Span) -> AsyncIterator[bytes]:
    with file:
        file.seek(span.start)
        left = span.stop - span.start
        while left:
            chunk = await asyncio.to_thread(file.read, min(left, CHUNK_BYTES))
            if not chunk:
                raise OSError("the file is shorter than it was")
            left -= len(chunk)
            yield chunk
