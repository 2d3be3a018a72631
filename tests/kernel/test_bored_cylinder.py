"""Every accepted parameter set of the corpus becomes a checked solid of its known volume, and a closed mesh."""

from pathlib import Path

import pytest

from domain.messages import MeshQuality
from domain.problems import GeometryVerificationFailed, Refusal
from kernel.inspection import inspect
from kernel.measures import Skin
from kernel.stl_file import write_stl
from tests.domain.corpus import ACCEPTED, Case
from tests.kernel.parts import built, part_of


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.id)
def test_the_solid_passes_every_check_and_has_the_known_volume(case: Case) -> None:
    shape = built(case.parameters)
    facts = inspect(shape, part_of(case.parameters))
    assert facts.volume == pytest.approx(case.volume, rel=1e-6)


def fitting_quality(case: Case) -> MeshQuality:
    """The default, but coarser on parts so large that it would take a million triangles and half a minute."""
    largest = max(case.parameters["outer_diameter"], case.parameters["length"])
    return MeshQuality() if largest < 2_000 else MeshQuality(linear_deflection=2.0)


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.id)
def test_the_mesh_is_closed_or_refused_only_where_it_may_be(case: Case, tmp_path: Path) -> None:
    shape = built(case.parameters)
    facts = inspect(shape, part_of(case.parameters))
    refused = None
    try:
        triangles = write_stl(shape, tmp_path / "part.stl", facts, fitting_quality(case))
    except Refusal as refusal:
        refused = refusal.problem
    if refused is None:
        assert (tmp_path / "part.stl").stat().st_size == 84 + 50 * triangles
    else:
        assert case.mesh_may_be_refused
        assert isinstance(refused, GeometryVerificationFailed)
        assert list(tmp_path.iterdir()) == []


def test_the_first_hole_lies_on_the_x_axis() -> None:
    """One hole moves the centre of mass away from itself, along X alone."""
    shape = Skin(
        built(
            {
                "outer_diameter": 100,
                "inner_diameter": 0,
                "length": 10,
                "hole_pattern": {"count": 1, "pitch_diameter": 50, "hole_diameter": 20},
            }
        )
    )
    assert shape.solidity().center_of_mass == pytest.approx((-25 * 20**2 / (100**2 - 20**2), 0, 5), abs=1e-9)
