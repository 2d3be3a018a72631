"""Whether a planar face bounded by whole circles is sound, without comparing every wire with every other.

Never judges any other face: it says so, and the kernel's own analyser does.
"""

from OCP.BRep import BRep_Tool
from OCP.BRepAdaptor import BRepAdaptor_Curve, BRepAdaptor_Surface
from OCP.ElSLib import ElSLib
from OCP.GeomAbs import GeomAbs_Circle, GeomAbs_Plane
from OCP.gp import gp_Pln
from OCP.TopAbs import TopAbs_FORWARD
from OCP.TopoDS import TopoDS_Edge, TopoDS_Face
from OCP.TopTools import TopTools_IndexedMapOfShape

from kernel.circles import Circle, all_apart, contains
from kernel.topology import edges_of, wires_of

PARALLEL_RAD = 1e-9
"""How far a circle's axis may lean from the plane's normal: 0.1 µm at the rim of the largest part."""

FULL_TURN = 6.283185307179586
FULL_TURN_TOLERANCE = 1e-9


def circles_of(face: TopoDS_Face, analysed: TopTools_IndexedMapOfShape) -> list[Circle] | None:
    """The face's wires as circles in its plane; None unless each is one whole circle whose edge is in `analysed`.

    `analysed` holds the edges that the kernel's analyser has seen with another face: their vertices, their ranges
    and their curves are known to be sound.
    """
    surface = BRepAdaptor_Surface(face, False)
    if surface.GetType() != GeomAbs_Plane:
        return None
    plane = surface.Plane()
    circles = []
    for wire in wires_of(face):
        edges = edges_of(wire)
        circle = _circle(edges[0], face, plane) if len(edges) == 1 and analysed.Contains(edges[0]) else None
        if circle is None:
            return None
        circles.append(circle)
    return circles or None


def _circle(edge: TopoDS_Edge, face: TopoDS_Face, plane: gp_Pln) -> Circle | None:
    """The edge as a circle in the plane; None if it is anything else, lies outside the plane or elsewhere in it."""
    curve = BRepAdaptor_Curve(edge)
    turn = curve.LastParameter() - curve.FirstParameter()
    if curve.GetType() != GeomAbs_Circle or abs(turn - FULL_TURN) > FULL_TURN_TOLERANCE:
        return None
    circle, tolerance = curve.Circle(), BRep_Tool.Tolerance_s(edge)
    if not _agree(curve, BRepAdaptor_Curve(edge, face), tolerance):
        return None
    axis, center = circle.Axis().Direction(), circle.Location()
    normal = plane.Position().XDirection().Crossed(plane.Position().YDirection())
    if not axis.IsParallel(normal, PARALLEL_RAD) or plane.Distance(center) > tolerance:
        return None
    x, y = ElSLib.Parameters_s(plane, center)
    runs_with_normal = (axis.Dot(normal) > 0) == (edge.Orientation() == TopAbs_FORWARD)
    return Circle(x, y, circle.Radius(), not runs_with_normal, tolerance)


def _agree(curve: BRepAdaptor_Curve, drawn: BRepAdaptor_Curve, tolerance: float) -> bool:
    """Whether the edge as drawn in the face's own coordinates is the circle that it is in space.

    Three points tell: both are circles, run through at an even pace.
    """
    if drawn.GetType() != GeomAbs_Circle:
        return False
    first = curve.FirstParameter()
    parameters = (first, first + FULL_TURN / 3, first + FULL_TURN * 2 / 3)
    return all(curve.Value(at).Distance(drawn.Value(at)) <= tolerance for at in parameters)


def circles_bound_a_face(circles: list[Circle]) -> bool:
    """Whether one circle, counter-clockwise, contains all others, which run clockwise and lie apart.

    The same claim as the analyser's IntersectWires, ClassifyWires and OrientationOfWires, by closed form.
    """
    outer = max(circles, key=lambda circle: circle.radius)
    inner = [circle for circle in circles if circle is not outer]
    directed = not outer.clockwise and all(circle.clockwise for circle in inner)
    return directed and all(contains(outer, circle) for circle in inner) and all_apart(inner)
