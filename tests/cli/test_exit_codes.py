"""Scripts branch on exit codes and read one JSON document."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from partmill.exit_codes import Exit
from tests.cli.terminal import EXAMPLE, Terminal
from tests.client.documents import CONTENT, JOB, JOB_ID, LINK, completed, status
from tests.client.scripted_server import Reply, ScriptedServer, problem, reply
from tests.processes import free_port

GENERATE = "/v1/models/generate"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server with one completed job."""
    with ScriptedServer() as running:
        running.answers(GENERATE, reply(completed(), Idempotent_Replayed="true"))
        running.answers(JOB, reply(completed()))
        running.answers(LINK, Reply(body=CONTENT, honours_ranges=True))
        yield running


def partmill(server: str, folder: Path, *words: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command."""
    return Terminal(folder, server).run(*words, stdin=stdin)


def test_the_numbers_never_change() -> None:
    assert {code.name: code.value for code in Exit} == {
        "OK": 0,
        "UNEXPECTED": 1,
        "USAGE": 2,
        "REFUSED": 3,
        "JOB_FAILED": 4,
        "JOB_CANCELLED": 5,
        "UNREACHABLE": 6,
        "CORRUPT_DOWNLOAD": 7,
        "INTERRUPTED": 130,
    }


def test_generate_saves_the_file_and_says_so(server: ScriptedServer, tmp_path: Path) -> None:
    code, out, err = partmill(server.url, tmp_path, "generate", EXAMPLE, "-o", "part.step")
    assert (code, (tmp_path / "part.step").read_bytes()) == (Exit.OK, CONTENT)
    assert "Saved part.step" in out
    assert f"{server.url}{JOB}" in err


def test_generate_reads_the_request_from_stdin(server: ScriptedServer, tmp_path: Path) -> None:
    code, _, _ = partmill(server.url, tmp_path, "generate", "-", "-o", "part.step", stdin=b'{"export_format": "step"}')
    assert code == Exit.OK
    assert server.asked(GENERATE)[0].body == b'{"export_format": "step"}'


def test_json_is_the_only_thing_on_stdout(server: ScriptedServer, tmp_path: Path) -> None:
    code, out, _ = partmill(server.url, tmp_path, "generate", EXAMPLE, "-o", "part.step", "--json")
    answer = json.loads(out)
    assert code == Exit.OK
    assert answer["job"] == completed()
    assert answer["saved"] == [{"file_format": "step", "path": "part.step"}]


def test_a_refusal_shows_every_fault_with_its_nearest_value(server: ScriptedServer, tmp_path: Path) -> None:
    faults = [
        {"pointer": "/parameters/a", "rule": "rule-a", "detail": "Too big.", "value": 9, "limit": 3.5},
        {"pointer": "/parameters/b", "rule": "rule-b", "detail": "Not possible.", "value": 1, "limit": None},
    ]
    server.answers(GENERATE, problem(422, "validation-failed", errors=faults))
    code, out, err = partmill(server.url, tmp_path, "generate", EXAMPLE, "-o", "part.step")
    assert (code, out) == (Exit.REFUSED, "")
    assert "/parameters/a: Too big. (given: 9) [rule-a]\n    nearest value that passes: 3.5" in err
    assert "/parameters/b: Not possible. (given: 1) [rule-b]\n" in err


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (problem(422), Exit.REFUSED),
        (problem(404), Exit.REFUSED),
        (problem(500), Exit.UNEXPECTED),
        (reply(status("failed", error=json.loads(problem(500, "kernel-crashed").body))), Exit.JOB_FAILED),
        (reply(status("cancelled")), Exit.JOB_CANCELLED),
        (Reply(drop=True), Exit.UNREACHABLE),
        (Reply(503, headers={"retry-after": "60"}), Exit.UNREACHABLE),
        (Reply(body=b"hello"), Exit.UNEXPECTED),
    ],
)
def test_watch_ends_as_the_job_does(server: ScriptedServer, tmp_path: Path, answer: Reply, code: Exit) -> None:
    server.answers(JOB, answer)
    ended, out, err = partmill(server.url, tmp_path, "jobs", "watch", JOB_ID, "--json")
    error: dict[str, Any] = json.loads(out)["error"]
    assert (ended, error["exit_code"], error["kind"]) == (code, code, code.wording)
    assert error["message"] in err


def test_show_is_about_looking_and_not_about_the_job(server: ScriptedServer, tmp_path: Path) -> None:
    server.answers(JOB, reply(status("cancelled")))
    code, out, _ = partmill(server.url, tmp_path, "jobs", "show", JOB_ID, "--json")
    assert (code, json.loads(out)["status"]) == (Exit.OK, "cancelled")


def test_a_server_can_not_choose_where_files_go(server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    server.answers(JOB, reply({**completed(), "job_id": "../pwned"}))
    code, _, _ = partmill(server.url, tmp_path, "generate", EXAMPLE, "-o", "out")
    assert (code, list(tmp_path.rglob("*"))) == (Exit.UNEXPECTED, [tmp_path / "out"])


@pytest.mark.parametrize("action", ["cancel", "retry", "pause", "resume"])
def test_a_job_is_steered(server: ScriptedServer, tmp_path: Path, action: str) -> None:
    server.answers(f"{JOB}/{action}", reply(status("suspended"), 202))
    code, out, _ = partmill(server.url, tmp_path, "jobs", action, JOB_ID, "--json")
    assert (code, json.loads(out)["status"]) == (Exit.OK, "suspended")
    server.answers(f"{JOB}/{action}", problem(409, "state-conflict"))
    assert partmill(server.url, tmp_path, "jobs", action, JOB_ID)[0] == Exit.REFUSED


@pytest.mark.parametrize("answer", [reply(status("queued"), 202), problem(409, "state-conflict")])
def test_a_job_whose_file_is_gone_is_run_once_more(server: ScriptedServer, tmp_path: Path, answer: Reply) -> None:
    """A conflict says that somebody else had it run already."""
    gone = problem(404, "artifact-gone")
    server.answers(LINK, gone, gone, Reply(body=CONTENT, honours_ranges=True))
    server.answers(f"{JOB}/retry", answer)
    code, _, err = partmill(server.url, tmp_path, "generate", EXAMPLE, "-o", "part.step")
    assert (code, (tmp_path / "part.step").read_bytes()) == (Exit.OK, CONTENT), err
    assert len(server.asked(f"{JOB}/retry")) == 1


def test_a_file_that_is_gone_again_is_an_error(server: ScriptedServer, tmp_path: Path) -> None:
    server.answers(LINK, problem(404, "artifact-gone"))
    server.answers(f"{JOB}/retry", reply(status("queued"), 202))
    assert partmill(server.url, tmp_path, "generate", EXAMPLE, "-o", "part.step")[0] == Exit.REFUSED
    assert len(server.asked(f"{JOB}/retry")) == 1


def test_a_corrupt_download_saves_nothing(server: ScriptedServer, tmp_path: Path) -> None:
    server.answers(LINK, Reply(body=CONTENT[:-1] + b"?"))
    code, _, _ = partmill(server.url, tmp_path, "generate", EXAMPLE, "-o", "part.step")
    assert (code, list(tmp_path.iterdir())) == (Exit.CORRUPT_DOWNLOAD, [])


@pytest.mark.parametrize(
    "words",
    [
        ("generate", "no-such-file.json", "-o", "part.step"),
        ("generate", EXAMPLE, "-o", "no-such-folder/part.step"),
        ("generate", EXAMPLE, "-o", "part.stl"),
        ("generate", EXAMPLE),
        ("jobs", "show"),
        ("models", "--server", "127.0.0.1:8000"),
        ("no-such-command",),
    ],
)
def test_a_mistake_on_the_command_line_sends_nothing(
    server: ScriptedServer, tmp_path: Path, words: tuple[str, ...]
) -> None:
    code, _, _ = partmill(server.url, tmp_path, *words)
    assert (code, server.requests) == (Exit.USAGE, [])


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (("generate", "-", "-o", "part.step"), {}),
        (("validate", "-"), {}),
        (("generate", EXAMPLE, "-o", "part.step", "--idempotency-key", "é"), {}),
        (("generate", EXAMPLE, "-o", "part.step", "--idempotency-key", "order\n17"), {}),
        (("models", "--server", "http://[::1"), {}),
        (("models",), {"PARTMILL_SERVER": "http://127.0.0.1:8x"}),
        (("models",), {"PARTMILL_PORT": "8x"}),
        (("up", "--port", "70000"), {}),
        (("up", "--temporal-port", "-1"), {}),
        (("up",), {"PARTMILL_PORT": "70000"}),
    ],
)
def test_a_mistake_is_told_as_one(tmp_path: Path, words: tuple[str, ...], settings: dict[str, str]) -> None:
    terminal = Terminal(tmp_path, settings=settings)
    code, out, err = terminal.run(*words, "--json", stdin=b'{"a":' * 100_000)
    error = json.loads(out)["error"]
    assert (code, error["exit_code"], error["kind"]) == (Exit.USAGE, Exit.USAGE, "usage")
    assert "Traceback" not in err
    assert terminal.listing() == []


@pytest.mark.parametrize("out", ["n" * 300 + ".step", "/proc/part.step", "/dev/null", "none/"])
def test_a_place_that_can_not_be_written_is_told_before_any_work(
    server: ScriptedServer, tmp_path: Path, out: str
) -> None:
    for request in (Path(EXAMPLE).read_bytes(), b"{}"):  # where only the server can tell which formats, too
        code, stdout, err = partmill(server.url, tmp_path, "generate", "-", "-o", out, "--json", stdin=request)
        assert (code, server.requests, list(tmp_path.iterdir())) == (Exit.USAGE, [], [])
        assert out.rstrip("/") in json.loads(stdout)["error"]["message"]
        assert ".partmill-" not in err


def test_a_server_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    code, _, err = partmill(f"http://127.0.0.1:{free_port()}", tmp_path, "models")
    assert code == Exit.UNREACHABLE
    assert "partmill up" in err


def test_the_version_is_the_packages(server: ScriptedServer, tmp_path: Path) -> None:
    from importlib.metadata import version

    assert partmill(server.url, tmp_path, "--version")[1] == f"partmill {version('partmill')}\n"
