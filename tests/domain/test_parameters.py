"""Which JSON values a parameter accepts, and what its schema tells a reader."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from domain.catalogue import DEFAULT_MODEL, MODELS, parameters_schema
from domain.parameters import BoredCylinder, HolePattern

EXAMPLE = dict(MODELS[DEFAULT_MODEL].example)
PATTERN = EXAMPLE["hole_pattern"]


def faulty_fields(parameters: dict[str, Any]) -> list[str]:
    """Where the schema finds fault, as dotted paths."""
    with pytest.raises(ValidationError) as caught:
        BoredCylinder.model_validate(parameters)
    return [".".join(map(str, error["loc"])) for error in caught.value.errors()]


def test_only_the_three_main_sizes_are_required() -> None:
    part = BoredCylinder(outer_diameter=10, inner_diameter=0, length=5)
    assert (part.fillet_radius, part.fillet_edges, part.hole_pattern) == (0.0, "outer", None)


@pytest.mark.parametrize("value", ["3", True, None, [3], math.nan, math.inf, -math.inf, 10**400])
def test_a_size_is_a_finite_number(value: object) -> None:
    assert faulty_fields({**EXAMPLE, "outer_diameter": value}) == ["outer_diameter"]


@pytest.mark.parametrize("value", ["3", True, None, 1.5, math.nan, math.inf, 0, -1, 361, 10**400])
def test_a_count_is_a_whole_number_from_1_to_360(value: object) -> None:
    assert faulty_fields({**EXAMPLE, "hole_pattern": {**PATTERN, "count": value}}) == ["hole_pattern.count"]


def test_a_whole_number_may_be_spelt_with_a_decimal_point() -> None:
    pattern = HolePattern.model_validate({**PATTERN, "count": 6.0})
    assert (pattern.count, type(pattern.count)) == (6, int)


def test_an_integer_is_a_size() -> None:
    assert BoredCylinder.model_validate({**EXAMPLE, "length": 300}) == BoredCylinder.model_validate(EXAMPLE)


@pytest.mark.parametrize("field", ["inner_diameter", "fillet_radius"])
def test_a_size_that_no_rule_bounds_from_below_is_not_negative(field: str) -> None:
    assert faulty_fields({**EXAMPLE, field: -1}) == [field]


def test_unknown_fields_are_refused_at_every_depth() -> None:
    assert faulty_fields({**EXAMPLE, "depth": 1, "hole_pattern": {**PATTERN, "angle": 2}}) == [
        "hole_pattern.angle",
        "depth",
    ]


def test_all_faults_of_the_schema_come_together() -> None:
    assert faulty_fields({"outer_diameter": "3", "length": True, "fillet_edges": "inner"}) == [
        "outer_diameter",
        "inner_diameter",
        "length",
        "fillet_edges",
    ]


def test_the_schema_tells_units_and_ranges() -> None:
    schema = parameters_schema(MODELS[DEFAULT_MODEL])
    outer = schema["properties"]["outer_diameter"]
    assert (outer["minimum"], outer["maximum"], "mm" in outer["description"]) == (0.1, 100_000, True)
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["outer_diameter", "inner_diameter", "length"]


def test_parameters_are_immutable() -> None:
    part = BoredCylinder.model_validate(EXAMPLE)
    with pytest.raises(ValidationError):
        part.length = 1  # type: ignore[misc]
