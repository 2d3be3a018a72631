"""Cancel: nothing is published and the kernel is dead, whenever it comes (rule 30)."""

import signal

from temporalio.testing import WorkflowEnvironment

from tests.chaos.scene import Scene, all_gone, descendants, ends, working_in


async def test_cancelled_while_building_kills_the_kernel_and_publishes_nothing(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit()
    (kernel,) = working_in(await scene.at("building"), descendants(worker.pid))
    assert (await scene.post("cancel")).status_code == 202
    await all_gone({kernel})
    await scene.becomes("cancelled")
    assert (scene.left_in_scratch(), scene.artifacts()) == ([], [])


async def test_cancelled_while_meshing_keeps_the_geometry_and_publishes_nothing(scene: Scene) -> None:
    await scene.worker(gate="hold_while_meshing")
    await scene.submit("step", "stl")
    await scene.at("meshing")
    assert (await scene.post("cancel")).status_code == 202
    await scene.becomes("cancelled")
    assert scene.artifacts() == []
    assert len(list((scene.stack.data_dir / "artifacts" / "geometry").rglob("shape.json"))) == 1


async def test_cancelled_after_its_worker_was_lost_is_cancelled_not_failed(scene: Scene) -> None:
    await scene.worker(role="workflows")
    kernels = await scene.worker(gate="hold_while_building", role="kernel")
    await scene.submit()
    await scene.at("building")
    kernels.signal(signal.SIGKILL)
    await ends(kernels)
    assert (await scene.post("cancel")).status_code == 202
    await scene.becomes("cancelled")


async def test_cancelled_with_no_worker_alive_waits_for_one(scene: Scene) -> None:
    await scene.submit()
    assert (await scene.post("cancel")).status_code == 202
    status = await scene.status()
    assert (status["status"], status["cancel_requested"]) == ("queued", True)
    await scene.worker()
    await scene.becomes("cancelled")
    assert scene.kernel_runs() == 0


async def test_cancelled_while_suspended_ends_with_the_next_worker(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit()
    await scene.at("building")
    worker.signal(signal.SIGTERM)
    await ends(worker)
    await scene.becomes("suspended")
    assert (await scene.post("cancel")).status_code == 202
    assert (await scene.status())["status"] == "suspended"
    await scene.worker()
    await scene.becomes("cancelled")
    # The new worker may take the activity a moment before the cancellation reaches it: then that kernel is killed.
    assert scene.kernel_runs() <= 2
    assert scene.artifacts() == []


async def test_cancel_is_idempotent_and_refused_on_a_completed_job(scene: Scene) -> None:
    await scene.worker()
    await scene.submit()
    await scene.becomes("completed")
    answer = await scene.post("cancel")
    assert (answer.status_code, answer.json()["type"].rsplit("/", 1)[1]) == (409, "state-conflict")


async def test_a_cancelled_job_can_be_cancelled_again(scene: Scene) -> None:
    await scene.worker(gate="hold_while_building")
    await scene.submit()
    await scene.at("building")
    for _ in range(3):
        assert (await scene.post("cancel")).status_code == 202
    await scene.becomes("cancelled")
    assert (await scene.post("cancel")).status_code == 202


async def test_a_terminated_workflow_reads_as_failed(scene: Scene, own_temporal: WorkflowEnvironment) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit()
    await scene.at("building")
    running = descendants(worker.pid)
    await own_temporal.client.get_workflow_handle(scene.job_id).terminate("an operator's word")
    status = await scene.becomes("failed")
    assert status["error"]["type"].endswith("/terminated")
    await all_gone({pid for pid in running if pid not in descendants(worker.pid)})
