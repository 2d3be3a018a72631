"""Creating jobs on a real Temporal, with no worker alive (contract rules 1-8, 20-24)."""

import asyncio
import json
import uuid
from collections import Counter
from typing import Any

import httpx
import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.testing import WorkflowEnvironment

from domain.identity import fingerprint_of, job_id_of
from domain.messages import Tenant
from tests.processes import ROOT, RunningStack

EXAMPLE: dict[str, Any] = json.loads((ROOT / "examples" / "bored-cylinder.json").read_text())
GENERATE = "/v1/models/generate"


@pytest.fixture
def key() -> dict[str, str]:
    """An Idempotency-Key header that nobody has used."""
    return {"Idempotency-Key": str(uuid.uuid4())}


@pytest.fixture
def client(idle_temporal: WorkflowEnvironment) -> Client:
    """Of the server that the API talks to."""
    return idle_temporal.client


def slug(answer: httpx.Response) -> str:
    """Of a problem."""
    return str(answer.json()["type"]).rpartition("/")[2]


async def test_rule_1_a_new_job_is_answered_with_a_receipt_and_nothing_else(
    queue: httpx.AsyncClient, key: dict[str, str]
) -> None:
    answer = await queue.post(GENERATE, json=EXAMPLE, headers=key)
    assert answer.status_code == 202
    assert answer.json().keys() == {"job_id", "status", "created_at"}
    assert answer.json()["status"] == "queued"
    assert answer.headers["Location"] == f"/v1/jobs/{answer.json()['job_id']}"
    assert answer.headers["Retry-After"] == "1"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Idempotent-Replayed" not in answer.headers


async def test_rule_2_and_22_its_status_is_there_at_once_without_any_worker(
    queue: httpx.AsyncClient, key: dict[str, str]
) -> None:
    receipt = await queue.post(GENERATE, json={**EXAMPLE, "metadata": {"order": "4711 ✓"}}, headers=key)
    answer = await queue.get(receipt.headers["Location"])
    assert answer.status_code == 200
    assert (answer.headers["Retry-After"], answer.headers["Cache-Control"]) == ("1", "no-store")
    assert answer.json() == {
        **receipt.json(),
        "suspended_reason": None,
        "started_at": None,
        "completed_at": None,
        "model": "bored-cylinder",
        "engine": "opencascade-brep",
        "attempt": 1,
        "evictions": 0,
        "cancel_requested": False,
        "metadata": {"order": "4711 ✓"},
        "progress": {"phase": "queued", "fraction": 0.0, "last_heartbeat": None},
        "result": None,
        "error": None,
    }


async def test_rule_3_the_job_is_the_workflow_of_that_id_with_its_key_in_sight(
    queue: httpx.AsyncClient, client: Client, key: dict[str, str]
) -> None:
    job_id = (await queue.post(GENERATE, json=EXAMPLE, headers=key)).json()["job_id"]
    description = await client.get_workflow_handle(job_id).describe()
    attributes = {pair.key.name: pair.value for pair in description.typed_search_attributes}
    assert attributes["PartmillIdempotencyKey"] == key["Idempotency-Key"]
    assert attributes["PartmillTenant"] == "local"


async def test_rule_4_many_parallel_identical_requests_create_one_job(
    queue: httpx.AsyncClient, key: dict[str, str]
) -> None:
    answers = await asyncio.gather(*(queue.post(GENERATE, json=EXAMPLE, headers=key) for _ in range(60)))
    assert Counter(answer.status_code for answer in answers) == {202: 1, 200: 59}
    assert len({answer.json()["job_id"] for answer in answers}) == 1
    replays = [answer for answer in answers if answer.status_code == 200]
    assert {answer.headers["Idempotent-Replayed"] for answer in replays} == {"true"}
    assert len({answer.headers["Location"] for answer in answers}) == 1


async def test_rule_4_a_replay_answers_with_the_whole_status(queue: httpx.AsyncClient, key: dict[str, str]) -> None:
    receipt = await queue.post(GENERATE, json=EXAMPLE, headers=key)
    replay = await queue.post(GENERATE, json=EXAMPLE, headers=key)
    assert replay.status_code == 200
    assert replay.json() == (await queue.get(receipt.headers["Location"])).json()
    assert replay.json()["created_at"] == receipt.json()["created_at"]


async def test_rule_5_another_request_with_the_same_key_is_refused(
    queue: httpx.AsyncClient, key: dict[str, str]
) -> None:
    first = await queue.post(GENERATE, json=EXAMPLE, headers=key)
    others: list[Any] = [{**EXAMPLE, "priority": 1}, {**EXAMPLE, "engine": "nonsense"}, []]
    for other in others:
        answer = await queue.post(GENERATE, json=other, headers=key)
        assert (answer.status_code, slug(answer)) == (422, "idempotency-key-reused")
        assert answer.json()["job_id"] == first.json()["job_id"]


