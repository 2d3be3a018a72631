"""The service's JSON documents as frozen, typed values.

Never talks to the network; a document that lacks what its reader needs raises `UnexpectedAnswer`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

Document: TypeAlias = Mapping[str, Any]
Status: TypeAlias = Literal["queued", "processing", "suspended", "completed", "failed", "cancelled"]
TERMINAL: frozenset[str] = frozenset({"completed", "failed", "cancelled"})


@dataclass(frozen=True)
class Fault:
    """One broken rule of a request."""

    pointer: str
    """JSON Pointer to the field in the request."""
    rule: str
    detail: str
    value: Any = None
    limit: Any = None
    """The nearest value of this one field that passes; None where none does."""


@dataclass(frozen=True)
class Problem:
    """An error as the service reports it (RFC 9457)."""

    type: str
    title: str
    detail: str
    status: int | None = None
    instance: str | None = None
    errors: tuple[Fault, ...] = ()
    document: Document = field(default_factory=dict, repr=False)
    """All members, those of the particular problem too."""

    @property
    def slug(self) -> str:
        """The last part of `type`, for example `wall-too-thin`."""
        return self.type.rstrip("/").rpartition("/")[2]


@dataclass(frozen=True)
class Progress:
    """Where a job is; `fraction` runs from 0 to 1."""

    phase: str
    fraction: float
    last_heartbeat: datetime | None = None


@dataclass(frozen=True)
class File:
    """One finished artifact."""

    file_format: str
    file_size_bytes: int
    sha256: str
    download_url: str
    expires_at: datetime | None = None
    triangles: int | None = None


@dataclass(frozen=True)
class Geometry:
    """What was measured on the part, in mm, mm² and mm³."""

    volume: float
    area: float
    center_of_mass: tuple[float, ...]
    bounding_box: Document
    faces: int
    edges: int
    valid: bool
    watertight: bool


@dataclass(frozen=True)
class Kernel:
    """Which kernel made the part."""

    engine: str
    version: str


@dataclass(frozen=True)
class Result:
    """What a completed job made."""

    files: tuple[File, ...]
    geometry: Geometry | None = None
    kernel: Kernel | None = None


@dataclass(frozen=True)
class Job:
    """One generation of one part, as the service saw it when it answered."""

    job_id: str
    status: Status
    created_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    model: str | None = None
    engine: str | None = None
    attempt: int = 1
    evictions: int = 0
    cancel_requested: bool = False
    suspended_reason: str | None = None
    progress: Progress | None = None
    result: Result | None = None
    error: Problem | None = None
    replayed: bool = False
    """True on the answer to `generate` when this request had a job already."""
    retry_after_s: float | None = None
    """How soon the service suggests to ask again; None on terminal jobs."""
    document: Document = field(default_factory=dict, repr=False)
    """The answer as it came."""

    @property
    def is_terminal(self) -> bool:
        """Whether the job will not change any more, unless it is retried."""
        return self.status in TERMINAL

    def file(self, file_format: str) -> File:
        """The artifact in that format.

        Raises:
            KeyError: the job has none in it (yet).
        """
        for file in self.result.files if self.result else ():
            if file.file_format == file_format:
                return file
        raise KeyError(f"job {self.job_id} has no {file_format} file")


@dataclass(frozen=True)
class Model:
    """A part family: what it takes and what it can be written as."""

    name: str
    description: str
    version: str | None = None
    engines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Engine to the formats it writes."""
    parameters: Document = field(default_factory=dict)
    """JSON Schema of the parameters."""
    example: Document = field(default_factory=dict)
    document: Document = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Validation:
    """A request that would be accepted, and what would come of it."""

    volume: float | None
    """mm³, predicted."""
    bounding_box: Document | None
    document: Document = field(default_factory=dict, repr=False)
