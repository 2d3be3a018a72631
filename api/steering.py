"""What a client may do to a job that exists: cancel, retry, pause, resume (contract rules 30, 31, 34).

Never invents a state: each of these is one call to the job's workflow, the same that `temporal` would make.
"""

from collections.abc import Awaitable
from datetime import datetime
from typing import Literal, NamedTuple

from temporalio.client import WorkflowExecutionDescription, WorkflowHandle
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from adapters.temporal_connection import EVICTIONS, RPC_TIMEOUT, SEARCH_ATTRIBUTES, engine_answers
from api.engine import Engine
from domain.messages import GenerateOrder, JobId
from domain.problems import JobNotFound, Refusal, StateConflict
from domain.status import TERMINAL, JobMemo, JobStatus, State
from workflows.generation import GeneratePart


class Origin(NamedTuple):
    """What a new run of a job takes from the run before it."""

    order: GenerateOrder
    memo: JobMemo
    attributes: TypedSearchAttributes
    closed_at: datetime | None


class Steering:
    """Acts on the jobs of one Temporal namespace."""

    def __init__(self, engine: Engine) -> None:
        self._client = engine.client
        self._engine = engine

    async def cancel(self, job_id: JobId) -> None:
        """Ask for the job's cancellation; it ends when its kernel is dead. Twice, or on a cancelled job: harmless.

        Raises:
            Refusal: `StateConflict` on a completed or failed job; `JobNotFound`; `EngineUnavailable`.
        """
        status = await self._engine.read(job_id)
        if status.state == "cancelled":
            return
        _refuse(status, TERMINAL, "cancelled")
        await self._tell(job_id, self._handle(job_id).cancel(rpc_timeout=RPC_TIMEOUT), "cancelled")

    async def pause(self, job_id: JobId) -> None:
        """Suspend the job at its next stage boundary. Twice: harmless. Raises: as `cancel`, on any ended job."""
        await self._signal(job_id, "pause", "paused")

    async def resume(self, job_id: JobId) -> None:
        """Let a paused job go on. Twice: harmless. Raises: as `pause`."""
        await self._signal(job_id, "resume", "resumed")

    async def retry(self, job_id: JobId, *, files_gone: bool) -> None:
        """Run the job once more under its own ID. Twice: the second finds the first's run and leaves it alone.

        A completed job may only be retried when its files are gone.

        Raises:
            Refusal: `StateConflict`; `JobNotFound`; `EngineUnavailable`.
        """
        status = await self._engine.read(job_id)
        if not (status.state == "completed" and files_gone):
            _refuse(status, {"queued", "processing", "suspended", "completed"}, "retried")
        origin = await self._origin(job_id)
        if origin.closed_at != status.completed_at:
            return  # another retry came first, and its run is the one that was asked for
        reuse = (
            WorkflowIDReusePolicy.ALLOW_DUPLICATE
            if status.state == "completed"
            else WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY
        )
        await self._engine.launch(origin.order, origin.memo, origin.attributes, reuse)

    async def _signal(self, job_id: JobId, signal: Literal["pause", "resume"], action: str) -> None:
        _refuse(await self._engine.read(job_id), TERMINAL, action)
        await self._tell(job_id, self._handle(job_id).signal(signal, rpc_timeout=RPC_TIMEOUT), action)

    async def _tell(self, job_id: JobId, call: Awaitable[None], action: str) -> None:
        """One call to the workflow; a job that ended in between is answered by its new state."""
        try:
            with engine_answers():
                await call
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            _refuse(await self._engine.read(job_id), TERMINAL - {action}, action)

    async def _origin(self, job_id: JobId) -> Origin:
        """The input of the last run's first event, its memo and search attributes: a new run's memo starts empty."""
        with engine_answers():
            description = await self._handle(job_id).describe(rpc_timeout=RPC_TIMEOUT)
            order = await self._first_input(description)
        memo = JobMemo.model_validate(await description.memo())
        return Origin(order, memo, _carried_over(description.typed_search_attributes), description.close_time)

    async def _first_input(self, description: WorkflowExecutionDescription) -> GenerateOrder:
        handle = self._client.get_workflow_handle(description.id, run_id=description.run_id)
        async for event in handle.fetch_history_events(page_size=1, rpc_timeout=RPC_TIMEOUT):
            payloads = event.workflow_execution_started_event_attributes.input.payloads
            values = await self._client.data_converter.decode(list(payloads), [GenerateOrder])
            order: GenerateOrder = values[0]
            return order
        raise Refusal(JobNotFound())

    def _handle(self, job_id: JobId) -> WorkflowHandle[GeneratePart, object]:
        return self._client.get_workflow_handle(job_id)


def _refuse(status: JobStatus, states: frozenset[State] | set[State] | set[str], action: str) -> None:
    if status.state in states:
        raise Refusal(StateConflict(status.state, action))


def _carried_over(attributes: TypedSearchAttributes) -> TypedSearchAttributes:
    """Ours only: the server adds attributes of its own (build IDs), which a start may not set."""
    ours = [pair for pair in attributes if pair.key.name in SEARCH_ATTRIBUTES]
    return TypedSearchAttributes(ours).updated(SearchAttributePair(EVICTIONS, 0))
