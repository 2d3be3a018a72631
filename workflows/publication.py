"""The last stage of every job: make all its files visible, or leave none.

Never copies anything itself. The first try is a local activity, which costs no round trip; only a store that refuses
it is asked again by an activity of its own, whose waits belong to the server and so survive every worker.
"""

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError, is_cancelled_exception
from temporalio.workflow import ActivityCancellationType

from activities.failures import failure
from activities.publish_activities import PublishActivities
from domain.messages import Checkpoint, JobFolder, PublishedFile, PublishOrder
from domain.problems import StoreUnavailable
from workflows.policies import FIRST_TRY, ONE_COPY, PUBLISH_RETRIES, WITHDRAW_DEADLINE

ONCE = RetryPolicy(maximum_attempts=1)


async def publish(order: PublishOrder, deadline_s: float, checkpoint: Checkpoint) -> tuple[PublishedFile, ...]:
    """Every file of the job, visible. A store that refuses is asked again for `deadline_s`.

    Raises:
        ApplicationError: `store-unavailable`, after the whole deadline.
        FailureError, CancelledError: the job was cancelled.
    """
    try:
        files: tuple[PublishedFile, ...] = await _first_or_insist(
            PublishActivities.publish_artifacts, order, timedelta(seconds=deadline_s)
        )
    except FailureError as error:
        if is_cancelled_exception(error):
            raise
        raise failure(StoreUnavailable(), checkpoint) from error
    return files


async def withdraw(folder: JobFolder) -> None:
    """Leave nothing visible of a job that did not complete, however far its publishing had come."""
    try:
        await _first_or_insist(PublishActivities.withdraw_artifacts, folder, WITHDRAW_DEADLINE)
    except FailureError:
        # The store is down: what is left goes with the retention sweep. The job's own end comes first.
        workflow.logger.warning("could not withdraw what a cut-short publish left")


async def _first_or_insist(activity: Any, order: PublishOrder | JobFolder, deadline: timedelta) -> Any:
    try:
        return await workflow.execute_local_activity_method(
            activity,
            order,
            start_to_close_timeout=FIRST_TRY,
            retry_policy=ONCE,
            # The default would let the job end while a file is still being copied.
            cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )
    except FailureError as error:
        # A failed local activity raises its own error, not an ActivityError around it.
        if is_cancelled_exception(error):
            raise
    return await workflow.execute_activity_method(
        activity,
        order,
        start_to_close_timeout=ONE_COPY,
        schedule_to_close_timeout=deadline,
        retry_policy=PUBLISH_RETRIES,
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )
