"""How a request's faults are told (contract rules 1, 10, 11)."""

import json
from typing import Any

import httpx
import pytest

from api.catalogue_faults import MOST_FORMATS
from api.requests import understood
from api.schema_faults import MOST_FAULTS, OTHERWISE, RULES
from domain.problems import Refusal, ValidationFailed
from tests.domain.corpus import ACCEPTED, REFUSED, Case
from tests.processes import ROOT

EXAMPLE: dict[str, Any] = json.loads((ROOT / "examples" / "bored-cylinder.json").read_text())
PARAMETERS: dict[str, Any] = EXAMPLE["parameters"]


def request(**changes: Any) -> dict[str, Any]:
    """The example with members changed; None takes one away."""
    return {name: value for name, value in {**EXAMPLE, **changes}.items() if value is not None}


def part(**changes: Any) -> dict[str, Any]:
    """The example with parameters changed."""
    return request(parameters={**PARAMETERS, **changes})


def faults(content: Any) -> list[dict[str, Any]]:
    """What is wrong with it."""
    with pytest.raises(Refusal) as caught:
        understood(content)
    assert isinstance(caught.value.problem, ValidationFailed)
    return list(caught.value.problem.errors)


def named(content: Any) -> list[tuple[str, str]]:
    """Where, and which rule."""
    return [(fault["pointer"], fault["rule"]) for fault in faults(content)]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.id)
async def test_a_refused_case_of_the_corpus_is_a_422_with_exactly_its_rules(api: httpx.AsyncClient, case: Case) -> None:
    answer = await api.post("/v1/models/validate", json=request(parameters=case.parameters))
    assert answer.status_code == 422
    errors = answer.json()["errors"]
    assert sorted(error["rule"] for error in errors) == sorted(case.refused)
    assert all(error["pointer"].startswith("/parameters/") and "limit" in error for error in errors)


@pytest.mark.parametrize("case", ACCEPTED[::5], ids=lambda case: case.id)
async def test_an_accepted_case_of_the_corpus_is_valid_with_its_volume(api: httpx.AsyncClient, case: Case) -> None:
    answer = await api.post("/v1/models/validate", json=request(parameters=case.parameters))
    assert answer.status_code == 200
    assert answer.json()["valid"] is True
    assert answer.json()["volume"] == pytest.approx(case.volume, rel=1e-6)


async def test_the_nearest_value_that_passes_passes(api: httpx.AsyncClient) -> None:
    refused = (await api.post("/v1/models/validate", json=part(fillet_radius=50, hole_pattern=None))).json()
    (error,) = refused["errors"]
    assert (error["pointer"], error["value"]) == ("/parameters/fillet_radius", 50)
    assert error["limit"] == pytest.approx(37.749)
    mended = await api.post("/v1/models/validate", json=part(fillet_radius=error["limit"], hole_pattern=None))
    assert mended.status_code == 200


async def test_validate_predicts_the_bounding_box(api: httpx.AsyncClient) -> None:
    answer = (await api.post("/v1/models/validate", json=EXAMPLE)).json()
    assert answer["bounding_box"] == {"min": [-60.25, -60.25, 0], "max": [60.25, 60.25, 300]}


@pytest.mark.parametrize("content", [[], None, "x", 1, True])
def test_anything_but_an_object_is_a_fault_of_the_whole(content: Any) -> None:
    assert named(content) == [("", "object-type")]


def test_an_empty_object_lacks_all_that_is_required() -> None:
    assert named({}) == [("/engine", "required"), ("/parameters", "required"), ("/export_format", "required")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (request(callback_url="https://example.org/x"), ("/callback_url", "unknown-field")),
        (request(**{"a/b~c": 1}), ("/a~1b~0c", "unknown-field")),
        (request(model="cube"), ("/model", "unknown-model")),
        (request(model=3), ("/model", "string-type")),
        (request(engine="freecad"), ("/engine", "unknown-engine")),
        (request(engine=["opencascade-brep"]), ("/engine", "string-type")),
        (request(export_format="dwg"), ("/export_format", "format-not-available")),
        (request(export_format="STEP"), ("/export_format", "format-not-available")),
        (request(export_format=1), ("/export_format", "string-type")),
        (request(export_formats=["step"]), ("/export_formats", "one-of-two-fields")),
        (request(export_format=None), ("/export_format", "required")),
        (request(export_format=None, export_formats=[]), ("/export_formats", "too-few")),
        (request(export_format=None, export_formats="step"), ("/export_formats", "list-type")),
        (request(export_format=None, export_formats=["stl", "step", "stl"]), ("/export_formats/2", "duplicate-format")),
        (request(export_format=None, export_formats=["stl", "x"]), ("/export_formats/1", "format-not-available")),
        (request(export_format=None, export_formats=["stl", 1]), ("/export_formats/1", "string-type")),
        (request(parameters=[]), ("/parameters", "object-type")),
        (request(parameters=None), ("/parameters", "required")),
        (request(mesh=[]), ("/mesh", "object-type")),
        (request(mesh={"linear_deflection": 1e-5}), ("/mesh/linear_deflection", "out-of-range")),
        (request(mesh={"linear_deflection": 11}), ("/mesh/linear_deflection", "out-of-range")),
        (request(mesh={"linear_deflection": "1"}), ("/mesh/linear_deflection", "number-type")),
        (request(mesh={"angular_deflection": 0.001}), ("/mesh/angular_deflection", "out-of-range")),
        (request(mesh={"angular_deflection": 1.1}), ("/mesh/angular_deflection", "out-of-range")),
        (request(mesh={"tolerance": 1}), ("/mesh/tolerance", "unknown-field")),
        (request(priority=0), ("/priority", "out-of-range")),
        (request(priority=6), ("/priority", "out-of-range")),
        (request(priority=1.5), ("/priority", "number-type")),
        (request(priority="1"), ("/priority", "number-type")),
        (request(priority=True), ("/priority", "number-type")),
        (request(metadata=[]), ("/metadata", "object-type")),
        (request(metadata={"a": 1}), ("/metadata/a", "string-type")),
        (request(metadata={"a": "x" * 513}), ("/metadata/a", "too-long")),
        (request(metadata={"x" * 65: ""}), ("/metadata/" + "x" * 65, "too-long")),
        (request(metadata={str(n): "" for n in range(51)}), ("/metadata", "too-many")),
        (part(length="300"), ("/parameters/length", "number-type")),
        (part(length=True), ("/parameters/length", "number-type")),
        (part(length=[]), ("/parameters/length", "number-type")),
        (part(fillet_edges="inner"), ("/parameters/fillet_edges", "not-a-choice")),
        (part(wall=1), ("/parameters/wall", "unknown-field")),
        (part(inner_diameter=-1), ("/parameters/inner_diameter", "out-of-range")),
        (part(hole_pattern=1), ("/parameters/hole_pattern", "object-type")),
        (
            part(hole_pattern={**PARAMETERS["hole_pattern"], "count": 1.5}),
            ("/parameters/hole_pattern/count", "number-type"),
        ),
        (part(hole_pattern={**PARAMETERS["hole_pattern"], "x": 1}), ("/parameters/hole_pattern/x", "unknown-field")),
    ],
    ids=lambda value: f"{value[1]} {value[0]}" if isinstance(value, tuple) else "",
)
def test_a_fault_is_told_by_its_field_and_rule(content: dict[str, Any], expected: tuple[str, str]) -> None:
    assert named(content) == [expected]


