"""What every `GeometryKernel` promises, asked of the fake and of the real one."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.kernel_process import ForkedKernel
from domain.defaults import Limits
from domain.messages import KernelVersion, Produced
from domain.ports import (
    Built,
    Crashed,
    DeadlineExceeded,
    GeometryKernel,
    KernelNews,
    OutOfMemory,
    Progress,
    Refused,
)
from domain.problems import KernelTimeout
from tests.fakes.fake_kernel import FakeKernel, Script
from tests.kernel_process.jobs import SABOTEUR, Heard, job_for

LIMITS = Limits()
SCRIPTS = {
    "refuse": Script(Refused(KernelTimeout(1.5, "checking")), phases=("checking",), produces=False),
    "segfault_by_signal": Script(Crashed("SIGSEGV", "meshing"), phases=("meshing",), produces=False),
    "reserve_memory": Script(OutOfMemory(LIMITS.kernel_memory_bytes), produces=False),
    "hang": Script(phases=("building",), hangs=True),
}


@pytest.fixture(params=["fake", "forked"])
async def kernel(request: pytest.FixtureRequest) -> AsyncIterator[GeometryKernel]:
    if request.param == "fake":
        yield FakeKernel(SCRIPTS)
        return
    forked = ForkedKernel(LIMITS, SABOTEUR)
    await forked.start()
    yield forked
    await forked.close()


async def test_the_version_is_known_without_a_run(kernel: GeometryKernel) -> None:
    assert isinstance(kernel.version, KernelVersion)
    assert kernel.version.version


async def test_every_file_is_announced_in_order_and_is_what_was_announced(
    kernel: GeometryKernel, tmp_path: Path
) -> None:
    heard = Heard()
    assert await kernel.run(job_for("work", tmp_path, "shape", "step", "stl"), heard) == Built()
    assert [file.output for file in heard.files] == ["shape", "step", "stl"]
    for file in heard.files:
        content = (tmp_path / file.file_name).read_bytes()
        assert (file.size_bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())


async def test_progress_is_heard_in_order(kernel: GeometryKernel, tmp_path: Path) -> None:
    heard = Heard()
    await kernel.run(job_for("work", tmp_path), heard)
    assert heard.phases == ["building", "checking", "exporting"]


async def test_the_same_job_twice_makes_the_same_bytes(kernel: GeometryKernel, tmp_path: Path) -> None:
    hashes = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        heard = Heard()
        await kernel.run(job_for("work", folder), heard)
        hashes.append([file.sha256 for file in heard.files])
    assert hashes[0] == hashes[1]


async def test_each_news_is_heard_to_its_end_before_the_next(kernel: GeometryKernel, tmp_path: Path) -> None:
    calls: list[str] = []

    async def slow(news: KernelNews) -> None:
        name = news.phase if isinstance(news, Progress) else news.output
        calls.append(f"start {name}")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        calls.append(f"end {name}")

    await kernel.run(job_for("work", tmp_path, "shape", "step"), slow)
    assert len(calls) == 10
    assert [call.split()[0] for call in calls] == ["start", "end"] * 5
    assert [start.split()[1] for start in calls[::2]] == [end.split()[1] for end in calls[1::2]]


async def test_a_refusal_is_a_value(kernel: GeometryKernel, tmp_path: Path) -> None:
    assert await kernel.run(job_for("refuse", tmp_path), Heard()) == Refused(KernelTimeout(1.5, "checking"))


async def test_a_crash_is_a_value_that_names_signal_and_phase(kernel: GeometryKernel, tmp_path: Path) -> None:
    assert await kernel.run(job_for("segfault_by_signal", tmp_path), Heard()) == Crashed("SIGSEGV", "meshing")


async def test_too_much_memory_is_a_value_that_names_the_limit(kernel: GeometryKernel, tmp_path: Path) -> None:
    outcome = await kernel.run(job_for("reserve_memory", tmp_path), Heard())
    assert outcome == OutOfMemory(LIMITS.kernel_memory_bytes)


async def test_the_deadline_is_a_value_that_names_the_phase(kernel: GeometryKernel, tmp_path: Path) -> None:
    heard = Heard()
    outcome = await kernel.run(job_for("hang", tmp_path, deadline_s=2), heard)
    assert outcome == DeadlineExceeded("building")
    assert heard.phases == ["building"]


async def test_what_a_listener_raises_comes_out(kernel: GeometryKernel, tmp_path: Path) -> None:
    async def refuses(news: KernelNews) -> None:
        if isinstance(news, Produced):
            raise LookupError("the store's own trouble")

    with pytest.raises(LookupError, match="own trouble"):
        await kernel.run(job_for("work", tmp_path), refuses)


async def test_a_cancelled_run_ends_cancelled(kernel: GeometryKernel, tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def listen(_: KernelNews) -> None:
        begun.set()

    run = asyncio.create_task(kernel.run(job_for("hang", tmp_path), listen))
    await begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


async def test_runs_go_on_side_by_side(kernel: GeometryKernel, tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(4)]
    for folder in folders:
        folder.mkdir()
    outcomes = await asyncio.gather(*(kernel.run(job_for("work", folder), Heard()) for folder in folders))
    assert outcomes == [Built()] * 4
