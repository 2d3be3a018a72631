"""Reads what Temporal knows of one job: `describe()`, and one page of history in the cases where that is not enough.

Never asks a worker (no Query), so it answers with every worker dead.
"""

from typing import Any

from temporalio.api.common.v1 import Payloads, WorkflowExecution
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus

from adapters.history_events import Ending, ending_of, started_at, tail_of
from adapters.temporal_connection import RPC_TIMEOUT
from domain.messages import Checkpoint, JobId
from domain.placement import CORE_SHUTDOWN, EVICTED
from domain.problems import KernelOutOfMemory
from domain.progress import furthest
from domain.status import (
    Execution,
    JobMemo,
    JobStatus,
    Ledger,
    PendingActivity,
    Snapshot,
    Tail,
    progress_of,
    state_of,
)

TAIL_EVENTS = 20
"""Between two activity events stand at most a workflow task, a memo and a marker or two."""

EXECUTIONS: dict[WorkflowExecutionStatus, Execution] = {
    WorkflowExecutionStatus.RUNNING: "running",
    WorkflowExecutionStatus.CONTINUED_AS_NEW: "running",
    WorkflowExecutionStatus.COMPLETED: "completed",
    WorkflowExecutionStatus.FAILED: "failed",
    WorkflowExecutionStatus.CANCELED: "canceled",
    WorkflowExecutionStatus.TERMINATED: "terminated",
    WorkflowExecutionStatus.TIMED_OUT: "timed-out",
}

PUBLISHING = frozenset({"publish_artifacts", "withdraw_artifacts"})

FAILURES = {EVICTED: "evicted", CORE_SHUTDOWN: "evicted", KernelOutOfMemory.slug(): "kernel-out-of-memory"}
"""What a failed attempt is called while the next one waits; any other failure of a kernel activity is a crash."""

ACTIVITY_STATES = {
    PendingActivityState.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED: "started",
    PendingActivityState.PENDING_ACTIVITY_STATE_STARTED: "started",
    PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED: "cancel-requested",
}


class ExecutionReader:
    """Reads jobs of one namespace."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, job_id: JobId) -> JobStatus:
        """The job's status.

        Raises:
            RPCError: no such workflow, or the server does not answer.
        """
        description = await self._client.get_workflow_handle(job_id).describe(rpc_timeout=RPC_TIMEOUT)
        snapshot = await self._snapshot(description)
        ending = await self._ending(description) if snapshot.execution != "running" else Ending()
        return _status(job_id, JobMemo.model_validate(await description.memo()), snapshot, description, ending)

    async def is_placed(self, job_id: JobId) -> bool:
        """Whether an activity of the job is scheduled, or the job has ended: an eviction has been dealt with.

        Raises:
            RPCError: as `read`.
        """
        description = await self._client.get_workflow_handle(job_id).describe(rpc_timeout=RPC_TIMEOUT)
        running = description.status == WorkflowExecutionStatus.RUNNING
        return not running or bool(description.raw_description.pending_activities)

    async def _snapshot(self, description: WorkflowExecutionDescription) -> Snapshot:
        raw = description.raw_description
        execution = EXECUTIONS[description.status or WorkflowExecutionStatus.RUNNING]
        activity = await self._activity(raw.pending_activities[0]) if raw.pending_activities else None
        task_pending = raw.HasField("pending_workflow_task")
        needs_tail = execution == "running" and activity is None and task_pending
        memo = await description.memo()
        return Snapshot(
            execution=execution,
            ledger=Ledger.model_validate(memo.get("ledger", {})),
            activity=activity,
            workflow_task_pending=task_pending,
            tail=await self._tail(description) if needs_tail else None,
            cancel_requested=raw.workflow_extended_info.cancel_requested,
        )

    async def _activity(self, pending: PendingActivityInfo) -> PendingActivity:
        beats = await self._decode(pending.heartbeat_details)
        return PendingActivity.model_validate(
            {
                "state": ACTIVITY_STATES.get(pending.state, "scheduled"),
                "attempt": pending.attempt,
                "checkpoint": beats[0] if beats else None,
                "publishes": pending.activity_type.name in PUBLISHING,
                "last_failure": _last_failure(pending),
            }
        )

    async def _tail(self, description: WorkflowExecutionDescription) -> Tail | None:
        return await tail_of(await self._newest_events(description, TAIL_EVENTS), self._decode)

    async def _ending(self, description: WorkflowExecutionDescription) -> Ending:
        newest = await self._newest_events(description, TAIL_EVENTS)
        ending = await ending_of(newest[0], self._decode)
        if ending.result or ending.checkpoint:
            return ending
        return ending._replace(checkpoint=Checkpoint(started_at=started_at(newest)))

    async def _newest_events(self, description: WorkflowExecutionDescription, count: int) -> list[HistoryEvent]:
        response = await self._client.workflow_service.get_workflow_execution_history_reverse(
            GetWorkflowExecutionHistoryReverseRequest(
                namespace=self._client.namespace,
                execution=WorkflowExecution(workflow_id=description.id, run_id=description.run_id),
                maximum_page_size=count,
            ),
            timeout=RPC_TIMEOUT,
        )
        return list(response.history.events)

    async def _decode(self, payloads: Payloads) -> list[Any]:
        return await self._client.data_converter.decode(list(payloads.payloads)) if payloads.payloads else []


def _last_failure(pending: PendingActivityInfo) -> str | None:
    if not pending.HasField("last_failure"):
        return None
    if pending.last_failure.HasField("timeout_failure_info"):
        return "worker-lost"
    return FAILURES.get(pending.last_failure.application_failure_info.type, "kernel-crashed")


def _status(
    job_id: JobId, memo: JobMemo, seen: Snapshot, description: WorkflowExecutionDescription, ending: Ending
) -> JobStatus:
    state, reason = state_of(seen)
    checkpoint = furthest(progress_of(seen), ending.result.checkpoint if ending.result else ending.checkpoint)
    return JobStatus(
        job_id=job_id,
        **memo.model_dump(),
        state=state,
        suspended_reason=reason,
        started_at=checkpoint.started_at,
        completed_at=description.close_time,
        attempt=max(checkpoint.attempt, seen.activity.attempt if seen.activity else 1),
        evictions=seen.ledger.evictions + (1 if seen.tail and seen.tail.kind == "evicted" else 0),
        cancel_requested=seen.cancel_requested,
        checkpoint=checkpoint,
        result=ending.result,
        problem=ending.problem,
    )
