"""Circles in a plane: the quick answer is the plain one."""

import math
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernel import circles as module
from kernel.circles import Circle, all_apart, apart, contains
from kernel.planar_faces import circles_bound_a_face

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no fault of a check."""

coordinates = st.floats(-50, 50, allow_nan=False)
discs = st.builds(Circle, coordinates, coordinates, st.floats(0.01, 20), st.just(True))


def ring(count: int, radius: float) -> list[Circle]:
    """Holes evenly spaced on a circle of radius 40."""
    angles = [2 * math.pi * index / count for index in range(count)]
    return [Circle(40 * math.cos(angle), 40 * math.sin(angle), radius, True) for angle in angles]


@settings(patient, max_examples=500)
@given(st.lists(discs, max_size=12))
def test_the_grid_says_what_comparing_all_pairs_says(circles: list[Circle]) -> None:
    assert all_apart(circles) == all(apart(one, other) for one, other in combinations(circles, 2))


def test_touching_circles_are_not_apart() -> None:
    assert not apart(Circle(0, 0, 1, True), Circle(2, 0, 1, True))
    assert not apart(Circle(0, 0, 1, True, 1e-7), Circle(2 + 1e-7, 0, 1, True, 1e-7))


def test_one_circle_inside_another_is_not_apart() -> None:
    assert not all_apart([Circle(0, 0, 5, True), Circle(1, 0, 0.1, True)])


def test_a_circle_that_touches_from_inside_is_not_contained() -> None:
    assert contains(Circle(0, 0, 5, False), Circle(3, 0, 1.9, True))
    assert not contains(Circle(0, 0, 5, False), Circle(3, 0, 2, True))


def test_comparisons_grow_with_the_holes_and_not_with_their_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bore is far larger than the holes: a grid of one size would put all holes into its one cell."""
    compared = 0

    def counting(one: Circle, other: Circle) -> bool:
        nonlocal compared
        compared += 1
        return apart(one, other)

    monkeypatch.setattr(module, "apart", counting)
    counts = []
    for holes in (100, 400):
        compared = 0
        assert all_apart([Circle(0, 0, 30, True), *ring(holes, 100 / holes)])
        counts.append(compared)
    assert counts[1] <= 5 * counts[0] < 100 * 99 / 2


def test_a_face_needs_one_counter_clockwise_circle_around_clockwise_ones() -> None:
    outer, inner = Circle(0, 0, 50, False), ring(6, 5)
    assert circles_bound_a_face([*inner, outer])
    assert not circles_bound_a_face([Circle(0, 0, 50, True), *inner])
    assert not circles_bound_a_face([outer, *inner, Circle(0, 0, 1, False)])
    assert not circles_bound_a_face([outer, *inner, Circle(48, 0, 3, True)])
