"""Does the steps of a flow over HTTP: one driver blocks, one awaits.

Never decides anything: what to send, when to retry and what an answer means is the flow's.
"""

import asyncio
import time
from contextlib import closing
from typing import TypeVar
from urllib.parse import urlsplit

import httpx

from partmill.address import checked
from partmill.errors import UnexpectedAnswer
from partmill.steps import Answer, Flow, Lost, Pause, Reply, Send

T = TypeVar("T")

TIMEOUT = httpx.Timeout(30, connect=5)
"""The service answers every call in well under a second, and creating a job never waits for the part; 30 s is for
slow lines, and 5 s tells a dead host."""

_NO_URL = "the server's answer names an address that is none"
"""The server's own address is checked before; what is left is a link that it gave."""


class BlockingDriver:
    """Runs flows in the calling thread."""

    def __init__(self, server: str) -> None:
        self._server = checked(server)
        self._http = httpx.Client(timeout=TIMEOUT, trust_env=_may_use_proxy(server))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def run(self, flow: Flow[T]) -> T:
        """What the flow returns; what it raises passes through."""
        with closing(flow):
            reply: Reply = None
            while True:
                try:
                    step = flow.send(reply)
                except StopIteration as end:
                    result: T = end.value
                    return result
                match step:
                    case Send():
                        reply = self._perform(step)
                    case Pause():
                        time.sleep(step.seconds)
                        reply = None

    def _perform(self, send: Send) -> Answer | Lost:
        url = _absolute(self._server, send.url)
        try:
            with self._http.stream(send.method, url, headers=dict(send.headers), content=send.content) as got:
                if send.sink is None or not send.sink.begin(got.status_code, _headers(got)):
                    return Answer(got.status_code, _headers(got), got.read())
                for chunk in got.iter_raw():
                    send.sink.write(chunk)
                return Answer(got.status_code, _headers(got), b"")
        except httpx.RequestError as error:
            return _lost(self._server, error)
        except (httpx.InvalidURL, UnicodeError):
            raise UnexpectedAnswer(_NO_URL) from None


class AwaitingDriver:
    """Runs flows in the running event loop."""

    def __init__(self, server: str) -> None:
        self._server = checked(server)
        self._http = httpx.AsyncClient(timeout=TIMEOUT, trust_env=_may_use_proxy(server))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def run(self, flow: Flow[T]) -> T:
        """What the flow returns; what it raises passes through."""
        with closing(flow):
            reply: Reply = None
            while True:
                try:
                    step = flow.send(reply)
                except StopIteration as end:
                    result: T = end.value
                    return result
                match step:
                    case Send():
                        reply = await self._perform(step)
                    case Pause():
                        await asyncio.sleep(step.seconds)
                        reply = None

    async def _perform(self, send: Send) -> Answer | Lost:
        url = _absolute(self._server, send.url)
        try:
            async with self._http.stream(send.method, url, headers=dict(send.headers), content=send.content) as got:
                if send.sink is None or not send.sink.begin(got.status_code, _headers(got)):
                    return Answer(got.status_code, _headers(got), await got.aread())
                async for chunk in got.aiter_raw():
                    send.sink.write(chunk)
                return Answer(got.status_code, _headers(got), b"")
        except httpx.RequestError as error:
            return _lost(self._server, error)
        except (httpx.InvalidURL, UnicodeError):
            raise UnexpectedAnswer(_NO_URL) from None


def _absolute(server: str, url: str) -> str:
    return url if url.startswith(("http://", "https://")) else server + url


def _may_use_proxy(server: str) -> bool:
    # HTTP_PROXY is common on office machines, NO_PROXY less so: a proxy never reaches this machine's own loopback.
    return urlsplit(server).hostname not in ("127.0.0.1", "localhost", "::1")


def _headers(got: httpx.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in got.headers.items()}


def _lost(server: str, error: httpx.RequestError) -> Lost:
    return Lost(f"no answer from {server}: {str(error) or type(error).__name__}")
