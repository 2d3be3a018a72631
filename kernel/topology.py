"""Walks a shape's faces, wires and edges, each with the orientation it has in its parent.

Never measures and never judges.
"""

from collections.abc import Iterator
from typing import Any

from OCP.TopAbs import TopAbs_EDGE, TopAbs_FACE, TopAbs_FORWARD, TopAbs_SHELL, TopAbs_SOLID, TopAbs_WIRE
from OCP.TopExp import TopExp, TopExp_Explorer
from OCP.TopoDS import TopoDS, TopoDS_Edge, TopoDS_Face, TopoDS_Shape, TopoDS_Shell, TopoDS_Solid, TopoDS_Wire
from OCP.TopTools import TopTools_IndexedMapOfShape


def _occurrences(shape: TopoDS_Shape, kind: Any) -> Iterator[TopoDS_Shape]:
    explorer = TopExp_Explorer(shape, kind)
    while explorer.More():
        yield explorer.Current()
        explorer.Next()


def solids_of(shape: TopoDS_Shape) -> list[TopoDS_Solid]:
    """Every solid."""
    return [TopoDS.Solid_s(found) for found in _occurrences(shape, TopAbs_SOLID)]


def shells_of(shape: TopoDS_Shape) -> list[TopoDS_Shell]:
    """Every shell."""
    return [TopoDS.Shell_s(found) for found in _occurrences(shape, TopAbs_SHELL)]


def faces_of(shape: TopoDS_Shape) -> list[TopoDS_Face]:
    """Every face."""
    return [TopoDS.Face_s(found) for found in _occurrences(shape, TopAbs_FACE)]


def wires_of(face: TopoDS_Face) -> list[TopoDS_Wire]:
    """Every wire, oriented as on the face's natural side."""
    forward = face.Oriented(TopAbs_FORWARD)
    return [TopoDS.Wire_s(found) for found in _occurrences(forward, TopAbs_WIRE)]


def edges_of(shape: TopoDS_Shape) -> list[TopoDS_Edge]:
    """Every occurrence of every edge: one that two faces share comes twice."""
    return [TopoDS.Edge_s(found) for found in _occurrences(shape, TopAbs_EDGE)]


def distinct_edges(shape: TopoDS_Shape) -> TopTools_IndexedMapOfShape:
    """Every edge once."""
    edges = TopTools_IndexedMapOfShape()
    TopExp.MapShapes_s(shape, TopAbs_EDGE, edges)
    return edges
