"""What follows when one placement of a kernel activity ends without a result (the failure table of the design).

Never schedules anything: workflows/placement.py does, by the answer given here.
"""

from typing import Literal, TypeAlias

from domain.defaults import EVICTIONS_WITHOUT_PROGRESS, KERNEL_ATTEMPTS
from domain.messages import Checkpoint, Wire
from domain.problems import AnyProblem, EvictedTooOften, InternalError, KernelTimeout, WorkerLost
from domain.progress import furthest

EVICTED = "WorkerEvicted"
"""Error type of a placement that ends because its worker was ordered to die; details: checkpoint, attempt."""

CORE_SHUTDOWN = "WorkerShutdown"
"""Error type with which the SDK's core reports an activity that it had to abandon at the end of the grace."""


class Standing(Wire):
    """Where a stage stands before its next placement."""

    checkpoint: Checkpoint
    attempts_left: int = KERNEL_ATTEMPTS
    evictions: int = 0
    """Of the whole job."""
    evictions_in_place: int = 0
    """Since the checkpoint last advanced."""
    waiting_after: Literal["evicted", "worker-lost"] | None = None


class Evicted(Wire):
    """The worker was ordered to die during attempt `attempt` (from 1) of this placement."""

    checkpoint: Checkpoint | None
    attempt: int


class Lost(Wire):
    """The last attempt's heartbeats stopped."""

    checkpoint: Checkpoint | None


class Overrun(Wire):
    """The activity outlived even the server's own limit, `limit_s` seconds."""

    limit_s: float


Ending: TypeAlias = Evicted | Lost | Overrun


def after(standing: Standing, ending: Ending) -> Standing | AnyProblem:
    """The standing to place anew with, or the problem that ends the job."""
    match ending:
        case Evicted():
            return _after_eviction(standing, ending)
        case Lost():
            return _after_loss(standing, ending)
        case Overrun():
            return KernelTimeout(ending.limit_s, standing.checkpoint.phase)
    return InternalError()


def _after_eviction(standing: Standing, ending: Evicted) -> Standing | AnyProblem:
    reached = furthest(standing.checkpoint, ending.checkpoint)
    advanced = reached.committed > standing.checkpoint.committed
    in_place = 1 if advanced else standing.evictions_in_place + 1
    if in_place >= EVICTIONS_WITHOUT_PROGRESS:
        return EvictedTooOften(in_place)
    return Standing(
        checkpoint=reached,
        # An eviction costs nothing: only the attempts that failed before it, in this placement, are gone.
        attempts_left=max(1, standing.attempts_left - (ending.attempt - 1)),
        evictions=standing.evictions + 1,
        evictions_in_place=in_place,
        waiting_after="evicted",
    )


def _after_loss(standing: Standing, ending: Lost) -> Standing | AnyProblem:
    reached = furthest(standing.checkpoint, ending.checkpoint)
    if reached.committed <= standing.checkpoint.committed:
        return WorkerLost()
    return standing.model_copy(
        update={"checkpoint": reached, "attempts_left": KERNEL_ATTEMPTS, "waiting_after": "worker-lost"}
    )
