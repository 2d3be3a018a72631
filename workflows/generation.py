"""The story of one job: build, mesh what was asked for, publish, return.

Never touches I/O, a clock or a status code: Temporal's history is its only memory.
"""

import asyncio
from collections.abc import Iterable, Sequence

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.kernel_activities import KernelActivities
    from domain.messages import (
        MESH_FORMATS,
        GenerateOrder,
        Generation,
        GeometryFacts,
        JobFolder,
        PublishedFile,
        PublishOrder,
        StageOrder,
        StageReport,
        StoredOutput,
    )
    from workflows.placement import Placements
    from workflows.publication import publish, withdraw


@workflow.defn
class GeneratePart:
    """One job, from its order to its published files."""

    @workflow.init
    def __init__(self, order: GenerateOrder) -> None:
        self._order = order
        self._placements = Placements(order.priority, order.timeouts)
        self._paused = False

    @workflow.signal
    def pause(self) -> None:
        """Suspend the job at its next stage boundary. Twice: the same."""
        self._paused = True

    @workflow.signal
    def resume(self) -> None:
        """Go on from where the job was suspended. Twice: the same."""
        self._paused = False

    @workflow.signal(dynamic=True)
    def unknown_signal(self, name: str, _arguments: Sequence[RawValue]) -> None:
        """Anything else is a mistyped command, not a reason to fail."""
        workflow.logger.warning("ignored the unknown signal %r", name)

    @workflow.run
    async def run(self, order: GenerateOrder) -> Generation:
        """All files of the job, or a failure whose type and details are the problem."""
        try:
            return await self._story()
        except (ActivityError, ApplicationError, asyncio.CancelledError):
            # Also where this run of the code never came to publish: the one before a lost task may have.
            await withdraw(JobFolder(job_id=order.job_id, tenant=order.tenant))
            raise

    async def _story(self) -> Generation:
        built = await self._build()
        meshed = await self._mesh(earlier=len(built.outputs)) if self._formats(mesh=True) else None
        facts = facts_of(built)
        files = await self._publish((*built.outputs, *(meshed.outputs if meshed else ())))
        self._placements.insist_not_cancelled()
        self._placements.note_phase("done")
        checkpoint = self._placements.ledger.checkpoint
        return Generation(files=files, geometry=facts, kernel=built.shape.kernel, checkpoint=checkpoint)

    async def _build(self) -> StageReport:
        await self._boundary()
        stage = self._stage(self._formats(mesh=False))
        return await self._placements.place(KernelActivities.build_geometry, stage, f"build {self._order.part.model}")

    async def _mesh(self, earlier: int) -> StageReport:
        await self._boundary()
        stage = self._stage(self._formats(mesh=True)).model_copy(update={"earlier": earlier})
        return await self._placements.place(
            KernelActivities.mesh_geometry, stage, f"mesh to {', '.join(stage.formats)}"
        )

    async def _boundary(self) -> None:
        """Between two stages: where a paused job stays, for as long as it takes."""
        if self._paused:
            self._placements.note_paused(True)
            await workflow.wait_condition(lambda: not self._paused)
            self._placements.note_paused(False)

    def _formats(self, *, mesh: bool) -> tuple[str, ...]:
        return tuple(name for name in self._order.formats if (name in MESH_FORMATS) == mesh)

    def _stage(self, formats: tuple[str, ...]) -> StageOrder:
        order = self._order
        return StageOrder(job_id=order.job_id, tenant=order.tenant, part=order.part, formats=formats, mesh=order.mesh)

    async def _publish(self, outputs: Iterable[StoredOutput]) -> tuple[PublishedFile, ...]:
        await self._boundary()
        self._placements.note_phase("publishing")
        order = self._order
        in_order = sorted(outputs, key=lambda stored: order.formats.index(stored.produced.output))
        return await publish(
            PublishOrder(job_id=order.job_id, tenant=order.tenant, model=order.part.model, outputs=tuple(in_order)),
            order.timeouts.publish_s,
            self._placements.ledger.checkpoint,
        )


def facts_of(built: StageReport) -> GeometryFacts:
    """What was measured on the part.

    Raises:
        ApplicationError: a kernel that kept a shape without measuring it.
    """
    facts = built.shape.produced.facts
    if facts is None:
        raise ApplicationError("the kept shape has no facts", non_retryable=True)
    return facts
