"""Creating a job, or finding the one that a request has already (contract rules 3-8).

Never decides by itself that a job is new: only Temporal's atomic start does.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from api.engine import Engine, Submission
from api.requests import understood
from api.strict_json import parse
from domain.defaults import Limits
from domain.identity import fingerprint_of, idempotency_key, job_id_of
from domain.messages import JobId, Tenant, Timeouts
from domain.problems import IdempotencyKeyReused, Refusal
from domain.status import JobStatus

LOCAL = Tenant("local")
"""Whoever reaches a service without API keys."""

LARGE_BODY_BYTES = 32 * 1024
"""From here on, parsing takes long enough (milliseconds) to let other requests go on meanwhile."""


class Asked(NamedTuple):
    """A request that is JSON, and so has an identity, whatever else is wrong with it."""

    tenant: Tenant
    job_id: JobId
    fingerprint: str
    key: str | None
    content: Any


class Created(NamedTuple):
    """This request made a new job."""

    job_id: JobId
    created_at: datetime


async def parsed(body: bytes) -> tuple[Any, str]:
    """The JSON value and its fingerprint.

    Raises:
        Refusal: `MalformedRequest`.
    """

    def work() -> tuple[Any, str]:
        content = parse(body)
        return content, fingerprint_of(content)

    return await asyncio.to_thread(work) if len(body) > LARGE_BODY_BYTES else work()


async def asked(body: bytes, key_lines: Sequence[str]) -> Asked:
    """What a generation request with this body and these Idempotency-Key lines asks for.

    Raises:
        Refusal: `MalformedRequest`, `InvalidIdempotencyKey`.
    """
    content, fingerprint = await parsed(body)
    key = idempotency_key(key_lines)
    return Asked(LOCAL, job_id_of(LOCAL, "generate", key, fingerprint), fingerprint, key, content)


class Creation:
    """Starts jobs in one engine."""

    def __init__(self, engine: Engine, clock: Callable[[], datetime], limits: Limits) -> None:
        self._engine = engine
        self._timeouts = timeouts_of(limits)
        self._clock = clock

    async def start_or_attach(self, request: Asked) -> Created | JobStatus:
        """The new job, or the status of the one that this request has already.

        A request that has a job is never refused for what it says: the job was accepted. So a refusal is spoken only
        when there is none; and a request that holds needs no look beforehand, since the start itself tells.

        Raises:
            Refusal: `IdempotencyKeyReused`, `ValidationFailed`, `EngineUnavailable`.
        """
        try:
            submission = self._submission(request)
        except Refusal:
            existing = await self._engine.find(request.job_id)
            if existing is None:
                raise
            return _of_this_request(existing, request)
        if await self._engine.start(submission):
            return Created(request.job_id, submission.created_at)
        return _of_this_request(await self._engine.read(request.job_id), request)

    def _submission(self, request: Asked) -> Submission:
        part = understood(request.content)
        return Submission(
            order=part.order(request.job_id, request.tenant, self._timeouts),
            created_at=self._clock(),
            fingerprint=request.fingerprint,
            metadata=part.metadata,
            idempotency_key=request.key,
        )


def timeouts_of(limits: Limits) -> Timeouts:
    """What this service's settings mean for its jobs. The backstop leaves room for the kernel's own deadline, which the
    worker watches, and for a slow store."""
    return Timeouts(
        heartbeat_s=limits.heartbeat_timeout_s,
        stage_s=2 * max(limits.build_deadline_s, limits.mesh_deadline_s) + limits.transfer_deadline_s,
        publish_s=limits.publish_deadline_s,
    )


def _of_this_request(job: JobStatus, request: Asked) -> JobStatus:
    if job.fingerprint != request.fingerprint:
        raise Refusal(IdempotencyKeyReused(job.job_id))
    return job
