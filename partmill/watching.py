"""Follows a job on the screen until it ends.

Never writes to stdout.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from partmill import wording
from partmill.documents import Job
from partmill.place import Place
from partmill.screen import Screen

if TYPE_CHECKING:
    from partmill.client import PartmillClient

OWN_POLL_S = 0.1
"""A stack that works for nobody else may be asked this often."""


def watch(client: "PartmillClient", place: Place, job_id: str, screen: Screen) -> Job:
    """The completed job; raises what `PartmillClient.wait` raises."""
    with _display(screen) as show:

        def on_poll(job: Job) -> None:
            place.check()
            show(job)

        return client.wait(job_id, on_poll=on_poll, longest_poll_s=OWN_POLL_S if place.is_own else None)


@contextmanager
def _display(screen: Screen) -> Iterator[Callable[[Job], None]]:
    if sys.stderr.isatty():
        with _bar() as show:
            yield show
    else:
        yield _Lines(screen).show


class _Lines:
    """One line for each change of state or phase: for logs."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._said = ""

    def show(self, job: Job) -> None:
        phase = f", {job.progress.phase}" if job.progress and not job.is_terminal else ""
        line = job.status + phase
        if line != self._said:
            self._said = line
            self._screen.say(f"  {line}")


@contextmanager
def _bar() -> Iterator[Callable[[Job], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("queued", total=1.0)

        def show(job: Job) -> None:
            fraction = job.progress.fraction if job.progress else 0.0
            description = job.progress.phase if job.progress and job.status == "processing" else wording.status(job)
            progress.update(task, description=description, completed=1.0 if job.status == "completed" else fraction)

        yield show
