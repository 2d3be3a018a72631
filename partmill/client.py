"""The Python client of a partmill server, blocking and asyncio.

    from partmill.client import PartmillClient

    with PartmillClient("http://127.0.0.1:8000") as partmill:
        job = partmill.generate({"engine": "opencascade-brep", "export_format": "step", "parameters": {...}})
        job = partmill.wait(job.job_id)
        partmill.download(job, "step", "part.step")

Everything it raises on purpose:

    PartmillError
    ├── ProblemError        the service answered with a problem: `problem`, `status`
    ├── ServerUnreachable   no answer after all retries
    ├── UnexpectedAnswer    an answer that is not partmill's
    ├── JobFailed           the job ended as `failed`: `job`, `problem`
    ├── JobCancelled        the job ended as `cancelled`: `job`
    ├── DownloadCorrupt     the bytes do not match the job's status; nothing was saved
    └── WaitTimedOut        the job was not done in time: `job` as last seen; it goes on

Lost connections and the answers 429, 502, 503 and 504 are retried a few times, as soon as `Retry-After` allows. That
is safe for `generate` too, and needs no idempotency key: the same request is the same job. Give a key to make the same
part as a job of its own, or to tie a job to something of yours.

Never imports another part of partmill.
"""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from partmill import downloading, flows
from partmill.address import DEFAULT_SERVER
from partmill.documents import (
    Fault,
    File,
    Geometry,
    Job,
    Kernel,
    Model,
    Problem,
    Progress,
    Result,
    Validation,
)
from partmill.driving import AwaitingDriver, BlockingDriver
from partmill.errors import (
    DownloadCorrupt,
    JobCancelled,
    JobFailed,
    PartmillError,
    ProblemError,
    ServerUnreachable,
    UnexpectedAnswer,
    WaitTimedOut,
)
from partmill.flows import Request
from partmill.steps import Retries

__all__ = [
    "DEFAULT_SERVER",
    "AsyncPartmillClient",
    "DownloadCorrupt",
    "Fault",
    "File",
    "Geometry",
    "Job",
    "JobCancelled",
    "JobFailed",
    "Kernel",
    "Model",
    "PartmillClient",
    "PartmillError",
    "Problem",
    "ProblemError",
    "Progress",
    "Request",
    "Result",
    "ServerUnreachable",
    "UnexpectedAnswer",
    "Validation",
    "WaitTimedOut",
]


