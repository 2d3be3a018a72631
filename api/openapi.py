"""The parts from which /openapi.json describes operations: answers, headers, problems, schemas.

Never changes how a request is treated.
"""

from itertools import groupby
from typing import Any, TypeAlias

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from api import documents
from api.problem_responses import MEDIA_TYPE, status_of
from api.requests import GenerateRequest
from domain.catalogue import DEFAULT_MODEL, MODELS
from domain.problems import AnyProblem

Described: TypeAlias = dict[int | str, dict[str, Any]]

REFERENCE = "#/components/schemas/{model}"

HEADERS: dict[str, str] = {
    "Location": "Address of the job's status.",
    "Retry-After": "Seconds after which to ask again; absent once the job has ended.",
    "Idempotent-Replayed": "`true`: this request had its job already.",
    "ETag": "Names this version of the file.",
    "Last-Modified": "When this version of the file was made.",
    "Content-Disposition": "`attachment`, with the file's name.",
    "Content-Range": "Which bytes these are, and of how many.",
    "Accept-Ranges": "`bytes`.",
    "Allow": "The methods that this address knows.",
}


def answer(status: int, text: str, document: type[BaseModel] | None = None, headers: tuple[str, ...] = ()) -> Described:
    """One kind of answer."""
    described: dict[str, Any] = {"description": text, "headers": _headers(headers)}
    if document is not None:
        described["content"] = {"application/json": {"schema": reference_to(document)}}
    return {status: described}


def file_answer(status: int, text: str, *headers: str) -> Described:
    """An answer that is a file."""
    schema = {"schema": {"type": "string", "format": "binary"}}
    media_types = ("model/step", "model/stl", "application/octet-stream")
    return {status: {"description": text, "headers": _headers(headers), "content": dict.fromkeys(media_types, schema)}}


def problems(*kinds: type[AnyProblem]) -> Described:
    """The problems that an operation may meet, by status code."""
    by_status = groupby(sorted(kinds, key=_status), key=_status)
    return {status: _problem_answer(status, [kind.slug() for kind in group]) for status, group in by_status}


def reference_to(document: type[BaseModel]) -> dict[str, str]:
    """A reference to the schema of a document."""
    return {"$ref": REFERENCE.format(model=document.__name__)}


def request_body() -> dict[str, Any]:
    """The body of `generate` and `validate`, with an example."""
    model = MODELS[DEFAULT_MODEL]
    engine = next(iter(model.engines))
    example = {"engine": engine, "export_format": model.engines[engine][0], "parameters": dict(model.example)}
    content = {"application/json": {"schema": reference_to(GenerateRequest), "example": example}}
    return {"required": True, "content": content}


def openapi(app: FastAPI) -> dict[str, Any]:
    """The whole document; computed once."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schema["components"] = {"schemas": _schemas()}
        app.openapi_schema = schema
    return app.openapi_schema


def _schemas() -> dict[str, Any]:
    written = [value for value in vars(documents).values() if isinstance(value, type) and _is_document(value)]
    modes: list[tuple[type[BaseModel], JsonSchemaMode]] = [(document, "serialization") for document in written]
    modes += [(GenerateRequest, "validation"), *((model.parameters, "validation") for model in MODELS.values())]
    _, found = models_json_schema(modes, ref_template=REFERENCE)
    schemas: dict[str, Any] = found["$defs"]
    choices = [reference_to(model.parameters) for model in MODELS.values()]
    schemas[GenerateRequest.__name__]["properties"]["parameters"] |= {"anyOf": choices}
    return schemas


def _is_document(value: type) -> bool:
    return issubclass(value, documents.Document) and value is not documents.Document


def _headers(names: tuple[str, ...]) -> dict[str, Any]:
    return {name: {"description": HEADERS[name], "schema": {"type": "string"}} for name in names}


def _status(kind: type[AnyProblem]) -> int:
    # The table looks at the class of a problem only, so a blank one will do.
    return status_of(object.__new__(kind))


def _problem_answer(status: int, slugs: list[str]) -> dict[str, Any]:
    headers = {503: ("Retry-After",), 405: ("Allow",)}.get(status, ())
    return {
        "description": "Problem: " + ", ".join(f"`{slug}`" for slug in slugs),
        "headers": _headers(headers),
        "content": {MEDIA_TYPE: {"schema": reference_to(documents.ProblemDocument)}},
    }
