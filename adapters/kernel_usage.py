"""What a kernel process uses as seen from outside: its memory, and the room its scratch folder takes.

Never stops a process: kernel_run.py judges.
"""

import os
from collections.abc import Iterator
from pathlib import Path

MOST_ENTRIES = 1000
"""A job makes about ten files and folders; each one more costs whoever removes them, even if it is empty."""

_COUNTED = ("RssAnon", "RssShmem", "VmSwap")
_BLOCK_BYTES = 512
"""The unit of `st_blocks`, whatever the file system's own."""


def memory_bytes(pid: int) -> int:
    """Memory in use, its own or shared with its forkserver, files not counted; 0 where nobody tells.

    Memory that is mapped to be shared counts too: no other limit sees it.
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return sum(int(fields[name].split()[0]) * 1024 for name in _COUNTED if name in fields)


def overfills(folder: Path, limit_bytes: int) -> bool:
    """Whether all that the folder holds takes more than `limit_bytes` on disk, or is more than `MOST_ENTRIES` entries.

    Looks at no more entries than that, however many there are.
    """
    used = 0
    for number, entry in enumerate(_entries(folder), 1):
        used += _disk_bytes(entry)
        if number > MOST_ENTRIES or used > limit_bytes:
            return True
    return False


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Everything below the folder, no link followed. What vanishes meanwhile takes no room any more."""
    unseen = [str(folder)]
    while unseen:
        try:
            found = os.scandir(unseen.pop())
        except OSError:
            continue
        with found:
            for entry in found:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    unseen.append(entry.path)


def _disk_bytes(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
    except OSError:
        return 0
