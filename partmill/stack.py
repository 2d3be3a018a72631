"""A whole partmill on this machine: the Temporal dev server, the API and one worker, started side by side.

Never imports the parts it starts, and never leaves one running behind.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from partmill.child import Child
from partmill.dev_server import DevServer, load_dev_server
from partmill.interrupts import uninterrupted
from partmill.ports import HOST, Ports, answers, listen, reserve
from partmill.probe import is_ready
from partmill.stack_errors import NotReady
from partmill.stack_lock import StackLock

READY_TIMEOUT_S = 60.0
"""Seen: about 2 s. A cold disk under a busy machine took 25 s to import the CAD kernel alone."""

LOOK_S = 0.03
"""Between two looks at what is starting."""

DEFAULT_GRACE_S = "20"
"""The worker's own default; PARTMILL_GRACE_S sets another one for both."""

WORKER_MARGIN_S = 5.0
"""Beyond the worker's own grace, after which its process is beyond asking."""

API_GRACE_S = 5.0
"""The longest request is shorter."""

TEMPORAL_GRACE_S = 10.0
"""Seen: 1.2 s. Its database survives a kill as well."""


class Stack:
    """Started by `start()` or as a context manager; a `StackError` of any kind means that nothing of it runs."""

    def __init__(
        self,
        data_dir: Path,
        ports: Ports,
        command: str,
        *,
        environ: Mapping[str, str] = os.environ,
        waits_for_folder: bool = False,
    ) -> None:
        self.data_dir = data_dir
        self._waits_for_folder = waits_for_folder
        self._ports = ports
        self._command = command
        self._environ = environ
        self._parts: dict[str, Child] = {}
        self._setup: list[Child] = []
        self._lock: StackLock | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start all parts at once; they look for each other until they are there.

        Raises:
            DataFolderInUse, PortTaken: nothing was started.
        """
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.data_dir / "logs").mkdir(exist_ok=True)
        lock = self._lock = StackLock(self.data_dir, self._command, waits=self._waits_for_folder)
        try:
            self._start_parts(lock)
        except BaseException:
            self.stop()
            raise

    def _start_parts(self, lock: StackLock) -> None:
        self.temporal = self._place_temporal()
        with listen(self._ports.api) as listener:
            self.server = f"http://{HOST}:{listener.getsockname()[1]}"
            lock.announce(self.urls)
            # -P: the user's folder may hold modules called `api` or `worker` too.
            python = [sys.executable, "-P", "-m"]
            self._spawn("temporal", self.temporal.start_command())
            self._spawn("worker", [*python, "worker", "--role", "all"])
            self._spawn("api", [*python, "api", "--fd", str(listener.fileno())], listener.fileno())

    def _place_temporal(self) -> DevServer:
        return load_dev_server().placed(self.data_dir, *reserve(self._ports.temporal, self._ports.web_ui))

    @property
    def urls(self) -> dict[str, str]:
        """Where everything is."""
        urls = {
            "server": self.server,
            "docs": f"{self.server}/docs",
            "web_ui": self.temporal.web_ui,
            "temporal": self.temporal.address,
            "data_dir": str(self.data_dir),
        }
        return {name: url for name, url in urls.items() if url is not None}

    def wait_ready(self) -> None:
        """Return once jobs can be created.

        Raises:
            ChildDied, NotReady: it will not come to that.
        """
        deadline = time.monotonic() + READY_TIMEOUT_S
        self._wait_until(lambda: answers(HOST, self.temporal.flags["port"]), deadline)
        for number, command in enumerate(self.temporal.setup_commands()):
            name = f"temporal-setup-{number}"
            self._setup.append(Child(name, command, self._environment(), self._log(name)))
        self._wait_until(self._is_set_up, deadline)
        self._wait_until(lambda: is_ready(self.server), deadline)

    def check(self) -> None:
        """Raises ChildDied if a part has ended by itself."""
        for part in self._parts.values():
            part.check()

    def stop(self) -> None:
        """Stop what was started: the worker first, which may finish or hand back its job while the others answer.

        Can't be interrupted: an impatient second Ctrl-C changes nothing.
        """
        in_order = {"worker": self._worker_grace_s(), "api": API_GRACE_S, "temporal": TEMPORAL_GRACE_S}
        with uninterrupted():
            for name, grace_s in in_order.items():
                if part := self._parts.pop(name, None):
                    part.stop(grace_s)
            while self._setup:
                self._setup.pop().stop(0)
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def _is_set_up(self) -> bool:
        for child in self._setup:
            if child.exit_code:
                child.check()
        return all(child.exit_code == 0 for child in self._setup)

    def _wait_until(self, reached: Callable[[], bool], deadline: float) -> None:
        while not reached():
            self.check()
            if time.monotonic() > deadline:
                raise NotReady(
                    f"The local stack was not ready after {READY_TIMEOUT_S:g} s; see {self.data_dir / 'logs'}."
                )
            time.sleep(LOOK_S)

    def _spawn(self, name: str, command: list[str], *pass_fds: int) -> None:
        self._parts[name] = Child(name, command, self._environment(), self._log(name), pass_fds)

    def _log(self, name: str) -> Path:
        return self.data_dir / "logs" / f"{name}.log"

    def _environment(self) -> dict[str, str]:
        # The user's own connection settings (a profile, TLS, an API key) belong to some other Temporal than this one.
        plain = {key: value for key, value in self._environ.items() if not key.startswith("TEMPORAL_")}
        return (
            plain
            | _checkout_first(plain)
            | {
                "TEMPORAL_ADDRESS": self.temporal.address,
                "TEMPORAL_NAMESPACE": "default",
                "TEMPORAL_CONFIG_FILE": os.devnull,
                "PARTMILL_DATA_DIR": str(self.data_dir),
            }
        )

    def _worker_grace_s(self) -> float:
        # The worker refuses to start with a grace it can't read, so what is unreadable here belongs to no worker.
        try:
            return float(self._environ.get("PARTMILL_GRACE_S", DEFAULT_GRACE_S)) + WORKER_MARGIN_S
        except ValueError:
            return WORKER_MARGIN_S


def _checkout_first(environ: Mapping[str, str]) -> dict[str, str]:
    # An editable install copies worker.py once; without this, a checkout would run the copy and not what was edited.
    root = Path(__file__).resolve().parent.parent
    if not (root / "pyproject.toml").is_file():
        return {}
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(root), environ.get("PYTHONPATH"))))}
