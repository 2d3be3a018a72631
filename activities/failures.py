"""How problems and evictions travel through Temporal: as typed application errors whose details carry the facts.

Never decides what follows: domain/placement.py does.
"""

from temporalio.exceptions import ApplicationError

from domain.messages import Checkpoint
from domain.placement import EVICTED
from domain.problems import AnyProblem


def failure(problem: AnyProblem, checkpoint: Checkpoint | None = None) -> ApplicationError:
    """The problem as an error that Temporal retries or not as the problem says; details: problem, checkpoint."""
    details = [problem.as_dict(), checkpoint.model_dump(mode="json") if checkpoint else None]
    return ApplicationError(problem.detail, *details, type=problem.slug(), non_retryable=not problem.retryable)


def evicted(checkpoint: Checkpoint, attempt: int) -> ApplicationError:
    """The eviction as an error that Temporal never retries: the workflow places the activity anew."""
    message = "The worker was ordered to stop; the job goes on elsewhere."
    return ApplicationError(message, checkpoint.model_dump(mode="json"), attempt, type=EVICTED, non_retryable=True)
