"""What the newest events of a job's history say: how its last activity ended, and how the job itself did.

Never fetches anything: adapters/execution_reader.py does.
"""

from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import EventType
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent

from domain.messages import Checkpoint, Generation
from domain.placement import EVICTED
from domain.problems import TYPE_BASE, InternalError, JsonObject, Terminated, TimedOut
from domain.status import Tail

Decode: TypeAlias = Callable[[Payloads], Awaitable[list[Any]]]


class Ending(NamedTuple):
    """How a closed job ended."""

    result: Generation | None = None
    problem: JsonObject | None = None
    checkpoint: Checkpoint | None = None


async def tail_of(events: Iterable[HistoryEvent], decode: Decode) -> Tail | None:
    """The newest activity ending among `events` (newest first) that no workflow task has dealt with, if any."""
    for event in events:
        match event.event_type:
            case EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
                return None  # whatever ended before stands in the ledger
            case EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
                report = await decode(event.activity_task_completed_event_attributes.result)
                return Tail(kind="completed", checkpoint=_reported(report))
            case EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
                return await _failed(event.activity_task_failed_event_attributes.failure, decode)
            case EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
                timeout = event.activity_task_timed_out_event_attributes.failure.timeout_failure_info
                beats = await decode(timeout.last_heartbeat_details)
                return Tail(kind="worker-lost", checkpoint=_checkpoint(beats[0] if beats else None))
            case EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
                return Tail(kind="failed")
    return None


def started_at(events: Iterable[HistoryEvent]) -> datetime | None:
    """When the earliest activity among `events` was started, for a job that ended without saying so itself."""
    started = [event for event in events if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED]
    return min((event.event_time.ToDatetime(UTC) for event in started), default=None)


def _reported(report: list[Any]) -> Checkpoint | None:
    """Kernel activities report a checkpoint; publishing reports files."""
    return _checkpoint(report[0].get("checkpoint")) if report and isinstance(report[0], dict) else None


async def _failed(failure: Failure, decode: Decode) -> Tail:
    info = failure.application_failure_info
    if info.type != EVICTED:
        return Tail(kind="failed")
    details = await decode(info.details)
    return Tail(kind="evicted", checkpoint=_checkpoint(details[0] if details else None))


async def ending_of(event: HistoryEvent, decode: Decode) -> Ending:
    """What the closing event of a job holds: its result or its problem."""
    match event.event_type:
        case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
            values = await decode(event.workflow_execution_completed_event_attributes.result)
            return Ending(result=Generation.model_validate(values[0]))
        case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
            return await _problem(event.workflow_execution_failed_event_attributes.failure, decode)
        case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
            return Ending(problem=Terminated().as_dict())
        case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:
            return Ending(problem=TimedOut().as_dict())
    return Ending()


async def _problem(failure: Failure, decode: Decode) -> Ending:
    """Our own problems carry themselves in their details; anything else is unexpected and stays inside."""
    details = await decode(failure.application_failure_info.details)
    if details and isinstance(details[0], dict) and str(details[0].get("type", "")).startswith(TYPE_BASE):
        return Ending(problem=details[0], checkpoint=_checkpoint(details[1] if len(details) > 1 else None))
    return Ending(problem=InternalError().as_dict())


def _checkpoint(value: Any) -> Checkpoint | None:
    return Checkpoint.model_validate(value) if value else None
