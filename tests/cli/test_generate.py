"""`partmill generate` on a machine where nothing runs: a file, and nothing left behind."""

import hashlib
import json
import signal
from pathlib import Path
from typing import Any

from partmill.exit_codes import Exit
from partmill.probe import is_partmill
from partmill.stack_lock import holder
from tests.chaos.scene import all_gone, descendants
from tests.cli.seeing import seen
from tests.cli.terminal import EXAMPLE, Terminal

HELD = {"PARTMILL_KERNEL_PROGRAM": "tests.chaos.gates:hold_while_building"}


def generated(terminal: Terminal, out: str, *words: str) -> dict[str, Any]:
    """The JSON answer of a `generate` that went well."""
    code, stdout, stderr = terminal.run("generate", EXAMPLE, "-o", out, "--json", *words)
    assert code == Exit.OK, stderr
    answer: dict[str, Any] = json.loads(stdout)
    return answer


def kernel_at_work(terminal: Terminal) -> Path:
    """The scratch folder of a kernel that stands at the gate."""
    (flag, *_) = seen(lambda: list((terminal.data / "scratch").glob("**/at-building")), "a kernel builds")
    return flag.parent


def test_generate_twice_is_one_job_and_one_file(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    first = generated(terminal, "one.step")
    second = generated(terminal, "two.step")
    assert first["job"]["job_id"] == second["job"]["job_id"]
    content = (terminal.folder / "one.step").read_bytes()
    assert content == (terminal.folder / "two.step").read_bytes()
    assert hashlib.sha256(content).hexdigest() == first["job"]["result"]["sha256"]
    assert content.startswith(b"ISO-10303-21;")
    assert first["web_ui_url"].endswith(f"/namespaces/default/workflows/{first['job']['job_id']}")


def test_no_start_starts_nothing(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, server=None)
    code, _, _ = terminal.run("generate", EXAMPLE, "-o", "part.step", "--no-start")
    assert (code, terminal.data.exists()) == (Exit.UNREACHABLE, False)


async def test_ctrl_c_stops_everything_and_the_next_run_goes_on(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, settings=HELD)
    with terminal.running("generate", EXAMPLE, "-o", "part.step") as process:
        kernel_at_work(terminal)
        started = descendants(process.pid)
        assert is_partmill(holder(terminal.data)["server"]), "a running job can be looked at"
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
