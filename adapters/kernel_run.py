"""One job in one child: sends it, checks what comes back, watches clock and memory, and names how it ended.

Never believes an exit code alone, nor a file that it has not seen.
"""

import asyncio
import math
import os
import signal
import stat
from collections import deque
from pathlib import Path

from adapters.kernel_forkserver import DEATH_S, Child, Ending, Forkserver
from adapters.kernel_usage import memory_bytes, overfills
from domain.defaults import Limits
from domain.kernel_wire import MAX_REPLY_BYTES, BrokenFrame, FrameReader, Reply, job_frame, reply_from
from domain.messages import Phase, Produced
from domain.ports import (
    Built,
    Crashed,
    DeadlineExceeded,
    KernelJob,
    KernelNews,
    Listener,
    Outcome,
    OutOfMemory,
    Progress,
    Refused,
)

WATCH_S = 0.2
"""How often memory and scratch are looked at: between two looks a process can fill about 1 GiB of memory, what its
address space allows, or of disk, what the disk takes."""

SCRATCH_FILES = 2
"""How many of the largest files a scratch folder may hold: one that is being written beside all that are finished."""

LAST_WORDS_S = 1.0
"""How long a dead process's channel may stay open. Its end closed when it died: this is for what it may have left."""

BACKLOG = 1000
"""News that may wait for a listener that is busy storing a file; then progress overtakes progress."""

MOST_REPLIES = 100_000
"""A job's honest news are some hundreds; a flood without end would keep the worker busy."""

BROKEN_REPLY = "broken reply"
SCRATCH_LIMIT = "scratch limit"
_CHUNK = 64 * 1024
_NO_MEMORY = ("std::bad_alloc", "Standard_OutOfMemory")


