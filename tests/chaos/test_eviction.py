"""SIGTERM on the worker: nothing is lost, nothing is charged, nothing runs twice (rules 21-23, 51 for single jobs)."""

import os
import signal

from tests.chaos.scene import Scene, descendants, ends, working_in


async def test_evicted_while_building_is_suspended_and_resumes_on_a_new_worker(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit()
    await scene.at("building")
    worker.signal(signal.SIGTERM)
    await ends(worker)
    status = await scene.becomes("suspended")
    assert (status["suspended_reason"], status["evictions"], status["attempt"]) == ("evicted", 1, 1)
    assert scene.left_in_scratch() == []

    await scene.worker()
    await scene.assert_completed(kernel_runs=2, evictions=1, attempt=1)


async def test_evicted_after_the_build_resumes_meshing_without_building_again(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_meshing")
    await scene.submit("step", "stl")
    await scene.at("meshing")
    worker.signal(signal.SIGTERM)
    await ends(worker)
    await scene.becomes("suspended")

    await scene.worker()
    await scene.assert_completed(kernel_runs=3, files=2, evictions=1)
    assert scene.logs().count(f"kernel run for {scene.job_id}: shape") == 1


async def test_a_job_that_is_nearly_done_finishes_inside_the_grace(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_exporting")
    await scene.submit()
    folder = await scene.at("exporting")
    worker.signal(signal.SIGTERM)
    (folder / "go").touch()
    await ends(worker)

    await scene.worker()
    await scene.assert_completed(kernel_runs=1, evictions=0)


async def test_a_second_sigterm_changes_nothing(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit()
    await scene.at("building")
    worker.signal(signal.SIGTERM)
    worker.signal(signal.SIGTERM)
    await ends(worker)
    assert (await scene.becomes("suspended"))["evictions"] == 1


async def test_an_eviction_after_a_crash_leaves_exactly_one_attempt(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit()
    first = await scene.at("building")
    (kernel,) = working_in(first, descendants(worker.pid))
    os.kill(kernel, signal.SIGKILL)
    await scene.at("building", not_in=first)
    worker.signal(signal.SIGTERM)
    await ends(worker)
    status = await scene.becomes("suspended")
    assert (status["suspended_reason"], status["evictions"], status["attempt"]) == ("evicted", 1, 2)

    await scene.worker(gate="crash_while_building")
    await scene.assert_failed("kernel-crashed", kernel_runs=3)
