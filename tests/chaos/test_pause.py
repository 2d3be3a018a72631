"""Pause and resume at stage boundaries, and signals that nobody meant (rule 34)."""

import signal

from temporalio.testing import WorkflowEnvironment

from tests.chaos.scene import Scene, ends


async def test_paused_while_building_is_suspended_before_meshing_until_resumed(scene: Scene) -> None:
    await scene.worker(gate="hold_while_building")
    await scene.submit("stl")
    folder = await scene.at("building")
    assert (await scene.post("pause")).status_code == 202
    (folder / "go").touch()
    status = await scene.becomes("suspended")
    assert status["suspended_reason"] == "paused"
    assert (await scene.post("resume")).status_code == 202
    await scene.assert_completed(kernel_runs=2)


async def test_unknown_and_malformed_signals_are_never_fatal(scene: Scene, own_temporal: WorkflowEnvironment) -> None:
    await scene.worker(gate="hold_while_building")
    await scene.submit()
    folder = await scene.at("building")
    job = own_temporal.client.get_workflow_handle(scene.job_id)
    await job.signal("pauze", {"not": "a signal"})
    await job.signal("resume", args=["too", "many", "arguments"])
    (folder / "go").touch()
    await scene.assert_completed(kernel_runs=1)


async def test_a_paused_job_can_be_cancelled(scene: Scene) -> None:
    await scene.worker(gate="hold_while_building")
    await scene.submit("stl")
    folder = await scene.at("building")
    await scene.post("pause")
    (folder / "go").touch()
    await scene.becomes("suspended")
    await scene.post("cancel")
    await scene.becomes("cancelled")
    assert scene.artifacts() == []


async def test_a_paused_job_stays_suspended_with_every_worker_dead(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit("stl")
    folder = await scene.at("building")
    await scene.post("pause")
    (folder / "go").touch()
    await scene.becomes("suspended")
    worker.signal(signal.SIGTERM)
    await ends(worker)
    await scene.post("pause")
    await scene.post("cancel")
    status = await scene.status()
    assert (status["status"], status["suspended_reason"], status["cancel_requested"]) == ("suspended", "paused", True)
