"""The last stage of every job: make all its files visible, or leave none.

Never copies anything itself: local activities on the workflow's own worker do, which saves a round trip.
"""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception
from temporalio.workflow import ActivityCancellationType

from activities.failures import failure
from activities.publish_activities import PublishActivities
from domain.messages import Checkpoint, PublishedFile, PublishOrder
from domain.problems import StoreUnavailable
from workflows.policies import LOCAL_RETRY_THRESHOLD, PUBLISH_DEADLINE, PUBLISH_RETRIES, WITHDRAW_DEADLINE


async def publish(order: PublishOrder, checkpoint: Checkpoint) -> tuple[PublishedFile, ...]:
    """Every file of the job, visible.

    Raises:
        ApplicationError: `store-unavailable`, after the whole deadline.
        ActivityError, CancelledError: the job was cancelled; nothing stays visible.
    """
    try:
        return await workflow.execute_local_activity_method(
            PublishActivities.publish_artifacts,
            order,
            schedule_to_close_timeout=PUBLISH_DEADLINE,
            local_retry_threshold=LOCAL_RETRY_THRESHOLD,
            retry_policy=PUBLISH_RETRIES,
            # The default would let the job end while a file is still being copied.
            cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary="publish",
        )
    except (ActivityError, asyncio.CancelledError) as error:
        await _withdraw(order)
        if is_cancelled_exception(error):
            raise
        raise failure(StoreUnavailable(), checkpoint) from error


async def _withdraw(order: PublishOrder) -> None:
    """A job that was cancelled, or failed, while it published leaves nothing visible."""
    try:
        await workflow.execute_local_activity_method(
            PublishActivities.withdraw_artifacts,
            order,
            schedule_to_close_timeout=WITHDRAW_DEADLINE,
            local_retry_threshold=LOCAL_RETRY_THRESHOLD,
            retry_policy=PUBLISH_RETRIES,
            summary="withdraw",
        )
    except ActivityError:
        # The store is down: what is left goes with the retention sweep. The job's own end comes first.
        workflow.logger.warning("could not withdraw what a cut-short publish left")
