"""The forkserver with the real kernel imported: what must hold before anything is forked from it."""

from pathlib import Path

from adapters.kernel_process import ForkedKernel
from domain.messages import MeshQuality, Produced
from domain.ports import Built, KernelJob, KernelNews
from tests.kernel.parts import part_of
from tests.kernel_process.conftest import LIMITS
from tests.kernel_process.jobs import children, settles


async def test_a_forkserver_that_has_imported_the_kernel_has_one_thread(tmp_path: Path) -> None:
    """A library that starts threads when it is imported would leave its locks held in every child."""
    kernel = ForkedKernel(LIMITS)
    await kernel.start()
    try:
        part = part_of({"outer_diameter": 20, "inner_diameter": 5, "length": 7})
        job = KernelJob(part, ("shape", "stl"), None, MeshQuality(), tmp_path, deadline_s=60)
        assert await kernel.run(job, _ignore) == Built()
        status = Path(f"/proc/{kernel.server_pid}/status").read_text()
        assert "\nThreads:\t1\n" in status
    finally:
        await kernel.close()


async def test_a_spare_rehearses_while_nothing_runs_and_then_does_its_job(tmp_path: Path) -> None:
    """It is seen to have used processor time before it was given anything to do."""
    kernel = ForkedKernel(LIMITS)
    await kernel.start()
    part = part_of({"outer_diameter": 20, "inner_diameter": 5, "length": 7})
    files: list[Produced] = []

    async def hear(news: KernelNews) -> None:
        if isinstance(news, Produced):
            files.append(news)

    def rehearsed() -> bool:
        alone = children(kernel.server_pid or 0)  # the process before it is dead
        return len(alone) == 1 and ticks_of(alone.pop()) >= 3

    try:
        for name in ("fresh", "rehearsed"):
            folder = tmp_path / name
            folder.mkdir()
            job = KernelJob(part, ("shape", "step"), None, MeshQuality(), folder, deadline_s=60)
            assert await kernel.run(job, hear) == Built()
            await settles(rehearsed, True, "the spare has worked")
        assert files[0].sha256 == files[2].sha256
        assert files[1].sha256 == files[3].sha256
    finally:
        await kernel.close()


def ticks_of(pid: int) -> int:
    """The processor time of a process, in the system's ticks of 10 ms; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


async def _ignore(_: KernelNews) -> None:
    return None
