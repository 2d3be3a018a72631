"""Processes of a stack end when they should, however their supervisor ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from partmill.child import Child
from partmill.stack_errors import ChildDied
from tests.cli.seeing import seen
from tests.processes import ROOT

SLEEPER = "import time; print('ready', flush=True); time.sleep(600)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEPER
PARENT = "import subprocess, sys; print(subprocess.Popen(['sleep', '600']).pid, flush=True); " + SLEEPER


def started(folder: Path, program: str) -> Child:
    """A running Python program."""
    return Child("sleeper", [sys.executable, "-c", program], os.environ, folder / "sleeper.log")


def ended(child: Child) -> None:
    """Wait for its own end."""
    seen(lambda: child.exit_code is not None, "the child has ended")


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_child_ends_at_sigterm(tmp_path: Path) -> None:
    child = started(tmp_path, SLEEPER)
    seen(lambda: "ready" in child.last_lines(), "the child is ready")
    child.stop(60)
    assert child.exit_code == -signal.SIGTERM


def test_a_stubborn_child_is_killed_after_its_grace(tmp_path: Path) -> None:
    child = started(tmp_path, STUBBORN)
    seen(lambda: "ready" in child.last_lines(), "the child is ready")
    child.stop(0.1)
    assert child.exit_code == -signal.SIGKILL


def test_what_a_child_leaves_behind_is_killed_with_it(tmp_path: Path) -> None:
    child = started(tmp_path, PARENT)
    seen(lambda: "ready" in child.last_lines(), "the child is ready")
    grandchild = int(child.last_lines().splitlines()[0])
    child.stop(60)
    seen(lambda: not is_alive(grandchild), "the grandchild is gone")


def test_a_child_that_died_shows_the_end_of_its_log(tmp_path: Path) -> None:
    child = started(tmp_path, "raise SystemExit('the disk is full')")
    ended(child)
    with pytest.raises(ChildDied, match=r"(?s)exit code 1.*the disk is full"):
        child.check()


def test_the_log_of_the_run_before_is_kept(tmp_path: Path) -> None:
    for number in (1, 2):
        ended(started(tmp_path, f"print({number})"))
    assert (tmp_path / "sleeper.log").read_text() == "2\n"
    assert (tmp_path / "sleeper.previous.log").read_text() == "1\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can promise it")
def test_no_child_survives_a_killed_supervisor(tmp_path: Path) -> None:
    program = (
        "import os, sys, time; from pathlib import Path; from partmill.child import Child\n"
        f"child = Child('sleeper', [sys.executable, '-c', {SLEEPER!r}], os.environ, Path('sleeper.log'))\n"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, stdout=subprocess.PIPE
    ) as supervisor:
        assert supervisor.stdout is not None
        child = int(supervisor.stdout.readline())
        seen(lambda: "ready" in (tmp_path / "sleeper.log").read_text(), "the child is ready")
        supervisor.kill()
    seen(lambda: not is_alive(child), "the child is gone")
