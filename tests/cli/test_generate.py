"""`partmill generate` on a machine where nothing runs: a file, and nothing left behind."""

import hashlib
import json
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from partmill.exit_codes import Exit
from partmill.stack_lock import holder
from tests.chaos.scene import all_gone, descendants
from tests.cli.seeing import seen
from tests.cli.terminal import EXAMPLE, Terminal

HELD = {"PARTMILL_KERNEL_PROGRAM": "tests.chaos.gates:hold_while_building"}


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A folder in which nothing has run yet."""
    return Terminal(tmp_path_factory.mktemp("generate"))


def generated(terminal: Terminal, out: str, *words: str) -> dict[str, Any]:
    """The JSON answer of a `generate` that went well."""
    code, stdout, stderr = terminal.run("generate", EXAMPLE, "-o", out, "--json", *words)
    assert code == Exit.OK, stderr
    answer: dict[str, Any] = json.loads(stdout)
    return answer


def server_of(terminal: Terminal) -> str:
    """Where the stack in the terminal's data folder answers."""
    return str(seen(lambda: holder(terminal.data).get("server"), "a stack is announced"))


def kernel_at_work(terminal: Terminal) -> Path:
    """The scratch folder of a kernel that stands at the gate."""
    (flag, *_) = seen(lambda: list((terminal.data / "scratch").glob("cad_*/at-building")), "a kernel builds")
    return flag.parent


def test_generate_twice_is_one_job_and_one_file(terminal: Terminal) -> None:
    first = generated(terminal, "one.step")
    second = generated(terminal, "two.step")
    assert first["job"]["job_id"] == second["job"]["job_id"]
    content = (terminal.folder / "one.step").read_bytes()
    assert content == (terminal.folder / "two.step").read_bytes()
    assert hashlib.sha256(content).hexdigest() == first["job"]["result"]["sha256"]
    assert content.startswith(b"ISO-10303-21;")
    assert first["web_ui_url"].endswith(f"/namespaces/default/workflows/{first['job']['job_id']}")


def test_a_key_makes_a_job_of_its_own_and_a_folder_takes_all_formats(terminal: Terminal) -> None:
    (terminal.folder / "all").mkdir()
    answer = generated(terminal, "all", "--format", "step", "--format", "stl", "--idempotency-key", "order-17")
    job_id = answer["job"]["job_id"]
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


def test_no_start_starts_nothing(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, server=None)
    code, _, _ = terminal.run("generate", EXAMPLE, "-o", "part.step", "--no-start")
    assert (code, terminal.data.exists()) == (Exit.UNREACHABLE, False)


async def test_ctrl_c_stops_everything_and_the_next_run_goes_on(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, settings=HELD)
    with terminal.running("generate", EXAMPLE, "-o", "part.step") as process:
        kernel_at_work(terminal)
        started = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)  # an impatient user's second one
        assert process.wait() == Exit.INTERRUPTED
    await all_gone(started)
    assert terminal.listing() == []
    job = generated(Terminal(tmp_path), "part.step")["job"]
    assert job["evictions"] == 1


async def test_a_killed_generate_leaves_no_process_behind(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, settings=HELD)
    with terminal.running("generate", EXAMPLE, "-o", "part.step") as process:
        kernel_at_work(terminal)
        started = descendants(process.pid)
        assert len(started) >= 4, "Temporal, the API, the worker and its kernel"
        process.kill()
    await all_gone(started)
    assert terminal.listing() == []
    assert generated(Terminal(tmp_path), "part.step")["job"]["status"] == "completed"


def test_a_part_of_the_stack_that_dies_is_named_with_its_log(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, settings={"PARTMILL_GRACE_S": "soon"})
    code, _, stderr = terminal.run("generate", EXAMPLE, "-o", "part.step")
    assert code == Exit.UNEXPECTED
    assert "PARTMILL_GRACE_S" in stderr


def test_a_running_job_can_be_looked_at(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, settings=HELD)
    with terminal.running("generate", EXAMPLE, "-o", "part.step") as process:
        scratch = kernel_at_work(terminal)
        server = server_of(terminal)
        (scratch / "go").touch()
        assert httpx.get(f"{server}/docs").status_code == 200
        assert process.wait() == Exit.OK
    assert terminal.listing() == ["part.step"]
