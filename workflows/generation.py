"""The story of one job: build, mesh what was asked for, publish, return.

Never touches I/O, a clock or a status code: Temporal's history is its only memory.
"""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception
from temporalio.workflow import ActivityCancellationType

with workflow.unsafe.imports_passed_through():
    from activities.failures import failure
    from activities.kernel_activities import KernelActivities
    from activities.publish_activities import PublishActivities
    from domain.messages import (
        MESH_FORMATS,
        GenerateOrder,
        Generation,
        PublishedFile,
        PublishOrder,
        StageOrder,
        StageReport,
        StoredOutput,
    )
    from domain.problems import StoreUnavailable
    from workflows.placement import Placements
    from workflows.policies import LOCAL_RETRY_THRESHOLD, PUBLISH_DEADLINE, PUBLISH_RETRIES


@workflow.defn
class GeneratePart:
    """One job, from its order to its published files."""

    @workflow.init
    def __init__(self, order: GenerateOrder) -> None:
        self._order = order
        self._placements = Placements(order.priority)

    @workflow.run
    async def run(self, order: GenerateOrder) -> Generation:
        """All files of the job, or a failure whose type and details are the problem."""
        built = await self._build()
        meshed = await self._mesh() if self._formats(mesh=True) else None
        outputs = (*built.outputs, *(meshed.outputs if meshed else ()))
        files = await self._publish(outputs)
        return self._generation(built, files)

    async def _build(self) -> StageReport:
        stage = self._stage(self._formats(mesh=False))
        return await self._placements.place(KernelActivities.build_geometry, stage, f"build {self._order.part.model}")

    async def _mesh(self) -> StageReport:
        stage = self._stage(self._formats(mesh=True))
        return await self._placements.place(
            KernelActivities.mesh_geometry, stage, f"mesh to {', '.join(stage.formats)}"
        )

    def _formats(self, *, mesh: bool) -> tuple[str, ...]:
        return tuple(name for name in self._order.formats if (name in MESH_FORMATS) == mesh)

    def _stage(self, formats: tuple[str, ...]) -> StageOrder:
        order = self._order
        return StageOrder(job_id=order.job_id, tenant=order.tenant, part=order.part, formats=formats, mesh=order.mesh)

    async def _publish(self, outputs: tuple[StoredOutput, ...]) -> tuple[PublishedFile, ...]:
        order = PublishOrder(
            job_id=self._order.job_id, tenant=self._order.tenant, model=self._order.part.model, outputs=outputs
        )
        try:
            return await workflow.execute_local_activity_method(
                PublishActivities.publish_artifacts,
                order,
                schedule_to_close_timeout=PUBLISH_DEADLINE,
                local_retry_threshold=LOCAL_RETRY_THRESHOLD,
                retry_policy=PUBLISH_RETRIES,
                cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                summary="publish",
            )
        except (ActivityError, asyncio.CancelledError) as error:
            await self._withdraw(order)
            raise self._publish_failure(error) from error

    async def _withdraw(self, order: PublishOrder) -> None:
        """A job that was cancelled, or failed, while it published leaves nothing visible."""
        try:
            await workflow.execute_local_activity_method(
                PublishActivities.withdraw_artifacts,
                order,
                schedule_to_close_timeout=PUBLISH_DEADLINE,
                local_retry_threshold=LOCAL_RETRY_THRESHOLD,
                retry_policy=PUBLISH_RETRIES,
                summary="withdraw",
            )
        except ActivityError:
            # The store is down for good; the retention sweep removes what is left. The job's own end comes first.
            workflow.logger.warning("could not withdraw what a cut-short publish left")

    def _publish_failure(self, error: ActivityError | asyncio.CancelledError) -> BaseException:
        if is_cancelled_exception(error):
            return error
        return failure(StoreUnavailable(), self._placements.ledger.checkpoint)

    def _generation(self, built: StageReport, files: tuple[PublishedFile, ...]) -> Generation:
        facts = built.shape.produced.facts
        if facts is None:
            raise ApplicationError("the kept shape has no facts", non_retryable=True)
        return Generation(
            files=files,
            geometry=facts,
            kernel=built.shape.kernel,
            checkpoint=self._placements.ledger.checkpoint,
        )
