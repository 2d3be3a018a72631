"""The parameters of every part family, as typed models whose JSON Schema the API publishes.

Never decides whether a part can be made: that is for the rules, which name what is wrong and what would pass.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict

SMALLEST_SIZE_MM = 0.1
LARGEST_SIZE_MM = 100_000
"""Below, a part is no larger than a few of the smallest features; above, 64-bit coordinates lose micrometres."""


def _whole_number(value: Any) -> Any:
    """`1.0` and `1` are the same JSON number; everything else is left to the strict integer check."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite JSON number; `"3"`, `true`, NaN and infinity are refused."""

WholeNumber: TypeAlias = Annotated[int, Field(strict=True), BeforeValidator(_whole_number)]
"""A JSON number without a fraction: `1.0` is accepted, `"1"` and `true` are refused."""

_OVERALL_RANGE: JsonDict = {"minimum": SMALLEST_SIZE_MM, "maximum": LARGEST_SIZE_MM}
"""For readers of the schema. A rule, not the schema, refuses what lies outside: it names the nearest size."""


class Parameters(BaseModel):
    """Base of all families' parameters: immutable, and a misspelt name is refused, never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HolePattern(Parameters):
    """Straight through-holes parallel to the axis, evenly spaced on a circle around it, the first on +X."""

    count: WholeNumber = Field(ge=1, le=360, description="How many holes.")
    pitch_diameter: Number = Field(ge=0, description="Diameter of the circle through the holes' centres, mm.")
    hole_diameter: Number = Field(description="Diameter of each hole, mm.", json_schema_extra={"exclusiveMinimum": 0})


class BoredCylinder(Parameters):
    """A cylinder along Z standing on z = 0, optionally bored, with rounded rims and a pattern of holes."""

    outer_diameter: Number = Field(description="Outer diameter, mm.", json_schema_extra=_OVERALL_RANGE)
    inner_diameter: Number = Field(ge=0, description="Diameter of the bore, mm; 0 for a solid cylinder.")
    length: Number = Field(description="Length along Z, mm.", json_schema_extra=_OVERALL_RANGE)
    fillet_radius: Number = Field(0.0, ge=0, description="Radius of the rounded rims, mm; 0 for sharp rims.")
    fillet_edges: Literal["outer", "all"] = Field(
        "outer", description="Which rims are rounded: both outer ones, or those of the bore as well."
    )
    hole_pattern: HolePattern | None = Field(None, description="Through-holes around the axis; none if left out.")
