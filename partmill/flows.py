"""What each call of the client does, as flows of steps.

Never blocks and never awaits: the drivers in client.py do.
"""

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from partmill import reading
from partmill.documents import Job, Model, Validation
from partmill.errors import JobCancelled, JobFailed, WaitTimedOut
from partmill.steps import Answer, Flow, Pause, Retries, Send, exchange, retry_after_s

Request: TypeAlias = Mapping[str, Any] | bytes
"""The body of `generate`: a mapping, or JSON text that is sent as it stands."""

Action: TypeAlias = Literal["cancel", "retry", "pause", "resume"]
"""What can be asked of a job."""

_SENDABLE = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")

FIRST_POLL_S = 0.1
"""Most parts take less than half a second."""

POLL_GROWTH = 1.3
"""Reaches the service's first `Retry-After` of 1 s after ten polls."""


def generate(request: Request, idempotency_key: str | None, retries: Retries) -> Flow[Job]:
    """Create the job, or find the one this request has already."""
    headers = {"content-type": "application/json"}
    if idempotency_key is not None:
        headers["idempotency-key"] = checked_key(idempotency_key)
    send = Send("POST", "/v1/models/generate", headers, _body(request))
    return _job_in((yield from exchange(send, retries)))


def checked_key(idempotency_key: str) -> str:
    """A key that can be sent in a header; whether it is a key the server takes is the server's to say.

    Raises:
        ValueError: it can't be sent; the message says so for the user.
    """
    if _SENDABLE.fullmatch(idempotency_key) is None:
        raise ValueError(f"The idempotency key {idempotency_key!r} must be one line of ASCII, with no space around it.")
    return idempotency_key


def validate(request: Request, retries: Retries) -> Flow[Validation]:
    """The checks of `generate` without creating anything."""
    send = Send("POST", "/v1/models/validate", {"content-type": "application/json"}, _body(request))
    return reading.validation(reading.document((yield from exchange(send, retries)).body))


def job(job_id: str, retries: Retries) -> Flow[Job]:
    """The job's status."""
    return _job_in((yield from exchange(Send("GET", f"/v1/jobs/{quote(job_id, safe='')}"), retries)))


def steer(job_id: str, action: Action, retries: Retries) -> Flow[Job]:
    """Ask for a change of the job; the answer is its status as it is by then."""
    send = Send("POST", f"/v1/jobs/{quote(job_id, safe='')}/{action}")
    return _job_in((yield from exchange(send, retries)))


def models(retries: Retries) -> Flow[tuple[Model, ...]]:
    """The catalogue."""
    return reading.models(reading.document((yield from exchange(Send("GET", "/v1/models"), retries)).body))


def model(name: str, retries: Retries) -> Flow[Model]:
    """One model."""
    answer = yield from exchange(Send("GET", f"/v1/models/{quote(name, safe='')}"), retries)
    return reading.model(reading.document(answer.body))


def wait(
    job_id: str,
    timeout_s: float | None,
    on_poll: Callable[[Job], None] | None,
    longest_poll_s: float | None,
    retries: Retries,
) -> Flow[Job]:
    """Poll until the job is terminal."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    pause = FIRST_POLL_S
    while True:
        seen = yield from job(job_id, retries)
        if on_poll is not None:
            on_poll(seen)
        if seen.is_terminal:
            return completed(seen)
        if deadline is not None and time.monotonic() >= deadline:
            raise WaitTimedOut(seen, timeout_s or 0)
        limit = seen.retry_after_s or 1
        pause = min(pause, limit if longest_poll_s is None else min(limit, longest_poll_s))
        yield Pause(pause if deadline is None else min(pause, max(deadline - time.monotonic(), 0)))
        pause *= POLL_GROWTH


def completed(seen: Job) -> Job:
    """`seen`, if it completed; raises what became of it otherwise."""
    if seen.status == "failed":
        raise JobFailed(seen)
    if seen.status == "cancelled":
        raise JobCancelled(seen)
    return seen


def _job_in(answer: Answer) -> Job:
    replayed = answer.headers.get("idempotent-replayed") == "true"
    return reading.job(reading.document(answer.body), replayed=replayed, retry_after_s=retry_after_s(answer.headers))


def _body(request: Request) -> bytes:
    return request if isinstance(request, bytes) else json.dumps(request, allow_nan=False).encode()
