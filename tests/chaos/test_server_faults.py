"""The Temporal server or the API dies in the middle of a job: the job completes."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.chaos.scene import Scene
from tests.processes import DevServer, RunningStack, free_port


@pytest.fixture
async def durable(tmp_path: Path) -> AsyncIterator[tuple[DevServer, Scene]]:
    """A file-backed Temporal server that can be killed, and a scene around it."""
    server = DevServer(free_port(), tmp_path / "temporal.db", tmp_path / "temporal.log")
    await server.start()
    # An outage longer than the heartbeat timeout costs an attempt; on a busy machine a restart can take ten seconds.
    stack = RunningStack(server.address, tmp_path, {"PARTMILL_HEARTBEAT_TIMEOUT_S": "60"})
    try:
        await stack.start_api()
        async with httpx.AsyncClient(base_url=stack.url, timeout=30) as http:
            yield server, Scene(stack, http)
    finally:
        await stack.stop()
        await server.stop()


async def test_a_killed_and_restarted_temporal_server_loses_nothing(durable: tuple[DevServer, Scene]) -> None:
    server, scene = durable
    await scene.worker(gate="hold_while_building")
    await scene.submit()
    folder = await scene.at("building")
    await server.kill()
    answer = await scene.http.get(f"/v1/jobs/{scene.job_id}")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert (await scene.http.get("/readyz")).status_code == 503
    await server.start()
    (folder / "go").touch()
    await scene.assert_completed(kernel_runs=1, attempt=1)


async def test_a_restarted_api_loses_nothing(scene: Scene) -> None:
    await scene.worker(gate="hold_while_building")
    await scene.submit()
    folder = await scene.at("building")
    api = next(process for process in scene.stack.processes if process.name == "api")
    api.signal(signal.SIGKILL)
    await api.ended()
    await scene.stack.start_api()
    async with httpx.AsyncClient(base_url=scene.stack.url, timeout=30) as http:
        scene.http = http
        (folder / "go").touch()
        await scene.assert_completed(kernel_runs=1)
