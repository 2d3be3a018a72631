"""This worker's own folder for the scratch folders of its kernels, and the removal of what dead workers left.

Never touches the folder of a worker that lives: each holds a lock for as long as its process does.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

LOCK = ".alive"


def own_scratch(parent: Path) -> Path:
    """A new folder below `parent`, locked until this process ends; folders whose worker is gone are removed first.

    Raises:
        OSError: `parent` can't be written.
    """
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in parent.glob("worker-*"):
        _remove_if_dead(left)
    folder = Path(tempfile.mkdtemp(prefix="worker-", dir=parent))
    # The descriptor is never closed on purpose: the kernel releases the lock with the process, however it ends.
    _lock(folder)
    return folder


def _lock(folder: Path) -> int:
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_if_dead(folder: Path) -> None:
    """A folder without a lock file is one that its worker is just making."""
    if not (folder / LOCK).exists():
        return
    with contextlib.suppress(OSError):  # locked: its worker lives; or gone: another one removed it
        descriptor = _lock(folder)
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)
