"""The story of a job, told on the real server by real workers, with scripted ports."""

import asyncio

from temporalio.testing import WorkflowEnvironment

from domain.addresses import job_folder
from domain.messages import JobId, Tenant, Timeouts
from domain.ports import OutOfMemory, Refused
from domain.problems import GeometryVerificationFailed
from tests.fakes.fake_kernel import CRASH, HANG, Script
from tests.processes import until
from tests.workflows.conftest import Workshop


def artifacts(workshop: Workshop, job_id: JobId) -> list[str]:
    """Names of what is visible of the job."""
    folder = job_folder(Tenant("local"), job_id) + "/"
    return sorted(key.removeprefix(folder) for key in workshop.store.objects if key.startswith(folder))


def slug(problem: dict[str, object] | None) -> str:
    """The last part of a problem's type."""
    assert problem is not None
    return str(problem["type"]).rsplit("/", 1)[1]


async def test_one_kernel_run_builds_and_exports_a_brep_format(workshop: Workshop) -> None:
    job_id = await workshop.start("step")
    status = await workshop.ended(job_id)
    assert status.state == "completed"
    assert [run.outputs for run in workshop.kernel.runs] == [("shape", "step")]
    assert artifacts(workshop, job_id) == ["bored-cylinder.step"]


async def test_meshing_starts_from_the_kept_shape(workshop: Workshop) -> None:
    job_id = await workshop.start("stl")
    assert (await workshop.ended(job_id)).state == "completed"
    build, mesh = workshop.kernel.runs
    assert (build.outputs, build.shape_file) == (("shape",), None)
    assert (mesh.outputs, mesh.shape_file) == (("stl",), "shape.brep")


async def test_the_same_part_in_another_job_needs_no_kernel(workshop: Workshop) -> None:
    await workshop.ended(await workshop.start("step", "stl", length=7.5))
    runs = len(workshop.kernel.runs)
    job_id = await workshop.start("stl", "step", length=7.5)
    assert (await workshop.ended(job_id)).state == "completed"
    assert len(workshop.kernel.runs) == runs
    assert artifacts(workshop, job_id) == ["bored-cylinder.step", "bored-cylinder.stl"]


async def test_another_format_of_a_known_part_is_exported_without_building(workshop: Workshop) -> None:
    await workshop.ended(await workshop.start("step", length=8.5))
    await workshop.ended(await workshop.start("brep", length=8.5))
    assert (workshop.kernel.runs[-1].outputs, workshop.kernel.runs[-1].shape_file) == (("brep",), "shape.brep")


async def test_a_record_whose_file_is_gone_counts_for_nothing(workshop: Workshop) -> None:
    await workshop.ended(await workshop.start("step", length=9.5))
    for key in [key for key in workshop.store.objects if "/step-" in key]:
        del workshop.store.objects[key]
    await workshop.ended(await workshop.start("step", length=9.5))
    assert workshop.kernel.runs[-1].outputs == ("step",)


async def test_a_refusal_is_final_and_publishes_nothing(workshop: Workshop) -> None:
    refusal = Refused(GeometryVerificationFailed(check="volume", expected="1", found="2"))
    workshop.kernel.script("refused", Script(refusal, produces=False))
    job_id = await workshop.start(model="refused")
    status = await workshop.ended(job_id)
    assert (status.state, slug(status.problem)) == ("failed", "geometry-verification-failed")
    assert status.problem is not None
    assert (status.problem["check"], status.problem["found"]) == ("volume", "2")
    assert (len(workshop.kernel.runs), artifacts(workshop, job_id)) == (1, [])


async def test_a_crash_is_retried_once(workshop: Workshop) -> None:
    workshop.kernel.script("crash", CRASH)
    status = await workshop.ended(await workshop.start(model="crash"))
    assert (status.state, slug(status.problem), status.attempt) == ("failed", "kernel-crashed", 2)
    assert len(workshop.kernel.runs) == 2


async def test_out_of_memory_is_retried_once_and_says_how_much(workshop: Workshop) -> None:
    workshop.kernel.script("hungry", Script(OutOfMemory(4 * 2**30), produces=False))
    status = await workshop.ended(await workshop.start(model="hungry"))
    assert status.problem is not None
    assert (slug(status.problem), status.problem["limit_mb"]) == ("kernel-out-of-memory", 4096)
    assert len(workshop.kernel.runs) == 2


