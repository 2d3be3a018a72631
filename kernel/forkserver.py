"""The warm process from which kernel processes are forked: `python -m kernel.forkserver`.

Never runs OCCT, never has a second thread and never outlives its worker: it imports, forks, reaps and kills.
"""

import argparse
import gc
import importlib
import os
import resource
import selectors
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from domain.kernel_wire import FrameReader, pack, unpack
from kernel.child import SERVER_OPEN_FILES, Program, live
from kernel.confinement import Bounds, gaps, lower, readable
from kernel.linux import die_with_parent

TAIL_BYTES = 4096
"""How much of a child's output is kept for the worker's log: the end of a stack, of whatever a kernel prints."""

_CHUNK = 64 * 1024
_MAX_ORDER_BYTES = 1024


@dataclass
class Output:
    """The end of what one child has printed."""

    fd: int
    tail: bytearray = field(default_factory=bytearray)

    def drain(self, chunks: int) -> bool:
        """Read at most `chunks` times what is there; False at the end of it."""
        for _ in range(chunks):
            try:
                chunk = os.read(self.fd, _CHUNK)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            self.tail = (self.tail + chunk)[-TAIL_BYTES:]
        return True


class Forkserver:
    """Serves one worker over `control` until the other end closes."""

    def __init__(self, control: socket.socket, program: Program, bounds: Bounds) -> None:
        self._control = control
        self._program = program
        self._bounds = bounds
        self._outputs: dict[int, Output] = {}
        self._orders = FrameReader(_MAX_ORDER_BYTES)
        self._serving = True
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Fork and kill as ordered, report every end; at last kill whatever is left."""
        deaths = _child_deaths()
        self._watch(self._control, self._obey)
        self._watch(deaths, lambda: self._reap(deaths))
        self._tell({"ready": gaps()})
        while self._serving:
            for key, _ in self._selector.select():
                # An earlier event of the same batch may have closed this descriptor, or given its number away.
                if self._selector.get_map().get(key.fd) is key:
                    key.data()
        for pid in self._outputs:
            _kill(pid)

    def _watch(self, source: int | socket.socket, react: Callable[[], Any]) -> None:
        self._selector.register(source, selectors.EVENT_READ, react)

    def _tell(self, message: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        """To the worker; when it is gone, the next look at the control socket says so."""
        with suppress(BrokenPipeError, ConnectionResetError):
            frame = pack(message)
            sent = socket.send_fds(self._control, [frame], fds)
            self._control.sendall(frame[sent:])

    def _obey(self) -> None:
        try:
            chunk = self._control.recv(_CHUNK)
        except ConnectionResetError:
            chunk = b""
        self._serving = bool(chunk)
        for body in self._orders.feed(chunk):
            order = unpack(body)
            if "fork" in order:
                self._fork()
            elif order["kill"] in self._outputs:  # else it is dead and reported
                _kill(order["kill"])

    def _fork(self) -> None:
        with ExitStack() as ours:
            try:
                pid, channel = self._start_child(ours)
            except OSError as error:  # no room for a process, or for its descriptors
                self._tell({"failed": error.strerror})
            else:
                self._tell({"forked": pid}, (channel.fileno(),))

    def _start_child(self, ours: ExitStack) -> tuple[int, socket.socket]:
        """The child and the worker's end of its channel; `ours` closes what this process need not keep."""
        server = os.getpid()
        channel, child_end = map(ours.enter_context, socket.socketpair())
        output, child_output = os.pipe()
        ours.callback(os.close, child_output)
        try:
            pid = os.fork()
        except OSError:
            os.close(output)
            raise
        if pid == 0:
            live(self._program, self._bounds, server, child_end.fileno(), child_output)
        self._adopt(pid, output)
        return pid, channel

    def _adopt(self, pid: int, output: int) -> None:
        os.set_blocking(output, False)
        self._outputs[pid] = kept = Output(output)
        self._watch(output, lambda: self._listen(kept))

    def _listen(self, output: Output) -> None:
        if not output.drain(chunks=1):
            self._selector.unregister(output.fd)  # closed by its child; the descriptor goes with the child

    def _reap(self, deaths: socket.socket) -> None:
        deaths.recv(_CHUNK)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._report(pid, os.waitstatus_to_exitcode(status))

    def _report(self, pid: int, exit_code: int) -> None:
        # What the child may have left in its group, where the system could not forbid that. While the group has members
        # its number is not given away, and without any it takes a whole round of process numbers until it is.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        output = self._outputs.pop(pid)
        output.drain(chunks=16)  # more than a full pipe; bounded, should something still write into it
        with suppress(KeyError):
            self._selector.unregister(output.fd)
        os.close(output.fd)
        self._tell({"ended": pid, "exit_code": exit_code, "output": output.tail.decode(errors="replace")})


def _kill(pid: int) -> None:
    """Kill a child that is not reaped yet, and its group if it has come to have one."""
    os.kill(pid, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _child_deaths() -> socket.socket:
    """A socket that becomes readable when a child has died."""
    readable, written = socket.socketpair()
    for end in (readable, written):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(written.detach(), warn_on_full_buffer=False)
    return readable


def main() -> None:
    """Import the program, then serve."""
    arguments = _arguments()
    die_with_parent(arguments.worker, signal.SIGKILL)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # the worker answers these; this process ends with it
    control = socket.socket(fileno=_lowest(arguments.control_fd))
    lower(resource.RLIMIT_NOFILE, SERVER_OPEN_FILES)
    module, _, function = arguments.perform.partition(":")
    found = importlib.import_module(module)
    program = Program(getattr(found, function), getattr(found, "rehearse", lambda _: None))
    readable()
    gc.collect()
    gc.freeze()  # a child's collector must not touch, and so copy, every page it shares with this process
    bounds = Bounds(arguments.memory_bytes, arguments.cpu_s, arguments.file_bytes)
    Forkserver(control, program, bounds).serve()


def _lowest(fd: int) -> int:
    """The same connection under the lowest free number: a busy worker's own may lie past this process's limit."""
    lowest = os.dup(fd)
    os.close(fd)
    return lowest


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kernel.forkserver")
    parser.add_argument("--perform", required=True, help="module:function that does one job")
    for name in ("--worker", "--control-fd", "--memory-bytes", "--cpu-s", "--file-bytes"):
        parser.add_argument(name, type=int, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
    os._exit(0)  # taking 300 MB of modules down in order is of no use to anybody
