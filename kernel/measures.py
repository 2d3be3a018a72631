"""Measures a shape: volume, area, centre of mass.

Never reads a triangulation: a coarse mesh would make every measure wrong.

Planar faces bounded by whole circles are measured in closed form, all others by the kernel's integration: that spends
most of its time on the planes, whose many holes it takes for one hard boundary.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from OCP.BRepAdaptor import BRepAdaptor_Surface
from OCP.BRepGProp import BRepGProp, BRepGProp_Domain, BRepGProp_Face, BRepGProp_Vinert
from OCP.ElSLib import ElSLib
from OCP.gp import gp_Pnt
from OCP.GProp import GProp_GProps
from OCP.TopAbs import TopAbs_REVERSED
from OCP.TopoDS import TopoDS_Face, TopoDS_Shape

from domain.messages import Vector
from kernel.circles import Circle
from kernel.planar_faces import circles_of
from kernel.topology import distinct_edges, faces_of

VOLUME_EPSILON = 1e-6
"""The relative error to integrate to: the kernel's default quadrature is wrong by up to 2.6 % on sound solids."""

TIGHT_EPSILON = 1e-10
"""Up to twice the time. A rounding of more than half the radius comes back from a STEP file as a surface of revolution,
on which the looser quadrature is wrong by 1.8e-5; this one by at most 5e-7, most of it the file's own rounding."""

AREA_EPSILON = 1e-4
"""Reported and used in bounds, never compared to a formula."""

ORIGIN = gp_Pnt(0, 0, 0)
"""The tip of every face's cone. `BRepGProp.VolumeProperties` puts it elsewhere for each shape it is given."""


@dataclass(frozen=True)
class Solidity:
    """mm³ and mm."""

    volume: float
    center_of_mass: Vector


@dataclass(frozen=True)
class Plate:
    """A planar face bounded by whole circles: its area, mm², and what lies between it and the origin."""

    area: float
    cone: Solidity


class Skin:
    """The faces of one shape, ready to be measured.

    Source of both measures: the divergence theorem. A solid is the sum of the signed cones from the origin over its
    faces.
    """

    def __init__(self, shape: TopoDS_Shape) -> None:
        self._plates: list[Plate] = []
        self._others: list[TopoDS_Face] = []
        edges = distinct_edges(shape)
        for face in faces_of(shape):
            if circles := circles_of(face, edges):
                self._plates.append(_plate(face, circles))
            else:
                self._others.append(face)

    def solidity(self, epsilon: float = VOLUME_EPSILON) -> Solidity:
        """Signed volume and centre of mass, each face integrated to `epsilon`; negative where faces point inwards."""
        cones = [plate.cone for plate in self._plates]
        return _together([*cones, *(_cone(face, epsilon) for face in self._others)])

    def area(self) -> float:
        """Surface area, mm²."""
        plates = sum(plate.area for plate in self._plates)
        return plates + math.fsum(_area(face) for face in self._others)


def _plate(face: TopoDS_Face, circles: list[Circle]) -> Plate:
    """Source: a disc has the area πr²; a cone a third of base times height, its centre 3/4 of the way to its base's."""
    plane = BRepAdaptor_Surface(face, False).Plane()
    discs = [(math.pi * circle.radius**2 * (-1 if circle.clockwise else 1), circle) for circle in circles]
    area = sum(disc for disc, _ in discs)
    if area == 0:
        return Plate(0.0, Solidity(0.0, (0.0, 0.0, 0.0)))
    middle = ElSLib.Value_s(
        sum(disc * circle.x for disc, circle in discs) / area,
        sum(disc * circle.y for disc, circle in discs) / area,
        plane,
    )
    normal = plane.Position().XDirection().Crossed(plane.Position().YDirection())
    height = middle.X() * normal.X() + middle.Y() * normal.Y() + middle.Z() * normal.Z()
    outwards = -1 if face.Orientation() == TopAbs_REVERSED else 1
    cone = Solidity(outwards * area * height / 3, (middle.X() * 3 / 4, middle.Y() * 3 / 4, middle.Z() * 3 / 4))
    return Plate(area, cone)


def _cone(face: TopoDS_Face, epsilon: float) -> Solidity:
    integral = BRepGProp_Vinert(BRepGProp_Face(face), BRepGProp_Domain(face), ORIGIN, ORIGIN, epsilon)
    center = integral.CentreOfMass()
    return Solidity(integral.Mass(), (center.X(), center.Y(), center.Z()))


def _area(face: TopoDS_Face) -> float:
    properties = GProp_GProps()
    BRepGProp.SurfaceProperties_s(face, properties, AREA_EPSILON)
    return float(properties.Mass())


def _together(parts: Iterable[Solidity]) -> Solidity:
    """Of several signed bodies, that of their sum."""
    bodies = list(parts)
    volume = math.fsum(body.volume for body in bodies)
    if volume == 0:
        return Solidity(0.0, (0.0, 0.0, 0.0))
    x, y, z = (math.fsum(body.volume * body.center_of_mass[axis] for body in bodies) / volume for axis in range(3))
    return Solidity(volume, (x, y, z))
