"""A STEP file holds the part in millimetres and nothing of when, where or how often it was written."""

from pathlib import Path
from typing import Any

import pytest

from domain.problems import GeometryVerificationFailed, Refusal
from kernel.exports import check_read_back
from kernel.inspection import inspect
from kernel.step_file import read_step, write_step
from tests.kernel.parts import EXAMPLE, built, part_of


@pytest.fixture
def example_step(tmp_path: Path) -> Path:
    """The example part's STEP file."""
    path = tmp_path / "somewhere.step"
    assert write_step(built(), path, "bored-cylinder")
    return path


def test_the_file_reads_back_as_the_same_part(example_step: Path) -> None:
    facts = inspect(built(), part_of())
    read = read_step(example_step)
    check_read_back(read, facts, "step")
    assert inspect(read, part_of()).volume == pytest.approx(facts.volume, rel=1e-9)


def test_the_file_is_in_millimetres(example_step: Path) -> None:
    assert "SI_UNIT(.MILLI.,.METRE.)" in example_step.read_text().replace(" ", "").replace("\n", "")


def test_the_file_names_the_model_and_no_place_or_time(example_step: Path) -> None:
    text = example_step.read_text()
    assert "PRODUCT('bored-cylinder','bored-cylinder'" in text
    assert "'1970-01-01T00:00:00'" in text
    assert "somewhere" not in text
    assert str(example_step.parent) not in text


def test_writing_a_second_time_gives_the_same_bytes(example_step: Path, tmp_path: Path) -> None:
    """The kernel counts products and stamps the time by default."""
    again = tmp_path / "again.step"
    assert write_step(built(), again, "bored-cylinder")
    assert again.read_bytes() == example_step.read_bytes()


def test_a_file_of_another_part_is_refused(example_step: Path) -> None:
    facts = inspect(built({**EXAMPLE, "length": 299.0}), part_of({**EXAMPLE, "length": 299.0}))
    with pytest.raises(Refusal) as refused:
        check_read_back(read_step(example_step), facts, "step")
    assert isinstance(refused.value.problem, GeometryVerificationFailed)
    assert (refused.value.problem.check, refused.value.problem.format) == ("volume", "step")


def test_a_file_with_no_shape_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.step"
    path.write_text("ISO-10303-21;\nHEADER;\nENDSEC;\nDATA;\nENDSEC;\nEND-ISO-10303-21;\n")
    with pytest.raises(Refusal) as refused:
        read_step(path)
    assert isinstance(refused.value.problem, GeometryVerificationFailed)
    assert refused.value.problem.check == "readable-file"


@pytest.mark.parametrize("rounding", [0.6, 0.9, 0.998])
@pytest.mark.parametrize("bore", [0.0, 0.001])
@pytest.mark.parametrize("diameter", [0.1, 1.0, 120.0, 1000.0])
def test_a_rounding_of_more_than_half_the_radius_reads_back(
    diameter: float, bore: float, rounding: float, tmp_path: Path
) -> None:
    """Its torus would meet itself, so the file holds a surface of revolution, which a hasty quadrature gets wrong."""
    reads_back(rounded(diameter, rounding * diameter / 2, bore * diameter, "outer"), tmp_path / "part.step")


@pytest.mark.parametrize(("outer", "inner"), [(0.1, 0.02), (120.0, 2.0), (1000.0, 0.5)])
def test_roundings_that_nearly_eat_up_a_wall_read_back(outer: float, inner: float, tmp_path: Path) -> None:
    reads_back(rounded(outer, 0.9 * (outer - inner) / 4, inner, "all"), tmp_path / "part.step")


def reads_back(parameters: dict[str, Any], path: Path) -> None:
    """Write the part's file and check it as a job does."""
    facts = inspect(built(parameters), part_of(parameters))
    assert write_step(built(parameters), path, "bored-cylinder")
    check_read_back(read_step(path), facts, "step")


def rounded(diameter: float, rounding: float, bore: float, edges: str) -> dict[str, Any]:
    """A cylinder's parameters, mm."""
    return {
        "outer_diameter": diameter,
        "inner_diameter": bore,
        "length": 1.25 * diameter,
        "fillet_radius": rounding,
        "fillet_edges": edges,
    }
