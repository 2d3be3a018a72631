"""What a bored cylinder must satisfy to be buildable, each rule in closed form and with the nearest value that passes.

Never starts a kernel: these rules, found by trying 445 parameter sets, name beforehand what one would get wrong.
"""

import math
from collections.abc import Iterable

from domain.models import Fault
from domain.parameters import LARGEST_SIZE_MM, SMALLEST_SIZE_MM, BoredCylinder
from domain.sizes import (
    SMALLEST_GAP_MM,
    SMALLEST_RELATIVE_GAP,
    Condition,
    nearest_value,
    pointer_to,
    sizes,
    value_of,
)

LARGEST_ASPECT_RATIO = 10_000
"""Beyond it, the smallest gap that the long side allows is no longer small beside the short one."""


def outer_diameter_is_in_range(p: BoredCylinder) -> Fault | None:
    """`outer-diameter-range`"""
    return _fault(
        p,
        "outer-diameter-range",
        lambda s: SMALLEST_SIZE_MM <= s.outer_diameter <= LARGEST_SIZE_MM,
        f"outer_diameter is {_mm(p.outer_diameter)}, outside {SMALLEST_SIZE_MM} to {LARGEST_SIZE_MM} mm.",
        {"outer_diameter": (SMALLEST_SIZE_MM, LARGEST_SIZE_MM)},
    )


def length_is_in_range(p: BoredCylinder) -> Fault | None:
    """`length-range`"""
    return _fault(
        p,
        "length-range",
        lambda s: SMALLEST_SIZE_MM <= s.length <= LARGEST_SIZE_MM,
        f"length is {_mm(p.length)}, outside {SMALLEST_SIZE_MM} to {LARGEST_SIZE_MM} mm.",
        {"length": (SMALLEST_SIZE_MM, LARGEST_SIZE_MM)},
    )


def aspect_ratio_is_moderate(p: BoredCylinder) -> Fault | None:
    """`aspect-ratio`: of two positive sizes; of others the ranges speak."""
    diameter, length = p.outer_diameter, p.length
    if min(diameter, length) <= 0:
        return None
    return _fault(
        p,
        "aspect-ratio",
        lambda s: max(s.outer_diameter, s.length) / min(s.outer_diameter, s.length) <= LARGEST_ASPECT_RATIO,
        f"Outer diameter {_mm(diameter)} and length {_mm(length)} differ by more than a factor of 10,000.",
        {"length": (diameter * LARGEST_ASPECT_RATIO, diameter / LARGEST_ASPECT_RATIO)},
    )


def bore_is_large_enough(p: BoredCylinder) -> Fault | None:
    """`bore-too-small`: a smaller bore passes every kernel check and gives an invalid solid."""
    gap = sizes(p).smallest_gap
    return _fault(
        p,
        "bore-too-small",
        lambda s: s.bore <= 0 or s.bore >= s.smallest_gap,
        f"The bore's radius is {_mm(p.inner_diameter / 2)}; it must be at least {_mm(gap)}, or 0 for none.",
        {"inner_diameter": (0, 2 * gap)},
    )


def wall_is_thick_enough(p: BoredCylinder) -> Fault | None:
    """`wall-too-thin`"""
    s = sizes(p)
    least = max(SMALLEST_GAP_MM, SMALLEST_RELATIVE_GAP * p.length)
    least_outer = max(2 * (s.bore + least), 2 * s.bore / (1 - 2 * SMALLEST_RELATIVE_GAP))
    return _fault(
        p,
        "wall-too-thin",
        lambda s: s.wall >= s.smallest_gap,
        f"The wall between bore and outer surface is {_mm(s.wall)}; it must be at least {_mm(s.smallest_gap)}.",
        {"inner_diameter": (2 * (s.outer - s.smallest_gap),), "outer_diameter": (least_outer,)},
    )


def fillet_is_large_enough(p: BoredCylinder) -> Fault | None:
    """`fillet-too-small`"""
    gap = sizes(p).smallest_gap
    return _fault(
        p,
        "fillet-too-small",
        lambda s: s.fillet <= 0 or s.fillet >= s.smallest_gap,
        f"The fillet's radius is {_mm(p.fillet_radius)}; it must be at least {_mm(gap)}, or 0 for none.",
        {"fillet_radius": (0, gap)},
    )


def fillets_leave_length(p: BoredCylinder) -> Fault | None:
    """`fillet-exceeds-length`"""
    s = sizes(p)
    left = s.length - 2 * s.fillet
    return _fault(
        p,
        "fillet-exceeds-length",
        lambda s: s.fillet <= 0 or s.length - 2 * s.fillet >= s.smallest_gap,
        f"Two fillets of {_mm(s.fillet)} leave {_mm(left)} of the length {_mm(s.length)}; "
        f"{_mm(s.smallest_gap)} must stay.",
        {"fillet_radius": (0, (s.length - s.smallest_gap) / 2)},
    )


