"""The client's logic written once: a flow yields the steps it needs done and receives what came of them.

Never does a step itself: client.py holds one driver that blocks and one that awaits.
"""

import random
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol, TypeAlias, TypeVar

from partmill import reading
from partmill.documents import Problem
from partmill.errors import ProblemError, ServerUnreachable, UnexpectedAnswer

T = TypeVar("T")


class Sink(Protocol):
    """Where a streamed body goes."""

    def begin(self, status: int, headers: Mapping[str, str]) -> bool:
        """Look at the head of the answer; True if its body belongs here."""
        ...

    def write(self, chunk: bytes) -> None:
        """Take the next bytes of the body."""
        ...


@dataclass(frozen=True)
class Send:
    """One request. With a `sink` that accepts it, the body is streamed there, and comes back empty."""

    method: str
    url: str
    """Absolute, or a path below the server's address."""
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    sink: Sink | None = None


@dataclass(frozen=True)
class Pause:
    """Wait."""

    seconds: float


@dataclass(frozen=True)
class Answer:
    """A complete answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Lost:
    """No complete answer: the connection could not be made, or broke."""

    reason: str


Step: TypeAlias = Send | Pause
Reply: TypeAlias = Answer | Lost | None
Flow: TypeAlias = Generator[Step, Reply, T]

TRY_AGAIN: frozenset[int] = frozenset({429, 502, 503, 504})
"""Answers that speak of the moment and not of the request."""

FIRST_PAUSE_S = 0.2
"""Doubled with each retry; short enough that a restarting server costs a user nothing noticeable."""

LONGEST_PAUSE_S = 30.0
"""A server that asks for more patience than this is left to the caller, who knows if that is worth waiting for."""


@dataclass(frozen=True)
class Retries:
    """How often one exchange is tried in all. Safe for POST too: creating a job is idempotent."""

    attempts: int = 5

    def pause_s(self, attempt: int, reply: Answer | Lost) -> float | None:
        """How long to wait after try number `attempt` (from 1); None: give up."""
        if attempt >= self.attempts:
            return None
        asked = retry_after_s(reply.headers) if isinstance(reply, Answer) else None
        if asked is not None and asked > LONGEST_PAUSE_S:
            return None
        spread = random.uniform(0.5, 1)  # noqa: S311 - spreads clients out; nothing secret
        own: float = min(FIRST_PAUSE_S * 2 ** (attempt - 1), LONGEST_PAUSE_S)
        return max(asked or 0, own * spread)


def once(send: Send) -> Flow[Answer | Lost]:
    """One exchange, whatever comes of it."""
    reply = yield send
    if reply is None:
        raise AssertionError("a driver replies to every Send")
    return reply


def exchange(send: Send, retries: Retries) -> Flow[Answer]:
    """One exchange that succeeds, retried while that may help.

    Raises:
        ProblemError: the service refused.
        ServerUnreachable: there was no answer at all.
    """
    attempt = 0
    while True:
        attempt += 1
        reply = yield from once(send)
        pause = None
        if isinstance(reply, Lost) or reply.status in TRY_AGAIN:
            pause = retries.pause_s(attempt, reply)
        if pause is None:
            return accepted(reply)
        yield Pause(pause)


def accepted(reply: Answer | Lost) -> Answer:
    """`reply`, if it is a success; raises what it means otherwise."""
    if isinstance(reply, Lost):
        raise ServerUnreachable(reply.reason)
    if reply.status >= 300:
        raise ProblemError(problem_in(reply), reply.status)
    return reply


def problem_in(answer: Answer) -> Problem:
    """The problem an answer carries, or one made from its status where a proxy answered instead."""
    try:
        return reading.problem(reading.document(answer.body))
    except (UnexpectedAnswer, AttributeError, TypeError):
        phrases = {status.value: status.phrase for status in HTTPStatus}
        title = phrases.get(answer.status, "Unknown status")
        return Problem("about:blank", title, "The server gave no details.", status=answer.status)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """`Retry-After` in seconds; None where it is absent or a date (which the service never sends)."""
    value = headers.get("retry-after", "")
    return float(value) if value.isdigit() else None
