"""Every operation with its address and description: the table of contents of the HTTP contract.

Never does what an operation does: routes.py and artifacts.py do.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from api.artifacts import Downloads
from api.documents import (
    CatalogueDocument,
    HealthDocument,
    JobDocument,
    ModelDocument,
    ReceiptDocument,
    ValidationDocument,
)
from api.openapi import Described, answer, file_answer, problems, request_body
from api.routes import JobRoutes, live, model, models
from api.steering_routes import SteeringRoutes
from domain.problems import (
    ArtifactGone,
    EngineUnavailable,
    ForeignHost,
    ForeignOrigin,
    HeadTooLarge,
    IdempotencyKeyReused,
    InternalError,
    InvalidIdempotencyKey,
    JobNotFound,
    LinkExpired,
    LinkForged,
    MalformedRequest,
    ModelNotFound,
    PayloadTooLarge,
    RequestTooSlow,
    StateConflict,
    StoreUnavailable,
    TooManyConnections,
    UnsupportedMediaType,
    ValidationFailed,
)

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

ALWAYS = problems(ForeignHost, HeadTooLarge, InternalError, RequestTooSlow, TooManyConnections)
BODY = (ForeignOrigin, MalformedRequest, UnsupportedMediaType, PayloadTooLarge, ValidationFailed)
NO_ENGINE = (EngineUnavailable, TooManyConnections)
REPLAY_HEADERS = ("Location", "Retry-After", "Idempotent-Replayed")

KEY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "One quoted string (RFC 8941) or bare token of 1-255 characters; without it, the body is the key.",
    "schema": {"type": "string"},
    "example": '"order-4711"',
}


def add_operations(app: FastAPI, jobs: JobRoutes) -> None:
    """All operations but downloads."""
    _post(
        app,
        "/v1/models/generate",
        jobs.generate,
        "Create a job",
        answer(202, "A new job.", ReceiptDocument, ("Location", "Retry-After"))
        | answer(200, "The job that this request has already.", JobDocument, REPLAY_HEADERS)
        | problems(InvalidIdempotencyKey, *BODY, IdempotencyKeyReused, *NO_ENGINE),
        parameters=[KEY_HEADER],
    )
    _post(
        app,
        "/v1/models/validate",
        jobs.validate,
        "Check a request",
        answer(200, "The request would be accepted.", ValidationDocument) | problems(*BODY),
    )
    _get(app, "/v1/models", models, "List the models", answer(200, "The catalogue.", CatalogueDocument))
    _get(
        app,
        "/v1/models/{model:model_name}",
        model,
        "Describe a model",
        answer(200, "The model.", ModelDocument) | problems(ModelNotFound),
        parameters=[_in_path("model", "A model's name.", "bored-cylinder")],
    )
    _get(
        app,
        "/v1/jobs/{job_id}",
        jobs.job,
        "Look at a job",
        answer(200, "The job's status.", JobDocument, ("Retry-After",)) | problems(JobNotFound, *NO_ENGINE),
        parameters=[JOB_ID],
    )
    _get(app, "/livez", live, "Is this process alive?", answer(200, "It is.", HealthDocument))
    _get(
        app,
        "/readyz",
        jobs.ready,
        "Can jobs be created?",
        answer(200, "They can.", HealthDocument) | problems(*NO_ENGINE),
    )


def add_steering(app: FastAPI, steering: SteeringRoutes) -> None:
    """What may be done to a job."""
    refusals = problems(ForeignOrigin, JobNotFound, StateConflict, StoreUnavailable, *NO_ENGINE)
    for path, endpoint, summary in (
        ("cancel", steering.cancel, "Cancel a job"),
        ("retry", steering.retry, "Retry a job"),
        ("pause", steering.pause, "Pause a job"),
        ("resume", steering.resume, "Resume a job"),
    ):
        _add(
            app,
            "POST",
            f"/v1/jobs/{{job_id}}/{path}",
            endpoint,
            summary,
            answer(202, "It will happen.", JobDocument, ("Location", "Retry-After")) | refusals,
            {"parameters": [JOB_ID]},
        )


def add_downloads(app: FastAPI, downloads: Downloads) -> None:
    """Downloads from the local store; other stores hand out links of their own."""
    versions = ("ETag", "Last-Modified")
    _get(
        app,
        "/v1/artifacts/{key:path}",
        downloads.download,
        "Download a file",
        file_answer(200, "The file.", *versions, "Content-Disposition", "Accept-Ranges")
        | file_answer(206, "The bytes that were asked for.", *versions, "Content-Disposition", "Content-Range")
        | answer(304, "The client has this version.", None, versions)
        | answer(412, "The client wants another version.", None, versions)
        | answer(416, "The file has none of these bytes.", None, ("Content-Range",))
        | problems(LinkExpired, LinkForged, ArtifactGone, StoreUnavailable, TooManyConnections),
        parameters=[
            _in_path("key", "As the link has it.", "local/cad_8f93b2a1c0d44b5ea1f0c2d3e4f50617/bored-cylinder.step"),
            _in_query("expires", "As the link has it: Unix time, seconds."),
            _in_query("signature", "As the link has it."),
        ],
    )


def _get(app: FastAPI, path: str, endpoint: Endpoint, summary: str, answers: Described, **description: Any) -> None:
    _add(app, "GET", path, endpoint, summary, answers, description)
    app.add_api_route(path, endpoint, methods=["HEAD"], response_model=None, include_in_schema=False)


def _post(app: FastAPI, path: str, endpoint: Endpoint, summary: str, answers: Described, **description: Any) -> None:
    _add(app, "POST", path, endpoint, summary, answers, {"requestBody": request_body(), **description})


def _add(
    app: FastAPI,
    method: str,
    path: str,
    endpoint: Endpoint,
    summary: str,
    answers: Described,
    description: dict[str, Any],
) -> None:
    app.add_api_route(
        path,
        endpoint,
        methods=[method],
        response_model=None,
        response_class=Response,
        summary=summary,
        operation_id=summary.lower().rstrip("?").replace(" ", "-"),
        responses=ALWAYS | answers,
        openapi_extra=description,
    )


def _in_path(name: str, text: str, example: str) -> dict[str, Any]:
    schema = {"type": "string"}
    return {"name": name, "in": "path", "required": True, "description": text, "schema": schema, "example": example}


def _in_query(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": True, "description": text, "schema": {"type": "string"}}


JOB_ID = _in_path("job_id", "A job's ID.", "cad_8f93b2a1c0d44b5ea1f0c2d3e4f50617")
