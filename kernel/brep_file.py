"""Writes and reads the kernel's own B-rep format, the form in which a shape is kept.

Never writes triangles: a kept shape must give the same meshes whatever was meshed before.
"""

import os
import re
from pathlib import Path

from OCP.BRep import BRep_Builder
from OCP.BRepTools import BRepTools
from OCP.TopoDS import TopoDS_Shape
from OCP.TopTools import TopTools_FormatVersion

from kernel.verdicts import insist

VERSION = TopTools_FormatVersion.TopTools_FormatVersion_VERSION_2

LAST_LINE = re.compile(rb"\*\s+[+-]\d+ \d+\s*\Z")
"""The end of the last shape, and the reference to the root.

A file cut off before it would keep the kernel's reader in a loop for ever."""

TAIL_BYTES = 64


def write_brep(shape: TopoDS_Shape, path: Path) -> bool:
    """Whether the kernel says it wrote the shape; the same shape gives the same bytes."""
    return bool(BRepTools.Write_s(shape, str(path), False, False, VERSION))


def read_brep(path: Path, file_format: str | None = None) -> TopoDS_Shape:
    """The shape in the file. Raises Refusal if there is none."""
    insist(_is_whole(path), "readable-file", "a whole B-rep file", "one that is cut off", file_format)
    shape = TopoDS_Shape()
    read = BRepTools.Read_s(shape, str(path), BRep_Builder())
    insist(read and not shape.IsNull(), "readable-file", "a B-rep", "none", file_format)
    return shape


def _is_whole(path: Path) -> bool:
    with path.open("rb") as content:
        size = content.seek(0, os.SEEK_END)
        content.seek(max(0, size - TAIL_BYTES))
        return LAST_LINE.search(content.read()) is not None
