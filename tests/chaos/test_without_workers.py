"""Status with every worker dead: from Temporal alone, and true (rules 22, 23)."""

import signal

from tests.chaos.scene import Scene, ends


async def test_a_job_that_never_ran_is_queued(scene: Scene) -> None:
    await scene.submit()
    status = await scene.status()
    assert (status["status"], status["started_at"], status["progress"]["fraction"]) == ("queued", None, 0.0)


async def test_progress_does_not_fall_when_the_worker_is_evicted(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_meshing")
    await scene.submit("step", "stl")
    await scene.at("meshing")
    before = await scene.status()
    worker.signal(signal.SIGTERM)
    await ends(worker)
    after = await scene.becomes("suspended")
    assert after["progress"]["fraction"] >= before["progress"]["fraction"] >= 0.7
    assert after["started_at"] == before["started_at"]


async def test_a_killed_workers_job_is_suspended_after_the_heartbeat_timeout(scene: Scene) -> None:
    worker = await scene.worker(gate="hold_while_building")
    await scene.submit()
    await scene.at("building")
    worker.signal(signal.SIGKILL)
    await ends(worker)
    status = await scene.becomes("suspended")
    assert status["suspended_reason"] == "worker-lost"
    assert status["progress"]["last_heartbeat"] is not None


async def test_an_eviction_that_no_workflow_worker_has_seen_is_suspended_and_counted(scene: Scene) -> None:
    """The kernel worker dies after the workflow worker: only the newest page of history knows."""
    workflows = await scene.worker(role="workflows")
    kernels = await scene.worker(gate="hold_while_building", role="kernel")
    await scene.submit()
    await scene.at("building")
    workflows.signal(signal.SIGKILL)
    await ends(workflows)
    kernels.signal(signal.SIGTERM)
    await ends(kernels)
    status = await scene.becomes("suspended")
    assert (status["suspended_reason"], status["evictions"]) == ("evicted", 1)

    await scene.worker()
    await scene.assert_completed(kernel_runs=2, evictions=1)


async def test_a_finished_stage_that_no_workflow_worker_has_seen_is_processing(scene: Scene) -> None:
    workflows = await scene.worker(role="workflows")
    kernels = await scene.worker(gate="hold_while_building", role="kernel")
    await scene.submit()
    folder = await scene.at("building")
    workflows.signal(signal.SIGKILL)
    await ends(workflows)
    (folder / "go").touch()
    kernels.signal(signal.SIGTERM)
    await ends(kernels)
    status = await scene.status()
    assert status["status"] == "processing"
    assert status["progress"]["fraction"] >= 0.7

    await scene.worker()
    await scene.assert_completed(kernel_runs=1, evictions=0)


async def test_completed_failed_and_cancelled_jobs_are_read_without_workers(scene: Scene) -> None:
    worker = await scene.worker()
    await scene.submit()
    completed = await scene.becomes("completed")
    worker.signal(signal.SIGTERM)
    await ends(worker)
    assert (await scene.status())["result"]["sha256"] == completed["result"]["sha256"]
