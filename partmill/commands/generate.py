"""`partmill generate`: from a request file to the part's file.

Never leaves half a file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from partmill import wording
from partmill.documents import Job
from partmill.errors import ProblemError
from partmill.flows import checked_key
from partmill.place import Place, somewhere
from partmill.request_file import RequestFile, check_writable, destinations, read_request
from partmill.screen import Screen, UsageFault
from partmill.watching import watch

if TYPE_CHECKING:
    from partmill.client import PartmillClient


@dataclass(frozen=True)
class Wish:
    """What the user asked for."""

    source: str
    out: str
    formats: tuple[str, ...]
    idempotency_key: str | None
    server: str | None
    may_start: bool


def generate(wish: Wish, screen: Screen) -> None:
    """Create the job or find it, follow it, save its files."""
    _check_key(wish.idempotency_key)
    request = read_request(wish.source, wish.formats)
    check_writable(wish.out)
    if request.formats:
        destinations(wish.out, request.formats, "part")  # a place that can't be used is said before any work is done
    with somewhere(wish.server, screen, may_start=wish.may_start) as place:
        from partmill.client import PartmillClient

        with PartmillClient(place.server) as client:
            job = _follow(client, place, request, wish.idempotency_key, screen)
            try:
                saved = _save(client, job, wish.out)
            except ProblemError as error:
                job = _made_again(client, place, job, screen, error)
                saved = _save(client, job, wish.out)
        screen.result(_document(job, saved, place), _report(job, saved, place))


def _check_key(key: str | None) -> None:
    try:
        if key is not None:
            checked_key(key)
    except ValueError as error:
        raise UsageFault(str(error)) from None


def _follow(client: "PartmillClient", place: Place, request: RequestFile, key: str | None, screen: Screen) -> Job:
    created = client.generate(request.body, key)
    screen.say(f"Job {created.job_id}" + (" (made before from the same request)" if created.replayed else ""))
    screen.say(f"  Status           {place.job_url(created.job_id)}")
    if page := place.job_in_web_ui(created.job_id):
        screen.say(f"  Temporal Web UI  {page}")
    return watch(client, place, created.job_id, screen)


def _made_again(client: "PartmillClient", place: Place, job: Job, screen: Screen, reason: ProblemError) -> Job:
    """The same job run once more, if its files are gone: its request would only ever find the run that made those."""
    if reason.problem.slug != "artifact-gone":
        raise reason
    screen.say("  The job's files are gone from the store; it is run once more.")
    try:
        client.retry(job.job_id)
    except ProblemError as error:
        if error.problem.slug != "state-conflict":
            raise
        # Somebody else asked for it first, or our own first try got through and its answer did not.
    return watch(client, place, job.job_id, screen)


def _save(client: "PartmillClient", job: Job, out: str) -> dict[str, Path]:
    made = tuple(file.file_format for file in job.result.files) if job.result else ()
    wanted = destinations(out, made, job.job_id)
    return {file_format: client.download(job, file_format, path) for file_format, path in wanted.items()}


def _document(job: Job, saved: dict[str, Path], place: Place) -> dict[str, object]:
    return {
        "job": job.document,
        "job_url": place.job_url(job.job_id),
        "web_ui_url": place.job_in_web_ui(job.job_id),
        "saved": [{"file_format": file_format, "path": str(path)} for file_format, path in saved.items()],
    }


def _report(job: Job, saved: dict[str, Path], place: Place) -> str:
    lines = [f"Saved {path} ({wording.file(job.file(file_format))})" for file_format, path in saved.items()]
    if place.is_own:
        lines.append(f"Job {job.job_id}: to see it again, run `partmill up` here and open its pages.")
    return "\n".join(lines)