async def test_rule_5_spelling_does_not_make_another_request(queue: httpx.AsyncClient, key: dict[str, str]) -> None:
    headers = {"Content-Type": "application/json", "Idempotency-Key": f'"{key["Idempotency-Key"]}"'}
    first = await queue.post(GENERATE, json=EXAMPLE, headers=key)
    respelt = json.dumps(dict(reversed(EXAMPLE.items())), indent=4).replace("300.0", "3e2")
    again = await queue.post(GENERATE, content=respelt, headers=headers)
    assert (again.status_code, again.json()["job_id"]) == (200, first.json()["job_id"])


async def test_without_a_key_the_body_is_the_identity(queue: httpx.AsyncClient) -> None:
    request = {**EXAMPLE, "metadata": {"unique": str(uuid.uuid4())}}
    first, again = await queue.post(GENERATE, json=request), await queue.post(GENERATE, json=request)
    other = await queue.post(GENERATE, json={**request, "priority": 1})
    assert (first.status_code, again.status_code, other.status_code) == (202, 200, 202)
    assert first.json()["job_id"] == again.json()["job_id"] != other.json()["job_id"]


async def test_an_invalid_request_creates_nothing(
    queue: httpx.AsyncClient, client: Client, key: dict[str, str]
) -> None:
    refused = await queue.post(GENERATE, json={**EXAMPLE, "callback_url": "https://example.org"}, headers=key)
    assert (refused.status_code, slug(refused)) == (422, "validation-failed")
    assert refused.json()["errors"][0]["pointer"] == "/callback_url"
    mended = await queue.post(GENERATE, json=EXAMPLE, headers=key)
    assert mended.status_code == 202


async def test_rule_8_a_request_that_has_a_job_is_a_replay_even_if_it_would_be_refused_today(
    queue: httpx.AsyncClient, client: Client
) -> None:
    """Rules may get stricter; a job that was accepted under the old ones is still found."""
    body = {"engine": "engine of an older release", "nonce": str(uuid.uuid4())}
    job = await _job_of_an_older_release(client, body)
    answer = await queue.post(GENERATE, json=body)
    assert (answer.status_code, answer.json()["job_id"]) == (200, job.id)
    assert answer.headers["Idempotent-Replayed"] == "true"


async def test_rule_20_another_tenants_job_is_not_found(queue: httpx.AsyncClient, client: Client) -> None:
    job = await _job_of_an_older_release(client, {"nonce": str(uuid.uuid4())}, tenant="acme")
    answer = await queue.get(f"/v1/jobs/{job.id}")
    assert (answer.status_code, slug(answer)) == (404, "job-not-found")


async def test_an_unknown_job_is_not_found(queue: httpx.AsyncClient) -> None:
    answer = await queue.get("/v1/jobs/cad_" + "0" * 32)
    assert (answer.status_code, slug(answer)) == (404, "job-not-found")


async def test_a_cancelled_job_without_a_worker_stays_queued_and_says_so(
    queue: httpx.AsyncClient, client: Client, key: dict[str, str]
) -> None:
    job_id = (await queue.post(GENERATE, json=EXAMPLE, headers=key)).json()["job_id"]
    await client.get_workflow_handle(job_id).cancel()
    status = (await queue.get(f"/v1/jobs/{job_id}")).json()
    assert (status["status"], status["cancel_requested"]) == ("queued", True)


async def test_a_terminated_job_is_failed_with_that_problem_and_no_retry_after(
    queue: httpx.AsyncClient, client: Client, key: dict[str, str]
) -> None:
    job_id = (await queue.post(GENERATE, json=EXAMPLE, headers=key)).json()["job_id"]
    await client.get_workflow_handle(job_id).terminate()
    answer = await queue.get(f"/v1/jobs/{job_id}")
    assert answer.status_code == 200
    assert answer.json()["status"] == "failed"
    assert answer.json()["error"]["type"].endswith("/terminated")
    assert answer.json()["completed_at"] is not None
    assert "Retry-After" not in answer.headers


async def test_with_temporal_readyz_is_200(workerless: RunningStack, queue: httpx.AsyncClient) -> None:
    assert (await queue.get("/readyz")).json() == {"status": "ready"}


async def _job_of_an_older_release(
    client: Client, body: dict[str, Any], tenant: str = "local"
) -> WorkflowHandle[Any, Any]:
    """A workflow as a release with other rules would have started it for this body."""
    fingerprint = fingerprint_of(body)
    memo = {
        "tenant": tenant,
        "fingerprint": fingerprint,
        "created_at": "2024-10-25T08:30:00Z",
        "model": "older",
        "engine": "older",
        "formats": ["step"],
    }
    job_id = job_id_of(Tenant("local"), "generate", None, fingerprint)
    return await client.start_workflow("OlderGeneratePart", id=job_id, task_queue="nobody", memo=memo)
