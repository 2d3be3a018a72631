"""A kernel that dies is retried once, and the worker never notices."""

import os
import signal

from tests.chaos.scene import Scene, descendants, working_in


async def test_a_kernel_that_always_crashes_fails_the_job_after_one_retry(scene: Scene) -> None:
    worker = await scene.worker(gate="crash_while_building")
    await scene.submit()
    status = await scene.assert_failed("kernel-crashed", kernel_runs=2)
    assert status["attempt"] == 2
    assert worker.popen is not None
    assert worker.popen.poll() is None


async def test_a_kernel_that_leaves_without_a_result_is_a_crash(scene: Scene) -> None:
    await scene.worker(gate="vanish_while_building")
    await scene.submit()
    await scene.assert_failed("kernel-crashed", kernel_runs=2)


async def test_a_kernel_killed_once_is_retried_and_completes(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit()
    folder = await scene.at("building")
    (kernel,) = working_in(folder, descendants(worker.pid))
    os.kill(kernel, signal.SIGKILL)
    again = await scene.at("building", not_in=folder)
    (again / "go").touch()
    await scene.assert_completed(kernel_runs=2, attempt=2)
