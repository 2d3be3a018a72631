"""The life of one kernel process: wait for a job, get confined, do it, say how it ended, leave.

Never writes to standard output itself: OCCT prints there. Replies go to descriptor 3 and nowhere else.
"""

import faulthandler
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from domain.kernel_wire import MAX_JOB_BYTES, FrameReader, Reply, is_rehearsal, job_from, reply_frame
from domain.messages import Phase
from domain.ports import Built, KernelJob, KernelNews, OutOfMemory, Progress, Refused
from domain.problems import Refusal
from kernel.confinement import Bounds, confine, enter_own_group
from kernel.news import Announce

REPLY_FD = 3
SERVER_OPEN_FILES = 1024
"""The forkserver's own limit: three descriptors for each child."""

PROGRESS_EVERY_S = 0.05
"""A meshing callback may come a hundred thousand times; nobody looks more often than this within one phase."""

Perform = Callable[[KernelJob, Announce], None]
Rehearse = Callable[[Callable[[], bool]], None]
"""Uses idle time before the job; its argument says whether the job has come."""


@dataclass(frozen=True)
class Program:
    """What a kernel process does."""

    perform: Perform
    rehearse: Rehearse


_CHUNK = 64 * 1024


def live(program: Program, bounds: Bounds, server: int, reply_fd: int, output_fd: int) -> NoReturn:
    """Be a kernel process, from the fork to the exit."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        enter_own_group(server)
        _rewire(reply_fd, output_fd)
        faulthandler.enable()
        _work(program, bounds, socket.socket(fileno=REPLY_FD))
        status = 0
    except BaseException:  # noqa: BLE001 - SystemExit too: a child that unwound into the forkserver's loop would be one
        traceback.print_exc()
    # No interpreter exit: OCCT's destructors take time and may crash after the work is done.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def _rewire(reply_fd: int, output_fd: int) -> None:
    """Input from nowhere, output to the forkserver, replies on descriptor 3, and nothing else that the server had."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    os.dup2(reply_fd, REPLY_FD)
    os.closerange(REPLY_FD + 1, max(SERVER_OPEN_FILES, _highest_fd() + 1))


def _highest_fd() -> int:
    """As the system lists them; 0 where it doesn't. What was open before a limit was lowered may lie past it."""
    try:
        return max(map(int, os.listdir("/proc/self/fd")))
    except OSError:
        return 0


def _work(program: Program, bounds: Bounds, channel: socket.socket) -> None:
    job = _receive(channel, program.rehearse)
    if job is None:
        return
    confine(job.workdir, bounds)
    out_of_memory = reply_frame(OutOfMemory(bounds.memory_bytes))  # made while there is memory to make it
    try:
        last_word = _outcome(program.perform, job, _announcer(channel))
    except Exception as error:
        if not _is_out_of_memory(error):
            raise
        channel.sendall(out_of_memory)
    else:
        channel.sendall(reply_frame(last_word))


def _receive(channel: socket.socket, rehearse: Rehearse) -> KernelJob | None:
    """The job, or None if the worker has no use for this process any more."""
    frames = FrameReader(MAX_JOB_BYTES)
    while chunk := channel.recv(_CHUNK):
        for body in frames.feed(chunk):
            if not is_rehearsal(body):
                return job_from(body)
            rehearse(lambda: bool(select.select([channel], [], [], 0)[0]))
    return None


def _outcome(perform: Perform, job: KernelJob, announce: Announce) -> Reply:
    try:
        perform(job, announce)
    except Refusal as refusal:
        return Refused(refusal.problem)
    return Built()


def _announcer(channel: socket.socket) -> Announce:
    """Sends news at once, but progress within one phase only so often."""
    last: tuple[Phase, float] | None = None

    def announce(news: KernelNews) -> None:
        nonlocal last
        if isinstance(news, Progress):
            now = time.monotonic()
            if last is not None and last[0] == news.phase and now < last[1] + PROGRESS_EVERY_S and news.fraction < 1:
                return
            last = (news.phase, now)
        channel.sendall(reply_frame(news))

    return announce


def _is_out_of_memory(error: Exception) -> bool:
    """Python's own and C++'s `bad_alloc` arrive as MemoryError; OCCT has one more."""
    return isinstance(error, MemoryError) or any("OutOfMemory" in kind.__name__ for kind in type(error).__mro__)
