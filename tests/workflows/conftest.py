"""A Temporal server of these tests' own, and workers in this process around scripted ports."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.client import WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.kernel_activities import KernelActivities
from activities.publish_activities import PublishActivities
from adapters.temporal_connection import prepared
from api.engine import Engine, Submission
from domain.defaults import Limits
from domain.messages import GenerateOrder, Generation, JobId, Part, Tenant, Timeouts
from domain.status import JobStatus
from tests.conftest import dev_server
from tests.fakes.fake_kernel import FakeKernel
from tests.fakes.fake_store import FakeStore
from tests.sandbox import strict_sandbox
from workflows.generation import GeneratePart
from workflows.policies import KERNEL_QUEUE, WORKFLOW_QUEUE

AS_SHIPPED = Timeouts()


@dataclass
class Workshop:
    """One namespace, its workers in this process, and the ports they were given."""

    environment: WorkflowEnvironment
    scratch: Path
    kernel: FakeKernel = field(default_factory=FakeKernel)
    activities: KernelActivities | None = None
    store: FakeStore = field(default_factory=FakeStore)

    def hurry(self) -> None:
        """Kernels have a tenth of a second from now on."""
        assert self.activities is not None
        self.activities.limits = Limits(build_deadline_s=0.1, mesh_deadline_s=0.1)

    @property
    def engine(self) -> Engine:
        """As the API has it."""
        return Engine(self.environment.client)

    async def start(
        self,
        *formats: str,
        model: str = "bored-cylinder",
        length: float | None = None,
        timeouts: Timeouts = AS_SHIPPED,
    ) -> JobId:
        """A new job; a part of its own unless `length` (mm) is given. `model` picks the fake kernel's script."""
        job_id = JobId(f"cad_{uuid.uuid4().hex}")
        parameters = {"outer_diameter": 20.0, "inner_diameter": 5.0, "length": length or 1 + uuid.uuid4().int % 10**6}
        part = Part(model=model, model_version="1", engine="opencascade-brep", parameters=parameters)
        order = GenerateOrder(
            job_id=job_id, tenant=Tenant("local"), part=part, formats=formats or ("step",), timeouts=timeouts
        )
        submission = Submission(
            order=order, created_at=datetime.now(UTC), fingerprint="f", metadata={}, idempotency_key=None
        )
        assert await self.engine.start(submission)
        return job_id

    async def ended(self, job_id: JobId) -> JobStatus:
        """The job's status once its workflow has closed."""
        handle: WorkflowHandle[GeneratePart, Generation] = self.environment.client.get_workflow_handle(job_id)
        async for _ in handle.fetch_history_events(wait_new_event=True):
            continue
        return await self.engine.read(job_id)


@pytest.fixture(scope="module")
async def environment() -> AsyncIterator[WorkflowEnvironment]:
    """Its workers are in this process: no other test's worker may take their tasks."""
    async with await dev_server() as environment:
        assert await prepared(environment.client)
        yield environment


@pytest.fixture
async def workshop(environment: WorkflowEnvironment, tmp_path: Path) -> AsyncIterator[Workshop]:
    """Both workers, running around fakes of our own ports."""
    workshop = Workshop(environment, tmp_path)
    limits = Limits(build_deadline_s=60, mesh_deadline_s=60)
    kernel = KernelActivities(workshop.kernel, workshop.store, tmp_path, limits, lambda: datetime.now(UTC))
    workshop.activities = kernel
    publishing = PublishActivities(workshop.store)
    async with (
        Worker(
            environment.client,
            task_queue=WORKFLOW_QUEUE,
            workflows=[GeneratePart],
            activities=[publishing.publish_artifacts, publishing.withdraw_artifacts],
            workflow_runner=strict_sandbox(),
        ),
        Worker(
            environment.client,
            task_queue=KERNEL_QUEUE,
            activities=[kernel.build_geometry, kernel.mesh_geometry],
            max_heartbeat_throttle_interval=timedelta(milliseconds=100),
            default_heartbeat_throttle_interval=timedelta(milliseconds=100),
        ),
    ):
        yield workshop
