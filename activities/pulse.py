"""The heartbeat of a kernel activity: the whole checkpoint, at once when it moves and at least every second.

Never blocks on the kernel: it beats while the kernel is silent.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from types import TracebackType

from temporalio import activity

from domain.messages import Checkpoint, Phase
from domain.progress import furthest, overall

BEAT_S = 1.0
"""A tenth of the heartbeat timeout as shipped: nine lost beats in a row before a worker is taken for dead."""


class Pulse:
    """Holds the checkpoint of one attempt and beats it to Temporal while it is entered."""

    def __init__(self, start: Checkpoint, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self.checkpoint = furthest(start, Checkpoint(started_at=clock(), attempt=activity.info().attempt))
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Pulse":
        self._beat()
        self._task = asyncio.create_task(self._keep_beating())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()

    def moved(self, phase: Phase, fraction: float) -> None:
        """The kernel has got to `fraction` (0-1) of `phase`."""
        self._advance(Checkpoint(phase=phase, fraction=overall(phase, fraction)))

    def committed(self, outputs: int) -> None:
        """So many outputs of the job are safe in the store, whoever put them there."""
        self._advance(self.checkpoint.model_copy(update={"committed": outputs}))

    def _advance(self, to: Checkpoint) -> None:
        self.checkpoint = furthest(self.checkpoint, to)
        self._beat()

    def _beat(self) -> None:
        self.checkpoint = self.checkpoint.model_copy(update={"last_heartbeat": self._clock()})
        activity.heartbeat(self.checkpoint)

    async def _keep_beating(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            self._beat()
