"""Where a command sends its requests: a server that runs, or a stack started for this one command.

Never leaves behind a stack that it started.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from partmill.errors import PartmillError, ServerUnreachable
from partmill.interrupts import interruptible
from partmill.ports import ANY_FREE
from partmill.probe import is_partmill
from partmill.screen import Screen, UsageFault
from partmill.stack import Stack
from partmill.stack_lock import holder

DEFAULT_SERVER = "http://127.0.0.1:8000"
"""Where `partmill up` listens."""


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
    """The server that was named, or the one of this machine."""
    url = (server or DEFAULT_SERVER).rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise UsageFault(f"{url} is no server address; it must look like {DEFAULT_SERVER}.")
    stack = holder(data_folder())
    return Place(url, web_ui=stack.get("web_ui") if stack.get("server") == url else None)


@contextmanager
def somewhere(server: str | None, screen: Screen, *, may_start: bool) -> Iterator[Place]:
    """A running server, or else a stack of our own for as long as the block runs."""
    if server or is_partmill(DEFAULT_SERVER):
        yield running(server)
        return
    if not may_start:
        raise ServerUnreachable(f"no answer from {DEFAULT_SERVER}")
    with interruptible(), Stack(data_folder(), ANY_FREE, "generate") as stack:
        screen.say(f"Starting a partmill for this job; its data folder is {stack.data_dir}")
        _import_client()
        stack.wait_ready()
        try:
            yield Place(stack.server, True, stack.temporal.web_ui, stack.check)
        except PartmillError:
            stack.check()  # if a part died, that is the reason
            raise


def _import_client() -> None:
    """Half a second of imports that the starting processes need anyway."""
    import partmill.client  # noqa: F401
