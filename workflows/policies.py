"""One table of policies: queues, retries and waits of every activity, each with its why.

Never reads settings: what an operator may change stands in the job's order, so that every replay decides the same.
"""

from datetime import timedelta

from temporalio.common import RetryPolicy

WORKFLOW_QUEUE = "partmill-workflows"
"""Workflows and light local activities: few, cheap, on machines that stay."""

KERNEL_QUEUE = "partmill-kernel"
"""Kernel activities: many, on spot machines, scaled on this queue's backlog."""


WITHDRAW_DEADLINE = timedelta(seconds=30)
"""Short: a cancelled job should end although the store is down; the retention sweep removes what is left."""

PUBLISH_RETRIES = RetryPolicy(
    # Soon at first (a passing fault), then no more often than a restarting store can answer.
    initial_interval=timedelta(milliseconds=500),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=20),
    maximum_attempts=0,  # the deadline ends it, not a count
)

FIRST_TRY = timedelta(seconds=10)
"""A hard link or a server-side copy; a slower one is not worth holding up the workflow's task."""

ONE_COPY = timedelta(minutes=2)
"""The server-side copies of the largest files; also how long a worker that died while copying goes unnoticed."""
