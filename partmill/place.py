"""Where a command sends its requests: a server that runs, or a stack started for this one command.

Never leaves behind a stack that it started.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from partmill.address import DEFAULT_SERVER as DEFAULT_SERVER
from partmill.address import checked
from partmill.errors import PartmillError, ServerUnreachable
from partmill.interrupts import Interrupted, interruptible
from partmill.ports import ANY_FREE, HOST
from partmill.probe import is_partmill
from partmill.screen import Screen, UsageFault
from partmill.stack import Stack
from partmill.stack_lock import holder

INTERRUPTED_GRACE_S = "5"
"""The worker's grace in a stack for one job, unless the user sets it: whoever presses Ctrl-C wants the prompt back."""


@dataclass(frozen=True)
class Place:
    """A server to talk to."""

    server: str
    is_own: bool = False
    """Whether this command started it and will stop it."""
    web_ui: str | None = None
    """Temporal's Web UI, where this machine knows of one."""
    check: Callable[[], None] = lambda: None
    """Raises if a part of an own stack has died."""

    def job_url(self, job_id: str) -> str:
        """The job's status, for a browser or curl."""
        return f"{self.server}/v1/jobs/{job_id}"

    def job_in_web_ui(self, job_id: str) -> str | None:
        """The job's page in Temporal's Web UI."""
        return self.web_ui and f"{self.web_ui}/namespaces/default/workflows/{job_id}"


def data_folder() -> Path:
    """Where local stacks keep everything."""
    return Path(os.environ.get("PARTMILL_DATA_DIR") or ".partmill").resolve()


def running(server: str | None) -> Place:
    """The server that was named, or the one that `partmill up` runs here."""
    stack = holder(data_folder())
    try:
        url = checked(server or _local_server())
    except ValueError as error:
        raise UsageFault(str(error)) from None
    return Place(url, web_ui=stack.get("web_ui") if stack.get("server") == url else None)


@contextmanager
def somewhere(server: str | None, screen: Screen, *, may_start: bool) -> Iterator[Place]:
    """A running server, or else a stack of our own for as long as the block runs."""
    place = running(server)
    if server or is_partmill(place.server):
        yield place
    elif may_start:
        with interruptible(), _own_stack(screen) as own:
            yield own
    else:
        raise ServerUnreachable(f"no answer from {place.server}")


@contextmanager
def _own_stack(screen: Screen) -> Iterator[Place]:
    environ = {"PARTMILL_GRACE_S": INTERRUPTED_GRACE_S, **os.environ}
    folder = data_folder()
    if holder(folder).get("command") == "generate":
        screen.say(f"If another `partmill generate` works in {folder}, this one waits for its end.")
    with Stack(folder, ANY_FREE, "generate", environ=environ, waits_for_folder=True) as stack:
        screen.say(f"Starting a partmill for this job; its data folder is {folder}")
        _import_client()
        try:
            stack.wait_ready()
            yield Place(stack.server, True, stack.temporal.web_ui, stack.check)
        except PartmillError:
            stack.check()  # if a part died, that is the reason
            raise
        except Interrupted:
            screen.say("Stopping. What the job has finished is kept: the same command goes on from there.")
            raise


def _local_server() -> str:
    """A stack of this data folder may listen elsewhere than usual; it is the one that has this folder's jobs."""
    stack = holder(data_folder())
    usual = f"http://{HOST}:{port}" if (port := os.environ.get("PARTMILL_PORT")) else DEFAULT_SERVER
    own = str(stack.get("server"))
    return own if stack.get("command") == "up" and own != usual and is_partmill(own) else usual


def _import_client() -> None:
    """Half a second of imports that the starting processes need anyway."""
    import partmill.client  # noqa: F401
