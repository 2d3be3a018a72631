"""Every test of this folder runs against both clients: they must not differ."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, Protocol

import pytest

from partmill.client import AsyncPartmillClient, PartmillClient
from tests.client.scripted_server import ScriptedServer

ATTEMPTS = 3
"""Enough to see a retry, and that retries end."""


class Call(Protocol):
    """Calls a method of the client under test by name."""

    async def __call__(self, method: str, *args: Any, **kwargs: Any) -> Any: ...


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server without a script."""
    with ScriptedServer() as running:
        yield running


@pytest.fixture(params=["blocking", "async"])
async def call(request: pytest.FixtureRequest, server: ScriptedServer) -> AsyncIterator[Call]:
    """The client under test, connected to `server`."""
    if request.param == "async":
        async with AsyncPartmillClient(server.url, attempts=ATTEMPTS) as client:

            async def awaited(method: str, *args: Any, **kwargs: Any) -> Any:
                return await getattr(client, method)(*args, **kwargs)

            yield awaited
    else:
        with PartmillClient(server.url, attempts=ATTEMPTS) as blocking:

            async def threaded(method: str, *args: Any, **kwargs: Any) -> Any:
                return await asyncio.to_thread(getattr(blocking, method), *args, **kwargs)

            yield threaded
