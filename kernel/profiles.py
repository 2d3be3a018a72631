"""Flat outlines in the plane z = 0: circles, and faces with holes in them.

Never extrudes, and never checks that a hole lies inside its face: the rules did, and the inspection will.
"""

from OCP.BRepBuilderAPI import BRepBuilderAPI_MakeEdge, BRepBuilderAPI_MakeFace, BRepBuilderAPI_MakeWire
from OCP.gp import gp_Ax2, gp_Circ, gp_Dir, gp_Pln, gp_Pnt
from OCP.TopoDS import TopoDS, TopoDS_Edge, TopoDS_Face

from kernel.verdicts import insist


def circle(x: float, y: float, radius: float) -> TopoDS_Edge:
    """One whole circle, counter-clockwise seen from above; mm."""
    return BRepBuilderAPI_MakeEdge(gp_Circ(gp_Ax2(gp_Pnt(x, y, 0), gp_Dir(0, 0, 1)), radius)).Edge()


def face_with_holes(outer: TopoDS_Edge, inner: list[TopoDS_Edge]) -> TopoDS_Face:
    """The face inside the closed edge `outer` and outside each closed edge of `inner`, facing up."""
    plane = gp_Pln(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1))
    face = BRepBuilderAPI_MakeFace(plane, BRepBuilderAPI_MakeWire(outer).Wire(), True)
    for edge in inner:
        face.Add(TopoDS.Wire_s(BRepBuilderAPI_MakeWire(edge).Wire().Reversed()))
    insist(face.IsDone(), "profile", "a planar face", "none")
    return face.Face()
