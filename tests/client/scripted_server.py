"""A small real HTTP server that answers as a test tells it to, for what the true one can't be made to do: broken
connections, proxies that are down, files that change on the way.

Never decides anything itself.
"""

import json
import re
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
    """One answer. `drop` closes the connection instead; `cut_after` sends that many bytes of the body, then closes."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    cut_after: int | None = None
    honours_ranges: bool = False


def reply(document: Any, status: int = 200, **headers: str) -> Reply:
    """A JSON answer; underscores in header names stand for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps(document).encode(), {"content-type": "application/json", **named})


def problem(status: int, slug: str = "some-problem", **members: Any) -> Reply:
    """A problem answer."""
    document = {"type": f"https://partmill.dev/problems/{slug}", "title": "Some problem", "detail": "Details."}
    body = json.dumps(document | {"status": status} | members).encode()
    return Reply(status, body, {"content-type": "application/problem+json"})


@dataclass(frozen=True)
class Request:
    """What a client sent; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class ScriptedServer:
    """Answers each path with the replies it was given, in order; the last one for ever."""

    def __init__(self) -> None:
        self._script: dict[str, list[Reply]] = {}
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answers(self, path: str, *replies: Reply) -> None:
        """What `path` answers from now on."""
        self._script[path] = list(replies)

    def asked(self, path: str) -> list[Request]:
        """The requests for `path` so far."""
        return [request for request in self.requests if request.path == path]

    def _next(self, path: str) -> Reply:
        replies = self._script.get(path, [problem(404)])
        return replies.pop(0) if len(replies) > 1 else replies[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                server.requests.append(Request(self.command, self.path, headers, body))
                planned = server._next(self.path)
                if planned.drop:
                    self._close()
                    return
                status, extra, content = _ranged(planned, headers.get("range"))
                self.send_response(status)
                for name, value in {**planned.headers, **extra, "content-length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content[: planned.cut_after])
                if planned.cut_after is not None:
                    self._close()

            def _close(self) -> None:
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                """Tests look at `requests` instead."""

        return Handler


def _ranged(planned: Reply, asked: str | None) -> tuple[int, dict[str, str], bytes]:
    found = re.fullmatch(r"bytes=(\d+)-", asked or "")
    if found is None or not planned.honours_ranges:
        return planned.status, {}, planned.body
    start, size = int(found[1]), len(planned.body)
    if start >= size:
        return 416, {"content-range": f"bytes */{size}"}, b""
    return 206, {"content-range": f"bytes {start}-{size - 1}/{size}"}, planned.body[start:]
