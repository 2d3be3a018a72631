"""Reads a binary STL file back and judges its mesh, sharing no code with what wrote it.

Never loads a CAD kernel.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

HEADER_BYTES = 80
RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
"""One triangle of a binary STL file: 50 bytes."""


@dataclass(frozen=True)
class MeshFacts:
    """What a mesh is found to be. `volume` in mm³, negative if it is inside out."""

    triangles: int
    vertices: int
    open_edges: int
    """Edges that don't belong to exactly two triangles, once in each direction."""
    degenerate: int
    """Triangles two of whose corners are the same point."""
    volume: float


def read_stl(path: Path) -> npt.NDArray[np.float64] | None:
    """The triangles' corners (n × 3 × 3, mm); None if the file is not a whole binary STL file."""
    size = path.stat().st_size
    if size < HEADER_BYTES + 4:
        return None
    with path.open("rb") as content:
        content.seek(HEADER_BYTES)
        count = int(np.fromfile(content, "<u4", 1)[0])
        if size != HEADER_BYTES + 4 + count * RECORD.itemsize:
            return None
        corners: npt.NDArray[np.float64] = np.fromfile(content, RECORD, count)["corners"].astype(np.float64)
    return corners


def judge(corners: npt.NDArray[np.float64]) -> MeshFacts:
    """The facts of a triangle soup whose vertices are welded where they are exactly equal."""
    vertices, triangles = _welded(corners)
    first, second, third = triangles.T
    degenerate = (first == second) | (second == third) | (third == first)
    return MeshFacts(
        triangles=len(triangles),
        vertices=vertices,
        open_edges=_open_edges(triangles, vertices),
        degenerate=int(np.count_nonzero(degenerate)),
        volume=_volume(corners),
    )


def _welded(corners: npt.NDArray[np.float64]) -> tuple[int, npt.NDArray[np.int64]]:
    """The number of distinct points, and for each triangle the numbers of its three."""
    points = np.ascontiguousarray(corners.reshape(-1, 3) + 0.0)  # makes -0.0 the same point as 0.0
    order = np.lexsort(points.T)
    ordered = points[order]
    starts = np.ones(len(points), dtype=bool)
    starts[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    numbers = np.empty(len(points), dtype=np.int64)
    numbers[order] = np.cumsum(starts) - 1
    return int(np.count_nonzero(starts)), numbers.reshape(-1, 3)


def _open_edges(triangles: npt.NDArray[np.int64], vertices: int) -> int:
    """A closed, oriented mesh runs each edge once forwards and once backwards, and never again."""
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    forwards, counts = np.unique(start * vertices + end, return_counts=True)
    backwards = np.unique(end * vertices + start)
    unpaired = np.setxor1d(forwards, backwards, assume_unique=True)
    return len(unpaired) + int(np.count_nonzero(counts > 1))


def _volume(corners: npt.NDArray[np.float64]) -> float:
    """Sum of the signed tetrahedra over a point near the mesh, which keeps the terms small."""
    near = corners - corners.reshape(-1, 3).mean(axis=0)
    return float(np.einsum("ij,ij->i", near[:, 0], np.cross(near[:, 1], near[:, 2])).sum() / 6)
