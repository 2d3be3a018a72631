"""The way every file comes into being: written under another name, checked, read back, renamed, hashed.

Never lets a file stand under its own name before it passed its checks.
"""

import errno
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from OCP.TopoDS import TopoDS_Shape

from domain.messages import GeometryFacts, Produced
from domain.problems import Refusal
from kernel.inspection import checked_solidity
from kernel.measures import Skin
from kernel.topology import is_nothing_but_a_solid, solids_of
from kernel.verdicts import insist

FULL_BYTES = 1024 * 1024
"""Less room than this when a file fails is taken for the reason: a kernel's writer says nothing of why it stopped."""


def write_checked(target: Path, output: str, write: Callable[[Path], bool], check: Callable[[Path], None]) -> None:
    """Leave at `target` what `write` wrote and `check` read back and found sound, or nothing.

    Raises Refusal where the writer reports failure, the file is empty, or `check` refuses it; OSError where that is
    because the disk is full, which is no fault of the part.
    """
    partial = target.with_name(f".partial-{target.name}")
    try:
        insist(write(partial), "file-written", "a file", "a writer that failed", output)
        size = partial.stat().st_size if partial.exists() else 0
        insist(size > 0, "file-size", "more than 0 bytes", f"{size} bytes", output)
        check(partial)
        os.replace(partial, target)
    except Refusal:
        if _is_full(target.parent):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        raise
    finally:
        partial.unlink(missing_ok=True)


def _is_full(folder: Path) -> bool:
    """Whether the file system had no room for one more buffer, or for one more file; it counts inodes or has none."""
    if not folder.is_dir():
        return False
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize < FULL_BYTES or (room.f_files > 0 and room.f_favail == 0)


def check_read_back(shape: TopoDS_Shape, facts: GeometryFacts, file_format: str) -> None:
    """Raises Refusal unless what a fresh reader found is one solid alone with the volume of the inspected shape."""
    solids = len(solids_of(shape))
    insist(solids == facts.solids, "solids-read-back", facts.solids, solids, file_format)
    insist(is_nothing_but_a_solid(shape), "loose-parts", "a solid and nothing beside it", "loose parts", file_format)
    checked_solidity(Skin(shape), facts.volume, file_format)


def described(path: Path, output: str, facts: GeometryFacts | None = None, triangles: int | None = None) -> Produced:
    """The finished file with its size and SHA-256."""
    with path.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    size = path.stat().st_size
    return Produced(
        output=output, file_name=path.name, size_bytes=size, sha256=sha256, facts=facts, triangles=triangles
    )
