"""The table "Reading state" of the design, one case a row; contract rules 21-23."""

from datetime import UTC, datetime

import pytest

from domain.messages import Checkpoint
from domain.status import Ledger, PendingActivity, Snapshot, State, Tail, progress_of, state_of

NEW = Ledger()
ONE_STAGE_DONE = Ledger(stages_done=1, checkpoint=Checkpoint(phase="exporting", fraction=0.7, committed=2))
EVICTED = Ledger(evictions=1, waiting_after="evicted")
EVICTED_AFTER_A_STAGE = ONE_STAGE_DONE.model_copy(update={"evictions": 1, "waiting_after": "evicted"})


def waiting(attempt: int = 1, **more: object) -> PendingActivity:
    return PendingActivity.model_validate({"state": "scheduled", "attempt": attempt, **more})


def running(attempt: int = 1, **more: object) -> PendingActivity:
    return PendingActivity.model_validate({"state": "started", "attempt": attempt, **more})


CASES: list[tuple[str, Snapshot, State, str | None]] = [
    (
        "the retry waits after it ran out of memory",
        Snapshot(execution="running", activity=waiting(2, last_failure="kernel-out-of-memory")),
        "suspended",
        "kernel-out-of-memory",
    ),
    (
        "publishing waits for a store that refuses",
        Snapshot(execution="running", ledger=ONE_STAGE_DONE, activity=waiting(5, publishes=True)),
        "processing",
        None,
    ),
    (
        "paused, and a signal that no workflow worker has seen yet",
        Snapshot(execution="running", ledger=Ledger(paused=True), workflow_task_pending=True),
        "suspended",
        "paused",
    ),
    ("nothing was ever scheduled", Snapshot(execution="running", workflow_task_pending=True), "queued", None),
    ("the first activity waits", Snapshot(execution="running", activity=waiting()), "queued", None),
    ("an activity runs", Snapshot(execution="running", activity=running()), "processing", None),
    (
        "an activity is being cancelled",
        Snapshot(execution="running", activity=PendingActivity(state="cancel-requested", attempt=1)),
        "processing",
        None,
    ),
    (
        "the second stage waits for a worker",
        Snapshot(execution="running", ledger=ONE_STAGE_DONE, activity=waiting()),
        "processing",
        None,
    ),
    (
        "the retry waits after a lost worker",
        Snapshot(execution="running", activity=waiting(2, last_failure="worker-lost")),
        "suspended",
        "worker-lost",
    ),
    (
        "the retry waits after a crash",
        Snapshot(execution="running", activity=waiting(2, last_failure="kernel-crashed")),
        "suspended",
        "kernel-crashed",
    ),
    (
        "the retry runs, and the last failure is still there",
        Snapshot(execution="running", activity=running(2, last_failure="worker-lost")),
        "processing",
        None,
    ),
    (
        "it waits after an eviction",
        Snapshot(execution="running", ledger=EVICTED, activity=waiting()),
        "suspended",
        "evicted",
    ),
    (
        "it waits after an eviction in its second stage",
        Snapshot(execution="running", ledger=EVICTED_AFTER_A_STAGE, activity=waiting()),
        "suspended",
        "evicted",
    ),
    (
        "it runs again after an eviction",
        Snapshot(execution="running", ledger=EVICTED, activity=running()),
        "processing",
        None,
    ),
    (
        "an eviction that no workflow worker has seen yet",
        Snapshot(execution="running", workflow_task_pending=True, tail=Tail(kind="evicted")),
        "suspended",
        "evicted",
    ),
    (
        "a second loss that no workflow worker has seen yet",
        Snapshot(execution="running", workflow_task_pending=True, tail=Tail(kind="worker-lost")),
        "suspended",
        "worker-lost",
    ),
    (
        "a finished stage that no workflow worker has seen yet",
        Snapshot(execution="running", workflow_task_pending=True, tail=Tail(kind="completed")),
        "processing",
        None,
    ),
    (
        "a failure that no workflow worker has seen yet",
        Snapshot(execution="running", workflow_task_pending=True, tail=Tail(kind="failed")),
        "processing",
        None,
    ),
    ("paused", Snapshot(execution="running", ledger=Ledger(paused=True)), "suspended", "paused"),
    ("completed", Snapshot(execution="completed"), "completed", None),
    ("failed", Snapshot(execution="failed"), "failed", None),
    ("cancelled", Snapshot(execution="canceled"), "cancelled", None),
    ("terminated", Snapshot(execution="terminated"), "failed", None),
    ("timed out", Snapshot(execution="timed-out"), "failed", None),
]


@pytest.mark.parametrize(("seen", "state", "reason"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_state_follows_from_what_temporal_knows(seen: Snapshot, state: State, reason: str | None) -> None:
    assert state_of(seen) == (state, reason)


@pytest.mark.parametrize("seen", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_a_requested_cancellation_changes_no_state(seen: Snapshot) -> None:
    assert state_of(seen.model_copy(update={"cancel_requested": True})) == state_of(seen)


def test_progress_is_the_furthest_of_memo_history_and_heartbeat() -> None:
    seen = Snapshot(
        execution="running",
        ledger=Ledger(checkpoint=Checkpoint(phase="building", fraction=0.1, committed=1)),
        tail=Tail(kind="worker-lost", checkpoint=Checkpoint(phase="exporting", fraction=0.6, committed=0)),
        activity=running(checkpoint=Checkpoint(phase="checking", fraction=0.45, committed=2)),
    )
    reached = progress_of(seen)
    assert (reached.phase, reached.fraction, reached.committed) == ("exporting", 0.6, 2)


def test_started_at_is_the_earliest_and_last_heartbeat_the_latest_known() -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    seen = Snapshot(
        execution="running",
        ledger=Ledger(checkpoint=Checkpoint(started_at=early, last_heartbeat=early)),
        activity=running(checkpoint=Checkpoint(started_at=late, last_heartbeat=late)),
    )
    reached = progress_of(seen)
    assert (reached.started_at, reached.last_heartbeat) == (early, late)


def test_a_completed_job_is_all_done() -> None:
    assert progress_of(Snapshot(execution="completed")).phase == "done"
