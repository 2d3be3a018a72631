"""The narrow seams behind which all I/O stands. Each method says what doing it twice means.

Never implements anything: adapters do, and tests hold one small named fake for each port.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias

from domain.defaults import MAX_TRIANGLES
from domain.messages import KernelVersion, MeshQuality, Part, Phase, Produced, StoreKey
from domain.problems import AnyProblem


@dataclass(frozen=True)
class KernelJob:
    """What one kernel process is asked to do in its scratch folder `workdir`."""

    part: Part
    outputs: tuple[str, ...]
    """What to produce, in this order: `shape` and/or formats."""
    shape_file: str | None
    """Name of a checked B-rep in `workdir` to start from; None: build it."""
    mesh: MeshQuality
    workdir: Path
    deadline_s: float
    max_triangles: int = MAX_TRIANGLES


@dataclass(frozen=True)
class Progress:
    """Where the kernel is; `fraction` from 0 to 1 within the phase."""

    phase: Phase
    fraction: float


@dataclass(frozen=True)
class Built:
    """All outputs were produced and announced."""


@dataclass(frozen=True)
class Refused:
    """The kernel's own verdict; asking again gives the same."""

    problem: AnyProblem


@dataclass(frozen=True)
class Crashed:
    """The process ended without a complete result. `signal` names how, for example `SIGSEGV` or `exit 0`."""

    signal: str
    phase: Phase


@dataclass(frozen=True)
class DeadlineExceeded:
    """The process was killed at its deadline."""

    phase: Phase


@dataclass(frozen=True)
class OutOfMemory:
    """The process needed more than its limit."""

    limit_bytes: int


Outcome: TypeAlias = Built | Refused | Crashed | DeadlineExceeded | OutOfMemory
KernelNews: TypeAlias = Progress | Produced
Listener: TypeAlias = Callable[[KernelNews], Awaitable[None]]


class GeometryKernel(Protocol):
    """Runs one job in a process of its own and always comes back."""

    @property
    def version(self) -> KernelVersion:
        """Known without starting a kernel."""
        ...

    async def run(self, job: KernelJob, listen: Listener) -> Outcome:
        """Run `job`; `listen` hears its news in order, each heard to the end before the next.

        A crash, a refusal or a timeout is a value, never an exception. When the caller is cancelled, or `listen`
        raises, the kernel's process group is dead before this returns. Twice: two processes, the same bytes.
        """
        ...


class StoreUnreachable(Exception):
    """The store refused or did not answer; nothing half-written is visible."""


@dataclass(frozen=True)
class Stored:
    """What the store knows of one object."""

    size_bytes: int
    modified_at: datetime


class ArtifactStore(Protocol):
    """Keeps objects under keys such as `artifacts/local/cad_…/part.step`. Every method raises `StoreUnreachable`."""

    async def put_file(self, key: StoreKey, path: Path, sha256: str) -> None:
        """Store the file at `path`, visible whole or not at all; a file that does not hash to `sha256` is refused
        with `StoreUnreachable`. Twice: the same object."""
        ...

    async def put_bytes(self, key: StoreKey, content: bytes) -> None:
        """Store a small object, whole or not at all. Twice: the later one stays."""
        ...

    async def get_file(self, key: StoreKey, path: Path) -> bool:
        """Write the object to `path`; False if there is none. Twice: harmless."""
        ...

    async def get_bytes(self, key: StoreKey) -> bytes | None:
        """A small object's content (64 KiB at most), or None."""
        ...

    async def copy(self, source: StoreKey, target: StoreKey) -> bool:
        """Make `target` the same object as `source`, atomically; False if there is no source. Twice: harmless."""
        ...

    async def stat(self, key: StoreKey) -> Stored | None:
        """Size and time of the object, or None."""
        ...

    async def delete_folder(self, prefix: StoreKey) -> None:
        """Remove every object below `prefix/`. Twice: harmless."""
        ...

    async def probe(self) -> None:
        """Write, read back and delete a small object. Twice: harmless."""
        ...


class LinkMaker(Protocol):
    """Hands out download links that expire."""

    def link(self, key: StoreKey, file_name: str, expires_at: datetime) -> str:
        """An absolute path or URL that serves the object as an attachment named `file_name` until `expires_at`.
        Twice with the same arguments: the same link."""
        ...
