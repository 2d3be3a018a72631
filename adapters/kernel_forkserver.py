"""The worker's end of one forkserver: starts it by exec, takes children from it, has them killed, sees them end.

Never forks: the worker has threads, and OCCT's and Temporal's locks do not survive a fork.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from domain.defaults import Limits
from domain.kernel_wire import FrameReader, pack, rehearsal_frame, unpack

DEATH_S = 2.0
"""How long a kill may take to be reported: about 10 ms as seen, 0.5 s for a process that holds 4 GiB. After that the
forkserver is given up and its children die with it, inside the 3 s in which a cancelled kernel must be dead."""

_CHUNK = 64 * 1024
_MAX_REPORT_BYTES = 64 * 1024
_MAX_FDS = 16
_MESSAGE_CLOEXEC: int = getattr(socket, "MSG_CMSG_CLOEXEC", 0)

_ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    # The same input gives the same bytes, also where a set of strings is walked.
    "PYTHONHASHSEED": "0",
    # Threads started while importing would not survive the fork.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # Each arena reserves 64 MiB of the address space that is limited.
    "MALLOC_ARENA_MAX": "8",
}
_KEPT_PREFIXES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CASROOT", "CSF_")
"""Where the dynamic linker and OCCT look for their files, should an operator have moved them."""


class ForkserverLost(Exception):
    """The forkserver has died or gives no more children."""


@dataclass(frozen=True)
class Ending:
    """How a child ended: its exit code, negative for a signal, and the end of its output."""

    exit_code: int
    output: str


@dataclass(frozen=True)
class Child:
    """A forked process that waits on `channel` for its job."""

    pid: int
    channel: socket.socket
    ended: asyncio.Future[Ending]
    """Set once the process is reaped."""


class Forkserver:
    """One forkserver process, with a spare child forked ahead so that no job waits for a fork."""

    def __init__(self, limits: Limits, program: str, on_ready: Callable[[list[str]], None]) -> None:
        self._limits = limits
        self._program = program
        self._on_ready = on_ready
        self._loop = asyncio.get_running_loop()
        self._reports = FrameReader(_MAX_REPORT_BYTES)
        self._channels: deque[int] = deque()
        self._children: dict[int, Child] = {}
        self._spares: deque[Child] = deque()
        self._waiting: deque[asyncio.Future[Child]] = deque()
        self._leaving: dict[int, asyncio.Task[None]] = {}
        self._coming = 0
        """Children that were ordered and have not come."""
        self._warm = False
        self._resting = False
        self.lost = False
        """Whether it is gone, and all its children with it."""
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
        with theirs:
            self._process = self._spawn(theirs.fileno())
        self._loop.add_reader(self._control.fileno(), self._readable)
        self._replenish()

    @property
    def pid(self) -> int:
        """Of the forkserver."""
        return self._process.pid

    async def take(self) -> Child:
        """A child that has not had a job. Waits for the forkserver to be warm if need be.

        Raises:
            ForkserverLost: there will be none.
        """
        if self.lost:
            raise ForkserverLost("it has died")
        self._resting = False
        while self._spares:
            spare = self._spares.popleft()
            if not spare.ended.done() and not _has_hung_up(spare.channel):
                self._replenish()
                return spare
            spare.channel.close()
        waiter: asyncio.Future[Child] = self._loop.create_future()
        self._waiting.append(waiter)
        self._replenish()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._offer(waiter.result())
            raise

    def _replenish(self) -> None:
        """Order what lacks: a child for everyone who waits, and one spare."""
        wanted = sum(not waiter.done() for waiter in self._waiting) + 1
        for _ in range(wanted - len(self._spares) - self._coming):
            self._coming += 1
            self._order({"fork": 1})

    def rest(self) -> None:
        """No job runs: let the spare use the time until the next. In a flood nobody rests, and nothing is spent."""
        self._resting = True
        for spare in self._spares:
            _let_rehearse(spare)

    def kill(self, child: Child) -> None:
        """Have a child and its process group killed; `ended` tells when that is done."""
        if not child.ended.done():
            self._order({"kill": child.pid})

    def dismiss(self, child: Child) -> None:
        """Kill a child that has said its last word, and see it dead without keeping anybody waiting.

        Taking 300 MB apart costs a process 10 ms.
        """
        leaving = asyncio.create_task(self.see_dead(child))
        self._leaving[child.pid] = leaving
        leaving.add_done_callback(lambda _: self._leaving.pop(child.pid, None))

    def sees_off(self, child: Child) -> bool:
        """Whether `child` was dismissed, so that its death is looked after, or has died since."""
        return child.pid in self._leaving or child.ended.done()

    async def see_dead(self, child: Child) -> None:
        """Kill `child` and return when it is reaped: at once if it is, and even while the caller is being cancelled.

        Raises:
            asyncio.CancelledError: the caller was cancelled meanwhile; the child is dead all the same.
        """
        self.kill(child)
        cancelled: asyncio.CancelledError | None = None
        give_up_at = self._loop.time() + DEATH_S
        while not child.ended.done():
            if self._loop.time() >= give_up_at:
                self.abandon()
            try:
                await asyncio.wait({child.ended}, timeout=max(give_up_at - self._loop.time(), 0.1))
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled

    def abandon(self) -> None:
        """Kill the forkserver, and with it every child."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """End the forkserver and reap it. Twice: harmless."""
        self._lose()
        if not self._warm:
            # It has no children yet, and is deaf to the closed connection until its imports are done.
            self.abandon()
        try:
            await asyncio.to_thread(self._process.wait, DEATH_S)
        except subprocess.TimeoutExpired:
            self.abandon()
            await asyncio.to_thread(self._process.wait)

    def _spawn(self, control_fd: int) -> subprocess.Popen[bytes]:
        limits = self._limits
        arguments = {
            "perform": self._program,
            "worker": os.getpid(),
            "control-fd": control_fd,
            "memory-bytes": limits.kernel_memory_bytes,
            "cpu-s": limits.kernel_cpu_s,
            "file-bytes": limits.kernel_file_bytes,
        }
        # -P: modules come from where this worker's came from, not from the folder it was started in.
        return subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "kernel.forkserver",
                *(f"--{key}={value}" for key, value in arguments.items()),
            ],
            cwd="/",
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(control_fd,),
            start_new_session=True,  # a terminal's Ctrl-C is the worker's to answer
        )

    def _order(self, order: dict[str, int]) -> None:
        if self.lost:
            return
        frame = pack(order)
        try:
            sent = self._control.send(frame)
        except OSError:
            sent = 0
        if sent < len(frame):  # it has stopped reading, or is dead: nothing more will come of it
            self.abandon()

    def _readable(self) -> None:
        try:
            chunk, fds, _, _ = socket.recv_fds(self._control, _CHUNK, _MAX_FDS, _MESSAGE_CLOEXEC)
        except BlockingIOError:
            return
        except OSError:
            chunk, fds = b"", []
        self._channels.extend(fds)
        if not chunk:
            self._lose()
            return
        for body in self._reports.feed(chunk):
            self._hear(unpack(body))

    def _hear(self, report: dict[str, Any]) -> None:
        match report:
            case {"ready": gaps}:
                self._warm = True
                self._on_ready(gaps)
            case {"forked": pid}:
                self._coming -= 1
                self._offer(self._adopt(pid))
            case {"failed": reason}:
                self._coming -= 1
                self._give(ForkserverLost(f"it could not fork: {reason}"))
            case {"ended": pid, "exit_code": exit_code, "output": output}:
                self._children.pop(pid).ended.set_result(Ending(exit_code, output))

    def _adopt(self, pid: int) -> Child:
        channel = socket.socket(fileno=self._channels.popleft())
        channel.setblocking(False)
        child = Child(pid, channel, self._loop.create_future())
        self._children[pid] = child
        return child

    def _offer(self, child: Child) -> None:
        """To one who waits, else as the spare; a second spare would hold its memory for nothing, so it may leave."""
        if self._give(child):
            return
        if self._spares or self.lost:
            child.channel.close()
        else:
            self._spares.append(child)
            if self._resting:
                _let_rehearse(child)

    def _give(self, answer: Child | ForkserverLost) -> bool:
        """Answer the one who waits longest, if anybody does."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if waiter.done():
                continue
            if isinstance(answer, Child):
                waiter.set_result(answer)
            else:
                waiter.set_exception(answer)
            return True
        return False

    def _lose(self) -> None:
        """The forkserver is gone or let go: so are its children, by the signal that their parent's death sends."""
        if self.lost:
            return
        self.lost = True
        self._loop.remove_reader(self._control.fileno())
        self._control.close()
        for child in self._children.values():
            child.ended.set_result(Ending(-signal.SIGKILL, "the forkserver died"))
        self._children.clear()
        for spare in self._spares:
            spare.channel.close()
        self._spares.clear()
        while self._give(ForkserverLost("it died")):
            continue


def _let_rehearse(spare: Child) -> None:
    with suppress(OSError):  # a dead spare is found out when it is taken
        spare.channel.send(rehearsal_frame())


def _has_hung_up(channel: socket.socket) -> bool:
    """Whether the other end is closed: a dead child's is, before anybody reports its death."""
    try:
        return not channel.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True


def _environment() -> dict[str, str]:
    """Nothing of the worker's environment that could be a secret; where its modules are."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(_KEPT_PREFIXES)}
    modules = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    return {**_ENVIRONMENT, **kept, "PYTHONPATH": modules}