class PartmillClient:
    """Blocking. Use it as a context manager, or call `close()`. Not for several threads at once.

    Raises:
        ValueError: `server` is no http or https URL.
    """

    def __init__(self, server: str = DEFAULT_SERVER, *, attempts: int = 5) -> None:
        self._driver = BlockingDriver(server)
        self._retries = Retries(attempts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._driver.close()

    def generate(self, request: Request, idempotency_key: str | None = None) -> Job:
        """Create a job, or find the one this request (or key) has already: then `replayed` is true.

        Raises:
            ProblemError: the request was refused; `problem.errors` names each broken rule.
            ValueError: the key can't be sent in a header.
        """
        return self._driver.run(flows.generate(request, idempotency_key, self._retries))

    def job(self, job_id: str) -> Job:
        """The job as it is now, failed and cancelled ones included."""
        return self._driver.run(flows.job(job_id, self._retries))

    def wait(
        self,
        job_id: str,
        timeout_s: float | None = None,
        *,
        on_poll: Callable[[Job], None] | None = None,
        longest_poll_s: float | None = None,
    ) -> Job:
        """Poll until the job completed; `on_poll` sees every answer. Polls slow down from 0.1 s to what the service
        suggests, or to `longest_poll_s`.

        Raises:
            JobFailed, JobCancelled: the job ended so.
            WaitTimedOut: `timeout_s` seconds passed first.
        """
        return self._driver.run(flows.wait(job_id, timeout_s, on_poll, longest_poll_s, self._retries))

    def download(self, job: Job, file_format: str, path: str | Path) -> Path:
        """Save one artifact at `path`, whole and checked against size and SHA-256, or not at all.

        Raises:
            KeyError: the job has no file in that format.
            DownloadCorrupt: the bytes do not match, twice.
        """
        return self._driver.run(downloading.download(job, file_format, Path(path), self._retries))

    def cancel(self, job_id: str) -> Job:
        """Ask for the job's end: its kernel is killed and nothing is published. The status may still say otherwise.

        Raises:
            ProblemError: `state-conflict`, as of all four: the job is past that. Here: it completed or failed.
        """
        return self._driver.run(flows.steer(job_id, "cancel", self._retries))

    def retry(self, job_id: str) -> Job:
        """Run a failed or cancelled job once more under its own ID, or a completed one whose files are gone."""
        return self._driver.run(flows.steer(job_id, "retry", self._retries))

    def pause(self, job_id: str) -> Job:
        """Suspend the job at its next stage boundary, until `resume`."""
        return self._driver.run(flows.steer(job_id, "pause", self._retries))

    def resume(self, job_id: str) -> Job:
        """Let a paused job go on."""
        return self._driver.run(flows.steer(job_id, "resume", self._retries))

    def models(self) -> tuple[Model, ...]:
        """The catalogue."""
        return self._driver.run(flows.models(self._retries))

    def model(self, name: str) -> Model:
        """One model of the catalogue."""
        return self._driver.run(flows.model(name, self._retries))

    def validate(self, request: Request) -> Validation:
        """The checks of `generate` and nothing else.

        Raises:
            ProblemError: the request would be refused.
        """
        return self._driver.run(flows.validate(request, self._retries))


class AsyncPartmillClient:
    """For asyncio: the calls of `PartmillClient`, awaited. Downloads write to disk between awaits."""

    def __init__(self, server: str = DEFAULT_SERVER, *, attempts: int = 5) -> None:
        self._driver = AwaitingDriver(server)
        self._retries = Retries(attempts)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._driver.close()

    async def generate(self, request: Request, idempotency_key: str | None = None) -> Job:
        """As `PartmillClient.generate`."""
        return await self._driver.run(flows.generate(request, idempotency_key, self._retries))

    async def job(self, job_id: str) -> Job:
        """As `PartmillClient.job`."""
        return await self._driver.run(flows.job(job_id, self._retries))

    async def wait(
        self,
        job_id: str,
        timeout_s: float | None = None,
        *,
        on_poll: Callable[[Job], None] | None = None,
        longest_poll_s: float | None = None,
    ) -> Job:
        """As `PartmillClient.wait`."""
        return await self._driver.run(flows.wait(job_id, timeout_s, on_poll, longest_poll_s, self._retries))

    async def download(self, job: Job, file_format: str, path: str | Path) -> Path:
        """As `PartmillClient.download`."""
        return await self._driver.run(downloading.download(job, file_format, Path(path), self._retries))

    async def cancel(self, job_id: str) -> Job:
        """As `PartmillClient.cancel`."""
        return await self._driver.run(flows.steer(job_id, "cancel", self._retries))

    async def retry(self, job_id: str) -> Job:
        """As `PartmillClient.retry`."""
        return await self._driver.run(flows.steer(job_id, "retry", self._retries))

    async def pause(self, job_id: str) -> Job:
        """As `PartmillClient.pause`."""
        return await self._driver.run(flows.steer(job_id, "pause", self._retries))

    async def resume(self, job_id: str) -> Job:
        """As `PartmillClient.resume`."""
        return await self._driver.run(flows.steer(job_id, "resume", self._retries))

    async def models(self) -> tuple[Model, ...]:
        """As `PartmillClient.models`."""
        return await self._driver.run(flows.models(self._retries))

    async def model(self, name: str) -> Model:
        """As `PartmillClient.model`."""
        return await self._driver.run(flows.model(name, self._retries))

    async def validate(self, request: Request) -> Validation:
        """As `PartmillClient.validate`."""
        return await self._driver.run(flows.validate(request, self._retries))
