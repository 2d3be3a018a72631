"""What the service says of itself: catalogue, /openapi.json, /docs."""

import re
from typing import Any

import httpx
import pytest

from domain.catalogue import MODELS
from tests.processes import ROOT

PAGE = (ROOT / "docs" / "problems.md").read_text()


async def openapi(api: httpx.AsyncClient) -> dict[str, Any]:
    """The published document."""
    document: dict[str, Any] = (await api.get("/openapi.json")).json()
    return document


def references(value: Any) -> set[str]:
    """Every $ref in it."""
    match value:
        case dict():
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*(references(item) for item in value.values()))
        case list():
            return set().union(*(references(item) for item in value))
    return set()


async def test_the_catalogue_lists_every_model(api: httpx.AsyncClient) -> None:
    listed = (await api.get("/v1/models")).json()["models"]
    assert [model["name"] for model in listed] == list(MODELS)


@pytest.mark.parametrize("name", MODELS)
async def test_a_model_is_described_with_schema_engines_formats_and_example(api: httpx.AsyncClient, name: str) -> None:
    answer = await api.get(f"/v1/models/{name}")
    assert answer.status_code == 200
    model = answer.json()
    assert model.keys() == {"name", "version", "description", "engines", "parameters", "example"}
    assert model["parameters"]["additionalProperties"] is False
    assert model["example"].keys() <= model["parameters"]["properties"].keys()


@pytest.mark.parametrize("name", MODELS)
async def test_a_models_example_is_valid_in_every_format(api: httpx.AsyncClient, name: str) -> None:
    model = (await api.get(f"/v1/models/{name}")).json()
    for engine, formats in model["engines"].items():
        request = {"model": name, "engine": engine, "export_formats": formats, "parameters": model["example"]}
        assert (await api.post("/v1/models/validate", json=request)).status_code == 200


async def test_an_unknown_model_is_not_found(api: httpx.AsyncClient) -> None:
    answer = await api.get("/v1/models/cube")
    assert answer.status_code == 404
    assert answer.json()["type"].endswith("/model-not-found")


async def test_every_operation_is_described(api: httpx.AsyncClient) -> None:
    paths = (await openapi(api))["paths"]
    assert {(path, method) for path, methods in paths.items() for method in methods} == {
        ("/v1/models/generate", "post"),
        ("/v1/models/validate", "post"),
        ("/v1/models", "get"),
        ("/v1/models/{model}", "get"),
        ("/v1/jobs/{job_id}", "get"),
        ("/v1/jobs/{job_id}/cancel", "post"),
        ("/v1/jobs/{job_id}/retry", "post"),
        ("/v1/jobs/{job_id}/pause", "post"),
        ("/v1/jobs/{job_id}/resume", "post"),
        ("/v1/artifacts/{key}", "get"),
        ("/livez", "get"),
        ("/readyz", "get"),
    }
    for operation in (operation for methods in paths.values() for operation in methods.values()):
        assert operation["summary"]
        assert operation["description"]
        assert all(answer["description"] for answer in operation["responses"].values())
        assert {"421", "500"} <= operation["responses"].keys()


async def test_every_reference_leads_somewhere(api: httpx.AsyncClient) -> None:
    document = await openapi(api)
    schemas = document["components"]["schemas"]
    assert {reference.rpartition("/")[2] for reference in references(document)} <= schemas.keys()
    assert "HTTPValidationError" not in schemas


async def test_every_parameter_of_a_path_is_described(api: httpx.AsyncClient) -> None:
    for path, methods in (await openapi(api))["paths"].items():
        for operation in methods.values():
            described = {p["name"] for p in operation.get("parameters", ()) if p["in"] == "path"}
            assert described == set(re.findall(r"{(\w+)}", path))


async def test_every_problem_of_a_request_is_described(api: httpx.AsyncClient) -> None:
    """But for those of addresses and methods that no operation has."""
    text = (await api.get("/openapi.json")).text
    sections = PAGE.split("## How jobs fail")[0]
    slugs = set(re.findall(r"^### (\S+)$", sections, re.MULTILINE)) - {"not-found", "method-not-allowed"}
    assert {slug for slug in slugs if f"`{slug}`" not in text} == set()


async def test_the_example_of_the_document_is_a_valid_request(api: httpx.AsyncClient) -> None:
    body = (await openapi(api))["paths"]["/v1/models/validate"]["post"]["requestBody"]
    example = body["content"]["application/json"]["example"]
    assert (await api.post("/v1/models/validate", json=example)).status_code == 200


async def test_the_docs_page_needs_nothing_from_elsewhere(api: httpx.AsyncClient) -> None:
    answer = await api.get("/docs")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert re.findall(r'(?:src|href)="(?!#|/openapi\.json)[^"]*"', answer.text) == []
    assert "<script" not in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


async def test_the_docs_page_names_every_operation(api: httpx.AsyncClient) -> None:
    page = (await api.get("/docs")).text
    for path in (await openapi(api))["paths"]:
        assert f"<code>{path}</code>" in page
