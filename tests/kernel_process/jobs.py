"""Jobs for kernel processes, and what tests see of processes from outside.

Never signals a process.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from domain.messages import MeshQuality, Part, Produced
from domain.ports import GeometryKernel, KernelJob, KernelNews, Outcome, Progress
from tests.processes import until

SABOTEUR = "tests.kernel_process.saboteur:perform"


def job_for(act: str, workdir: Path, *outputs: str, deadline_s: float = 60, **parameters: Any) -> KernelJob:
    """A job whose part makes the saboteur (or a fake's script) do `act`."""
    part = Part(model=act, model_version="1", engine="opencascade-brep", parameters=parameters)
    return KernelJob(part, outputs or ("step",), None, MeshQuality(), workdir, deadline_s)


@dataclass
class Heard:
    """A listener that remembers."""

    news: list[KernelNews] = field(default_factory=list)

    async def __call__(self, news: KernelNews) -> None:
        self.news.append(news)

    @property
    def files(self) -> list[Produced]:
        """The announced files."""
        return [news for news in self.news if isinstance(news, Produced)]

    @property
    def phases(self) -> list[str]:
        """The announced phases."""
        return [news.phase for news in self.news if isinstance(news, Progress)]


async def outcome_of(kernel: GeometryKernel, act: str, workdir: Path, **options: Any) -> Outcome:
    """Run one act, its news unheard."""
    return await kernel.run(job_for(act, workdir, **options), Heard())


async def exists(path: Path) -> None:
    """Wait until a kernel process has made `path`."""
    await settles(path.exists, True, f"{path.name} appears")


def lives(pid: int) -> bool:
    """Whether the process exists, a zombie included."""
    return Path(f"/proc/{pid}").exists()


def children(pid: int) -> set[int]:
    """The processes whose parent is `pid`, zombies included."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended while we looked
        if int(fields[1]) == pid:
            found.add(int(stat.parent.name))
    return found


def working_in(folder: Path, pids: set[int]) -> set[int]:
    """Those of `pids` whose current folder is `folder`."""
    return {pid for pid in pids if os.path.realpath(f"/proc/{pid}/cwd") == str(folder)}


def open_files(pid: int) -> int:
    """How many descriptors the process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


async def settles(look: Callable[[], Any], expected: Any, what: str) -> None:
    """Wait until `look()` is what is expected."""

    async def equal() -> bool | None:
        return True if look() == expected else None

    await until(equal, what)
