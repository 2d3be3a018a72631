"""A scene with an API and no worker: each test starts the workers it wants to strike."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.chaos.scene import Scene
from tests.processes import RunningStack


@pytest.fixture
async def scene(own_stack: RunningStack) -> AsyncIterator[Scene]:
    """A stack of this test's own, its API running."""
    # Shorter than shipped: each eviction test waits for the one, each lost worker for the other.
    own_stack.settings |= {"PARTMILL_GRACE_S": "8", "PARTMILL_HEARTBEAT_TIMEOUT_S": "4"}
    await own_stack.start_api()
    async with httpx.AsyncClient(base_url=own_stack.url, timeout=30) as http:
        yield Scene(own_stack, http)
