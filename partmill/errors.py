"""What the client raises, as one hierarchy.

Never raised by the command line itself: it only shows these and picks the exit code.

    PartmillError
    ├── ProblemError        the service answered with a problem: `problem`, `status`
    ├── ServerUnreachable   no answer after all retries
    ├── UnexpectedAnswer    an answer that is not partmill's
    ├── JobFailed           the job ended as `failed`: `job`, `problem`
    ├── JobCancelled        the job ended as `cancelled`: `job`
    ├── DownloadCorrupt     the bytes do not match the job's status; nothing was saved
    └── WaitTimedOut        the job was not done in time: `job` as last seen; it goes on
"""

from partmill.documents import Job, Problem


class PartmillError(Exception):
    """Base of everything the client raises on purpose."""


class ProblemError(PartmillError):
    """The service answered with a problem."""

    def __init__(self, problem: Problem, status: int) -> None:
        super().__init__(f"{problem.title} ({status}): {problem.detail}")
        self.problem = problem
        self.status = status


class ServerUnreachable(PartmillError):
    """No answer from the server, after all retries."""


class UnexpectedAnswer(PartmillError):
    """Whatever answered does not speak partmill's contract."""


class JobFailed(PartmillError):
    """The job ended as `failed`."""

    def __init__(self, job: Job) -> None:
        self.problem = job.error or Problem("about:blank", "Job failed", "The service gave no reason.")
        super().__init__(f"job {job.job_id} failed: {self.problem.detail}")
        self.job = job


class JobCancelled(PartmillError):
    """The job ended as `cancelled`."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"job {job.job_id} was cancelled")
        self.job = job


class DownloadCorrupt(PartmillError):
    """The bytes received do not match the size and SHA-256 of the job's status; nothing was saved."""


class WaitTimedOut(PartmillError):
    """The job was not done in time; it goes on."""

    def __init__(self, job: Job, timeout_s: float) -> None:
        super().__init__(f"job {job.job_id} was still {job.status} after {timeout_s:g} s")
        self.job = job
