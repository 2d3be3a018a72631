"""The checks that a shape must pass before anything is made from it, and the facts it is measured by.

Never repairs a shape: one that fails a check is refused.
"""

from typing import Any

from OCP.TopoDS import TopoDS_Shape

from domain.catalogue import MODELS
from domain.messages import BoundingBox, GeometryFacts, Part
from domain.sizes import SMALLEST_GAP_MM
from kernel.bounds import bounding_box
from kernel.measures import TIGHT_EPSILON, Skin, Solidity
from kernel.topology import distinct_edges, faces_of, is_nothing_but_a_solid, solids_of
from kernel.validity import free_edges, is_valid, largest_tolerance, shells_are_closed
from kernel.verdicts import insist

VOLUME_TOLERANCE = 1e-6
"""Relative. Sound parts agree to 1e-14; the smallest wrong one that was seen was off by 1e-3."""

LARGEST_TOLERANCE_MM = SMALLEST_GAP_MM / 4
"""Two edges this far off each leave half of the smallest gap open. Sound parts have 1e-7 throughout."""

BOUNDS_TOLERANCE = 1e-6
"""Relative to the largest side: a part that ignores a parameter is off by far more."""


def inspect(shape: TopoDS_Shape | None, part: Part) -> GeometryFacts:
    """The facts of a shape that passes every check; to be called before the shape is ever meshed.

    Raises Refusal with `geometry-verification-failed`, naming the check, what was expected and what was found.
    """
    insist(shape is not None and not shape.IsNull(), "shape", "a shape", "none")
    assert shape is not None
    _check_topology(shape)
    model = MODELS[part.model]
    parameters = model.parameters.model_validate(part.parameters)
    return _measured(shape, model.volume(parameters), model.bounds(parameters))


def checked_solidity(skin: Skin, expected: float, file_format: str | None = None) -> Solidity:
    """The volume and centre of a shape that has the expected volume (mm³).

    A quick measure that disagrees is doubted and taken again with care. Raises Refusal if that disagrees too.
    """
    found = skin.solidity()
    if not _agree(found.volume, expected):
        found = skin.solidity(TIGHT_EPSILON)
    insist(found.volume > 0, "positive-volume", "more than 0 mm³", f"{found.volume:.9g} mm³", file_format)
    agree = _agree(found.volume, expected)
    insist(agree, "volume", f"{expected:.9g} mm³", f"{found.volume:.9g} mm³", file_format)
    return found


def _agree(found: float, expected: float) -> bool:
    return abs(found - expected) <= VOLUME_TOLERANCE * expected


def _check_topology(shape: TopoDS_Shape) -> None:
    solids = len(solids_of(shape))
    insist(solids == 1, "solids", 1, solids)
    insist(is_nothing_but_a_solid(shape), "loose-parts", "a solid and nothing beside it", "loose parts")
    tolerance = largest_tolerance(shape)
    insist(tolerance <= LARGEST_TOLERANCE_MM, "tolerance", f"at most {LARGEST_TOLERANCE_MM} mm", f"{tolerance:.3g} mm")
    insist(shells_are_closed(shape), "closed-shells", "closed, consistently oriented shells", "an open or twisted one")
    free = free_edges(shape)
    insist(free == 0, "free-edges", 0, free)
    insist(is_valid(shape), "valid-shape", "a valid boundary", "an invalid one")


def _measured(shape: TopoDS_Shape, volume: float, bounds: BoundingBox) -> GeometryFacts:
    skin = Skin(shape)
    found = checked_solidity(skin, volume)
    box = bounding_box(shape)
    _check_bounds(box, bounds)
    return GeometryFacts(
        volume=found.volume,
        area=skin.area(),
        center_of_mass=found.center_of_mass,
        bounding_box=box,
        solids=1,
        faces=len(faces_of(shape)),
        edges=distinct_edges(shape).Extent(),
        valid=True,
        watertight=True,
    )


def _check_bounds(found: BoundingBox, expected: BoundingBox) -> None:
    side = max(high - low for low, high in zip(expected.min, expected.max, strict=True))
    pairs: Any = zip(found.min + found.max, expected.min + expected.max, strict=True)
    off = max(abs(one - other) for one, other in pairs)
    insist(off <= BOUNDS_TOLERANCE * side, "bounds", _sides(expected), _sides(found))


def _sides(box: BoundingBox) -> str:
    return " × ".join(f"{low:.9g} to {high:.9g}" for low, high in zip(box.min, box.max, strict=True)) + " mm"
