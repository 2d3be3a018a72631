"""Every rule against the corpus, and every limit against its own rule."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.bored_cylinder import BORED_CYLINDER
from domain.models import Fault
from domain.parameters import BoredCylinder, HolePattern
from domain.rules import RULES, faults
from domain.sizes import FIELDS_THAT_MAY_BE_ZERO, value_of, with_value
from tests.domain.corpus import CASES, Case

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no fault of a rule."""

EXAMPLE = BoredCylinder.model_validate(BORED_CYLINDER.example)


def cylinder(**changes: Any) -> BoredCylinder:
    """The example part with these fields changed; those of the pattern by their own names."""
    part = EXAMPLE
    for field, value in changes.items():
        part = with_value(part, field, value)
    return part


def fault_of(part: BoredCylinder, rule: str) -> Fault | None:
    """What that one rule says."""
    return next((fault for fault in faults(part) if fault.rule == rule), None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_set_is_refused_by_exactly_the_rules_it_breaks(case: Case) -> None:
    found = faults(BoredCylinder.model_validate(case.parameters))
    assert sorted(fault.rule for fault in found) == sorted(case.refused)


def test_the_worked_example_of_a_limit() -> None:
    fault = fault_of(cylinder(fillet_radius=40.0), "fillet-exceeds-wall")
    assert fault is not None
    assert (fault.pointer, fault.value, fault.limit) == ("/fillet_radius", 40.0, 37.749)
    assert fault_of(cylinder(fillet_radius=37.749), "fillet-exceeds-wall") is None


@pytest.mark.parametrize(
    ("changes", "rule", "pointer", "limit"),
    [
        ({"outer_diameter": 0.05}, "outer-diameter-range", "/outer_diameter", 0.1),
        ({"outer_diameter": -5.0}, "outer-diameter-range", "/outer_diameter", 0.1),
        ({"outer_diameter": 1e300}, "outer-diameter-range", "/outer_diameter", 100_000),
        ({"length": 0.0}, "length-range", "/length", 0.1),
        ({"length": 100_001.0}, "length-range", "/length", 100_000),
        ({"length": 0.01}, "aspect-ratio", "/length", 0.01205),
        ({"inner_diameter": 0.0005}, "bore-too-small", "/inner_diameter", 0),
        ({"inner_diameter": 0.0015}, "bore-too-small", "/inner_diameter", 0.002),
        ({"inner_diameter": 121.0}, "wall-too-thin", "/inner_diameter", 120.498),
        ({"inner_diameter": 0.0, "outer_diameter": 0.0015}, "wall-too-thin", "/outer_diameter", 0.002),
        ({"fillet_radius": 0.0004}, "fillet-too-small", "/fillet_radius", 0),
        ({"fillet_radius": 0.0006}, "fillet-too-small", "/fillet_radius", 0.001),
        ({"length": 4.0}, "fillet-exceeds-length", "/fillet_radius", 1.9995),
        ({"inner_diameter": 120.4999}, "fillet-exceeds-wall", "/fillet_radius", 0),
        ({"hole_diameter": 0.0}, "hole-too-small", "/hole_pattern/hole_diameter", 0.002),
        ({"pitch_diameter": 50.0}, "hole-meets-bore", "/hole_pattern/pitch_diameter", 55.002),
        ({"pitch_diameter": 120.0}, "hole-meets-outer-surface", "/hole_pattern/pitch_diameter", 105.498),
        ({"count": 60}, "holes-overlap", "/hole_pattern/hole_diameter", 4.185876499),
        ({"pitch_diameter": 0.0}, "holes-overlap", "/hole_pattern/pitch_diameter", 20.002),
    ],
)
def test_each_rule_blames_a_field_and_names_its_nearest_value(
    changes: dict[str, Any], rule: str, pointer: str, limit: float
) -> None:
    fault = fault_of(cylinder(**changes), rule)
    assert fault is not None
    assert fault.pointer == pointer
    assert fault.limit == pytest.approx(limit, abs=1e-8)


def test_a_limit_is_none_where_no_value_of_the_field_can_mend_it() -> None:
    """Neither the pitch nor the hole can make room in a part that its own fillet fills."""
    fault = fault_of(cylinder(fillet_radius=70.0), "hole-meets-outer-surface")
    assert fault is not None
    assert fault.limit is None


def test_a_hole_too_large_for_any_pitch_is_blamed_itself() -> None:
    fault = fault_of(cylinder(inner_diameter=0.0, pitch_diameter=10.0, hole_diameter=130.0), "hole-meets-outer-surface")
    assert fault is not None
    assert fault.pointer == "/hole_pattern/hole_diameter"
    assert fault.limit == pytest.approx(105.498, abs=1e-8)


def test_details_tell_the_actual_numbers() -> None:
    fault = fault_of(cylinder(fillet_radius=40.0), "fillet-exceeds-wall")
    assert fault is not None
    assert all(number in fault.detail for number in ("40 mm", "-2.25 mm", "37.75 mm", "0.001 mm"))


def test_a_solid_cylinder_may_have_a_hole_on_its_axis() -> None:
    assert faults(cylinder(inner_diameter=0.0, pitch_diameter=0.0, count=1)) == ()


def test_the_table_of_contents_lists_every_rule_once() -> None:
    assert len({rule.__doc__ for rule in RULES}) == len(RULES) == 12


sizes_mm = st.one_of(
    st.floats(1e-5, 150_000, allow_nan=False),
    st.floats(0.1, 300, allow_nan=False),
    st.integers(1, 300).map(float),
)
sizes_or_none = st.one_of(st.just(0.0), sizes_mm)
patterns = st.builds(HolePattern, count=st.integers(1, 360), pitch_diameter=sizes_or_none, hole_diameter=sizes_mm)
cylinders = st.builds(
    BoredCylinder,
    outer_diameter=sizes_mm,
    inner_diameter=sizes_or_none,
    length=sizes_mm,
    fillet_radius=sizes_or_none,
    fillet_edges=st.sampled_from(["outer", "all"]),
    hole_pattern=st.none() | patterns,
)


@settings(patient, max_examples=400)
@given(cylinders)
def test_substituting_a_limit_makes_its_rule_pass(part: BoredCylinder) -> None:
    for fault in faults(part):
        if fault.limit is not None:
            mended = with_value(part, fault.pointer.split("/")[-1], fault.limit)
            assert fault_of(BoredCylinder.model_validate(mended.model_dump()), fault.rule) is None


@settings(patient, max_examples=400)
@given(cylinders)
def test_a_value_a_millionth_short_of_a_limit_still_fails(part: BoredCylinder) -> None:
    for fault in faults(part):
        if fault.limit is None:
            continue
        field = fault.pointer.split("/")[-1]
        towards_the_present = 1e-6 if value_of(part, field) > fault.limit else -1e-6
        if abs(value_of(part, field) - fault.limit) <= 1e-6:
            continue
        short = fault.limit + towards_the_present
        assert fault_of(with_value(part, field, short), fault.rule) is not None


@settings(patient, max_examples=400)
@given(cylinders)
def test_no_limit_only_where_no_sampled_value_passes(part: BoredCylinder) -> None:
    for fault in faults(part):
        if fault.limit is None:
            field = fault.pointer.split("/")[-1]
            tried = [0.0] if field in FIELDS_THAT_MAY_BE_ZERO else []
            tried += [10.0**exponent for exponent in range(-6, 7)]
            assert all(fault_of(with_value(part, field, value), fault.rule) for value in tried)


any_float = st.floats(allow_nan=False, allow_infinity=False)
any_size = st.floats(0, allow_infinity=False)
any_cylinders = st.builds(
    BoredCylinder,
    outer_diameter=any_float,
    inner_diameter=any_size,
    length=any_float,
    fillet_radius=any_size,
    fillet_edges=st.sampled_from(["outer", "all"]),
    hole_pattern=st.builds(HolePattern, count=st.integers(1, 360), pitch_diameter=any_size, hole_diameter=any_float),
)


@settings(patient, max_examples=400)
@given(any_cylinders)
def test_any_schema_valid_set_is_answered_and_its_limits_pass(part: BoredCylinder) -> None:
    """However absurd the numbers, and up to the largest that JSON can carry."""
    for fault in faults(part):
        if fault.limit is not None:
            mended = with_value(part, fault.pointer.split("/")[-1], fault.limit)
            assert fault_of(BoredCylinder.model_validate(mended.model_dump()), fault.rule) is None


def test_numbers_at_the_end_of_the_range_are_refused_in_finite_time() -> None:
    part = cylinder(outer_diameter=1e308, length=1e308, inner_diameter=1.7e308, pitch_diameter=1.7e308)
    assert "outer-diameter-range" in {fault.rule for fault in faults(part)}
