"""A job's state as a pure function of what Temporal knows of it ("Reading state" of the design).

Never stores a state and never asks a worker: the snapshot is all it sees.
"""

from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import Field

from domain.messages import Checkpoint, Generation, JobId, Tenant, Wire
from domain.problems import JsonObject
from domain.progress import furthest, overall

State: TypeAlias = Literal["queued", "processing", "suspended", "completed", "failed", "cancelled"]
TERMINAL: frozenset[State] = frozenset({"completed", "failed", "cancelled"})
Execution: TypeAlias = Literal["running", "completed", "failed", "canceled", "terminated", "timed-out"]
SuspendedReason: TypeAlias = Literal["evicted", "worker-lost", "kernel-crashed", "kernel-out-of-memory", "paused"]
PlacementFailure: TypeAlias = Literal["evicted", "worker-lost", "kernel-crashed", "kernel-out-of-memory"]


class JobMemo(Wire):
    """What a job's workflow carries from its start; copied into every later run of the same job."""

    tenant: Tenant
    fingerprint: str
    created_at: datetime
    model: str
    engine: str
    formats: tuple[str, ...]
    metadata: dict[str, str] = Field(default_factory=dict)


class Ledger(Wire):
    """What the workflow itself notes of its placements, readable while no worker lives."""

    checkpoint: Checkpoint = Checkpoint()
    stages_done: int = 0
    evictions: int = 0
    waiting_after: Literal["evicted", "worker-lost"] | None = None
    """Why the newest placement is not the first of its stage."""
    paused: bool = False


class PendingActivity(Wire):
    """The activity that is scheduled or running."""

    state: Literal["scheduled", "started", "cancel-requested"]
    attempt: int
    checkpoint: Checkpoint | None = None
    publishes: bool = False
    """It makes files visible or takes them away: no kernel waits for a worker."""
    last_failure: PlacementFailure | None = None
    """Stays while the next attempt runs: meaningful only while scheduled."""


class Tail(Wire):
    """The newest activity event in history, read when a workflow task waits for a worker."""

    kind: Literal["completed", "evicted", "worker-lost", "failed"]
    checkpoint: Checkpoint | None = None


class Snapshot(Wire):
    """All that `describe()` tells, and in one case the newest page of history."""

    execution: Execution
    ledger: Ledger = Ledger()
    activity: PendingActivity | None = None
    workflow_task_pending: bool = False
    tail: Tail | None = None
    cancel_requested: bool = False


class JobStatus(Wire):
    """Everything the status answer needs."""

    job_id: JobId
    tenant: Tenant
    fingerprint: str
    state: State
    suspended_reason: SuspendedReason | None = None
    created_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    model: str
    engine: str
    formats: tuple[str, ...]
    metadata: dict[str, str] = Field(default_factory=dict)
    attempt: int = 1
    evictions: int = 0
    cancel_requested: bool = False
    checkpoint: Checkpoint = Checkpoint()
    result: Generation | None = None
    problem: JsonObject | None = None


CLOSED: dict[Execution, State] = {
    "completed": "completed",
    "failed": "failed",
    "canceled": "cancelled",
    "terminated": "failed",
    "timed-out": "failed",
}


def state_of(seen: Snapshot) -> tuple[State, SuspendedReason | None]:
    """The job's state, and for `suspended` the reason."""
    if seen.execution != "running":
        return CLOSED[seen.execution], None
    if seen.activity is not None:
        return _state_by_activity(seen.activity, seen.ledger)
    if seen.tail is not None:
        return _state_by_tail(seen.tail)
    if seen.ledger.paused:
        return "suspended", "paused"
    return ("processing", None) if seen.ledger.stages_done else ("queued", None)


def _state_by_activity(activity: PendingActivity, ledger: Ledger) -> tuple[State, SuspendedReason | None]:
    if activity.state != "scheduled" or activity.publishes:
        return "processing", None
    if activity.attempt > 1:
        return "suspended", activity.last_failure or "kernel-crashed"
    if ledger.waiting_after is not None:
        return "suspended", ledger.waiting_after
    return ("processing", None) if ledger.stages_done else ("queued", None)


def _state_by_tail(tail: Tail) -> tuple[State, SuspendedReason | None]:
    if tail.kind == "evicted":
        return "suspended", "evicted"
    if tail.kind == "worker-lost":
        return "suspended", "worker-lost"
    return "processing", None


def progress_of(seen: Snapshot) -> Checkpoint:
    """The furthest that memo, history and heartbeat know, with the phase that waiting for a worker implies."""
    sources = (
        seen.ledger.checkpoint,
        seen.activity.checkpoint if seen.activity else None,
        seen.tail.checkpoint if seen.tail else None,
    )
    reached = furthest(*sources)
    if seen.execution == "completed":
        return reached.model_copy(update={"phase": "done", "fraction": overall("done", 1.0)})
    return reached
