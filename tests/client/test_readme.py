"""What the README shows works as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

from partmill.client import DEFAULT_SERVER
from tests.processes import ROOT, RunningStack


def python_sample() -> str:
    """The one block of Python in the README."""
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return str(block)


def test_the_python_sample_saves_a_part(stack: RunningStack, tmp_path: Path) -> None:
    """Only the address is another one: a test's stack is not where `partmill up` listens."""
    sample = python_sample()
    assert DEFAULT_SERVER in sample
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + sample]
    command[-1] = command[-1].replace(DEFAULT_SERVER, stack.url)
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "part.step").read_bytes().startswith(b"ISO-10303-21;")
