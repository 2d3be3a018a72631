"""Both services on this machine, each as it is meant to run: partmill by its own `Stack`, the usual way by Redis, a
Celery worker and uvicorn.

Never leaves a process running, never listens beyond loopback, and keeps all files in the folder it is given.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from partmill.child import Child
from partmill.ports import ANY_FREE, HOST, answers, reserve
from partmill.stack import Stack

PROCESSES = "2"
"""Of the Celery worker: what partmill takes on this machine too (one kernel for each core)."""

READY_S = 120.0
"""A bound against hanging: importing CadQuery from a cold disk took 25 s."""

GRACE_S = 10.0
"""The longest task takes a fifth of a second."""


@dataclass(frozen=True)
class Service:
    """A running service, ready for its first request."""

    name: str
    url: str
    temporal_address: str | None = None
    parts: dict[str, int] = field(default_factory=dict)
    """Process ID of each part that this process started."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for everything; it stays, with its logs, when something went wrong."""
    folder, keep = Path(tempfile.mkdtemp(prefix="partmill-bench-")), False
    try:
        yield folder
    except Exception:
        keep = True
        print(f"The logs are in {folder}", file=sys.stderr)
        raise
    finally:
        if not keep:
            shutil.rmtree(folder)


@contextmanager
def partmill(folder: Path) -> Iterator[Service]:
    """What `partmill up` starts."""
    before = children()
    with Stack(folder, ANY_FREE, "bench") as stack:
        stack.wait_ready()
        parts = {_name(pid): pid for pid in children() - before}
        try:
            yield Service("partmill", stack.server, stack.temporal.address, parts)
        except RuntimeError:
            stack.check()  # if a part died, that is the reason
            raise


@contextmanager
def usual_way(folder: Path) -> Iterator[Service]:
    """FastAPI + Celery + Redis, the last one without persistence."""
    (folder / "files").mkdir(parents=True)
    redis_port, http_port = reserve(0, 0)
    environment = dict(os.environ) | {
        "REDIS_URL": f"redis://{HOST}:{redis_port}/0",
        "FILES_DIR": str(folder / "files"),
    }
    with ExitStack() as stopping:

        def start(name: str, command: list[str]) -> Child:
            child = Child(name, command, environment, folder / f"{name}.log")
            stopping.callback(child.stop, GRACE_S)
            return child

        redis = start("redis", _redis_command(redis_port, folder))
        _wait(lambda: answers(HOST, redis_port), redis)
        celery = start("celery", _celery_command())
        api = start("uvicorn", _uvicorn_command(http_port))
        url = f"http://{HOST}:{http_port}"
        _wait(lambda: _answers_http(url), api)
        _wait(lambda: "ready." in celery.log.read_text(errors="replace"), celery)
        yield Service("Celery", url, parts={child.name: child.pid for child in (redis, celery, api)})


def _redis_command(port: int, folder: Path) -> list[str]:
    binary = shutil.which("redis-server")
    if binary is None:
        sys.exit("The comparison needs redis-server: apt-get install redis-server")
    place = ["--bind", HOST, "--port", str(port), "--dir", str(folder)]
    return [binary, *place, "--save", "", "--appendonly", "no"]


def _celery_command() -> list[str]:
    options = ["--pool", "prefork", "--concurrency", PROCESSES, "--loglevel", "info"]
    return [sys.executable, "-m", "celery", "-A", "bench.celery_service.worker", "worker", *options]


def _uvicorn_command(port: int) -> list[str]:
    # Not --fd: uvicorn takes such a socket for a Unix one, leaves Nagle's algorithm on, and each answer is 40 ms late.
    options = ["--host", HOST, "--port", str(port), "--loop", "uvloop", "--http", "httptools", "--no-access-log"]
    return [sys.executable, "-m", "uvicorn", "bench.celery_service.api:app", *options]


def _wait(reached: Callable[[], bool], child: Child) -> None:
    deadline = time.monotonic() + READY_S
    while not reached():
        child.check()
        if time.monotonic() > deadline:
            sys.exit(f"{child.name} was not ready after {READY_S:g} s: {child.last_lines()}")
        time.sleep(0.03)


def _answers_http(url: str) -> bool:
    connection = HTTPConnection(url.removeprefix("http://"), timeout=2)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def children() -> set[int]:
    """The processes that this one started."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def _name(pid: int) -> str:
    command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return next((name for name in ("worker", "api") if name.encode() in command), "temporal")
