"""The bored cylinder's parameters as the letters its formulas use, and the nearest size that meets a condition.

Never decides what is wrong with a part: domain/rules.py does.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from domain.parameters import BoredCylinder

SMALLEST_GAP_MM = 1e-3
"""Below this, the kernel's tolerances (1e-7 mm, growing with each operation) begin to swallow walls and holes."""

SMALLEST_RELATIVE_GAP = 1e-6
"""The same in relation to the whole part, whose size the kernel's rounding grows with."""


@dataclass(frozen=True)
class Sizes:
    """Lengths in mm; `hole`, `pitch` and `holes` are zero where there is no pattern."""

    outer_diameter: float
    outer: float
    """Outer radius."""
    bore: float
    """Radius of the bore."""
    length: float
    fillet: float
    bore_fillet: float
    """Radius of the rounding of the bore's rims."""
    holes: int
    hole: float
    """Radius of a hole."""
    pitch: float
    """Radius of the circle through the holes' centres."""

    @property
    def wall(self) -> float:
        """Thickness between bore and outer surface."""
        return self.outer - self.bore

    @property
    def smallest_gap(self) -> float:
        """The smallest feature or gap that the kernel builds reliably at this size."""
        return max(SMALLEST_GAP_MM, SMALLEST_RELATIVE_GAP * max(self.outer_diameter, self.length))


def sizes(p: BoredCylinder) -> Sizes:
    """The letters of `p`."""
    pattern = p.hole_pattern
    rounded_bore = p.fillet_edges == "all" and p.inner_diameter > 0
    return Sizes(
        outer_diameter=p.outer_diameter,
        outer=p.outer_diameter / 2,
        bore=p.inner_diameter / 2,
        length=p.length,
        fillet=p.fillet_radius,
        bore_fillet=p.fillet_radius if rounded_bore else 0.0,
        holes=pattern.count if pattern else 0,
        hole=pattern.hole_diameter / 2 if pattern else 0.0,
        pitch=pattern.pitch_diameter / 2 if pattern else 0.0,
    )


Condition: TypeAlias = Callable[[Sizes], bool]

FIELDS_OF_THE_PATTERN = ("count", "pitch_diameter", "hole_diameter")
FIELDS_THAT_MAY_BE_ZERO = ("inner_diameter", "fillet_radius", "pitch_diameter")

DECIMALS = 9
"""Limits are told to a picometre where that meets the rule: 55.002, not 55.00200000000001."""

ROUNDING = 1e-12
"""How far a rule's few operations can carry the rounding of the largest length among them (64-bit: 2e-16 each)."""


def value_of(p: BoredCylinder, field: str) -> float:
    """What the parameter `field` is."""
    return float(getattr(p.hole_pattern if field in FIELDS_OF_THE_PATTERN else p, field))


def pointer_to(field: str) -> str:
    """JSON Pointer inside the parameters."""
    return f"/hole_pattern/{field}" if field in FIELDS_OF_THE_PATTERN else f"/{field}"


def with_value(p: BoredCylinder, field: str, value: float) -> BoredCylinder:
    """`p` with that one field changed."""
    if field in FIELDS_OF_THE_PATTERN and p.hole_pattern is not None:
        return p.model_copy(update={"hole_pattern": p.hole_pattern.model_copy(update={field: value})})
    return p.model_copy(update={field: value})


def nearest_value(p: BoredCylinder, field: str, holds: Condition, bounds: Iterable[float]) -> float | None:
    """The value of `field` nearest to its present one that meets the condition; None where none does.

    `bounds` are the solutions of the condition's equality; each is moved to a nearby number which meets it exactly,
    because the equality itself rounds to either side.
    """
    present = value_of(p, field)
    settled = (_settled(p, field, holds, bound) for bound in bounds if math.isfinite(bound))
    passing = [value for value in settled if value is not None]
    return min(passing, key=lambda value: (abs(value - present), -value), default=None)


def _settled(p: BoredCylinder, field: str, holds: Condition, bound: float) -> float | None:
    may_be_zero = field in FIELDS_THAT_MAY_BE_ZERO
    for value in _around(bound, largest=max(bound, *_lengths(p))):
        possible = math.isfinite(value) and (value > 0 or (value == 0 and may_be_zero))
        if possible and holds(sizes(with_value(p, field, value))):
            return value
    return None


def _lengths(p: BoredCylinder) -> tuple[float, ...]:
    s = sizes(p)
    return s.outer_diameter, 2 * s.bore, s.length, s.fillet, 2 * s.hole, 2 * s.pitch


def _around(bound: float, largest: float) -> Iterable[float]:
    """The rounded bound, the bound, then numbers ever further from it on both sides."""
    yield round(bound, DECIMALS)
    yield bound
    nudge = max(math.ulp(bound), math.ulp(largest) / 16)  # what is finer than that, the sums of a rule don't see
    while nudge <= ROUNDING * largest:
        yield bound - nudge
        yield bound + nudge
        nudge *= 2
