"""The JSON documents that answers carry, as typed models whose schemas /openapi.json publishes.

Never decides a value: it fixes names, types and units.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema

from domain.messages import BoundingBox, GeometryFacts, KernelVersion, Phase
from domain.status import State, SuspendedReason


def spelled(moment: datetime) -> str:
    """RFC 3339 in UTC, with milliseconds where there are any: `2024-10-25T08:30:00Z`."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
    return text.removesuffix(".000") + "Z"


Moment: TypeAlias = Annotated[
    datetime, PlainSerializer(spelled, str), WithJsonSchema({"type": "string", "format": "date-time"})
]


class Document(BaseModel):
    """Base of all documents."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


class FaultDocument(Document):
    """One broken rule of a request."""

    pointer: str = Field(description="JSON Pointer to the field in the request.")
    rule: str
    detail: str
    value: float | int | str | None = Field(None, description="What it was, if it is short.")
    limit: float | int | None = Field(description="The nearest value of this one field that passes; null if none does.")


class ProblemDocument(Document):
    """An error (RFC 9457). `type` leads to its page; a particular problem may have more members."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    detail: str
    status: int | None = None
    instance: str | None = Field(None, description="On unexpected errors: what the log calls this one.")
    errors: list[FaultDocument] | None = Field(None, description="On validation-failed: all faults.")


class ReceiptDocument(Document):
    """A job was created."""

    job_id: str
    status: State
    created_at: Moment


class ProgressDocument(Document):
    """How far the job is."""

    phase: Phase
    fraction: float = Field(ge=0, le=1, description="Of the whole job; never falls.")
    last_heartbeat: Moment | None = Field(description="When a worker last reported on it.")


class FileDocument(Document):
    """One finished file."""

    file_format: str
    file_size_bytes: int
    sha256: str
    download_url: str = Field(description="Absolute, or a path on this server. Each status answer holds a valid one.")
    expires_at: Moment
    triangles: int | None = Field(None, description="Of mesh formats.")


class ResultDocument(FileDocument):
    """What a completed job made: the first format's file, then all files."""

    files: list[FileDocument]
    geometry: GeometryFacts = Field(description="Measured on the finished shape, in mm, mm² and mm³.")
    kernel: KernelVersion


class JobDocument(Document):
    """A job's status."""

    job_id: str
    status: State
    suspended_reason: SuspendedReason | None
    created_at: Moment
    started_at: Moment | None
    completed_at: Moment | None
    model: str
    engine: str
    attempt: int
    evictions: int
    cancel_requested: bool
    metadata: dict[str, str]
    progress: ProgressDocument
    result: ResultDocument | None
    error: dict[str, Any] | None = Field(description="Of a failed job: a problem.")


class ValidationDocument(Document):
    """A request that would be accepted, and what would come of it."""

    valid: bool = True
    volume: float = Field(description="mm³, in closed form.")
    bounding_box: BoundingBox = Field(description="mm.")


class ModelDocument(Document):
    """A part family."""

    name: str
    version: str
    description: str
    engines: dict[str, list[str]] = Field(description="Engine to the formats it writes of this model.")
    parameters: dict[str, Any] = Field(description="JSON Schema of the parameters; lengths in mm.")
    example: dict[str, Any] = Field(description="Parameters that make a part.")


class CatalogueDocument(Document):
    """All part families."""

    models: list[ModelDocument]


class HealthDocument(Document):
    """Whether the service can do what was asked about."""

    status: str
