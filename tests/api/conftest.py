"""APIs in processes of their own: one that reaches no Temporal, one whose Temporal has no worker."""

import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from temporalio.testing import WorkflowEnvironment

from adapters.local_store import LocalArtifactStore
from adapters.signed_links import SignedLinks, load_signing_key
from domain.messages import StoreKey
from tests.conftest import dev_server
from tests.processes import Process, RunningStack, free_port, until


def utc_now() -> datetime:
    """The clock of the real service."""
    return datetime.now(UTC)


@dataclass
class Service:
    """A running API and what it serves."""

    url: str
    data_dir: Path
    process: Process

    @property
    def links(self) -> SignedLinks:
        """Makes links that the service takes for its own."""
        return SignedLinks(load_signing_key(self.data_dir))

    def link(self, key: StoreKey, file_name: str | None = None, **lifetime: float) -> str:
        """A link to that key; `lifetime` as for timedelta, an hour unless given."""
        expires_at = datetime.now(UTC) + timedelta(**(lifetime or {"hours": 1}))
        return self.links.link(key, file_name or key.rpartition("/")[2], expires_at)

    @property
    def store(self) -> LocalArtifactStore:
        """What it serves from."""
        return LocalArtifactStore(self.data_dir / "artifacts")


async def started(data_dir: Path, temporal_address: str, **settings: str) -> Service:
    """An API on a free port, alive though perhaps not ready."""
    environment = {"TEMPORAL_ADDRESS": temporal_address, "PARTMILL_DATA_DIR": str(data_dir), **settings}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        fd = listener.fileno()
        process = Process("api", ["api", "--fd", str(fd)], environment, data_dir / "api.log", (fd,)).start()

    async def alive() -> bool | None:
        assert process.popen is not None
        assert process.popen.poll() is None, process.tail()
        async with httpx.AsyncClient() as client:
            try:
                return True if (await client.get(f"{url}/livez")).status_code == 200 else None
            except httpx.TransportError:
                return None

    await until(alive, f"the API is alive; its log: {process.tail()}")
    return Service(url, data_dir, process)


@pytest.fixture(scope="session")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """An API that reaches no Temporal."""
    running = await started(tmp_path_factory.mktemp("service"), f"127.0.0.1:{free_port()}")
    try:
        yield running
    finally:
        await running.process.stop()


@pytest.fixture
async def api(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client of it."""
    async with httpx.AsyncClient(base_url=service.url, timeout=30) as client:
        yield client


@pytest.fixture(scope="session")
async def idle_temporal() -> AsyncIterator[WorkflowEnvironment]:
    """A Temporal server that no worker, of this or any other test, polls."""
    async with await dev_server() as environment:
        yield environment


@pytest.fixture(scope="session")
async def workerless(
    idle_temporal: WorkflowEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningStack]:
    """An API without a worker: for what must not need one."""
    running = RunningStack(idle_temporal.client.service_client.config.target_host, tmp_path_factory.mktemp("api"))
    try:
        await running.start_api()
        yield running
    finally:
        await running.stop()


@pytest.fixture
async def queue(workerless: RunningStack) -> AsyncIterator[httpx.AsyncClient]:
    """A client of it."""
    async with httpx.AsyncClient(base_url=workerless.url, timeout=30) as client:
        yield client


@pytest.fixture
def raw(service: Service) -> Iterator[socket.socket]:
    """A bare connection, for what no HTTP client would send."""
    address = httpx.URL(service.url)
    with socket.create_connection((address.host, address.port or 80), timeout=30) as connection:
        yield connection