async def test_a_deadline_is_final(workshop: Workshop) -> None:
    workshop.kernel.script("slow", HANG)
    workshop.hurry()
    status = await workshop.ended(await workshop.start(model="slow"))
    assert (status.state, slug(status.problem)) == ("failed", "kernel-timeout")
    assert len(workshop.kernel.runs) == 1


async def test_cancelling_stops_the_kernel_and_publishes_nothing(workshop: Workshop) -> None:
    workshop.kernel.script("hang", HANG)
    job_id = await workshop.start(model="hang")

    async def running() -> bool | None:
        return True if workshop.kernel.running else None

    await until(running, "the kernel runs")
    await workshop.environment.client.get_workflow_handle(job_id).cancel()
    status = await workshop.ended(job_id)
    assert (status.state, workshop.kernel.running, artifacts(workshop, job_id)) == ("cancelled", 0, [])


async def test_heartbeats_carry_the_phase(workshop: Workshop) -> None:
    workshop.kernel.script("hang", HANG)
    job_id = await workshop.start(model="hang")

    async def building() -> bool | None:
        status = await workshop.engine.read(job_id)
        return True if (status.state, status.checkpoint.phase) == ("processing", "building") else None

    await until(building, "the status says building")
    await workshop.environment.client.get_workflow_handle(job_id).cancel()
    await workshop.ended(job_id)


async def test_files_come_in_the_order_of_the_request(workshop: Workshop) -> None:
    status = await workshop.ended(await workshop.start("stl", "brep", "step"))
    assert status.result is not None
    assert [file.file_format for file in status.result.files] == ["stl", "brep", "step"]


async def test_the_web_ui_shows_one_line_that_a_person_understands(
    workshop: Workshop, environment: WorkflowEnvironment
) -> None:
    job_id = await workshop.start("step")
    await workshop.ended(job_id)
    summary = await (await environment.client.get_workflow_handle(job_id).describe()).static_summary()
    assert summary == "bored-cylinder → step for tenant local"


async def test_a_store_that_stays_down_fails_the_job_and_says_so(workshop: Workshop) -> None:
    workshop.store.refuses_copies = True
    job_id = await workshop.start(timeouts=Timeouts(publish_s=2))
    status = await workshop.ended(job_id)
    assert (status.state, slug(status.problem)) == ("failed", "store-unavailable")
    assert (len(workshop.kernel.runs), artifacts(workshop, job_id)) == (1, [])


async def test_a_store_that_comes_back_is_published_to(workshop: Workshop) -> None:
    workshop.store.refuses_copies = True
    job_id = await workshop.start()

    async def refused() -> bool | None:
        return True if workshop.store.refused > 1 else None

    await until(refused, "publishing was tried more than once")
    assert (await workshop.engine.read(job_id)).state == "processing"
    workshop.store.refuses_copies = False
    assert (await workshop.ended(job_id)).state == "completed"
    assert len(workshop.kernel.runs) == 1


async def test_a_job_that_is_cancelled_while_it_publishes_leaves_nothing_visible(workshop: Workshop) -> None:
    workshop.store.copies_wait = asyncio.Event()
    job_id = await workshop.start("step", "brep")

    async def copying() -> bool | None:
        return True if workshop.store.copying else None

    await until(copying, "a copy is under way")
    await workshop.environment.client.get_workflow_handle(job_id).cancel()

    async def requested() -> bool | None:
        return True if (await workshop.engine.read(job_id)).cancel_requested else None

    await until(requested, "the cancellation has arrived")
    workshop.store.copies_wait.set()
    assert (await workshop.ended(job_id)).state == "cancelled"
    assert artifacts(workshop, job_id) == []


async def test_a_cancelled_job_still_says_when_it_started(workshop: Workshop) -> None:
    workshop.kernel.script("hang", HANG)
    job_id = await workshop.start(model="hang")

    async def running() -> bool | None:
        return True if workshop.kernel.running else None

    await until(running, "the kernel runs")
    await workshop.environment.client.get_workflow_handle(job_id).cancel()
    assert (await workshop.ended(job_id)).started_at is not None
