"""Measures a shape: volume, area, centre of mass.

Never reads a triangulation: a coarse mesh would make every measure wrong.
"""

from dataclasses import dataclass

from OCP.BRepGProp import BRepGProp
from OCP.GProp import GProp_GProps
from OCP.TopoDS import TopoDS_Shape

from domain.messages import Vector

VOLUME_EPSILON = 1e-6
"""The relative error to integrate to: the kernel's default quadrature is wrong by up to 2.6 % on sound solids."""

TIGHT_EPSILON = 1e-10
"""Up to twice the time. A rounding of more than half the radius comes back from a STEP file as a surface of revolution,
on which the looser quadrature is wrong by 1.8e-5; this one by at most 5e-7, most of it the file's own rounding."""

AREA_EPSILON = 1e-4
"""Reported and used in bounds, never compared to a formula."""


@dataclass(frozen=True)
class Solidity:
    """mm³ and mm."""

    volume: float
    center_of_mass: Vector


def solidity(shape: TopoDS_Shape, epsilon: float = VOLUME_EPSILON) -> Solidity:
    """Signed volume and centre of mass, integrated to `epsilon`; negative where faces point inwards."""
    properties = GProp_GProps()
    BRepGProp.VolumeProperties_s(shape, properties, epsilon)
    center = properties.CentreOfMass()
    return Solidity(properties.Mass(), (center.X(), center.Y(), center.Z()))


def area(shape: TopoDS_Shape) -> float:
    """Surface area, mm²."""
    properties = GProp_GProps()
    BRepGProp.SurfaceProperties_s(shape, properties, AREA_EPSILON)
    return float(properties.Mass())