@pytest.mark.parametrize(
    "content",
    [
        request(export_format=None, export_formats=["stl", "step", "brep"]),
        request(mesh={"linear_deflection": 1e-4, "angular_deflection": 1}),
        request(mesh={}),
        request(priority=5.0),
        request(metadata={"x" * 64: "y" * 512, "": ""}),
        request(model="bored-cylinder"),
        {**EXAMPLE, "export_formats": None},
        part(length=300, hole_pattern={**PARAMETERS["hole_pattern"], "count": 6.0}),
        part(hole_pattern=None),
    ],
    ids=range(9),
)
def test_what_the_contract_allows_is_understood(content: dict[str, Any]) -> None:
    understood(content)


def test_all_schema_faults_of_the_whole_request_come_together() -> None:
    content = request(
        callback_url="x", priority=9, parameters={**PARAMETERS, "length": "3", "wall": 1}, engine="freecad"
    )
    assert set(named(content)) == {
        ("/callback_url", "unknown-field"),
        ("/priority", "out-of-range"),
        ("/parameters/length", "number-type"),
        ("/parameters/wall", "unknown-field"),
        ("/engine", "unknown-engine"),
    }


def test_rules_are_checked_once_the_schema_holds_and_then_all_of_them() -> None:
    thin_and_short = {**PARAMETERS, "outer_diameter": 1, "length": 0.01}
    assert named(request(parameters={**thin_and_short, "wall": 1})) == [("/parameters/wall", "unknown-field")]
    assert len(named(request(parameters=thin_and_short))) > 1


def test_a_name_that_is_unknown_is_answered_with_those_that_are_known() -> None:
    (model,) = faults(request(model="cube"))
    (engine,) = faults(request(engine="freecad"))
    (format_,) = faults(request(export_format="dwg"))
    assert "bored-cylinder" in model["detail"]
    assert "opencascade-brep" in engine["detail"]
    assert "step, brep, stl" in format_["detail"]


def test_defaults_are_filled_in() -> None:
    made = understood(request(parameters={"outer_diameter": 20, "inner_diameter": 5, "length": 7}))
    assert (made.model.name, made.priority, made.metadata) == ("bored-cylinder", 3, {})
    assert made.parameters.model_dump()["fillet_edges"] == "outer"


def test_no_more_is_repeated_than_a_number_or_a_short_string() -> None:
    secret = "s" * 65
    for content in (
        request(model=secret),
        request(engine=secret),
        request(export_format=secret),
        request(metadata={"a": secret * 10}),
        part(length=secret),
        part(length={"a": secret}),
        part(length=[secret]),
    ):
        assert secret not in json.dumps(faults(content))


def test_a_request_full_of_faults_gets_an_answer_of_bounded_size() -> None:
    found = faults(request(**{f"field_{number}": 1 for number in range(5000)}))
    assert len(found) == MOST_FAULTS + 1
    assert found[-1]["rule"] == "more-faults"


def test_a_very_long_list_of_formats_is_refused_quickly() -> None:
    found = faults(request(export_format=None, export_formats=[f"format-{number}" for number in range(100_000)]))
    assert len(found) == MOST_FORMATS + 1


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e160, 1.7e308, 2**53 - 1])
def test_extreme_numbers_are_refused_by_rules_and_break_none(size: float) -> None:
    extreme = {**PARAMETERS, "outer_diameter": size, "length": size, "fillet_radius": size}
    assert all(rule not in RULES for _, rule in named(request(parameters=extreme)))


def test_no_fault_of_this_suite_falls_through_to_the_last_rule() -> None:
    """Every kind of error that a request's schema can produce has words of its own."""
    assert OTHERWISE[0] not in {rule for rule, _ in RULES.values()}
    everything = request(
        model=1,
        engine=1,
        export_format=1,
        parameters=1,
        mesh={"linear_deflection": []},
        priority={},
        metadata={"a": []},
    )
    assert OTHERWISE[0] not in {rule for _, rule in named(everything)}
