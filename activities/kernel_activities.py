"""The two activities that drive a kernel: `build_geometry` and `mesh_geometry`. They run on the kernel queue.

Never compute anything themselves, and never decide what follows a failure.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.failures import failure
from activities.geometry_library import GeometryLibrary
from activities.pulse import Pulse
from activities.stage import Stage
from domain.defaults import Limits
from domain.messages import Checkpoint, JobId, StageOrder, StageReport
from domain.placement import EVICTED
from domain.ports import ArtifactStore, GeometryKernel
from domain.problems import Refusal
from domain.progress import furthest


class KernelActivities:
    """Bound to one worker's kernel and store."""

    def __init__(
        self,
        kernel: GeometryKernel,
        store: ArtifactStore,
        scratch_dir: Path,
        limits: Limits,
        clock: Callable[[], datetime],
    ) -> None:
        self._kernel = kernel
        self._store = store
        self._scratch_dir = scratch_dir
        self.limits = limits
        self._clock = clock
        self.evicted: set[JobId] = set()
        """Jobs that this worker has reported as evicted."""

    @activity.defn
    async def build_geometry(self, order: StageOrder) -> StageReport:
        """Build and check the part and export its B-rep formats; what the store already has is not made again."""
        return await self._run(order, self.limits.build_deadline_s)

    @activity.defn
    async def mesh_geometry(self, order: StageOrder) -> StageReport:
        """Mesh the kept shape and check each mesh; a shape that went away is built again."""
        return await self._run(order, self.limits.mesh_deadline_s)

    async def _run(self, order: StageOrder, deadline_s: float) -> StageReport:
        library = GeometryLibrary(self._store, order, self._kernel.version, self.limits.transfer_deadline_s)
        pulse = Pulse(resumed_from(order), self._clock)
        try:
            async with pulse, self._workdir(order) as workdir:
                stage = Stage(order, self._kernel, library, pulse, self.limits, workdir, deadline_s)
                return await stage.run()
        except Refusal as refusal:
            raise failure(refusal.problem, pulse.checkpoint) from None
        except ApplicationError as error:
            if error.type == EVICTED:
                self.evicted.add(order.job_id)
            raise

    @asynccontextmanager
    async def _workdir(self, order: StageOrder) -> AsyncIterator[Path]:
        """A scratch folder of this attempt's own, gone at the end however it ends."""
        path = Path(tempfile.mkdtemp(prefix=f"{order.job_id}-", dir=self._scratch_dir))
        try:
            yield path
        finally:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, path, ignore_errors=True))


def resumed_from(order: StageOrder) -> Checkpoint:
    """The furthest of what the workflow knew and what the attempt before this one last beat."""
    details = activity.info().heartbeat_details
    return furthest(order.checkpoint, *(Checkpoint.model_validate(detail) for detail in details))
