"""One attempt at one stage: find what is already there, let a kernel make the rest, keep each output when it is done.

Never publishes: what it keeps stands under its content address only.
"""

import asyncio
from pathlib import Path
from typing import Any, assert_never

from temporalio import activity

from activities.failures import evicted, failure
from activities.geometry_library import GeometryLibrary
from activities.pulse import Pulse
from domain.defaults import MIB, Limits
from domain.messages import MESH_FORMATS, Phase, Produced, StageOrder, StageReport, StoredOutput
from domain.ports import (
    Built,
    Crashed,
    DeadlineExceeded,
    GeometryKernel,
    KernelJob,
    KernelNews,
    Outcome,
    OutOfMemory,
    Progress,
    Refused,
)
from domain.problems import AnyProblem, KernelCrashed, KernelOutOfMemory, KernelTimeout

SHAPE = "shape"
SHAPE_FILE = "shape.brep"

REPORTING_TIME_S = 5.0
"""What is left of the grace for killing the kernel, reporting the eviction and its new placement to the server."""


def finishing_time_s(grace_s: float) -> float:
    """How long a kernel may go on after the order to die: a job that is nearly done gets done."""
    return max(grace_s - REPORTING_TIME_S, grace_s / 4)


class Stage:
    """The work of one attempt, in the scratch folder `workdir`."""

    def __init__(
        self,
        order: StageOrder,
        kernel: GeometryKernel,
        library: GeometryLibrary,
        pulse: Pulse,
        limits: Limits,
        workdir: Path,
        deadline_s: float,
    ) -> None:
        self._order = order
        self._kernel = kernel
        self._library = library
        self._pulse = pulse
        self._limits = limits
        self._workdir = workdir
        self._deadline_s = deadline_s
        self._kept: dict[str, StoredOutput] = {}
        self._last_phase: Phase = "meshing" if set(order.formats) & MESH_FORMATS else "exporting"

    async def run(self) -> StageReport:
        """All outputs of the stage, in the store.

        Raises:
            ApplicationError: a problem (retryable or not as it says), or the eviction of this worker.
        """
        work = asyncio.ensure_future(self._work())
        try:
            await self._watch(work)
        finally:
            # However this ends (result, eviction, cancellation), no kernel of ours outlives it.
            work.cancel()
            await asyncio.wait({work})
            if not work.cancelled():
                work.exception()  # seen: it must not be reported as lost where an eviction comes first
        return work.result()

    async def _work(self) -> StageReport:
        wanted = (SHAPE, *self._order.formats)
        for output in wanted:
            if found := await self._library.find(output):
                self._keep(found)
        missing = tuple(output for output in wanted if output not in self._kept)
        if missing:
            await self._compute(missing)
        self._pulse.moved(self._last_phase, 1.0)
        outputs = tuple(self._kept[name] for name in self._order.formats)
        return StageReport(shape=self._kept[SHAPE], outputs=outputs, checkpoint=self._pulse.checkpoint)

    def _keep(self, stored: StoredOutput) -> None:
        self._kept[stored.produced.output] = stored
        self._pulse.committed(self._order.earlier + len(self._kept))

    async def _compute(self, missing: tuple[str, ...]) -> None:
        """Let a kernel produce `missing`; all of it where there is no shape to start from."""
        shape_file = await self._fetch_shape()
        job = KernelJob(
            part=self._order.part,
            outputs=missing if shape_file else (SHAPE, *self._order.formats),
            shape_file=shape_file,
            mesh=self._order.mesh,
            workdir=self._workdir,
            deadline_s=self._deadline_s,
            max_triangles=self._limits.max_triangles,
        )
        activity.logger.info("kernel run for %s: %s", self._order.job_id, ", ".join(job.outputs))
        self._conclude(await self._kernel.run(job, self._hear))

    async def _fetch_shape(self) -> str | None:
        """The kept B-rep in the scratch folder, if there is one; else the kernel builds it (again)."""
        shape = self._kept.get(SHAPE)
        if shape is not None and await self._library.fetch(shape, self._workdir / SHAPE_FILE):
            return SHAPE_FILE
        self._kept.pop(SHAPE, None)
        return None

    async def _watch(self, work: asyncio.Future[StageReport]) -> None:
        """Wait for the work; when the worker must go, only as long as its grace allows."""
        ordered_to_die = asyncio.ensure_future(activity.wait_for_worker_shutdown())
        try:
            either: set[asyncio.Future[Any]] = {work, ordered_to_die}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await asyncio.wait({work}, timeout=finishing_time_s(self._limits.grace_s))
        finally:
            ordered_to_die.cancel()
        if not work.done():
            raise evicted(self._pulse.checkpoint, activity.info().attempt)

    async def _hear(self, news: KernelNews) -> None:
        match news:
            case Progress():
                self._pulse.moved(news.phase, news.fraction)
            case Produced():
                self._keep(await self._library.keep(news, self._workdir / news.file_name))

    def _conclude(self, outcome: Outcome) -> None:
        problem = self._problem(outcome)
        if problem is not None:
            raise failure(problem, self._pulse.checkpoint)

    def _problem(self, outcome: Outcome) -> AnyProblem | None:
        match outcome:
            case Built():
                return None
            case Refused():
                return outcome.problem
            case Crashed():
                return KernelCrashed(outcome.signal, outcome.phase)
            case DeadlineExceeded():
                return KernelTimeout(self._deadline_s, outcome.phase)
            case OutOfMemory():
                return KernelOutOfMemory(outcome.limit_bytes // MIB)
        assert_never(outcome)
