"""What is refused before anybody looks at what a request says (contract rules 10, 12)."""

import json
import socket
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.processes import ROOT

EXAMPLE = (ROOT / "examples" / "bored-cylinder.json").read_bytes()
JSON = {"Content-Type": "application/json"}
BOTH = pytest.mark.parametrize("path", ["/v1/models/generate", "/v1/models/validate"])
MIB = 1024 * 1024


def slug(answer: httpx.Response) -> str:
    """Of a problem, with what every problem must have."""
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert {"type", "title", "detail"} <= problem.keys()
    return str(problem["type"]).rpartition("/")[2]


async def pieces(size: int) -> AsyncIterator[bytes]:
    """A body that does not say how long it is."""
    for _ in range(size // 65536):
        yield b" " * 65536


@BOTH
@pytest.mark.parametrize("body", [b"", b"{", b"{}x", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"\xef\xbb\xbf{}", b"\xff"])
async def test_malformed_json_is_a_400(api: httpx.AsyncClient, path: str, body: bytes) -> None:
    answer = await api.post(path, content=body, headers=JSON)
    assert (answer.status_code, slug(answer)) == (400, "malformed-request")


@BOTH
@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonx",
        "application/json; charset=latin-1",
        "application/json; profile=x; charset=latin-1",
        "application/json; charset=utf-8; charset=latin-1",
        "application/json; profile",
        'application/json; profile="open',
        "application/json; profile=x y",
        "application/json" + "; " * 20_000 + "=",
        "application/json;" + " " * 40_000 + "=",
        "application/json, text/plain",
        "application/merge-patch+json",
        "multipart/form-data; boundary=x",
    ],
)
async def test_another_content_type_is_a_415(api: httpx.AsyncClient, path: str, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    answer = await api.post(path, content=EXAMPLE, headers=headers)
    assert (answer.status_code, slug(answer)) == (415, "unsupported-media-type")


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON",
        "application/json;charset=utf-8",
        'application/json ; charset="UTF-8"',
        "application/json;",
        "application/json; ; charset=utf-8 ;",
        "application/json; profile=x",
        'application/json; profile="https://example.org/?a;charset=latin-1"; charset=utf-8',
        r'application/json; profile="a\"; charset=latin-1"',
    ],
)
async def test_the_spellings_of_json_are_accepted(api: httpx.AsyncClient, content_type: str) -> None:
    answer = await api.post("/v1/models/validate", content=EXAMPLE, headers={"Content-Type": content_type})
    assert answer.status_code == 200


@BOTH
@pytest.mark.parametrize(
    "headers",
    [
        [("Content-Type", "application/json"), ("Content-Type", "application/json")],
        [("Content-Type", "application/json"), ("Content-Type", "text/plain")],
        [("Content-Type", "application/json"), ("Content-Encoding", "gzip")],
        [("Content-Type", "application/json"), ("Content-Encoding", "identity, br")],
        [("Content-Type", "application/json"), ("Content-Encoding", "identity"), ("Content-Encoding", "gzip")],
    ],
)
async def test_what_would_have_to_be_undone_first_is_a_415(
    api: httpx.AsyncClient, path: str, headers: list[tuple[str, str]]
) -> None:
    answer = await api.post(path, content=EXAMPLE, headers=headers)
    assert (answer.status_code, slug(answer)) == (415, "unsupported-media-type")


@pytest.mark.parametrize("lines", [b"gzip, chunked", b"gzip\r\nTransfer-Encoding: chunked"])
def test_a_transfer_coding_beside_chunked_is_a_415(raw: socket.socket, lines: bytes) -> None:
    head = b"POST /v1/models/validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    raw.sendall(head + b"Connection: close\r\nTransfer-Encoding: " + lines + b"\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
    assert raw.makefile("rb").readline().split()[1] == b"415"


@pytest.mark.parametrize("coding", ["identity", "Identity", ""])
async def test_a_content_coding_that_is_none_is_accepted(api: httpx.AsyncClient, coding: str) -> None:
    answer = await api.post("/v1/models/validate", content=EXAMPLE, headers=JSON | {"Content-Encoding": coding})
    assert answer.status_code == 200


@BOTH
async def test_a_body_of_exactly_the_limit_is_read(api: httpx.AsyncClient, path: str) -> None:
    answer = await api.post(path, content=b" " * MIB, headers=JSON)
    assert (answer.status_code, slug(answer)) == (400, "malformed-request")


@BOTH
async def test_one_byte_more_is_a_413(api: httpx.AsyncClient, path: str) -> None:
    answer = await api.post(path, content=b" " * (MIB + 1), headers=JSON)
    assert (answer.status_code, slug(answer)) == (413, "payload-too-large")


