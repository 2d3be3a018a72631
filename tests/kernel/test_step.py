"""A STEP file holds the part in millimetres and nothing of when, where or how often it was written."""

from pathlib import Path

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
