"""Whether a shape's topology and geometry are sound: what `BRepCheck_Analyzer` says, in linear time.

The analyser compares every two wires of a face: 1.3 s on a plane with 200 holes. Run here on each face that is not
such a plane, it still sees every vertex, edge, wire and curved surface; shells and solids are asked themselves; planes
bounded by whole circles are judged in closed form. Nothing else is left of what the analyser does on a whole shape.

Never measures.
"""

from OCP.BRep import BRep_Tool
from OCP.BRepAdaptor import BRepAdaptor_Surface
from OCP.BRepCheck import BRepCheck_Analyzer, BRepCheck_NoError, BRepCheck_Shell, BRepCheck_Solid
from OCP.GeomAbs import GeomAbs_Plane
from OCP.TopAbs import TopAbs_EDGE, TopAbs_FACE, TopAbs_FORWARD, TopAbs_VERTEX
from OCP.TopExp import TopExp
from OCP.TopoDS import TopoDS_Face, TopoDS_Shape, TopoDS_Shell, TopoDS_Solid
from OCP.TopTools import TopTools_IndexedMapOfShape

from kernel.planar_faces import circles_bound_a_face, circles_of
from kernel.topology import edges_of, faces_of, shells_of, solids_of


def free_edges(shape: TopoDS_Shape) -> int:
    """How many edges are not used exactly twice, once in each direction. Degenerated edges (poles) don't count."""
    edges = TopTools_IndexedMapOfShape()
    uses: dict[int, list[bool]] = {}
    for face in faces_of(shape):
        for edge in edges_of(face):
            if not BRep_Tool.Degenerated_s(edge):
                uses.setdefault(edges.Add(edge), []).append(edge.Orientation() == TopAbs_FORWARD)
    return sum(sorted(directions) != [False, True] for directions in uses.values())


def shells_are_closed(shape: TopoDS_Shape) -> bool:
    """Whether there is a shell, and each is closed and consistently oriented."""
    shells = shells_of(shape)
    return bool(shells) and all(_is_closed(shell) for shell in shells)


def largest_tolerance(shape: TopoDS_Shape) -> float:
    """How far, mm, any face, edge or vertex may be from where it says it is."""
    return max(BRep_Tool.MaxTolerance_s(shape, kind) for kind in (TopAbs_FACE, TopAbs_EDGE, TopAbs_VERTEX))


def is_valid(shape: TopoDS_Shape) -> bool:
    """Whether every solid, shell, face, wire, edge and vertex is sound."""
    return all(_solid_is_sound(solid) for solid in solids_of(shape)) and _faces_are_sound(shape)


def _is_closed(shell: TopoDS_Shell) -> bool:
    check = BRepCheck_Shell(shell)
    return all(status == BRepCheck_NoError for status in (*check.Status(), check.Closed(), check.Orientation()))


def _solid_is_sound(solid: TopoDS_Solid) -> bool:
    return all(status == BRepCheck_NoError for status in BRepCheck_Solid(solid).Status())


def _faces_are_sound(shape: TopoDS_Shape) -> bool:
    faces = faces_of(shape)
    curved = [face for face in faces if not _is_plane(face)]
    if not all(BRepCheck_Analyzer(face).IsValid() for face in curved):
        return False
    analysed = TopTools_IndexedMapOfShape()
    for face in curved:
        TopExp.MapShapes_s(face, TopAbs_EDGE, analysed)
    return all(_plane_is_sound(face, analysed) for face in faces if _is_plane(face))


def _is_plane(face: TopoDS_Face) -> bool:
    return bool(BRepAdaptor_Surface(face, False).GetType() == GeomAbs_Plane)


def _plane_is_sound(face: TopoDS_Face, analysed: TopTools_IndexedMapOfShape) -> bool:
    circles = circles_of(face, analysed)
    return circles_bound_a_face(circles) if circles else bool(BRepCheck_Analyzer(face).IsValid())
