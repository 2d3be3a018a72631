"""The tight bounding box of a shape's exact geometry.

Never reads a triangulation, and never adds the tolerances of edges: both would show in the sixth digit.
"""

import math
from collections.abc import Iterator

from OCP.Bnd import Bnd_Box
from OCP.BRepAdaptor import BRepAdaptor_Surface
from OCP.BRepBndLib import BRepBndLib
from OCP.GeomAbs import GeomAbs_Cone, GeomAbs_Cylinder, GeomAbs_Plane, GeomAbs_Torus
from OCP.gp import gp_Dir, gp_Pnt
from OCP.TopoDS import TopoDS_Face, TopoDS_Shape

from domain.messages import BoundingBox
from kernel.topology import distinct_edges, faces_of

RULED = (GeomAbs_Plane, GeomAbs_Cylinder, GeomAbs_Cone)
"""Made of straight lines: where such a face reaches furthest, its boundary does too."""

AXES = tuple(gp_Dir(*axis) for axis in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)))


def bounding_box(shape: TopoDS_Shape) -> BoundingBox:
    """The box, mm: of all edges, and of those faces that may bulge beyond theirs."""
    box = Bnd_Box()
    edges = distinct_edges(shape)
    for index in range(1, edges.Extent() + 1):
        BRepBndLib.AddOptimal_s(edges.FindKey(index), box, False, False)
    for face in faces_of(shape):
        _add_bulge(face, box)
    box.SetGap(0.0)
    low, high = box.CornerMin(), box.CornerMax()
    return BoundingBox(min=(low.X(), low.Y(), low.Z()), max=(high.X(), high.Y(), high.Z()))


def _add_bulge(face: TopoDS_Face, box: Bnd_Box) -> None:
    surface = BRepAdaptor_Surface(face)
    kind = surface.GetType()
    if kind in RULED:
        return
    if kind == GeomAbs_Torus and _is_full_turn(surface):
        for point in _torus_extremes(surface):
            box.Add(point)
    else:
        BRepBndLib.AddOptimal_s(face, box, False, False)


def _is_full_turn(surface: BRepAdaptor_Surface) -> bool:
    return math.isclose(surface.LastUParameter() - surface.FirstUParameter(), 2 * math.pi)


def _torus_extremes(surface: BRepAdaptor_Surface) -> Iterator[gp_Pnt]:
    """Where the surface itself reaches furthest along each axis, if that point is on the face.

    The kernel searches these points numerically (22 ms a face); they are the points whose normal is the axis.
    """
    position = surface.Torus().Position()
    across, along, axis = position.XDirection(), position.YDirection(), position.Direction()
    low, high = surface.FirstVParameter(), surface.LastVParameter()
    for direction in AXES:
        x, y = direction.Dot(across), direction.Dot(along)
        v = math.atan2(direction.Dot(axis), math.hypot(x, y))
        v += 2 * math.pi * math.ceil((low - v) / (2 * math.pi))
        if v <= high:
            yield surface.Value(math.atan2(y, x), v)
