"""Puts the HTTP contract together from its parts.

Never opens a connection or reads a setting: the composition root hands everything in.
"""

from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from adapters.local_store import LocalArtifactStore
from adapters.settings import Settings
from adapters.signed_links import SignedLinks
from api.answers import JobAnswers
from api.artifacts import Downloads
from api.creation import Creation
from api.docs_page import CONTENT_SECURITY_POLICY, page_of
from api.engine import Engine
from api.front_door import FrontDoor
from api.openapi import openapi
from api.operations import add_downloads, add_operations, add_steering
from api.problem_responses import on_http_exception, on_refusal
from api.routes import JobRoutes
from api.steering_routes import SteeringRoutes
from domain.ports import ArtifactStore, LinkMaker
from domain.problems import Refusal

DESCRIPTION = (
    "One POST, one receipt, one computation, and a file that is right or an error that says why. "
    "Lengths in millimetres. Errors are problems as RFC 9457 has them."
)


def create_app(
    engine: Engine, store: ArtifactStore, links: LinkMaker, clock: Callable[[], datetime], settings: Settings
) -> FastAPI:
    """The service. Downloads are part of it where the store is local; other stores' links lead to themselves."""
    app = FastAPI(
        title="partmill",
        version=version("partmill"),
        description=DESCRIPTION,
        docs_url=None,  # FastAPI's own page loads its scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.openapi = lambda: openapi(app)  # type: ignore[method-assign]  # FastAPI's own way to replace it
    app.add_middleware(FrontDoor)
    app.add_exception_handler(Refusal, on_refusal)
    app.add_exception_handler(HTTPException, on_http_exception)
    answers = JobAnswers(links, clock, settings.limits.link_lifetime_s)
    add_operations(
        app, JobRoutes(engine, Creation(engine, clock, settings.limits), answers, settings.limits.body_bytes)
    )
    add_steering(app, SteeringRoutes(engine, store, answers))
    if isinstance(store, LocalArtifactStore) and isinstance(links, SignedLinks):
        add_downloads(app, Downloads(store, links, clock))
    app.add_route("/docs", _docs, include_in_schema=False)
    return app


async def _docs(request: Request) -> Response:
    headers = {"Content-Security-Policy": CONTENT_SECURITY_POLICY}
    return HTMLResponse(page_of(request.app.openapi()), headers=headers)
