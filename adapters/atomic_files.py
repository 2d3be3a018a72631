"""How files and folders change on a local disk so that each change is seen whole or not at all.

Never knows what a file means or what it is called.
"""

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

CHUNK_BYTES = 1024 * 1024
"""Large enough to keep a disk busy, small enough for many copies at once."""

CAN_NOT_LINK = frozenset({errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EXDEV})
"""A file system without hard links, or a file that has all it may have (65,000 on ext4): its bytes are copied."""

IS_NO_FILE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EOPNOTSUPP})
"""What opening says of a path with nothing at it, with a symbolic link there, or a socket (macOS: the last)."""

FOLDER_ATTEMPTS = 3
"""A folder that somebody else removes between its making and its use is made again; thrice in a row is a fault."""


def open_if_there(path: Path) -> BinaryIO | None:
    """The regular file at `path`, open for reading; None if there is none. A symbolic link to a file is none."""
    try:
        # Opening a pipe would wait for its writer, were it not for O_NONBLOCK; to a regular file that means nothing.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in IS_NO_FILE:
            return None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")


def write(path: Path, fill: Callable[[BinaryIO], None]) -> None:
    """A new file, readable by its owner only, on disk when this returns."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        fill(file)
        file.flush()
        os.fsync(file.fileno())


def copy_hashed(source: BinaryIO, target: BinaryIO) -> str:
    """Copy to the end; the hex SHA-256 of what was written."""
    digest = hashlib.sha256()
    while chunk := source.read(CHUNK_BYTES):
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()


def link_or_copy(source: Path, target: Path) -> bool:
    """Make `target` the same file as `source`, or failing that an equal one; False if there is no regular file there.

    The caller removes what may stand at `target` then.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in CAN_NOT_LINK:
            raise
        return _copy(source, target)
    return stat.S_ISREG(target.lstat().st_mode)


def show(draft: Path, target: Path) -> None:
    """Give the finished file its name, in place of whatever had it.

    A draft that is a hard link to the file already there stays (POSIX says so of rename): the caller removes it.
    """
    for attempt in range(1, FOLDER_ATTEMPTS + 1):
        make_folder(target.parent)
        try:
            os.replace(draft, target)
        except FileNotFoundError:
            if attempt == FOLDER_ATTEMPTS:
                raise
        else:
            return


def make_folder(path: Path) -> None:
    """`path` and the folders above it, for their owner only."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def sync_folder(path: Path) -> None:
    """The names in this folder are on disk when this returns."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy(source: Path, target: Path) -> bool:
    original = open_if_there(source)
    if original is None:
        return False
    with original:
        write(target, lambda file: shutil.copyfileobj(original, file, CHUNK_BYTES))
    return True
