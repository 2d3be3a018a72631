"""Makes a checked STL file of a shape, at a finer quality than asked for where the asked one leaks.

Never lets a mesh pass that is not closed, misses a face or strays from the shape.
"""

from pathlib import Path

from OCP.StlAPI import StlAPI_Writer
from OCP.TopoDS import TopoDS_Shape

from domain.defaults import MAX_TRIANGLES
from domain.messages import GeometryFacts, MeshQuality
from domain.problems import Refusal, TooManyTriangles
from kernel.exports import write_checked
from kernel.meshing import mesh, triangles_by_face, unmesh, volume_bound
from kernel.readback import judge, read_stl
from kernel.tessellation_estimate import estimated_triangles
from kernel.verdicts import insist

FINER = (1, 2, 4, 8)
"""Divisors of the asked deflections, tried in turn: gaps below 0.05 mm leak at some and not at others."""


def write_stl(
    shape: TopoDS_Shape, target: Path, facts: GeometryFacts, quality: MeshQuality, limit: int = MAX_TRIANGLES
) -> int:
    """Leave at `target` a mesh that passes every check; returns its number of triangles.

    Raises Refusal with `too-many-triangles`, where it can be foreseen before meshing, or with
    `geometry-verification-failed` when the finest quality fails too.
    """
    estimate = estimated_triangles(shape, quality)
    if estimate > limit:
        raise Refusal(TooManyTriangles(estimate, limit))
    try:
        return _write_finer_and_finer(shape, target, facts, quality, limit)
    finally:
        unmesh(shape)


def _write_finer_and_finer(
    shape: TopoDS_Shape, target: Path, facts: GeometryFacts, quality: MeshQuality, limit: int
) -> int:
    leak: Refusal | None = None
    for finer in (_finer(quality, divisor) for divisor in FINER):
        if leak is not None and estimated_triangles(shape, finer) > limit:
            raise leak
        try:
            return _write_once(shape, target, facts, finer, limit)
        except Refusal as refusal:
            if isinstance(refusal.problem, TooManyTriangles):
                raise leak or refusal from None
            leak = refusal
    assert leak is not None
    raise leak


def _finer(quality: MeshQuality, divisor: int) -> MeshQuality:
    """Unvalidated, as it may be finer than a request may ask for."""
    return MeshQuality.model_construct(
        linear_deflection=quality.linear_deflection / divisor,
        angular_deflection=quality.angular_deflection / divisor,
    )


def _write_once(shape: TopoDS_Shape, target: Path, facts: GeometryFacts, quality: MeshQuality, limit: int) -> int:
    mesh(shape, quality)
    faces = triangles_by_face(shape)
    if sum(faces) > limit:
        raise Refusal(TooManyTriangles(sum(faces), limit))
    insist(all(faces), "faces-meshed", f"{len(faces)} faces", f"{len(faces) - faces.count(0)} faces", "stl")
    writer = StlAPI_Writer()
    writer.ASCIIMode = False
    write_checked(
        target,
        "stl",
        lambda path: bool(writer.Write(shape, str(path))),
        lambda path: check_stl(path, sum(faces), facts, quality),
    )
    return sum(faces)


def check_stl(path: Path, triangles: int, facts: GeometryFacts, quality: MeshQuality) -> None:
    """Read the file back and judge it. Raises Refusal naming the first check that fails."""
    corners = read_stl(path)
    insist(corners is not None, "readable-file", "a whole binary STL file", "one that is cut off", "stl")
    assert corners is not None
    found = judge(corners)
    insist(found.triangles == triangles, "triangles", triangles, found.triangles, "stl")
    insist(found.degenerate == 0, "degenerate-triangles", 0, found.degenerate, "stl")
    insist(found.open_edges == 0, "open-edges", 0, found.open_edges, "stl")
    bound = volume_bound(facts.area, facts.bounding_box, quality)
    off = abs(found.volume - facts.volume)
    expected = f"{facts.volume:.9g} mm³ ± {bound:.3g}"
    insist(off <= bound, "mesh-volume", expected, f"{found.volume:.9g} mm³", "stl")