@BOTH
async def test_a_chunked_body_is_counted_too(api: httpx.AsyncClient, path: str) -> None:
    answer = await api.post(path, content=pieces(2 * MIB), headers=JSON)
    assert (answer.status_code, slug(answer)) == (413, "payload-too-large")
    assert (await api.get("/livez")).status_code == 200


async def test_a_large_body_that_holds_is_read(api: httpx.AsyncClient) -> None:
    padded = EXAMPLE + b" " * 900_000
    assert (await api.post("/v1/models/validate", content=padded, headers=JSON)).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/models/generate", "POST"),
        ("DELETE", "/v1/models/generate", "POST"),
        ("GET", "/v1/models/validate", "POST"),
        ("POST", "/v1/models", "GET, HEAD"),
        ("PUT", "/v1/models/bored-cylinder", "GET, HEAD"),
        ("DELETE", "/v1/jobs/cad_" + "0" * 32, "GET, HEAD"),
        ("POST", "/v1/artifacts/a/b", "GET, HEAD"),
        ("POST", "/livez", "GET, HEAD"),
        ("POST", "/docs", "GET, HEAD"),
        ("POST", "/openapi.json", "GET, HEAD"),
        ("OPTIONS", "/v1/models", "GET, HEAD"),
    ],
)
async def test_another_method_is_a_405_that_names_the_right_ones(
    api: httpx.AsyncClient, method: str, path: str, allowed: str
) -> None:
    answer = await api.request(method, path)
    assert (answer.status_code, slug(answer)) == (405, "method-not-allowed")
    assert answer.headers["Allow"] == allowed


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/", "/v1/models/", "/v1/jobs", "/v1/jobs/", "/v1/models/a/b", "/redoc", "//livez", "/%00"]
)
async def test_another_address_is_a_404(api: httpx.AsyncClient, path: str) -> None:
    answer = await api.get(path)
    assert (answer.status_code, slug(answer)) == (404, "not-found")


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/bored-cylinder", "/livez", "/docs", "/openapi.json"])
async def test_head_answers_like_get_without_a_body(api: httpx.AsyncClient, path: str) -> None:
    got, head = await api.get(path), await api.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == got.headers["Content-Length"]


async def test_no_answer_invites_guessing_its_type(api: httpx.AsyncClient) -> None:
    for path in ("/livez", "/docs", "/nowhere", "/v1/models"):
        assert (await api.get(path)).headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("value", [b"", b'""', b"a, b", b"x" * 256, "ä".encode(), "ä".encode("latin-1")])
async def test_a_bad_idempotency_key_is_a_400(api: httpx.AsyncClient, value: bytes) -> None:
    headers = {b"Content-Type": b"application/json", b"Idempotency-Key": value}
    answer = await api.post("/v1/models/generate", content=EXAMPLE, headers=headers)
    assert (answer.status_code, slug(answer)) == (400, "invalid-idempotency-key")


async def test_two_idempotency_key_lines_are_a_400(api: httpx.AsyncClient) -> None:
    headers = [("Content-Type", "application/json"), ("Idempotency-Key", "a"), ("Idempotency-Key", "a")]
    answer = await api.post("/v1/models/generate", content=EXAMPLE, headers=headers)
    assert (answer.status_code, slug(answer)) == (400, "invalid-idempotency-key")


@pytest.mark.parametrize("body", [EXAMPLE, json.dumps({"engine": "nonsense"}).encode()])
async def test_without_temporal_creating_a_job_is_a_503_that_says_when_to_retry(
    api: httpx.AsyncClient, body: bytes
) -> None:
    """Also where the request is wrong: it might be the replay of one that was accepted (rule 8)."""
    answer = await api.post("/v1/models/generate", content=body, headers=JSON)
    assert (answer.status_code, slug(answer)) == (503, "engine-unavailable")
    assert answer.headers["Retry-After"] == "1"


async def test_without_temporal_readyz_says_so_and_livez_does_not_mind(api: httpx.AsyncClient) -> None:
    answer = await api.get("/readyz")
    assert (answer.status_code, slug(answer)) == (503, "engine-unavailable")
    assert "Retry-After" in answer.headers
    assert (await api.get("/livez")).status_code == 200


async def test_without_temporal_a_status_is_a_503(api: httpx.AsyncClient) -> None:
    answer = await api.get("/v1/jobs/cad_" + "0" * 32)
    assert (answer.status_code, slug(answer)) == (503, "engine-unavailable")


@pytest.mark.parametrize(
    "job_id", ["cad_", "task_" + "0" * 32, "x" * 2000, "..", "cad_" + "0" * 31 + "G", "%00", "%ff"]
)
async def test_what_can_not_be_a_job_is_a_404_without_asking(api: httpx.AsyncClient, job_id: str) -> None:
    answer = await api.get(f"/v1/jobs/{job_id}")
    assert answer.status_code == 404
    assert slug(answer) in ("job-not-found", "not-found")
