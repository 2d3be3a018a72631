"""The real parts that tests share: a Temporal dev server, and a stack of API and worker around it."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from tests.processes import RunningStack, temporal_binary
from tests.replay.recording import record


async def dev_server() -> WorkflowEnvironment:
    """A Temporal dev server in memory on a free port."""
    switches = (
        "frontend.enableCancelWorkerPollsOnShutdown=true",
        "frontend.WorkerCommandsEnabled=true",
        "system.enableCancelActivityWorkerCommand=true",
    )
    return await WorkflowEnvironment.start_local(
        dev_server_existing_path=temporal_binary(),
        data_converter=pydantic_data_converter,
        dev_server_extra_args=[word for switch in switches for word in ("--dynamic-config-value", switch)],
    )


@pytest.fixture(scope="session")
async def temporal() -> AsyncIterator[WorkflowEnvironment]:
    """The server that tests share which only start jobs."""
    async with await dev_server() as environment:
        yield environment


@pytest.fixture
async def own_temporal() -> AsyncIterator[WorkflowEnvironment]:
    """A server of this test's own: no other test's worker takes its tasks."""
    async with await dev_server() as environment:
        yield environment


@pytest.fixture(scope="session")
def temporal_address(temporal: WorkflowEnvironment) -> str:
    """host:port of that server."""
    return temporal.client.service_client.config.target_host


@pytest.fixture(scope="session")
async def stack(temporal_address: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningStack]:
    """An API and a worker for tests that only use them."""
    running = RunningStack(temporal_address, tmp_path_factory.mktemp("stack"))
    try:
        await running.start_worker()
        await running.start_api()
        yield running
    finally:
        await running.stop()


@pytest.fixture
async def own_stack(
    own_temporal: WorkflowEnvironment, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[RunningStack]:
    """A stack of this test's own with nothing but its server started, for tests that kill its parts."""
    running = RunningStack(own_temporal.client.service_client.config.target_host, tmp_path)
    try:
        yield running
        await record(own_temporal.client, request.node.name.removeprefix("test_"))
    finally:
        await running.stop()


@pytest.fixture
async def http(stack: RunningStack) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the shared stack."""
    async with httpx.AsyncClient(base_url=stack.url, timeout=30) as client:
        yield client
