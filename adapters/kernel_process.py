"""The geometry kernel as processes of its own: one for each job, forked from a warm server, confined, watched, reaped.

Never runs geometry in the worker and never raises what a kernel did: that comes back as a value.
"""

import asyncio
import importlib.metadata
import logging

from adapters.kernel_forkserver import Child, Forkserver, ForkserverLost
from adapters.kernel_run import KernelRun
from domain.defaults import Limits
from domain.messages import KernelVersion
from domain.ports import Built, Crashed, KernelJob, Listener, Outcome, Refused

ENGINE = "opencascade-brep"

WARM_UP_S = 120.0
"""Importing the kernel takes 1-2 s, 25 s from a cold disk with all of CadQuery; past this it will never come."""

_STARTS = 2
"""A forkserver that died since the last job is replaced; one that dies again at once is broken."""

log = logging.getLogger("partmill.kernel")


class ForkedKernel:
    """Implements `GeometryKernel`. Start and use it in one event loop; the loop's thread must live as long as it does:
    the forkserver dies with the thread that started it."""

    def __init__(self, limits: Limits, program: str = "kernel.work:perform") -> None:
        self._limits = limits
        self._program = program
        self._version = KernelVersion(engine=ENGINE, version=importlib.metadata.version("cadquery-ocp"))
        self._server: Forkserver | None = None
        self._warned = False
        self._closed = False
        self._running = 0
        self._burials: set[asyncio.Task[None]] = set()

    @property
    def version(self) -> KernelVersion:
        """Of the installed kernel, read from its package's metadata."""
        return self._version

    @property
    def server_pid(self) -> int | None:
        """Of the forkserver that takes the next job; None if none lives."""
        return None if self._server is None or self._server.lost else self._server.pid

    async def start(self) -> None:
        """Start the forkserver and return at once; the first job waits until it is warm. Twice: harmless."""
        self._live_server()

    async def close(self) -> None:
        """End the forkserver and every kernel process. Twice: harmless."""
        self._closed = True
        self._bury()
        await asyncio.gather(*self._burials)

    async def run(self, job: KernelJob, listen: Listener) -> Outcome:
        """See `GeometryKernel.run`."""
        try:
            server, child = await self._child()
        except ForkserverLost as lost:
            log.error("no kernel process for a job: %s", lost)
            return Crashed("no process", "building" if job.shape_file is None else "checking")
        run = KernelRun(server, child, job, self._limits)
        self._running += 1
        try:
            outcome = await run.outcome(listen)
        finally:
            self._running -= 1
            if self._running == 0:
                server.rest()
        if not isinstance(outcome, Built | Refused) and run.ending is not None:
            log.warning("kernel process %d: %s; its last output:\n%s", child.pid, outcome, run.ending.output)
        return outcome

    async def _child(self) -> tuple[Forkserver, Child]:
        for _ in range(_STARTS):
            server = self._live_server()
            try:
                async with asyncio.timeout(WARM_UP_S):
                    return server, await server.take()
            except ForkserverLost as lost:
                log.warning("the forkserver is lost (%s)", lost)
            except TimeoutError:
                server.abandon()
        raise ForkserverLost("it does not start")

    def _live_server(self) -> Forkserver:
        if self._closed:
            raise RuntimeError("this kernel is closed")
        if self._server is not None and self._server.lost:
            self._bury()
        if self._server is None:
            self._server = Forkserver(self._limits, self._program, self.warn)
        return self._server

    def _bury(self) -> None:
        """Let the forkserver go and reap it in the background."""
        if self._server is not None:
            burial = asyncio.create_task(self._server.close())
            self._burials.add(burial)
            burial.add_done_callback(self._burials.discard)
            self._server = None

    def warn(self, gaps: list[str]) -> None:
        """Tell an operator what this system can't confine: once, however often the forkserver is started anew."""
        if gaps and not self._warned:
            self._warned = True
            log.warning("not confined on this system: %s", "; ".join(gaps))
