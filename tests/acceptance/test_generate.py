"""The main job from outside: HTTP in, a verified file out (contract rules 1-8, 20-24, 27)."""

import asyncio
import hashlib
import json
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.testing import WorkflowEnvironment

from tests.processes import ROOT, until

EXAMPLE: dict[str, Any] = json.loads((ROOT / "examples" / "bored-cylinder.json").read_text())
EXAMPLE_VOLUME = 2_801_746.1619674726


def part(**changes: Any) -> dict[str, Any]:
    """The example's request with other members."""
    return {**EXAMPLE, **changes}


def fresh_part(**changes: Any) -> dict[str, Any]:
    """A part nobody has asked for before."""
    length = 300 + (uuid.uuid4().int % 10**9) / 10**9
    return part(parameters={**EXAMPLE["parameters"], "length": length}, **changes)


async def completed(http: httpx.AsyncClient, location: str) -> dict[str, Any]:
    """The status once the job has ended; it must have completed."""

    async def look() -> dict[str, Any] | None:
        answer = await http.get(location)
        assert answer.status_code == 200, answer.text
        status: dict[str, Any] = answer.json()
        return status if status["status"] in ("completed", "failed", "cancelled") else None

    status = await until(look, f"{location} ends")
    assert status["status"] == "completed", status
    return status


async def generated(http: httpx.AsyncClient, request: dict[str, Any], **headers: str) -> dict[str, Any]:
    """POST, wait, the final status."""
    answer = await http.post("/v1/models/generate", json=request, headers=headers)
    assert answer.status_code in (200, 202), answer.text
    return await completed(http, answer.headers["Location"])


async def test_rule_1_the_contracts_own_request_becomes_a_step_file(http: httpx.AsyncClient, tmp_path: Path) -> None:
    answer = await http.post(
        "/v1/models/generate",
        content=(ROOT / "examples" / "bored-cylinder.json").read_bytes(),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 202
    receipt = answer.json()
    assert receipt.keys() == {"job_id", "status", "created_at"}
    assert answer.headers["Location"] == f"/v1/jobs/{receipt['job_id']}"
    assert answer.headers["Retry-After"] == "1"

    status = await completed(http, answer.headers["Location"])
    assert status["result"]["geometry"]["volume"] == pytest.approx(EXAMPLE_VOLUME, rel=1e-6)
    assert status["result"]["geometry"]["valid"] is True
    file = await http.get(status["result"]["download_url"])
    assert file.status_code == 200
    assert len(file.content) == status["result"]["file_size_bytes"]
    assert hashlib.sha256(file.content).hexdigest() == status["result"]["sha256"]
    assert file.content.startswith(b"ISO-10303-21;")


async def test_rule_2_the_location_answers_at_once(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/models/generate", json=fresh_part())
    assert (await http.get(answer.headers["Location"])).status_code == 200


async def test_rule_3_the_job_id_is_the_workflow_id(http: httpx.AsyncClient, temporal: WorkflowEnvironment) -> None:
    status = await generated(http, fresh_part())
    description = await temporal.client.get_workflow_handle(status["job_id"]).describe()
    assert description.workflow_type == "GeneratePart"


async def test_rule_4_parallel_identical_requests_create_one_job(http: httpx.AsyncClient) -> None:
    request = fresh_part()
    answers = await asyncio.gather(*(http.post("/v1/models/generate", json=request) for _ in range(40)))
    assert Counter(answer.status_code for answer in answers) == {202: 1, 200: 39}
    assert len({answer.json()["job_id"] for answer in answers}) == 1
    replays = [answer for answer in answers if answer.status_code == 200]
    assert {answer.headers["Idempotent-Replayed"] for answer in replays} == {"true"}
    assert {answer.headers["Location"] for answer in answers} == {f"/v1/jobs/{answers[0].json()['job_id']}"}


async def test_rule_4_a_replay_after_completion_answers_with_the_result(http: httpx.AsyncClient) -> None:
    request = fresh_part()
    first = await generated(http, request)
    again = await http.post("/v1/models/generate", json=request)
    assert (again.status_code, again.json()["status"]) == (200, "completed")
    assert again.json()["result"]["sha256"] == first["result"]["sha256"]


async def test_rule_5_a_reused_key_with_another_request_is_refused(http: httpx.AsyncClient) -> None:
    key = str(uuid.uuid4())
    first = await http.post("/v1/models/generate", json=fresh_part(), headers={"Idempotency-Key": key})
    other = await http.post("/v1/models/generate", json=fresh_part(), headers={"Idempotency-Key": key})
    assert (first.status_code, other.status_code) == (202, 422)
    assert other.json()["type"].endswith("/idempotency-key-reused")


async def test_rule_5_spelling_and_order_do_not_make_another_request(http: httpx.AsyncClient) -> None:
    key = str(uuid.uuid4())
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    one = b"""{"engine":"opencascade-brep","export_format":"step",
               "parameters":{"outer_diameter":20,"inner_diameter":5,"length":7}}"""
    two = b"""{"parameters":{"length":7.0,"inner_diameter":5e0,"outer_diameter":20.0},
               "export_format":"step","engine":"opencascade-brep"}"""
    first = await http.post("/v1/models/generate", content=one, headers=headers)
    again = await http.post("/v1/models/generate", content=two, headers={**headers, "Idempotency-Key": f'"{key}"'})
    assert (first.status_code, again.status_code) == (202, 200), again.text


async def test_the_same_part_under_another_key_has_the_same_bytes(http: httpx.AsyncClient) -> None:
    request = fresh_part(export_formats=["step", "stl", "brep"])
    del request["export_format"]
    one = await generated(http, request, **{"Idempotency-Key": str(uuid.uuid4())})
    two = await generated(http, request, **{"Idempotency-Key": str(uuid.uuid4())})
    assert one["job_id"] != two["job_id"]
    assert [f["sha256"] for f in one["result"]["files"]] == [f["sha256"] for f in two["result"]["files"]]


async def test_several_formats_come_in_the_order_they_were_asked_for(http: httpx.AsyncClient) -> None:
    request = fresh_part(export_formats=["stl", "step"])
    del request["export_format"]
    status = await generated(http, request)
    assert [file["file_format"] for file in status["result"]["files"]] == ["stl", "step"]
    assert status["result"]["file_format"] == "stl"
    assert status["result"]["geometry"]["watertight"] is True


async def test_rule_24_retry_after_stands_on_open_jobs_only(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/models/generate", json=fresh_part())
    status = await completed(http, answer.headers["Location"])
    assert "Retry-After" not in (await http.get(f"/v1/jobs/{status['job_id']}")).headers


async def test_an_unknown_job_is_a_problem(http: httpx.AsyncClient) -> None:
    answer = await http.get("/v1/jobs/cad_00000000000000000000000000000000")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")


async def test_a_part_that_breaks_rules_is_refused_with_all_of_them(http: httpx.AsyncClient) -> None:
    request = part(parameters={**EXAMPLE["parameters"], "fillet_radius": 40})
    answer = await http.post("/v1/models/generate", json=request)
    assert answer.status_code == 422
    errors = {error["rule"]: error for error in answer.json()["errors"]}
    assert errors["fillet-exceeds-wall"]["pointer"] == "/parameters/fillet_radius"
    assert errors["fillet-exceeds-wall"]["limit"] == pytest.approx(37.749)
