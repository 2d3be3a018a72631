"""Who is let in, and how the process starts and stops (contract rule 60, last sentence)."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import Service, started
from tests.processes import ROOT, free_port


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST", "localhost:8000", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:65535"]
)
async def test_names_of_this_machine_are_let_in(api: httpx.AsyncClient, host: str) -> None:
    assert (await api.get("/livez", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "example.org",
        "localhost.example.org",
        "example.org:8000",
        "127.0.0.1.example.org",
        "127.0.0.2",
        "0.0.0.0",
        "::1",
        "[::2]:80",
        "localhost:",
        "localhost:80:80",
        "localhost:x",
        "user@localhost",
        "localhost.",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/livez", "/v1/models", "/docs", "/nowhere"])
async def test_any_other_name_is_misdirected(api: httpx.AsyncClient, host: str, path: str) -> None:
    """A page of a stranger, whose name was made to point here, gives itself away (DNS rebinding)."""
    answer = await api.get(path, headers={"Host": host})
    assert answer.status_code == 421
    assert answer.json()["type"].endswith("/foreign-host")


@pytest.mark.parametrize("hosts", [b"", b"Host: localhost\r\nHost: example.org\r\n", b"Host: localhost, x\r\n"])
def test_no_host_or_several_are_misdirected(raw: socket.socket, hosts: bytes) -> None:
    raw.sendall(b"GET /livez HTTP/1.1\r\n" + hosts + b"Connection: close\r\n\r\n")
    assert raw.makefile("rb").readline().split()[1] in (b"400", b"421")


def test_an_absolute_target_does_not_get_around_the_host(raw: socket.socket) -> None:
    raw.sendall(b"GET http://localhost/livez HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n")
    assert raw.makefile("rb").readline().split()[1] == b"421"


GOOD = json.loads((ROOT / "examples" / "bored-cylinder.json").read_bytes())
STEERED = "/v1/jobs/cad_" + "0" * 32
CHANGES = pytest.mark.parametrize(
    "path", [*(f"{STEERED}/{verb}" for verb in ("cancel", "retry", "pause", "resume")), "/v1/models/validate"]
)


@CHANGES
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://example.org"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://localhost.example.org"},
        {"Origin": "http://127.0.0.1.example.org:8000"},
        {"Origin": "http://localhost@example.org"},
        {"Origin": "http://localhost/"},
        {"Origin": "chrome-extension://localhost"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:3000"},
    ],
)
async def test_a_page_of_another_origin_can_not_change_anything(
    api: httpx.AsyncClient, path: str, headers: dict[str, str]
) -> None:
    """A browser sends a stranger's POST without asking us first if it has no body, so nothing else would stop it."""
    answer = await api.post(path, headers=headers)
    assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (403, "foreign-origin")


async def test_one_foreign_origin_among_several_is_enough(api: httpx.AsyncClient) -> None:
    origins = [("Origin", "http://localhost"), ("Origin", "https://example.org")]
    assert (await api.post(f"{STEERED}/cancel", headers=origins)).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST", "TRACE"])
async def test_every_method_that_is_not_safe_is_refused(api: httpx.AsyncClient, method: str) -> None:
    assert (await api.request(method, "/nowhere", headers={"Origin": "null"})).status_code == 403


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_link_on_a_strangers_page_can_be_followed(api: httpx.AsyncClient, method: str) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "null"}
    assert (await api.request(method, "/livez", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://localhost:8000", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://127.0.0.1:8000"},
        {"Origin": "http://[::1]:8000"},
        {"Origin": "https://LOCALHOST"},
        {"Sec-Fetch-Site": "none"},
    ],
)
async def test_pages_of_this_machine_and_other_programs_are_let_in(
    api: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    assert (await api.post("/v1/models/validate", headers=headers)).status_code == 415


def test_a_client_that_leaves_in_the_middle_of_its_body_harms_nobody(raw: socket.socket, service: object) -> None:
    head = b"POST /v1/models/validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    raw.sendall(head + b"Content-Length: 1000\r\n\r\n{")
    raw.close()


@pytest.fixture(scope="module")
async def stopped(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """An API that was asked in every way that a log might tell of, and then ordered to stop."""
    service = await started(tmp_path_factory.mktemp("stopped"), f"127.0.0.1:{free_port()}")
    try:
        async with httpx.AsyncClient(base_url=service.url) as client:
            await client.get("/v1/artifacts/x?expires=1&signature=abcdef")
            await client.get("/v1/artifacts/x?expires=1&signature=abcdef", headers={"Host": "example.org"})
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
            await client.get("/v1/artifacts/x?signature=abcdef", headers=upgrade)
            for key in ("secret-key", '"secret-key', '"secret-key"'):
                headers = {"Idempotency-Key": key}
                await client.post("/v1/models/generate", json=GOOD, headers=headers)
                await client.post("/v1/models/generate", json={"secret-key": 1}, headers=headers)
        _broken(service.url, b"GET /v1/artifacts/x?signature=abcdef HTTP/9\r\nIdempotency-Key: secret-key\r\n\r\n")
        _broken(service.url, b"GET /x?signature=abcdef HTTP/1.1\r\nsecret-key\r\n\r\n")
        service.process.signal(signal.SIGTERM)
        await service.process.ended()
    finally:
        await service.process.stop()
    return service


async def test_an_order_to_stop_is_an_ordinary_end(stopped: Service) -> None:
    assert await stopped.process.ended() == 0


async def test_it_says_at_start_that_it_serves_this_machine_only(stopped: Service) -> None:
    assert "no API keys are configured" in stopped.process.tail()


@pytest.mark.parametrize("secret", ["abcdef", "signature", "secret-key"])
async def test_links_and_keys_are_not_logged(stopped: Service, secret: str) -> None:
    assert secret not in (stopped.data_dir / "api.log").read_text()


def _broken(url: str, sent: bytes) -> None:
    """Send what is no HTTP, until the server has said so."""
    address = httpx.URL(url)
    with socket.create_connection((address.host, address.port or 80), timeout=30) as connection:
        connection.sendall(sent)
        assert connection.recv(1024).startswith(b"HTTP/1.1 400")


def api_that_ends(*arguments: str, fds: tuple[int, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    """An API that does not come to serve."""
    return subprocess.run(
        [sys.executable, "-m", "api", *arguments],
        cwd=ROOT,
        env={"PATH": "/usr/bin", **environment},
        pass_fds=fds,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_it_refuses_to_listen_beyond_this_machine(tmp_path: Path) -> None:
    ended = api_that_ends(PARTMILL_HOST="0.0.0.0", PARTMILL_PORT="0", PARTMILL_DATA_DIR=str(tmp_path))
    assert ended.returncode == 1
    assert "PARTMILL_HOST" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_it_refuses_an_inherited_socket_that_listens_beyond_this_machine(tmp_path: Path) -> None:
    with socket.create_server(("0.0.0.0", 0)) as listener:
        fd = listener.fileno()
        ended = api_that_ends("--fd", str(fd), fds=(fd,), PARTMILL_DATA_DIR=str(tmp_path))
    assert (ended.returncode, "PARTMILL_HOST" in ended.stderr) == (1, True)


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = api_that_ends(PARTMILL_PORT=str(taken.getsockname()[1]), PARTMILL_DATA_DIR=str(tmp_path))
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1


def test_a_bad_setting_is_told_in_one_line(tmp_path: Path) -> None:
    ended = api_that_ends(PARTMILL_PORT="eight", PARTMILL_DATA_DIR=str(tmp_path))
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "PARTMILL_PORT" in ended.stderr
