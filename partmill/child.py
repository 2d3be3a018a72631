"""One process of the stack: started on a leash, logged to a file, stopped politely.

Never outlives its supervisor where Linux can promise that.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from partmill.stack_errors import ChildDied

LAST_LINES = 15
"""Of a log, shown when its process dies: holds the end of a Python traceback."""

POLL_S = 0.01
"""Between two looks at a process that should end; costs nothing and delays nobody."""

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None  # loaded before any fork: see _leash


class Child:
    """A running process."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start it. Only from the main thread: the leash is tied to the thread that started the process."""
        self.name = name
        self.log = log
        if log.exists():
            log.replace(log.with_suffix(".previous.log"))
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=tuple(pass_fds),
                start_new_session=True,  # a Ctrl-C in the terminal is for the supervisor, which stops things in order
                # Safe here: the supervisor has one thread, so no lock can be held by another one at the fork.
                preexec_fn=None if _libc is None else partial(_leash, os.getpid()),  # noqa: PLW1509
            )

    @property
    def pid(self) -> int:
        """Its process ID, which is its process group's too."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def check(self) -> None:
        """Raises ChildDied if it has ended."""
        code = self.exit_code
        if code is not None:
            ending = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            raise ChildDied(self.name, ending, str(self.log), self.last_lines())

    def last_lines(self) -> str:
        """The end of its log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-LAST_LINES:]) or "(empty)"

    def stop(self, grace_s: float) -> None:
        """Ask it to end and wait `grace_s` seconds at most; then kill what is left of its process group."""
        if self.exit_code is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        while not self._has_ended() and time.monotonic() < deadline:
            time.sleep(POLL_S)
        os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def _has_ended(self) -> bool:
        # WNOWAIT leaves the zombie in place: it keeps the group's number from being given to strangers.
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _leash(supervisor: int) -> None:
    """Runs in the forked child: the kernel kills it when its supervisor dies, however that happens."""
    # SIGKILL and not SIGTERM: nobody is left to wait for a polite end, the data folder must be free for the next
    # stack at once, and losing a process is what everything here is built to survive.
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != supervisor:
        os._exit(1)  # it died between the fork and the line above
