"""Retry under the same ID: what is finished is not computed again (rule 31)."""

import signal

from temporalio.testing import WorkflowEnvironment

from tests.chaos.scene import Scene, ends


async def test_a_job_that_failed_while_meshing_is_retried_without_building_again(
    scene: Scene, own_temporal: WorkflowEnvironment
) -> None:
    crashing = await scene.worker(gate="crash_while_meshing")
    await scene.submit("step", "stl")
    failed = await scene.assert_failed("kernel-crashed", kernel_runs=3)
    crashing.signal(signal.SIGTERM)
    await ends(crashing)
    await scene.worker()
    before = await own_temporal.client.get_workflow_handle(scene.job_id).describe()

    assert (await scene.post("retry")).status_code == 202
    status = await scene.assert_completed(kernel_runs=4, files=2)
    assert status["created_at"] == failed["created_at"]
    after = await own_temporal.client.get_workflow_handle(scene.job_id).describe()
    assert after.run_id != before.run_id
    carried = ("tenant", "fingerprint", "created_at", "metadata")
    old, new = await before.memo(), await after.memo()
    assert {key: new[key] for key in carried} == {key: old[key] for key in carried}
    ours = [pair for pair in before.typed_search_attributes if pair.key.name.startswith("Partmill")]
    assert [pair for pair in after.typed_search_attributes if pair.key.name.startswith("Partmill")] == ours


async def test_a_cancelled_job_can_be_retried(scene: Scene) -> None:
    await scene.submit()
    await scene.post("cancel")
    await scene.worker()
    await scene.becomes("cancelled")
    assert (await scene.post("retry")).status_code == 202
    await scene.assert_completed(kernel_runs=1)


async def test_a_completed_job_whose_files_are_there_is_not_retried(scene: Scene) -> None:
    await scene.worker()
    await scene.submit()
    await scene.becomes("completed")
    assert (await scene.post("retry")).status_code == 409


async def test_a_completed_job_whose_files_are_gone_is_retried(scene: Scene) -> None:
    await scene.worker()
    await scene.submit()
    await scene.becomes("completed")
    for path in scene.artifacts():
        path.unlink()
    assert (await scene.post("retry")).status_code == 202
    await scene.assert_completed(kernel_runs=1)
