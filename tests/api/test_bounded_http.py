"""What a connection may cost: long heads, slow ones, too many."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from uvicorn.server import ServerState

from api.body import json_body
from api.bounded_http import BoundedHttp
from domain.problems import Refusal, RequestTooSlow

REQUEST = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"
KIB = 1024


def status_and_slug(connection: socket.socket) -> tuple[int, str]:
    """Of the one answer that a connection holds until it is closed."""
    return read(connection.makefile("rb").read())


def read(answer: bytes) -> tuple[int, str]:
    """Status and problem of a whole answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    return int(head.split()[1]), body.decode().partition("/problems/")[2].partition('"')[0]


def packets(total: int) -> Iterator[bytes]:
    """So many bytes of a header's value."""
    for _ in range(total // (16 * KIB)):
        yield b"a" * 16 * KIB


def send_all(connection: socket.socket, pieces: Iterator[bytes]) -> None:
    """One after the other."""
    for piece in pieces:
        connection.sendall(piece)


@pytest.mark.parametrize("start", [b"GET /", REQUEST + b"X: ", REQUEST, b"GET /livez?", REQUEST + b"X"])
def test_a_head_without_end_is_a_431(raw: socket.socket, start: bytes) -> None:
    raw.sendall(start)
    send_all(raw, packets(256 * KIB))
    assert status_and_slug(raw) == (431, "head-too-large")


def test_many_short_headers_are_counted_together(raw: socket.socket) -> None:
    raw.sendall(REQUEST + b"X: y\r\n" * 20_000)
    assert status_and_slug(raw) == (431, "head-too-large")


def test_a_long_head_below_the_bound_is_served(raw: socket.socket) -> None:
    raw.sendall(REQUEST + b"Connection: close\r\nX: " + b"a" * 60 * KIB + b"\r\n\r\n")
    assert raw.makefile("rb").readline().split()[1] == b"200"


def test_the_second_head_of_a_connection_is_bounded_too(raw: socket.socket) -> None:
    raw.sendall(REQUEST + b"\r\n")
    assert raw.recv(KIB).split()[1] == b"200"
    raw.sendall(REQUEST + b"X: " + b"a" * 256 * KIB)
    assert status_and_slug(raw) == (431, "head-too-large")


@pytest.mark.parametrize("rest", [b"1;", b"0\r\nX: "])
def test_what_stands_beside_a_chunked_body_is_bounded_too(raw: socket.socket, rest: bytes) -> None:
    """Trailers and chunk extensions: no app ever sees their bytes, so none counts them."""
    head = b"POST /v1/models/validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    raw.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + rest)
    with pytest.raises(ConnectionError):
        send_all(raw, packets(1024 * 1024 * KIB))


async def test_others_are_served_after_a_long_head(raw: socket.socket, api: httpx.AsyncClient) -> None:
    raw.sendall(REQUEST + b"X: " + b"a" * 256 * KIB)
    assert (await api.get("/livez")).status_code == 200


class Impatient(BoundedHttp):
    """Waits just long enough for what a test has sent to arrive, on a busy machine too."""

    deadline_s = 0.5


class Lonely(BoundedHttp):
    """Has time for one."""

    most_connections = 1


async def _greet(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("hello")(scope, receive, send)


@asynccontextmanager
async def served(protocol: type[BoundedHttp]) -> AsyncIterator[int]:
    """The port of a server that greets."""
    config, state = uvicorn.Config(_greet, http=protocol, lifespan="off", log_config=None), ServerState()
    server = await asyncio.get_running_loop().create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        for connection in list(state.connections):
            connection.transport.close()


async def answer_to(port: int, sent: bytes) -> bytes:
    """All that comes back until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


@pytest.mark.parametrize("sent", [b"G", REQUEST, REQUEST + b"X: "])
async def test_a_head_that_does_not_come_is_a_408(sent: bytes) -> None:
    async with served(Impatient) as port:
        assert read(await answer_to(port, sent)) == (408, "request-too-slow")


async def test_a_connection_without_a_request_is_closed_without_an_answer() -> None:
    async with served(Impatient) as port:
        assert await answer_to(port, b"") == b""


async def test_a_second_head_that_does_not_come_is_a_408() -> None:
    async with served(Impatient) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST + b"\r\n")
        await reader.readuntil(b"hello")
        writer.write(REQUEST)
        assert read(await reader.read()) == (408, "request-too-slow")
        writer.close()
        await writer.wait_closed()


async def test_a_body_that_nobody_waits_for_does_not_keep_its_connection() -> None:
    async with served(Impatient) as port:
        answer = await answer_to(port, b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
    assert answer.endswith(b"hello")


async def test_one_connection_too_many_is_a_503_and_the_others_go_on() -> None:
    async with served(Lonely) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as first:
        assert (await first.get("/")).text == "hello"
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as second:
            refused = await second.get("/")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert refused.json()["type"].endswith("/too-many-connections")
        assert (await first.get("/")).text == "hello"


async def test_a_body_that_does_not_come_is_refused() -> None:
    async def nothing() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    headers = [(b"content-type", b"application/json")]
    request = Request({"type": "http", "method": "POST", "headers": headers}, nothing)
    with pytest.raises(Refusal) as caught:
        await json_body(request, 1, deadline_s=0.01)
    assert caught.value.problem == RequestTooSlow(0.01)
