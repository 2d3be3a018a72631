"""`partmill up`: the stack in the foreground, and the other commands that talk to it."""

import hashlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from partmill.exit_codes import Exit
from tests.chaos.scene import all_gone, descendants
from tests.cli.terminal import EXAMPLE, Terminal
from tests.processes import free_port


def ports() -> list[str]:
    """Options that take free ports."""
    return [word for name in ("--port", "--temporal-port", "--ui-port") for word in (name, str(free_port()))]


def urls(stdout: Any) -> dict[str, str]:
    """The JSON document that `up` prints once it is ready."""
    text = ""
    for line in stdout:
        text += line
        if line == "}\n":
            break
    found: dict[str, str] = json.loads(text)
    return found


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A folder in which `partmill up` runs, on ports that commands find by the data folder."""
    terminal = Terminal(tmp_path_factory.mktemp("up"))
    with terminal.running("up", "--json", *ports()) as process:
        assert urls(process.stdout)["data_dir"] == str(terminal.data)
        yield terminal
        process.send_signal(signal.SIGINT)
        assert process.wait() == Exit.OK, "Ctrl-C is the ordinary end"


def test_jobs_are_made_shown_and_watched(terminal: Terminal) -> None:
    code, stdout, stderr = terminal.run("generate", EXAMPLE, "-o", "part.step", "--json")
    assert code == Exit.OK, stderr
    answer = json.loads(stdout)
    job_id = answer["job"]["job_id"]
    for word in ("show", "watch"):
        code, stdout, _ = terminal.run("jobs", word, job_id, "--json")
        assert (code, json.loads(stdout)["result"]["sha256"]) == (Exit.OK, answer["job"]["result"]["sha256"])
    code, stdout, _ = terminal.run("jobs", "show", job_id)
    assert f"/namespaces/default/workflows/{job_id}" in stdout
    assert httpx.get(answer["web_ui_url"]).status_code == 200


def test_a_job_whose_file_is_gone_is_made_again(terminal: Terminal) -> None:
    request = json.loads(Path(EXAMPLE).read_text())
    request["parameters"]["length"] = 301
    words, text = ("generate", "-", "-o", "gone.step", "--json"), json.dumps(request).encode()
    first = json.loads(terminal.run(*words, stdin=text)[1])["job"]
    kept = [path for path in terminal.data.rglob("*") if path.is_file() and is_content(path, first)]
    assert kept
    for path in kept:
        path.unlink()
    (terminal.folder / "gone.step").unlink()
    code, stdout, stderr = terminal.run(*words, stdin=text)
    assert code == Exit.OK, stderr
    assert json.loads(stdout)["job"]["job_id"] == first["job_id"]
    assert is_content(terminal.folder / "gone.step", first)


def is_content(path: Path, job: dict[str, Any]) -> bool:
    """Whether the file is the job's artifact."""
    expected: str = job["result"]["sha256"]
    return hashlib.sha256(path.read_bytes()).hexdigest() == expected


def test_a_key_makes_a_job_of_its_own_and_a_folder_takes_all_formats(terminal: Terminal) -> None:
    (terminal.folder / "all").mkdir()
    options = ("--format", "step", "--format", "stl", "--idempotency-key", "order-17")
    code, stdout, stderr = terminal.run("generate", EXAMPLE, "-o", "all", "--json", *options)
    assert code == Exit.OK, stderr
    job_id = json.loads(stdout)["job"]["job_id"]
    assert sorted(path.name for path in (terminal.folder / "all").iterdir()) == [f"{job_id}.step", f"{job_id}.stl"]


def test_a_refused_part_leaves_no_file(terminal: Terminal) -> None:
    request = json.loads(Path(EXAMPLE).read_text())
    request["parameters"]["fillet_radius"] = 40
    code, stdout, stderr = terminal.run(
        "generate", "-", "-o", "refused.step", "--json", stdin=json.dumps(request).encode()
    )
    assert code == Exit.REFUSED
    assert "fillet-exceeds-wall" in stderr
    assert "nearest value that passes: 37.749" in stderr
    assert json.loads(stdout)["error"]["problem"]["errors"][0]["limit"] == pytest.approx(37.749)
    assert not (terminal.folder / "refused.step").exists()


def test_an_unknown_job_is_refused(terminal: Terminal) -> None:
    assert terminal.run("jobs", "show", "cad_" + "0" * 32)[0] == Exit.REFUSED


def test_the_catalogue_is_shown(terminal: Terminal) -> None:
    code, stdout, _ = terminal.run("models")
    assert (code, stdout.split()[0]) == (Exit.OK, "bored-cylinder")
    code, stdout, _ = terminal.run("models", "bored-cylinder")
    assert code == Exit.OK
    assert "outer_diameter" in stdout
    assert "opencascade-brep: " in stdout
    assert json.loads(terminal.run("models", "bored-cylinder", "--json")[1])["name"] == "bored-cylinder"


def test_a_request_is_validated(terminal: Terminal) -> None:
    code, stdout, _ = terminal.run("validate", EXAMPLE)
    assert (code, "2,801,746.162 mm³" in stdout) == (Exit.OK, True)
    bad = b'{"parameters": {"outer_diameter": 1, "inner_diameter": 2, "length": 3}}'
    assert terminal.run("validate", "-", stdin=bad)[0] == Exit.REFUSED


def test_a_second_stack_in_the_folder_is_told_of_the_first(terminal: Terminal) -> None:
    code, _, stderr = terminal.run("up", *ports())
    assert code == Exit.UNEXPECTED
    assert "`partmill up`" in stderr


async def test_up_ends_cleanly_at_sigterm(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    with terminal.running("up", "--json", *ports()) as process:
        urls(process.stdout)
        started = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == Exit.OK
    await all_gone(started)


def test_up_listens_where_the_setting_says_and_generate_looks_there(tmp_path: Path) -> None:
    """The folders differ, so that nothing but the setting can lead there."""
    port = str(free_port())
    (tmp_path / "other").mkdir()
    with Terminal(tmp_path, settings={"PARTMILL_PORT": port}).running("up", "--json", *ports()[2:]) as process:
        assert urls(process.stdout)["server"] == f"http://127.0.0.1:{port}"
        other = Terminal(tmp_path / "other", settings={"PARTMILL_PORT": port})
        code, stdout, stderr = other.run("generate", EXAMPLE, "-o", "part.step", "--json", "--no-start")
        assert code == Exit.OK, stderr
        assert json.loads(stdout)["job_url"].startswith(f"http://127.0.0.1:{port}/")


async def test_up_ends_when_a_part_dies(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    with terminal.running("up", "--json", *ports()) as process:
        urls(process.stdout)
        started = descendants(process.pid)
        os.kill(next(pid for pid in started if "worker --role" in command_line(pid)), signal.SIGKILL)
        assert process.wait() == Exit.UNEXPECTED
    await all_gone(started)


def command_line(pid: int) -> str:
    """How the process was started."""
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
