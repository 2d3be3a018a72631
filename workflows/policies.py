"""One table of policies: timeouts, heartbeats and attempts of every activity, each with its why.

Never reads settings: a workflow must decide the same at every replay.
"""

from dataclasses import dataclass
from datetime import timedelta

from temporalio.common import RetryPolicy

WORKFLOW_QUEUE = "partmill-workflows"
"""Workflows and light local activities: few, cheap, on machines that stay."""

KERNEL_QUEUE = "partmill-kernel"
"""Kernel activities: many, on spot machines, scaled on this queue's backlog."""


@dataclass(frozen=True)
class StagePolicy:
    """How a kernel activity is scheduled."""

    start_to_close: timedelta
    heartbeat_timeout: timedelta


KERNEL_STAGE = StagePolicy(
    # The kernel's own deadline (300 s as shipped) is watched by the activity; this is the server's backstop for an
    # activity that neither ends nor stops beating: twice the deadline and a slow store's transfer.
    start_to_close=timedelta(minutes=20),
    # A worker that is silent for this long is dead or cut off: its work moves.
    heartbeat_timeout=timedelta(seconds=10),
)

PUBLISH_DEADLINE = timedelta(minutes=10)
"""Outlasts a store's restart; then the job fails and says so. A retry of the job finds its geometry kept."""

WITHDRAW_DEADLINE = timedelta(seconds=30)
"""Short: a cancelled job should end although the store is down; the retention sweep removes what is left."""

PUBLISH_RETRIES = RetryPolicy(
    # Soon at first (a passing fault), then no more often than a restarting store can answer.
    initial_interval=timedelta(milliseconds=500),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=20),
    maximum_attempts=0,  # the deadline ends it, not a count
)

LOCAL_RETRY_THRESHOLD = timedelta(seconds=30)
"""Waits up to this long stay inside one workflow task; longer ones would become timers."""
