"""What travels between API, workflows, activities and the kernel process: keys and facts, never file bytes.

Never holds a secret: all of it stands in workflow history.
"""

from datetime import datetime
from typing import Any, Literal, NewType, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from domain.defaults import ANGULAR_DEFLECTION_RAD, LINEAR_DEFLECTION_MM

JobId = NewType("JobId", str)
Tenant = NewType("Tenant", str)
StoreKey = NewType("StoreKey", str)

BrepFormat: TypeAlias = Literal["step", "brep"]
MeshFormat: TypeAlias = Literal["stl"]
Format: TypeAlias = Literal["step", "brep", "stl"]
MESH_FORMATS: frozenset[str] = frozenset({"stl"})

Phase: TypeAlias = Literal["queued", "building", "checking", "exporting", "meshing", "publishing", "done"]
Vector: TypeAlias = tuple[float, float, float]


class Wire(BaseModel):
    """Base of all messages: immutable; unknown members are ignored so that old histories replay."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class MeshQuality(Wire):
    """How close a mesh must follow the surface: absolute, in mm and radians."""

    linear_deflection: float = Field(LINEAR_DEFLECTION_MM, ge=1e-4, le=10, description="mm")
    angular_deflection: float = Field(ANGULAR_DEFLECTION_RAD, ge=0.01, le=1, description="radians")


class Part(Wire):
    """What is to be made: a model's parameters, validated and with their defaults filled in."""

    model: str
    model_version: str
    engine: str
    parameters: dict[str, Any]


class Checkpoint(Wire):
    """What a resumed placement starts from, and what the status shows. Repeated whole in every heartbeat."""

    phase: Phase = "queued"
    fraction: float = 0.0
    committed: int = 0
    """Outputs in the store so far in this job; the only thing that counts as getting further."""
    attempt: int = 1
    """The highest attempt that a kernel activity of this job has come to; evictions do not count."""
    started_at: datetime | None = None
    """When the first placement of the job began to run."""
    last_heartbeat: datetime | None = None


class BoundingBox(Wire):
    """Axis-aligned, mm."""

    min: Vector
    max: Vector


class GeometryFacts(Wire):
    """What was measured on the shape, in mm, mm² and mm³."""

    volume: float
    area: float
    center_of_mass: Vector
    bounding_box: BoundingBox
    solids: int
    faces: int
    edges: int
    valid: bool
    watertight: bool


class KernelVersion(Wire):
    """Which kernel made a file; part of every content address."""

    engine: str
    version: str


class Produced(Wire):
    """One finished, checked file in the kernel's scratch folder."""

    output: str
    """`shape` (the B-rep that is kept) or a format."""
    file_name: str
    size_bytes: int
    sha256: str
    facts: GeometryFacts | None = None
    """On `shape` only."""
    triangles: int | None = None
    """On mesh formats only."""


class StoredOutput(Wire):
    """A `Produced` file that the store holds at `key`."""

    produced: Produced
    key: StoreKey
    kernel: KernelVersion


class StageOrder(Wire):
    """The input of both kernel activities."""

    job_id: JobId
    tenant: Tenant
    part: Part
    formats: tuple[str, ...]
    """Formats this stage must leave in the store (for `build_geometry` possibly none)."""
    earlier: int = 0
    """How many formats the stages before it have left there."""
    mesh: MeshQuality = MeshQuality()
    checkpoint: Checkpoint = Checkpoint()


class StageReport(Wire):
    """The output of both kernel activities."""

    shape: StoredOutput
    outputs: tuple[StoredOutput, ...]
    checkpoint: Checkpoint


class PublishOrder(Wire):
    """Makes the stored outputs visible as the job's artifacts, all of them or none."""

    job_id: JobId
    tenant: Tenant
    model: str
    outputs: tuple[StoredOutput, ...]


class JobFolder(Wire):
    """All that a job has published."""

    job_id: JobId
    tenant: Tenant


class PublishedFile(Wire):
    """One artifact. `key` is its address in the store, `file_name` what a browser saves it as."""

    file_format: str
    key: StoreKey
    file_name: str
    file_size_bytes: int
    sha256: str
    triangles: int | None = None


class Timeouts(Wire):
    """How long a job's workflow waits for what, in seconds; decided when the job is created."""

    heartbeat_s: float = 10
    stage_s: float = 1200
    """The server's backstop for an activity that neither ends nor stops beating."""
    publish_s: float = 600


class GenerateOrder(Wire):
    """The input of the `GeneratePart` workflow: one job."""

    job_id: JobId
    tenant: Tenant
    part: Part
    formats: tuple[str, ...]
    mesh: MeshQuality = MeshQuality()
    priority: int = 3
    timeouts: Timeouts = Timeouts()


class Generation(Wire):
    """The output of the `GeneratePart` workflow."""

    files: tuple[PublishedFile, ...]
    geometry: GeometryFacts
    kernel: KernelVersion
    checkpoint: Checkpoint
