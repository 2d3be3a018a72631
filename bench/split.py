"""Where the time of partmill's jobs goes, read from their Temporal histories.

Never measures anything itself: the server stamps every event, and client and server share this machine's clock.
"""

from collections.abc import Iterable
from statistics import median
from typing import TypeAlias

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from bench.client import Made

NAMES = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: "job exists",
    EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED: "workflow task scheduled",
    EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED: "workflow task taken",
    EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED: "workflow task done",
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: "kernel activity scheduled",
    EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED: "kernel activity taken",
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: "kernel activity done",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: "job closed",
}
"""The moments that time is spent between; markers and memo changes happen within a workflow task."""

Moments: TypeAlias = list[tuple[str, float]]
Steps: TypeAlias = list[tuple[str, float]]


async def split(temporal_address: str, jobs: Iterable[Made]) -> Steps:
    """Median milliseconds between each moment of a job and the one before, in their order."""
    client = await Client.connect(temporal_address)
    stories = [await _story(client, job) for job in jobs]
    # Jobs with another story than most (a workflow task that timed out, say) are outliers of the totals, not of this.
    usual = max(stories, key=lambda story: sum(_names(story) == _names(other) for other in stories))
    alike = [story for story in stories if _names(story) == _names(usual)]
    return [
        (f"{usual[step - 1][0]} → {name}", median(1000 * (story[step][1] - story[step - 1][1]) for story in alike))
        for step, (name, _) in enumerate(usual)
        if step
    ]


async def _story(client: Client, job: Made) -> Moments:
    sent, seen, fetched = job.clock
    history = await client.get_workflow_handle(job.job_id).fetch_history()
    moments = [(NAMES[event.event_type], _time(event)) for event in history.events if event.event_type in NAMES]
    return [("POST sent", sent), *moments, ("client sees it", seen), ("file in hand", fetched)]


def _time(event: HistoryEvent) -> float:
    return event.event_time.seconds + event.event_time.nanos / 1e9


def _names(story: Moments) -> list[str]:
    return [name for name, _ in story]
