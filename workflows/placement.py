"""The loop that every kernel activity goes through: place it, and place it anew after an eviction or a lost worker.

Never decides by itself what follows an ending: domain/placement.py does.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeAlias

from temporalio import workflow
from temporalio.common import Priority, RetryPolicy, SearchAttributeKey
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType, is_cancelled_exception
from temporalio.workflow import ActivityCancellationType

from activities.failures import failure
from domain import search_attributes
from domain.messages import Checkpoint, Phase, StageOrder, StageReport, Timeouts
from domain.placement import CORE_SHUTDOWN, EVICTED, Ending, Evicted, Lost, Overrun, Standing, after
from domain.progress import furthest, overall
from domain.status import Ledger
from workflows.policies import KERNEL_QUEUE

EVICTIONS = SearchAttributeKey.for_int(search_attributes.EVICTIONS)

StageActivity: TypeAlias = Callable[[Any, StageOrder], Any]


class Placements:
    """Places the stages of one job and keeps its ledger in the memo."""

    def __init__(self, priority: int, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._priority = Priority(priority_key=priority)
        self.ledger = Ledger()

    async def place(self, stage: StageActivity, order: StageOrder, summary: str) -> StageReport:
        """The stage's report, however many workers it takes.

        Raises:
            ApplicationError: a problem that ends the job.
            ActivityError: the job was cancelled.
        """
        standing = Standing(checkpoint=self.ledger.checkpoint, evictions=self.ledger.evictions)
        while True:
            try:
                report = await self._schedule(stage, order, standing, summary)
            except ActivityError as error:
                standing = self._replace(standing, error)
                continue
            self.insist_not_cancelled()
            self._note(report.checkpoint, stages_done=self.ledger.stages_done + 1, waiting_after=None)
            return report

    async def _schedule(self, stage: StageActivity, order: StageOrder, standing: Standing, summary: str) -> StageReport:
        report: StageReport = await workflow.execute_activity_method(
            stage,
            order.model_copy(update={"checkpoint": standing.checkpoint}),
            task_queue=KERNEL_QUEUE,
            start_to_close_timeout=timedelta(seconds=self._timeouts.stage_s),
            heartbeat_timeout=timedelta(seconds=self._timeouts.heartbeat_s),
            retry_policy=RetryPolicy(maximum_attempts=standing.attempts_left),
            # The default would end the workflow first and leave the activity's files behind it.
            cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=summary,
            priority=self._priority,
        )
        return report

    def _replace(self, standing: Standing, error: ActivityError) -> Standing:
        if is_cancelled_exception(error):
            raise error
        self.insist_not_cancelled()
        ending = ending_of(error, self._timeouts)
        if ending is None:
            raise _problem_of(error)
        verdict = after(standing, ending)
        if not isinstance(verdict, Standing):
            raise failure(verdict, furthest(standing.checkpoint, getattr(ending, "checkpoint", None))) from error
        self._note(verdict.checkpoint, evictions=verdict.evictions, waiting_after=verdict.waiting_after)
        if verdict.evictions > standing.evictions:
            workflow.upsert_search_attributes([EVICTIONS.value_set(verdict.evictions)])
        return verdict

    def insist_not_cancelled(self) -> None:
        """A stage that ends by itself while it is being cancelled swallows the cancellation: this brings it back.

        Raises:
            CancelledError: the job's cancellation was requested at any time.
        """
        if workflow.cancellation_reason() is not None:
            raise asyncio.CancelledError

    def note_phase(self, phase: Phase) -> None:
        """Say in the ledger that the job has come to `phase`, at its beginning."""
        self._note(Checkpoint(phase=phase, fraction=overall(phase, 0.0)))

    def note_paused(self, paused: bool) -> None:
        """Say in the ledger that the job stands at a stage boundary until it is resumed."""
        self._note(self.ledger.checkpoint, paused=paused)

    def _note(self, checkpoint: Checkpoint, **changes: Any) -> None:
        reached = furthest(self.ledger.checkpoint, checkpoint)
        self.ledger = self.ledger.model_copy(update={"checkpoint": reached, **changes})
        workflow.upsert_memo({"ledger": self.ledger, "evictions": self.ledger.evictions, "phase": reached.phase})


def ending_of(error: ActivityError, timeouts: Timeouts) -> Ending | None:
    """The ending that the placement loop knows an answer to; None for a problem or a cancellation."""
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type == EVICTED:
        checkpoint, attempt = cause.details
        return Evicted(checkpoint=Checkpoint.model_validate(checkpoint), attempt=attempt)
    if isinstance(cause, ApplicationError) and cause.type == CORE_SHUTDOWN:
        return Evicted(checkpoint=None, attempt=1)
    if isinstance(cause, TimeoutError) and cause.type == TimeoutType.HEARTBEAT:
        return Lost(checkpoint=_last_beat(cause))
    if isinstance(cause, TimeoutError):
        return Overrun(limit_s=timeouts.stage_s)
    return None


def _last_beat(cause: TimeoutError) -> Checkpoint | None:
    details = cause.last_heartbeat_details
    return Checkpoint.model_validate(details[0]) if details else None


def _problem_of(error: ActivityError) -> BaseException:
    """The problem itself, so that the workflow's own failure says it; a cancellation stays what it is."""
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        return error
    return ApplicationError(cause.message, *cause.details, type=cause.type, non_retryable=True)
