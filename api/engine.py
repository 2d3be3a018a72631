"""The API's only way to Temporal: start a job, read a job.

Never keeps a state of its own: the workflow's execution is the job.
"""

import asyncio
from datetime import datetime
from typing import Any

from temporalio.client import Client
from temporalio.common import (
    Priority,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from adapters.execution_reader import ExecutionReader
from adapters.temporal_connection import (
    ENGINE,
    EVICTIONS,
    IDEMPOTENCY_KEY,
    MODEL,
    RPC_TIMEOUT,
    TENANT,
    engine_answers,
    prepared,
)
from domain.messages import GenerateOrder, JobId, Wire
from domain.problems import JobNotFound, Refusal
from domain.status import JobMemo, JobStatus
from workflows.generation import GeneratePart
from workflows.policies import WORKFLOW_QUEUE

CALLS_AT_ONCE = 64
"""A storm waits here, where nothing times out, and not in the server, where each call has a few seconds."""


class Submission(Wire):
    """All that creating a job needs."""

    order: GenerateOrder
    created_at: datetime
    fingerprint: str
    metadata: dict[str, str]
    idempotency_key: str | None


class Engine:
    """Jobs of one Temporal namespace."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._reader = ExecutionReader(client)
        self._turns = asyncio.Semaphore(CALLS_AT_ONCE)

    async def start(self, submission: Submission) -> bool:
        """Create the job in one atomic call; False if it exists already. Twice: the second says False.

        Raises:
            Refusal: `EngineUnavailable`; a lost answer is harmless, the next try finds the job.
        """
        memo, attributes = _memo(submission), _search_attributes(submission)
        return await self.launch(submission.order, memo, attributes, WorkflowIDReusePolicy.REJECT_DUPLICATE)

    async def launch(
        self,
        order: GenerateOrder,
        memo: JobMemo,
        attributes: TypedSearchAttributes,
        reuse: WorkflowIDReusePolicy,
    ) -> bool:
        """Start a run of the job's workflow; False if `reuse` forbids it.

        Raises:
            Refusal: `EngineUnavailable`.
        """
        try:
            async with self._turns:
                with engine_answers():
                    await self._start(order, memo, attributes, reuse)
        except WorkflowAlreadyStartedError:
            return False
        return True

    async def _start(
        self, order: GenerateOrder, memo: JobMemo, attributes: TypedSearchAttributes, reuse: WorkflowIDReusePolicy
    ) -> None:
        await self.client.start_workflow(
            GeneratePart.run,
            order,
            id=order.job_id,
            task_queue=WORKFLOW_QUEUE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            id_reuse_policy=reuse,
            memo=memo.model_dump(mode="json"),
            search_attributes=attributes,
            static_summary=f"{order.part.model} → {', '.join(order.formats)} for tenant {order.tenant}",
            priority=Priority(priority_key=order.priority),
            rpc_timeout=RPC_TIMEOUT,
        )

    async def find(self, job_id: JobId) -> JobStatus | None:
        """The job's status, or None if there is no such job.

        Raises:
            Refusal: `EngineUnavailable`.
        """
        try:
            async with self._turns:
                with engine_answers():
                    return await self._reader.read(job_id)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return None
            raise

    async def read(self, job_id: JobId) -> JobStatus:
        """The job's status.

        Raises:
            Refusal: `JobNotFound` or `EngineUnavailable`.
        """
        status = await self.find(job_id)
        if status is None:
            raise Refusal(JobNotFound())
        return status

    async def ready(self) -> bool:
        """Whether Temporal answers and knows our search attributes."""
        return await prepared(self.client)


def _memo(submission: Submission) -> JobMemo:
    order = submission.order
    return JobMemo(
        tenant=order.tenant,
        fingerprint=submission.fingerprint,
        created_at=submission.created_at,
        model=order.part.model,
        engine=order.part.engine,
        formats=order.formats,
        metadata=submission.metadata,
    )


def _search_attributes(submission: Submission) -> TypedSearchAttributes:
    order = submission.order
    pairs: list[SearchAttributePair[Any]] = [
        SearchAttributePair(TENANT, str(order.tenant)),
        SearchAttributePair(MODEL, order.part.model),
        SearchAttributePair(ENGINE, order.part.engine),
        SearchAttributePair(EVICTIONS, 0),
    ]
    if submission.idempotency_key is not None:
        pairs.append(SearchAttributePair(IDEMPOTENCY_KEY, submission.idempotency_key))
    return TypedSearchAttributes(pairs)
