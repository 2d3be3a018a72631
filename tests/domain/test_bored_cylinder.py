"""The closed forms of the bored cylinder."""

import pytest

from domain.bored_cylinder import BORED_CYLINDER, bounds, volume
from domain.catalogue import DEFAULT_MODEL, MODELS
from domain.parameters import BoredCylinder
from tests.domain.corpus import ACCEPTED, Case

EXAMPLE = BoredCylinder.model_validate(BORED_CYLINDER.example)


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.id)
def test_the_volume_is_the_known_one(case: Case) -> None:
    assert volume(BoredCylinder.model_validate(case.parameters)) == pytest.approx(case.volume, rel=1e-9)


def test_the_example_has_its_published_volume() -> None:
    assert volume(EXAMPLE) == pytest.approx(2_801_746.1619674726, rel=1e-15)


def test_the_bounds_are_those_of_the_plain_cylinder() -> None:
    box = bounds(EXAMPLE)
    assert (box.min, box.max) == ((-60.25, -60.25, 0.0), (60.25, 60.25, 300.0))


def test_the_example_breaks_no_rule() -> None:
    assert BORED_CYLINDER.faults(EXAMPLE) == ()


def test_the_default_model_is_the_bored_cylinder() -> None:
    assert MODELS[DEFAULT_MODEL] is BORED_CYLINDER
    assert BORED_CYLINDER.engines == {"opencascade-brep": ("step", "brep", "stl")}
