"""The endpoints that steer a job: cancel, retry, pause, resume. Each says 202 and the job's status as it is now.

Never waits for what it asked for: the status tells when it has come.
"""

from starlette.requests import Request
from starlette.responses import Response

from api.answers import JobAnswers
from api.engine import Engine
from api.routes import local_job
from api.steering import Steering
from domain.messages import JobId
from domain.ports import ArtifactStore, StoreUnreachable
from domain.problems import Refusal, StoreUnavailable
from domain.status import JobStatus


class SteeringRoutes:
    """Steers jobs of one engine whose files are in one store."""

    def __init__(self, engine: Engine, store: ArtifactStore, answers: JobAnswers) -> None:
        self._engine = engine
        self._steering = Steering(engine)
        self._store = store
        self._answers = answers

    async def cancel(self, request: Request) -> Response:
        """Asks for the job's end. Its kernel is killed and nothing is published. Cancelling again is harmless."""
        job = await local_job(self._engine, request)
        await self._steering.cancel(job.job_id)
        return await self._accepted(job.job_id)

    async def retry(self, request: Request) -> Response:
        """Runs a failed or cancelled job once more, under its own ID; so too a completed one whose files are gone.

        What is finished already is not computed again.
        """
        job = await local_job(self._engine, request)
        await self._steering.retry(job.job_id, files_gone=await self._files_are_gone(job))
        return await self._accepted(job.job_id)

    async def pause(self, request: Request) -> Response:
        """Suspends the job at its next stage boundary. Pausing again is harmless."""
        job = await local_job(self._engine, request)
        await self._steering.pause(job.job_id)
        return await self._accepted(job.job_id)

    async def resume(self, request: Request) -> Response:
        """Lets a paused job go on. Resuming again is harmless."""
        job = await local_job(self._engine, request)
        await self._steering.resume(job.job_id)
        return await self._accepted(job.job_id)

    async def _accepted(self, job_id: JobId) -> Response:
        return self._answers.accepted(await self._engine.read(job_id))

    async def _files_are_gone(self, job: JobStatus) -> bool:
        if job.result is None:
            return False
        try:
            seen = [await self._store.stat(file.key) for file in job.result.files]
        except StoreUnreachable as error:
            raise Refusal(StoreUnavailable()) from error
        return None in seen
