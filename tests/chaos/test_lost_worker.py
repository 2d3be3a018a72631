"""SIGKILL on the worker: the heartbeat timeout hands the job on (rule 53 for single jobs)."""

import os
import signal

import pytest

from tests.chaos.scene import Scene, all_gone, descendants, ends


async def test_a_lost_workers_job_goes_to_a_live_spare(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit()
    await scene.at("building")
    children = descendants(worker.pid)
    assert children
    worker.signal(signal.SIGKILL)
    await all_gone(children)
    await scene.worker()
    await scene.assert_completed(kernel_runs=2, attempt=2, evictions=0)


async def test_a_part_that_loses_its_worker_twice_in_place_has_no_third_victim(scene: Scene) -> None:
    for _ in range(2):
        worker = await scene.worker(gate="hold_while_building")
        if not scene.job_id:
            await scene.submit()
        await scene.at("building")
        worker.signal(signal.SIGKILL)
        await ends(worker)
        for flag in scene.scratch.glob("*/*/at-building"):
            flag.unlink()
    await scene.worker()
    await scene.assert_failed("worker-lost", kernel_runs=2)


async def test_no_kernel_outlives_a_killed_worker_even_when_it_is_stopped(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit()
    await scene.at("building")
    children = descendants(worker.pid)
    for pid in children:
        os.kill(pid, signal.SIGSTOP)
    worker.signal(signal.SIGKILL)
    await all_gone(children)


@pytest.mark.slow
async def test_losses_that_each_get_further_do_not_end_the_job(scene: Scene) -> None:
    """The shape is kept by the first victim: the second placement's two attempts are fresh."""
    for gate in ("hold_after_shape", "hold_while_exporting", "hold_while_exporting"):
        worker = await scene.worker(gate=gate)
        if not scene.job_id:
            await scene.submit()
        await scene.at("shape" if gate == "hold_after_shape" else "exporting")
        worker.signal(signal.SIGKILL)
        await ends(worker)
        for flag in scene.scratch.glob("*/*/at-*"):
            flag.unlink()
    await scene.worker()
    await scene.assert_completed(kernel_runs=4)