def fillets_leave_wall(p: BoredCylinder) -> Fault | None:
    """`fillet-exceeds-wall`: w - f - f_i < G, arranged so that the limit that people compute, 37.749, meets it."""
    s = sizes(p)
    both = p.fillet_edges == "all" and s.bore > 0
    return _fault(
        p,
        "fillet-exceeds-wall",
        lambda s: s.fillet <= 0 or s.fillet <= s.wall - s.bore_fillet - s.smallest_gap,
        f"A fillet of {_mm(s.fillet)} on {'both rims' if both else 'the outer rim'} leaves "
        f"{_mm(s.wall - s.fillet - s.bore_fillet)} of the wall of {_mm(s.wall)}; {_mm(s.smallest_gap)} must stay.",
        {"fillet_radius": (0, (s.wall - s.smallest_gap) / (2 if both else 1))},
    )


def hole_is_large_enough(p: BoredCylinder) -> Fault | None:
    """`hole-too-small`"""
    if p.hole_pattern is None:
        return None
    s = sizes(p)
    return _fault(
        p,
        "hole-too-small",
        lambda s: s.hole >= s.smallest_gap,
        f"A hole's radius is {_mm(s.hole)}; it must be at least {_mm(s.smallest_gap)}.",
        {"hole_diameter": (2 * s.smallest_gap,)},
    )


def hole_clears_bore(p: BoredCylinder) -> Fault | None:
    """`hole-meets-bore`"""
    if p.hole_pattern is None:
        return None
    s = sizes(p)
    return _fault(
        p,
        "hole-meets-bore",
        lambda s: s.bore <= 0 or s.pitch - s.hole - s.bore - s.bore_fillet >= s.smallest_gap,
        f"Between the holes and the bore{' with its fillet' if s.bore_fillet else ''} lie "
        f"{_mm(s.pitch - s.hole - s.bore - s.bore_fillet)}; it must be at least {_mm(s.smallest_gap)}.",
        {"pitch_diameter": (2 * (s.hole + s.bore + s.bore_fillet + s.smallest_gap),)},
    )


def hole_clears_outer_surface(p: BoredCylinder) -> Fault | None:
    """`hole-meets-outer-surface`"""
    if p.hole_pattern is None:
        return None
    s = sizes(p)
    return _fault(
        p,
        "hole-meets-outer-surface",
        lambda s: s.outer - s.fillet - s.pitch - s.hole >= s.smallest_gap,
        f"Between the holes and the outer surface{' with its fillet' if s.fillet else ''} lie "
        f"{_mm(s.outer - s.fillet - s.pitch - s.hole)}; it must be at least {_mm(s.smallest_gap)}.",
        {
            "pitch_diameter": (2 * (s.outer - s.fillet - s.hole - s.smallest_gap),),
            "hole_diameter": (2 * (s.outer - s.fillet - s.pitch - s.smallest_gap),),
        },
    )


def holes_clear_each_other(p: BoredCylinder) -> Fault | None:
    """`holes-overlap`: neighbours' centres are a chord 2c·sin(π/n) apart."""
    if p.hole_pattern is None:
        return None
    s = sizes(p)
    half_angle_sine = math.sin(math.pi / s.holes)
    chord = 2 * s.pitch * half_angle_sine
    return _fault(
        p,
        "holes-overlap",
        lambda s: s.holes < 2 or 2 * s.pitch * half_angle_sine - 2 * s.hole >= s.smallest_gap,
        f"Between neighbouring holes of {_mm(2 * s.hole)} diameter, {_mm(chord)} apart, lie "
        f"{_mm(chord - 2 * s.hole)}; it must be at least {_mm(s.smallest_gap)}.",
        {
            "hole_diameter": (chord - s.smallest_gap,),
            "pitch_diameter": ((2 * s.hole + s.smallest_gap) / half_angle_sine,) if s.holes > 1 else (),
        },
    )


def _mm(length: float) -> str:
    return f"{length:.10g} mm"


def _fault(
    p: BoredCylinder, rule: str, holds: Condition, detail: str, blamed: dict[str, Iterable[float]]
) -> Fault | None:
    """None if the condition holds; else a fault of the first blamed field that can mend it, or of the first."""
    if holds(sizes(p)):
        return None
    limits = {field: nearest_value(p, field, holds, bounds) for field, bounds in blamed.items()}
    field = next((field for field, limit in limits.items() if limit is not None), next(iter(limits)))
    return Fault(pointer_to(field), rule, detail, value_of(p, field), limits[field])


def faults(p: BoredCylinder) -> tuple[Fault, ...]:
    """All broken rules of a schema-valid parameter set, in the order of `RULES`; empty means it may be built."""
    return tuple(fault for rule in RULES if (fault := rule(p)) is not None)


RULES = (
    outer_diameter_is_in_range,
    length_is_in_range,
    aspect_ratio_is_moderate,
    bore_is_large_enough,
    wall_is_thick_enough,
    fillet_is_large_enough,
    fillets_leave_length,
    fillets_leave_wall,
    hole_is_large_enough,
    hole_clears_bore,
    hole_clears_outer_surface,
    holes_clear_each_other,
)
