"""Bounds what a connection may cost before a request of it reaches the app: bytes, time and the number of connections.

Never looks at what a request asks for.
"""

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.problem_responses import problem_response
from domain.problems import AnyProblem, HeadTooLarge, RequestTooSlow, TooManyConnections

SLICE_BYTES = 16 * 1024
"""Parsed at a time: by so much, at most, a bound is overrun before it is noticed."""

LINGER_S = 2
"""A refused client may be sending still: closing at once would make its system throw away our answer unread."""


class BoundedHttp(HttpToolsProtocol):
    """One connection. The parser alone keeps a header of any length, and copies all of it with every packet."""

    head_bytes: ClassVar[int] = 64 * 1024
    """Request line and headers, and so too what stands between the bytes of a chunked body; browsers send 2 KiB."""

    deadline_s: ClassVar[float] = 30
    """For the head, and for the rest of a body that nobody reads any more; over a slow line a head takes a second."""

    most_connections: ClassVar[int] = 4000
    """Each takes a file descriptor, and two while it downloads: `spare_descriptors` may say fewer."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._awaits_head = True
        self._is_refused = False
        self._pending_bytes = 0  # since the parser last had something to say
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its parent has it
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            self.app = problem_response(TooManyConnections(), {"Connection": "close"})
        self._set_deadline(self._head_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._drop_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._awaits_head and self._deadline is None:
            self._set_deadline(self._head_is_late)
        for start in range(0, len(data), SLICE_BYTES):
            if self._is_refused or self.transport.is_closing():
                return
            piece = data[start : start + SLICE_BYTES]
            self._pending_bytes += len(piece)
            super().data_received(piece)
            if self._pending_bytes > self.head_bytes:
                self._refuse(HeadTooLarge(self.head_bytes))

    def on_message_begin(self) -> None:
        if self._deadline is None:
            self._set_deadline(self._head_is_late)
        self._pending_bytes = max(self._pending_bytes, 1)  # its piece may have ended another message
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._pending_bytes = 0
        self._awaits_head = False
        self._drop_deadline()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._pending_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._pending_bytes = 0
        self._awaits_head = True
        self._drop_deadline()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._awaits_head:
            self._set_deadline(self.transport.close)

    def _head_is_late(self) -> None:
        if self._pending_bytes:
            self._refuse(RequestTooSlow(self.deadline_s))
        else:
            self.transport.close()  # nothing was asked, so nothing is answered

    def _refuse(self, problem: AnyProblem) -> None:
        self._is_refused = True
        self._drop_deadline()
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.close()  # an answer in the middle of another one would pass for a part of it
            return
        self._unset_keepalive_if_required()
        self.transport.write(_spelt_out(problem))
        self.transport.write_eof()
        self._deadline = self.loop.call_later(LINGER_S, self.transport.close)

    def _set_deadline(self, miss: Callable[[], None]) -> None:
        self._drop_deadline()
        self._deadline = self.loop.call_later(self.deadline_s, miss)

    def _drop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _spelt_out(problem: AnyProblem) -> bytes:
    answer = problem_response(problem, {"Connection": "close", "X-Content-Type-Options": "nosniff"})
    lines = [f"HTTP/1.1 {answer.status_code} ".encode(), *(b"%s: %s" % header for header in answer.raw_headers)]
    return b"\r\n".join([*lines, b"", bytes(answer.body)])
