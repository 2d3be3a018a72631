"""The forkserver with the real kernel imported: what must hold before anything is forked from it."""

from pathlib import Path

from adapters.kernel_process import ForkedKernel
from domain.messages import MeshQuality
from domain.ports import Built, KernelJob, KernelNews
from tests.kernel.parts import part_of
from tests.kernel_process.conftest import LIMITS


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


async def _ignore(_: KernelNews) -> None:
    return None
