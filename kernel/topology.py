"""Walks a shape's faces, wires and edges, each with the orientation it has in its parent.

Never measures and never judges.
"""

from collections.abc import Iterator
from typing import Any

from OCP.TopAbs import (
    TopAbs_COMPOUND,
    TopAbs_EDGE,
    TopAbs_FACE,
    TopAbs_FORWARD,
    TopAbs_SHELL,
    TopAbs_SOLID,
    TopAbs_WIRE,
)
from OCP.TopExp import TopExp, TopExp_Explorer
from OCP.TopoDS import (
    TopoDS,
    TopoDS_Edge,
    TopoDS_Face,
    TopoDS_Iterator,
    TopoDS_Shape,
    TopoDS_Shell,
    TopoDS_Solid,
    TopoDS_Wire,
)
from OCP.TopTools import TopTools_IndexedMapOfShape

_LAYERS = (TopAbs_SHELL, TopAbs_FACE, TopAbs_WIRE, TopAbs_EDGE)
"""What a solid is made of, layer by layer."""


def _occurrences(shape: TopoDS_Shape, kind: Any) -> Iterator[TopoDS_Shape]:
    explorer = TopExp_Explorer(shape, kind)
    while explorer.More():
        yield explorer.Current()
        explorer.Next()


def solids_of(shape: TopoDS_Shape) -> list[TopoDS_Solid]:
    """Every solid."""
    return [TopoDS.Solid_s(found) for found in _occurrences(shape, TopAbs_SOLID)]


def is_nothing_but_a_solid(shape: TopoDS_Shape) -> bool:
    """Whether the shape is one solid, or a compound of one, and holds shells of faces with wires of edges alone."""
    root = shape.ShapeType()
    layers = (TopAbs_SOLID, *_LAYERS) if root == TopAbs_COMPOUND else _LAYERS
    return root in (TopAbs_COMPOUND, TopAbs_SOLID) and len(solids_of(shape)) == 1 and _has_layers(shape, layers)


def _has_layers(shape: TopoDS_Shape, layers: tuple[Any, ...]) -> bool:
    if not layers:
        return True
    first, *others = layers
    return all(part.ShapeType() == first and _has_layers(part, tuple(others)) for part in _parts(shape))


def _parts(shape: TopoDS_Shape) -> Iterator[TopoDS_Shape]:
    parts = TopoDS_Iterator(shape)
    while parts.More():
        yield parts.Value()
        parts.Next()


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
