"""What each call sends, returns and raises."""

import json

import pytest

from partmill.client import (
    JobCancelled,
    JobFailed,
    ProblemError,
    ServerUnreachable,
    UnexpectedAnswer,
    WaitTimedOut,
)
from tests.client.conftest import ATTEMPTS, Call
from tests.client.documents import JOB, JOB_ID, completed, status
from tests.client.scripted_server import Reply, ScriptedServer, problem, reply

GENERATE = "/v1/models/generate"
RECEIPT = {"job_id": JOB_ID, "status": "queued", "created_at": "2024-10-25T08:30:00Z"}


async def test_generate_sends_the_request_and_no_key_of_its_own(server: ScriptedServer, call: Call) -> None:
    server.answers(GENERATE, reply(RECEIPT, 202, Retry_After="1"))
    job = await call("generate", {"parameters": {"length": 3}})
    (sent,) = server.requests
    assert json.loads(sent.body) == {"parameters": {"length": 3}}
    assert "idempotency-key" not in sent.headers
    assert (job.job_id, job.status, job.replayed, job.retry_after_s) == (JOB_ID, "queued", False, 1)


async def test_generate_passes_text_and_key_on_as_they_are(server: ScriptedServer, call: Call) -> None:
    server.answers(GENERATE, reply(completed(), Idempotent_Replayed="true"))
    job = await call("generate", b'{"parameters": {"length": 3.0}}', "order-17")
    (sent,) = server.requests
    assert sent.body == b'{"parameters": {"length": 3.0}}'
    assert sent.headers["idempotency-key"] == "order-17"
    assert job.replayed
    assert job.file("step").file_size_bytes == 102_400
    assert job.result.geometry.center_of_mass == (0, 0, 150)


async def test_a_refusal_carries_every_broken_rule(server: ScriptedServer, call: Call) -> None:
    fault = {"pointer": "/parameters/length", "rule": "too-short", "detail": "Too short.", "value": 0, "limit": 0.1}
    server.answers(GENERATE, problem(422, "validation-failed", errors=[fault]))
    with pytest.raises(ProblemError) as caught:
        await call("generate", {})
    assert (caught.value.status, caught.value.problem.slug) == (422, "validation-failed")
    assert caught.value.problem.errors[0].limit == 0.1
    assert len(server.requests) == 1, "a refusal is final"


@pytest.mark.parametrize("passing", [Reply(drop=True), problem(503), Reply(502, b"<html>"), Reply(504), problem(429)])
async def test_what_passes_is_tried_again(server: ScriptedServer, call: Call, passing: Reply) -> None:
    server.answers(GENERATE, passing, passing, reply(RECEIPT, 202))
    assert (await call("generate", {})).job_id == JOB_ID
    assert len(server.requests) == 3


async def test_a_server_that_stays_down_is_an_error_in_the_end(server: ScriptedServer, call: Call) -> None:
    server.answers(JOB, Reply(drop=True))
    with pytest.raises(ServerUnreachable):
        await call("job", JOB_ID)
    assert len(server.requests) == ATTEMPTS


async def test_a_server_that_asks_for_too_much_patience_is_not_asked_again(server: ScriptedServer, call: Call) -> None:
    server.answers(JOB, Reply(503, headers={"retry-after": "3600"}))
    with pytest.raises(ProblemError) as caught:
        await call("job", JOB_ID)
    assert (caught.value.status, len(server.requests)) == (503, 1)


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"[]", b'{"job_id": 3}', b'{"a":' * 100_000])
async def test_an_answer_of_something_else_is_named_as_such(server: ScriptedServer, call: Call, body: bytes) -> None:
    server.answers(JOB, Reply(body=body))
    with pytest.raises(UnexpectedAnswer):
        await call("job", JOB_ID)


@pytest.mark.parametrize("job_id", ["../pwned", "cad_../../../../pwned", f"{JOB_ID}/../x", f"{JOB_ID}\n", "cad_1", ""])
async def test_a_job_id_that_is_none_is_not_read(server: ScriptedServer, call: Call, job_id: str) -> None:
    """It becomes the name of a file on the user's disk."""
    server.answers(JOB, reply({**completed(), "job_id": job_id}))
    with pytest.raises(UnexpectedAnswer):
        await call("job", JOB_ID)


