"""Builds the bored cylinder's B-rep: one planar face with all its holes, extruded, its rims rounded.

Never subtracts one body from another: booleans cost ten times as much and are where kernels go wrong.
"""

import math
from typing import Any

from OCP.BRepFilletAPI import BRepFilletAPI_MakeFillet
from OCP.BRepPrimAPI import BRepPrimAPI_MakePrism
from OCP.gp import gp_Vec
from OCP.TopoDS import TopoDS, TopoDS_Edge, TopoDS_Shape

from domain.parameters import BoredCylinder
from domain.sizes import Sizes, sizes
from kernel.profiles import circle, face_with_holes
from kernel.verdicts import insist


def build_bored_cylinder(parameters: dict[str, Any]) -> TopoDS_Shape:
    """The solid of a parameter set that passes the rules, in mm, base on z = 0.

    Raises Refusal with `geometry-verification-failed` where the kernel can't finish a step.
    """
    part = sizes(BoredCylinder.model_validate(parameters))
    outer = circle(0, 0, part.outer)
    bore = [circle(0, 0, part.bore)] if part.bore > 0 else []
    prism = BRepPrimAPI_MakePrism(face_with_holes(outer, bore + _holes(part)), gp_Vec(0, 0, part.length))
    insist(prism.IsDone(), "extrusion", "a solid", "none")
    rounded = [outer] + (bore if part.bore_fillet else [])
    return _rounded(prism, rounded, part.fillet) if part.fillet > 0 else prism.Shape()


def _holes(part: Sizes) -> list[TopoDS_Edge]:
    """The holes' circles, the first on +X."""
    angles = [2 * math.pi * index / part.holes for index in range(part.holes)]
    return [circle(part.pitch * math.cos(angle), part.pitch * math.sin(angle), part.hole) for angle in angles]


def _rounded(prism: BRepPrimAPI_MakePrism, circles: list[TopoDS_Edge], radius: float) -> TopoDS_Shape:
    """The extruded profile with both rims of each circle rounded."""
    fillet = BRepFilletAPI_MakeFillet(prism.Shape())
    for edge in circles:
        for rim in (prism.FirstShape(edge), prism.LastShape(edge)):
            fillet.Add(radius, TopoDS.Edge_s(rim))
    fillet.Build()
    insist(fillet.IsDone(), "fillet", f"{2 * len(circles)} rounded rims", "none")
    return fillet.Shape()
