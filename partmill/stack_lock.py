"""The claim of one stack on its data folder.

Never left behind: the claim ends with the process that holds it, whatever ends that.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from partmill.stack_errors import DataFolderInUse

NAME = "stack.lock"


class StackLock:
    """Held from creation to `release()`."""

    def __init__(self, data_dir: Path, command: str, *, waits: bool = False) -> None:
        """Claim the folder for `command`; with `waits`, after a holder that makes a single part and is done soon.

        Raises:
            DataFolderInUse: another stack holds it; the message says which.
        """
        self._fd = os.open(data_dir / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._about = {"command": command, "pid": os.getpid()}
        is_patient = waits and holder(data_dir).get("command") == "generate"
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | (0 if is_patient else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(self._fd)
            raise DataFolderInUse(_describe(data_dir)) from None
        self.announce({})

    def announce(self, urls: Mapping[str, str]) -> None:
        """Write down who holds the folder and where it answers, for people and for the next command."""
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, json.dumps({**self._about, **urls}).encode(), 0)

    def release(self) -> None:
        """Give the folder back. The file stays: removing it would let two stacks lock two files."""
        os.ftruncate(self._fd, 0)
        os.close(self._fd)


def holder(data_dir: Path) -> dict[str, Any]:
    """What the present holder announced; empty if there is none."""
    try:
        content = json.loads((data_dir / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _describe(data_dir: Path) -> str:
    by = holder(data_dir)
    who = (
        f"`partmill {by['command']}` (process {by['pid']}, {by.get('server', 'starting')})"
        if by
        else "another partmill"
    )
    return (
        f"The data folder {data_dir} is in use by {who}. "
        "Talk to that one with --server, stop it, or set PARTMILL_DATA_DIR to another folder."
    )