@pytest.mark.parametrize("file_format", ["../pwned", "/etc/pwned", "step/../x", "", "STEP\n", 3])
async def test_a_format_that_is_none_is_not_read(server: ScriptedServer, call: Call, file_format: object) -> None:
    """It becomes the ending of a file on the user's disk."""
    document = completed()
    document["result"]["files"][0]["file_format"] = file_format
    server.answers(JOB, reply(document))
    with pytest.raises(UnexpectedAnswer):
        await call("job", JOB_ID)


async def test_an_error_without_a_problem_still_has_one(server: ScriptedServer, call: Call) -> None:
    server.answers(JOB, Reply(403, b"forbidden by the proxy", {"content-type": "text/plain"}))
    with pytest.raises(ProblemError, match="Forbidden"):
        await call("job", JOB_ID)


async def test_wait_shows_every_answer_and_returns_the_completed_job(server: ScriptedServer, call: Call) -> None:
    server.answers(JOB, reply(status("queued")), reply(status("processing")), reply(completed()))
    seen: list[str] = []
    job = await call("wait", JOB_ID, on_poll=lambda job: seen.append(job.status))
    assert seen == ["queued", "processing", "completed"]
    assert job.status == "completed"


async def test_wait_raises_what_became_of_the_job(server: ScriptedServer, call: Call) -> None:
    reason = {"type": "https://partmill.dev/problems/kernel-crashed", "title": "Kernel crashed", "detail": "It died."}
    server.answers(JOB, reply(status("failed", error=reason)))
    with pytest.raises(JobFailed) as caught:
        await call("wait", JOB_ID)
    assert caught.value.problem.slug == "kernel-crashed"
    server.answers(JOB, reply(status("cancelled")))
    with pytest.raises(JobCancelled):
        await call("wait", JOB_ID)


async def test_wait_ends_at_its_timeout_with_the_job_as_last_seen(server: ScriptedServer, call: Call) -> None:
    server.answers(JOB, reply(status("suspended", suspended_reason="evicted")))
    with pytest.raises(WaitTimedOut) as caught:
        await call("wait", JOB_ID, 0.2)
    assert caught.value.job.suspended_reason == "evicted"
    assert len(server.requests) >= 2, "the last look comes at the end of the timeout"


@pytest.mark.parametrize("action", ["cancel", "retry", "pause", "resume"])
async def test_a_job_is_steered_and_answers_with_its_status(server: ScriptedServer, call: Call, action: str) -> None:
    server.answers(f"{JOB}/{action}", reply(status("processing", cancel_requested=True), 202, Retry_After="1"))
    job = await call(action, JOB_ID)
    assert [(sent.method, sent.path) for sent in server.requests] == [("POST", f"{JOB}/{action}")]
    assert (job.status, job.cancel_requested) == ("processing", True)


async def test_what_a_job_is_past_is_refused(server: ScriptedServer, call: Call) -> None:
    server.answers(f"{JOB}/retry", problem(409, "state-conflict"))
    with pytest.raises(ProblemError) as caught:
        await call("retry", JOB_ID)
    assert caught.value.problem.slug == "state-conflict"


async def test_the_catalogue_is_read(server: ScriptedServer, call: Call) -> None:
    entry = {
        "name": "bored-cylinder",
        "description": "A cylinder.",
        "engines": {"opencascade-brep": ["step"]},
        "parameters": {"type": "object"},
        "example": {},
    }
    server.answers("/v1/models", reply({"models": [entry]}))
    server.answers("/v1/models/bored-cylinder", reply(entry))
    (model,) = await call("models")
    assert model == await call("model", "bored-cylinder")
    assert model.engines == {"opencascade-brep": ("step",)}


async def test_validate_returns_the_prediction(server: ScriptedServer, call: Call) -> None:
    server.answers("/v1/models/validate", reply({"volume": 12.5, "bounding_box": {"min": [0, 0, 0], "max": [1, 1, 1]}}))
    assert (await call("validate", {})).volume == 12.5
