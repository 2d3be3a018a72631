"""The body of a generation request: its schema, and the order that follows from a request that holds.

Never starts anything.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from api.catalogue_faults import MOST_FORMATS, catalogue_faults, chosen_model
from api.schema_faults import refusal, schema_faults
from domain.catalogue import DEFAULT_MODEL
from domain.messages import GenerateOrder, JobId, MeshQuality, Part, Tenant, Timeouts
from domain.models import Fault, Model
from domain.parameters import WholeNumber

DEFAULT_PRIORITY = 3
"""The middle of Temporal's five."""


class MeshRequest(MeshQuality):
    """How closely mesh formats must follow the surface."""

    model_config = ConfigDict(extra="forbid", strict=True)


class GenerateRequest(BaseModel):
    """One part to be made. Exactly one of `export_format` and `export_formats` is given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(DEFAULT_MODEL, description="A part family of GET /v1/models.")
    engine: str = Field(description="One of the model's engines.")
    export_format: str | None = Field(None, description="The one format to write.")
    export_formats: list[str] | None = Field(
        None, min_length=1, max_length=MOST_FORMATS, description="Several formats, each once."
    )
    parameters: dict[str, Any] = Field(description="As the model's own schema has them.")
    mesh: MeshRequest = MeshRequest()
    priority: WholeNumber = Field(DEFAULT_PRIORITY, ge=1, le=5, description="1 is served first.")
    metadata: dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]] = Field(
        default_factory=dict, max_length=50, description="Yours; the job's status repeats it."
    )


@dataclass(frozen=True)
class PartRequest:
    """A request that holds: nothing about it can be refused any more."""

    model: Model
    parameters: BaseModel
    engine: str
    formats: tuple[str, ...]
    mesh: MeshQuality
    priority: int
    metadata: dict[str, str]

    def order(self, job_id: JobId, tenant: Tenant, timeouts: Timeouts) -> GenerateOrder:
        """The input of the job's workflow."""
        part = Part(
            model=self.model.name,
            model_version=self.model.version,
            engine=self.engine,
            parameters=self.parameters.model_dump(mode="json"),
        )
        return GenerateOrder(
            job_id=job_id,
            tenant=tenant,
            part=part,
            formats=self.formats,
            mesh=self.mesh,
            priority=self.priority,
            timeouts=timeouts,
        )


def understood(content: Any) -> PartRequest:
    """The request that the JSON value `content` makes.

    Raises:
        Refusal: `ValidationFailed` with all faults of the schema, or where it holds, with all broken rules.
    """
    outer, faults = schema_faults(GenerateRequest, content, "")
    given = content if isinstance(content, dict) else None
    model = None if given is None else chosen_model(given)
    faults += [] if given is None else catalogue_faults(given, model)
    parameters = None
    if model is not None and given is not None and isinstance(given.get("parameters"), dict):
        parameters, found = schema_faults(model.parameters, given["parameters"], "/parameters")
        faults += found
    if faults or model is None or parameters is None or not isinstance(outer, GenerateRequest):
        raise refusal(faults)
    if broken := [_below_parameters(fault) for fault in model.faults(parameters)]:
        raise refusal(broken)
    return PartRequest(
        model=model,
        parameters=parameters,
        engine=outer.engine,
        formats=tuple(outer.export_formats or [outer.export_format or ""]),
        mesh=MeshQuality(**outer.mesh.model_dump()),
        priority=outer.priority,
        metadata=outer.metadata,
    )


def _below_parameters(fault: Fault) -> Fault:
    return Fault("/parameters" + fault.pointer, fault.rule, fault.detail, fault.value, fault.limit)
