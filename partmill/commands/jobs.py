"""`partmill jobs`: looks at jobs and steers them.

Never waits for what it asked of a job, except where waiting is what was asked.
"""

from typing import TYPE_CHECKING

from partmill import wording
from partmill.place import running
from partmill.screen import Screen
from partmill.watching import watch

if TYPE_CHECKING:
    from partmill.flows import Action


def show(job_id: str, server: str | None, screen: Screen) -> None:
    """The job as it is now, whatever it is."""
    from partmill.client import PartmillClient

    place = running(server)
    with PartmillClient(place.server, attempts=2) as client:
        job = client.job(job_id)
    page = place.job_in_web_ui(job_id)
    screen.result(job.document, wording.job(job) + (f"\n{'web ui':<10}{page}" if page else ""))


def follow(job_id: str, server: str | None, screen: Screen) -> None:
    """The job until it ends; a failed or cancelled one is an error."""
    from partmill.client import PartmillClient

    place = running(server)
    with PartmillClient(place.server) as client:
        job = watch(client, place, job_id, screen)
    screen.result(job.document, wording.job(job))


def steer(job_id: str, action: "Action", server: str | None, screen: Screen) -> None:
    """Ask for a change of the job and show it as it is by then; the server refuses what the job is past."""
    from partmill.client import PartmillClient

    with PartmillClient(running(server).server) as client:
        job = getattr(client, action)(job_id)
    screen.result(job.document, wording.job(job))
