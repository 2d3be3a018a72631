"""How a job is answered: its status as a document, and the headers that go with it.

Never asks Temporal or the store: what it is given is all there is to say.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

from starlette.responses import Response

from api.documents import (
    Document,
    FileDocument,
    JobDocument,
    ProgressDocument,
    ReceiptDocument,
    ResultDocument,
)
from domain.links import link_expiry
from domain.messages import Generation, JobId, PublishedFile
from domain.ports import LinkMaker
from domain.status import TERMINAL, JobStatus

PATIENCE: tuple[tuple[int, int], ...] = ((10, 1), (60, 2))
"""Until a job is so many seconds old, ask again after so many: most parts take less than a second, some minutes."""

LONGEST_PATIENCE_S = 5


def document_response(document: Document, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The document as JSON."""
    return Response(document.model_dump_json(), status, dict(headers or {}), "application/json")


class JobAnswers:
    """Answers about jobs, with links that expire."""

    def __init__(self, links: LinkMaker, clock: Callable[[], datetime], link_lifetime_s: int) -> None:
        self._links = links
        self._clock = clock
        self._lifetime_s = link_lifetime_s

    def created(self, job_id: JobId, created_at: datetime) -> Response:
        """202: this request made a new job."""
        receipt = ReceiptDocument(job_id=job_id, status="queued", created_at=created_at)
        headers = {"Location": location_of(job_id), "Retry-After": str(PATIENCE[0][1]), "Cache-Control": "no-store"}
        return document_response(receipt, 202, headers)

    def replayed(self, job: JobStatus) -> Response:
        """200: this request has a job already, and this is its status."""
        answer = self.status(job)
        answer.headers["Location"] = location_of(job.job_id)
        answer.headers["Idempotent-Replayed"] = "true"
        return answer

    def accepted(self, job: JobStatus) -> Response:
        """202: what was asked of the job will happen; this is its status meanwhile."""
        answer = self.status(job)
        answer.status_code = 202
        answer.headers["Location"] = location_of(job.job_id)
        return answer

    def status(self, job: JobStatus) -> Response:
        """200: the job's status."""
        now = self._clock()
        headers = {"Cache-Control": "no-store"}
        if job.state not in TERMINAL:
            headers["Retry-After"] = str(_retry_after_s((now - job.created_at).total_seconds()))
        return document_response(self._document(job, now), 200, headers)

    def _document(self, job: JobStatus, now: datetime) -> JobDocument:
        return JobDocument(
            job_id=job.job_id,
            status=job.state,
            suspended_reason=job.suspended_reason,
            created_at=job.created_at,
            started_at=job.started_at,
            completed_at=job.completed_at,
            model=job.model,
            engine=job.engine,
            attempt=job.attempt,
            evictions=job.evictions,
            cancel_requested=job.cancel_requested,
            metadata=job.metadata,
            progress=_progress(job),
            result=self._result(job.result, now) if job.result else None,
            error=job.problem,
        )

    def _result(self, made: Generation, now: datetime) -> ResultDocument:
        expires_at = link_expiry(now, self._lifetime_s)
        files = [self._file(file, expires_at) for file in made.files]
        return ResultDocument(**files[0].model_dump(), files=files, geometry=made.geometry, kernel=made.kernel)

    def _file(self, file: PublishedFile, expires_at: datetime) -> FileDocument:
        return FileDocument(
            file_format=file.file_format,
            file_size_bytes=file.file_size_bytes,
            sha256=file.sha256,
            download_url=self._links.link(file.key, file.file_name, expires_at),
            expires_at=expires_at,
            triangles=file.triangles,
        )


def location_of(job_id: JobId) -> str:
    """The address of a job's status."""
    return f"/v1/jobs/{job_id}"


def _progress(job: JobStatus) -> ProgressDocument:
    seen = job.checkpoint
    is_done = job.state == "completed"
    return ProgressDocument(
        phase="done" if is_done else seen.phase,
        fraction=1.0 if is_done else round(seen.fraction, 4),
        last_heartbeat=seen.last_heartbeat,
    )


def _retry_after_s(age_s: float) -> int:
    return next((wait_s for until_s, wait_s in PATIENCE if age_s < until_s), LONGEST_PATIENCE_S)
