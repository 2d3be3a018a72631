"""Every problem has a page and a status code, and none tells more than it should (contract rules 12, 13)."""

import json
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import fields
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from temporalio.client import Client

from adapters.settings import load_settings
from adapters.signed_links import SignedLinks
from api.app import create_app
from api.engine import Engine
from api.problem_responses import on_refusal, status_of
from api.schema_faults import RULES
from domain.problems import PROBLEMS, Refusal
from tests.api.conftest import utc_now
from tests.fakes.fake_store import FakeStore
from tests.processes import ROOT

PAGE = (ROOT / "docs" / "problems.md").read_text()
SECRET = "/srv/secret/path"


def test_each_problem_has_its_section_and_each_section_its_problem() -> None:
    assert sorted(re.findall(r"^### (\S+)$", PAGE, re.MULTILINE)) == sorted(PROBLEMS)


@pytest.mark.parametrize("slug", PROBLEMS)
def test_the_section_names_the_status_code(slug: str) -> None:
    section = PAGE.split(f"\n### {slug}\n")[1]
    of_a_job = PAGE.index("## How jobs fail") < PAGE.index(f"\n### {slug}\n")
    assert of_a_job or section.strip().startswith(str(status_of(object.__new__(PROBLEMS[slug]))))


def test_the_page_names_every_rule_of_the_schema() -> None:
    assert [rule for rule, _ in RULES.values() if f"`{rule}`" not in PAGE] == []


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The app with endpoints that make mistakes."""
    app = await faulty_app(tmp_path)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def faulty_app(tmp_path: Path) -> FastAPI:
    """The whole app; its engine is never asked."""
    settings = load_settings({"PARTMILL_DATA_DIR": str(tmp_path)})
    engine = Engine(await Client.connect("127.0.0.1:1", lazy=True))
    app = create_app(engine, FakeStore(), SignedLinks(b"k" * 32), utc_now, settings)
    app.add_route("/mistake", _mistake)
    app.add_route("/late-mistake", _late_mistake)
    return app


async def _mistake(request: Request) -> Response:
    raise RuntimeError(SECRET)


async def _late_mistake(request: Request) -> Response:
    async def body() -> AsyncIterator[bytes]:
        yield b"begun"
        raise RuntimeError(SECRET)

    return StreamingResponse(body())


async def test_an_unexpected_error_is_told_by_an_instance_that_the_log_has_too(
    faulty: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = await faulty.get("/mistake")
    assert answer.status_code == 500
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem["type"].endswith("/internal-error")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", problem["instance"])
    assert problem["instance"] in caplog.text
    assert SECRET in caplog.text
    assert SECRET not in answer.text
    assert "RuntimeError" not in answer.text


async def test_an_error_in_the_middle_of_an_answer_adds_nothing_to_it(faulty: httpx.AsyncClient) -> None:
    answer = await faulty.get("/late-mistake")
    assert answer.content == b"begun"


@pytest.mark.parametrize("slug", PROBLEMS)
async def test_every_problem_can_be_answered(slug: str) -> None:
    kind = PROBLEMS[slug]
    members = {field.name: "x" for field in fields(kind)} | {"errors": (), "limit_s": 1.0}
    answer = await on_refusal(Request({"type": "http"}), Refusal(kind.from_dict(members)))
    assert json.loads(bytes(answer.body))["type"].endswith("/" + slug)
