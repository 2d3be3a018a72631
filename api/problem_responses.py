"""The one table from problems to status codes, and the answers that carry them (RFC 9457).

Never shows a client an exception, a path or a stack: those go to the log, under the instance that the answer names.
"""

import http
import json
import logging
import uuid
from collections.abc import Mapping
from typing import Any, assert_never

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from domain.problems import (
    AnyProblem,
    ArtifactGone,
    EngineUnavailable,
    EvictedTooOften,
    ForeignHost,
    ForeignOrigin,
    GeometryVerificationFailed,
    HeadTooLarge,
    IdempotencyKeyReused,
    InternalError,
    InvalidIdempotencyKey,
    JobNotFound,
    KernelCrashed,
    KernelOutOfMemory,
    KernelTimeout,
    LinkExpired,
    LinkForged,
    MalformedRequest,
    MethodNotAllowed,
    ModelNotFound,
    NotFound,
    PayloadTooLarge,
    Refusal,
    RequestTooSlow,
    StateConflict,
    StoreUnavailable,
    Terminated,
    TimedOut,
    TooManyConnections,
    TooManyTriangles,
    UnsupportedMediaType,
    ValidationFailed,
    WorkerLost,
)

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

RETRY_AFTER_S = 1
"""A Temporal server that restarts is back within seconds, and asking it costs it nothing."""


def status_of(problem: AnyProblem) -> int:
    """The status code under which a request is answered with this problem."""
    match problem:
        case MalformedRequest() | InvalidIdempotencyKey():
            return 400
        case LinkExpired() | LinkForged() | ForeignOrigin():
            return 403
        case NotFound() | JobNotFound() | ModelNotFound() | ArtifactGone():
            return 404
        case MethodNotAllowed():
            return 405
        case RequestTooSlow():
            return 408
        case StateConflict():
            return 409
        case PayloadTooLarge():
            return 413
        case UnsupportedMediaType():
            return 415
        case ForeignHost():
            return 421
        case ValidationFailed() | IdempotencyKeyReused():
            return 422
        case HeadTooLarge():
            return 431
        case EngineUnavailable() | StoreUnavailable() | TooManyConnections():
            return 503
        case InternalError():
            return 500
        # How a job ended stands in the job's status. As the answer to a request it would be a mistake of ours.
        case KernelCrashed() | KernelOutOfMemory() | KernelTimeout() | GeometryVerificationFailed():
            return 500
        case TooManyTriangles() | WorkerLost() | EvictedTooOften() | Terminated() | TimedOut():
            return 500
        case _:
            assert_never(problem)


def problem_response(
    problem: AnyProblem, headers: Mapping[str, str] | None = None, instance: str | None = None
) -> Response:
    """The answer to a request that met `problem`."""
    status = status_of(problem)
    members: dict[str, Any] = {**problem.as_dict(), "status": status}
    if instance is not None:
        members["instance"] = instance
    more = {"Cache-Control": "no-store", **(headers or {})}
    if status == http.HTTPStatus.SERVICE_UNAVAILABLE:
        more["Retry-After"] = str(RETRY_AFTER_S)
    if status == http.HTTPStatus.REQUEST_TIMEOUT:
        more["Connection"] = "close"  # what is left of the request would be taken for the next one's beginning
    return Response(json.dumps(members), status, more, MEDIA_TYPE)


async def on_refusal(request: Request, error: Exception) -> Response:
    """What code of ours refused."""
    assert isinstance(error, Refusal)
    return problem_response(error.problem)


async def on_http_exception(request: Request, error: Exception) -> Response:
    """What the router refused: an unknown address, or a method that an address does not know."""
    assert isinstance(error, HTTPException)
    match error.status_code:
        case 404:
            return problem_response(NotFound())
        case 405:
            return problem_response(MethodNotAllowed(), {"Allow": _allowed(request)})
    return unexpected(error)


def unexpected(error: BaseException) -> Response:
    """The answer to a request that met a mistake of ours; logs it under the instance that the answer names."""
    instance = uuid.uuid4().urn
    log.error("unexpected error, told to the client as %s", instance, exc_info=error)
    return problem_response(InternalError(), instance=instance)


def _allowed(request: Request) -> str:
    """Every method of every route at this address, not only of the first that matched."""
    path = request.scope["path"]
    methods: set[str] = set()
    for route in request.app.routes:
        if route.path_regex.match(path):
            methods |= route.methods
    return ", ".join(sorted(methods))
