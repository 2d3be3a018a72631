"""The request stays as the user wrote it, and its files go where the user said."""

import json
from pathlib import Path

import pytest

from partmill.request_file import destinations, read_request
from partmill.screen import UsageFault


def written(folder: Path, text: str) -> str:
    """A request file."""
    path = folder / "request.json"
    path.write_text(text)
    return str(path)


def test_a_request_is_sent_byte_for_byte(tmp_path: Path) -> None:
    text = '{"export_format": "step",\n "parameters": {"length": 3.0}}'
    request = read_request(written(tmp_path, text))
    assert request.body == text.encode()
    assert request.formats == ("step",)


def test_formats_from_the_command_line_take_the_place_of_the_requests_own(tmp_path: Path) -> None:
    source = written(tmp_path, '{"export_format": "step", "engine": "e"}')
    assert json.loads(read_request(source, ("stl",)).body) == {"engine": "e", "export_format": "stl"}
    both = read_request(source, ("step", "stl"))
    assert json.loads(both.body) == {"engine": "e", "export_formats": ["step", "stl"]}
    assert both.formats == ("step", "stl")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"a":' * 100_000 + "1" + "}" * 100_000])
def test_what_is_no_json_object_is_not_sent(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageFault, match="request"):
        read_request(written(tmp_path, text))


@pytest.mark.parametrize("name", ["part.stl", "part.STL"])
def test_the_ending_picks_the_file(tmp_path: Path, name: str) -> None:
    assert destinations(str(tmp_path / name), ("step", "stl"), "cad_1") == {"stl": tmp_path / name}


@pytest.mark.parametrize("name", ["part.stp", "part", "part.cad"])
def test_an_ending_that_names_no_other_format_takes_the_only_file(tmp_path: Path, name: str) -> None:
    assert destinations(str(tmp_path / name), ("step",), "cad_1") == {"step": tmp_path / name}


def test_a_folder_takes_all_files(tmp_path: Path) -> None:
    assert destinations(str(tmp_path), ("step", "stl"), "cad_1") == {
        "step": tmp_path / "cad_1.step",
        "stl": tmp_path / "cad_1.stl",
    }


@pytest.mark.parametrize("name", ["part.stl", "none/part.step", "none/"])
def test_a_place_that_can_not_be_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageFault):
        destinations(f"{tmp_path}/{name}", ("step",), "cad_1")


def test_an_ending_must_choose_between_several_files(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="step, stl"):
        destinations(str(tmp_path / "part"), ("step", "stl"), "cad_1")
