"""The `partmill` command as a user runs it: a process of its own in a folder of its own.

Never leaves one running.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.processes import ROOT, free_port

EXAMPLE = str(ROOT / "examples" / "bored-cylinder.json")


@dataclass
class Terminal:
    """A folder to type commands in; everything partmill keeps is in `data`."""

    folder: Path
    server: str | None = None
    settings: dict[str, str] | None = None

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the tester's own: no settings, and no stack that runs at the usual address."""
        plain = {key: value for key, value in os.environ.items() if not key.startswith("PARTMILL_")}
        own = {"PARTMILL_DATA_DIR": str(self.data), "PARTMILL_PORT": str(free_port()), "PYTHONPATH": str(ROOT)}
        own |= self.settings or {}
        return plain | own | ({"PARTMILL_SERVER": self.server} if self.server else {})

    def run(self, *words: str, stdin: bytes = b"") -> tuple[int, str, str]:
        """Exit code, stdout and stderr of one command."""
        command = [sys.executable, "-m", "partmill", *words]
        ended = subprocess.run(
            command, cwd=self.folder, env=self.environment, input=stdin, capture_output=True, check=False
        )
        return ended.returncode, ended.stdout.decode(), ended.stderr.decode()

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """A command while it runs; at the end it is interrupted, if it still does."""
        with subprocess.Popen(
            [sys.executable, "-m", "partmill", *words],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)

    def listing(self) -> list[str]:
        """What is in the folder, beside the data folder."""
        return sorted(path.name for path in self.folder.iterdir() if path != self.data)