class KernelRun:
    """Runs `job` in `child`, once."""

    def __init__(self, server: Forkserver, child: Child, job: KernelJob, limits: Limits) -> None:
        self._server = server
        self._child = child
        self._job = job
        self._limits = limits
        self._phase: Phase = "building" if job.shape_file is None else "checking"
        self._news: deque[KernelNews] = deque()
        self._stir = asyncio.Event()
        self._replies = 0
        self._announced: set[str] = set()
        self._last_word: Built | Refused | OutOfMemory | None = None
        self._stopped_for: Outcome | None = None
        self._give_up_at = math.inf
        """When a process that was stopped must be dead; else its forkserver doesn't obey."""
        self.ending: Ending | None = None
        """How the process ended, once it has."""

    async def outcome(self, listen: Listener) -> Outcome:
        """How the job ended; whatever `listen` raises comes out when the process is dead."""
        reading = asyncio.create_task(self._read())
        reading.add_done_callback(lambda _: self._stir.set())
        watching = asyncio.create_task(self._watch(reading))
        try:
            await self._hold(asyncio.create_task(self._tell(listen, reading)))
            if (verdict := self._verdict()) is not None:
                self._server.dismiss(self._child)
                return verdict
            # The channel is closed but the process need not be dead; until it is, the watch goes on.
            self.ending = await asyncio.shield(self._child.ended)
            return self._conclude(self.ending)
        finally:
            await self._leave(reading, watching)

    async def _hold(self, telling: asyncio.Task[None]) -> None:
        """Wait for the listener, which may go on storing a file long after a cancellation; the process must not."""
        cancelled: asyncio.CancelledError | None = None
        while not telling.done():
            try:
                await asyncio.wait({telling})
            except asyncio.CancelledError as error:
                cancelled = error
                telling.cancel()
                self._stop(Crashed("SIGKILL", self._phase))
        if cancelled is None:
            telling.result()
        else:
            await asyncio.gather(telling, return_exceptions=True)  # what it raised gives way to the cancellation
            raise cancelled

    async def _leave(self, *tasks: asyncio.Task[None]) -> None:
        try:
            if not self._server.sees_off(self._child):
                await self._server.see_dead(self._child)
        finally:
            for task in tasks:
                task.cancel()
            try:
                await asyncio.gather(*tasks, return_exceptions=True)
            finally:
                self._child.channel.close()

    async def _tell(self, listen: Listener, reading: asyncio.Task[None]) -> None:
        """Every news to the listener, in order, until there is no more to come."""
        while self._news or not reading.done():
            self._stir.clear()
            while self._news:
                await listen(self._news.popleft())
            if not reading.done():
                await self._stir.wait()

    async def _read(self) -> None:
        """Hand over the job, then hear the process to its last word or to the end of its channel."""
        loop = asyncio.get_running_loop()
        frames = FrameReader(MAX_REPLY_BYTES)
        try:
            await loop.sock_sendall(self._child.channel, job_frame(self._job))
            while self._last_word is None and (chunk := await loop.sock_recv(self._child.channel, _CHUNK)):
                for body in frames.feed(chunk):
                    self._hear(reply_from(body))
                    if self._last_word is not None:
                        return  # whatever else it says is not listened to
                self._stir.set()
        except BrokenFrame:
            self._stop(Crashed(BROKEN_REPLY, self._phase))
        except OSError:
            return  # reset by its death; how it died is reported by the forkserver

    def _hear(self, reply: Reply) -> None:
        self._replies += 1
        if self._replies > MOST_REPLIES:
            raise BrokenFrame("more than was to come")
        match reply:
            case Progress():
                self._phase = reply.phase
                if len(self._news) >= BACKLOG and isinstance(self._news[-1], Progress):
                    self._news.pop()
                self._news.append(reply)
            case Produced():
                self._check(reply)
                self._announced.add(reply.output)
                self._news.append(reply)
            case _:
                self._last_word = reply

    def _check(self, file: Produced) -> None:
        """An announced file is one of the job's, announced once, and really there.

        Raises:
            BrokenFrame: it is not.
        """
        if file.output not in self._job.outputs or file.output in self._announced:
            raise BrokenFrame("not an output of this job")
        if not _is_plain_file(self._job.workdir, file.file_name, file.size_bytes):
            raise BrokenFrame("not there")

    async def _watch(self, reading: asyncio.Task[None]) -> None:
        """Stop the process at its deadline and at its memory limit; when it is dead, nothing more is to be read."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._job.deadline_s
        at_start = memory_bytes(self._child.pid)
        while not self._child.ended.done():
            left_s = give_up_at - loop.time()
            if loop.time() >= self._give_up_at:
                self._server.abandon()
            elif left_s <= 0:
                self._stop(DeadlineExceeded(self._phase))
            elif (excess := self._excess(at_start)) is not None:
                self._stop(excess)
            await asyncio.wait({self._child.ended}, timeout=min(left_s, WATCH_S) if left_s > 0 else WATCH_S)
        await asyncio.wait({reading}, timeout=LAST_WORDS_S)
        reading.cancel()

    def _excess(self, memory_at_start: int) -> Outcome | None:
        """What the process uses too much of, if anything."""
        if memory_bytes(self._child.pid) - memory_at_start > self._limits.kernel_memory_bytes:
            return OutOfMemory(self._limits.kernel_memory_bytes)
        if overfills(self._job.workdir, SCRATCH_FILES * self._limits.kernel_file_bytes):
            return Crashed(SCRATCH_LIMIT, self._phase)
        return None

    def _stop(self, verdict: Outcome) -> None:
        """Kill the process; the first reason counts."""
        if self._stopped_for is None:
            self._stopped_for = verdict
            self._give_up_at = asyncio.get_running_loop().time() + DEATH_S
        self._server.kill(self._child)

    def _verdict(self) -> Built | Refused | None:
        """What the process said, if that is all there is to know; how long it takes to die then is nobody's concern.

        A broken reply spoils everything; else a complete result counts even when the kill was on its way.
        """
        word = self._last_word
        if word is None or isinstance(word, OutOfMemory) or isinstance(self._stopped_for, Crashed):
            return None
        complete = isinstance(word, Refused) or self._announced == set(self._job.outputs)
        return word if complete else None

    def _conclude(self, ending: Ending) -> Outcome:
        if self._stopped_for is not None:
            return self._stopped_for
        return self._last_word if isinstance(self._last_word, OutOfMemory) else self._death(ending)

    def _death(self, ending: Ending) -> Outcome:
        """What an end of its own accord means. SIGXFSZ, a file past its limit, stays what it is called."""
        if ending.exit_code >= 0:
            return Crashed(f"exit {ending.exit_code}", self._phase)
        if -ending.exit_code == signal.SIGXCPU:
            return DeadlineExceeded(self._phase)
        if -ending.exit_code == signal.SIGABRT and any(words in ending.output for words in _NO_MEMORY):
            return OutOfMemory(self._limits.kernel_memory_bytes)
        return Crashed(_signal_name(-ending.exit_code), self._phase)


def _is_plain_file(folder: Path, name: str, size_bytes: int) -> bool:
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        return False
    try:
        found = os.lstat(folder / name)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_size == size_bytes


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"  # a real-time signal has no name
