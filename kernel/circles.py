"""Whether circles in a plane lie apart, in time that grows with their number and not with its square.

Never knows what the circles bound.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class Circle:
    """In the plane's own coordinates, mm."""

    x: float
    y: float
    radius: float
    clockwise: bool
    """The direction in which its edge runs, seen from the side the plane's normal points to."""
    tolerance: float = 0.0
    """How far its edge may be from the curve."""


def contains(outer: Circle, inner: Circle) -> bool:
    """Whether `inner` lies inside `outer` without touching it."""
    reach = math.hypot(inner.x - outer.x, inner.y - outer.y) + inner.radius
    return reach + inner.tolerance + outer.tolerance < outer.radius


def apart(one: Circle, other: Circle) -> bool:
    """Whether the discs neither touch nor overlap nor contain each other."""
    distance = math.hypot(one.x - other.x, one.y - other.y)
    return distance > one.radius + other.radius + one.tolerance + other.tolerance


def all_apart(circles: Iterable[Circle]) -> bool:
    """Whether every two discs are `apart`.

    Discs are entered in grids, largest first, one grid for each power of two of radii, with cells four times that
    size: two discs of a grid that touch lie in neighbouring cells. As long as all are apart, a cell holds a handful,
    so each disc meets a bounded number of others; the first that touches ends the search.
    """
    grids: dict[Cell, list[Circle]] = defaultdict(list)
    levels: list[int] = []
    for circle in sorted(circles, key=lambda circle: -circle.radius):
        level = math.frexp(circle.radius + circle.tolerance)[1]
        if level not in levels:
            levels.append(level)
        if not all(apart(circle, met) for coarser in levels for met in _nearby(grids, circle, coarser)):
            return False
        grids[_cell(circle, level)].append(circle)
    return True


def _cell(circle: Circle, level: int) -> Cell:
    size = 4 * 2.0**level
    return level, math.floor(circle.x / size), math.floor(circle.y / size)


def _nearby(grids: dict[Cell, list[Circle]], circle: Circle, level: int) -> Iterator[Circle]:
    _, column, row = _cell(circle, level)
    for x in (column - 1, column, column + 1):
        for y in (row - 1, row, row + 1):
            yield from grids.get((level, x, y), ())
