"""The model `bored-cylinder`: its example, volume and bounds in closed form.

Never builds geometry.
"""

import math

from domain.messages import BoundingBox
from domain.models import Model
from domain.parameters import BoredCylinder
from domain.rules import faults
from domain.sizes import sizes


def volume(p: BoredCylinder) -> float:
    """Volume in mm³ of a part that passes the rules, whose holes therefore touch no fillet.

    Source: V = π(R² - r²)L - 2·F_out(R, f) - 2·F_in(r, f_i) - nπa²L, where each F is, by Pappus's theorem, what
    rounding one rim removes (or, at the bore's rim, removes likewise): a square of side f less a quarter disc.
    """
    s = sizes(p)
    tube = math.pi * (s.outer**2 - s.bore**2) * s.length
    holes = s.holes * math.pi * s.hole**2 * s.length
    return tube - 2 * _outer_rim(s.outer, s.fillet) - 2 * _bore_rim(s.bore, s.bore_fillet) - holes


def bounds(p: BoredCylinder) -> BoundingBox:
    """The axis-aligned box, mm: rounding and drilling don't change it."""
    radius = p.outer_diameter / 2
    return BoundingBox(min=(-radius, -radius, 0.0), max=(radius, radius, p.length))


def _outer_rim(radius: float, f: float) -> float:
    """F_out = 2π( f²(R - f/2) - (πf²/4)(R - f + 4f/(3π)) ): areas times the paths of their centroids."""
    return 2 * math.pi * (f**2 * (radius - f / 2) - math.pi * f**2 / 4 * (radius - f + 4 * f / (3 * math.pi)))


def _bore_rim(radius: float, f: float) -> float:
    """F_in = 2π( f²(r + f/2) - (πf²/4)(r + f - 4f/(3π)) )."""
    return 2 * math.pi * (f**2 * (radius + f / 2) - math.pi * f**2 / 4 * (radius + f - 4 * f / (3 * math.pi)))


BORED_CYLINDER = Model(
    name="bored-cylinder",
    version="1",
    description="A cylinder, optionally bored, with rounded rims and a pattern of through-holes around its axis.",
    parameters=BoredCylinder,
    engines={"opencascade-brep": ("step", "brep", "stl")},
    example={
        "outer_diameter": 120.5,
        "inner_diameter": 45.0,
        "length": 300.0,
        "fillet_radius": 2.5,
        "hole_pattern": {"count": 6, "pitch_diameter": 80.0, "hole_diameter": 10.0},
    },
    faults=faults,
    volume=volume,
    bounds=bounds,
)
