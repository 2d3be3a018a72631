"""The flow of one download: resumed after broken connections, with a fresh link after an expired one, checked.

Never saves bytes that do not match the size and SHA-256 of the job's status.
"""

from pathlib import Path

from partmill import flows
from partmill.documents import Job, Problem
from partmill.errors import DownloadCorrupt, ProblemError
from partmill.partial_file import PartialFile
from partmill.steps import TRY_AGAIN, Answer, Flow, Pause, Retries, Send, accepted, once

CORRUPT_ATTEMPTS = 2
"""A second whole download tells a damaged connection from a damaged file."""


def download(job: Job, file_format: str, target: Path, retries: Retries) -> Flow[Path]:
    """Save one artifact of `job` at `target`."""
    with PartialFile(target, job.file(file_format)) as partial:
        for _ in range(CORRUPT_ATTEMPTS):
            yield from _receive(job, file_format, partial, retries)
            if partial.is_correct:
                partial.commit()
                return target
            partial.restart()
    raise DownloadCorrupt(
        f"the {file_format} file of job {job.job_id} did not arrive as its status describes it; nothing was saved"
    )


def _receive(job: Job, file_format: str, partial: PartialFile, retries: Retries) -> Flow[None]:
    """Fetch until a body came to its end. A try that got further than any before it does not count as one."""
    url = job.file(file_format).download_url
    attempt, furthest, renewed = 0, 0, False
    while True:
        reply = yield from once(Send("GET", url, partial.headers, sink=partial))
        attempt = 1 if partial.size > furthest else attempt + 1
        furthest = max(furthest, partial.size)
        match reply:
            case Answer(status=200 | 206) if partial.is_receiving and not partial.is_short:
                return
            case Answer(status=206 | 416) if not partial.is_receiving:
                partial.restart()  # the server does not have the rest that this file needs
            case Answer(status=403 | 404 | 410) if not renewed:
                renewed = True  # the link has expired; the job's status holds a fresh one
                url = yield from _fresh_link(job, file_format, retries)
            case Answer(status=status) if status not in TRY_AGAIN and status >= 300:
                accepted(reply)
        pause = retries.pause_s(attempt, reply)
        if pause is None:
            accepted(reply)
            return
        yield Pause(pause)


def _fresh_link(job: Job, file_format: str, retries: Retries) -> Flow[str]:
    seen = yield from flows.job(job.job_id, retries)
    try:
        return seen.file(file_format).download_url
    except KeyError:
        raise ProblemError(_GONE, 410) from None


_GONE = Problem(
    "https://partmill.dev/problems/artifact-gone", "Artifact gone", "The job no longer has this file.", status=410
)
