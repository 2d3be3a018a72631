"""The linear check says what the kernel's own analyser says, on sound shapes and on broken ones."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from OCP.BRep import BRep_Builder, BRep_Tool
from OCP.BRepBuilderAPI import BRepBuilderAPI_MakeFace, BRepBuilderAPI_MakePolygon, BRepBuilderAPI_MakeVertex
from OCP.BRepCheck import BRepCheck_Analyzer
from OCP.BRepPrimAPI import BRepPrimAPI_MakeBox, BRepPrimAPI_MakePrism
from OCP.gp import gp_Pln, gp_Pnt, gp_Trsf, gp_Vec, gp_Vec2d
from OCP.ShapeFix import ShapeFix_ShapeTolerance
from OCP.TopAbs import TopAbs_INTERNAL
from OCP.TopLoc import TopLoc_Location
from OCP.TopoDS import TopoDS, TopoDS_Compound, TopoDS_Face, TopoDS_Shape, TopoDS_Shell, TopoDS_Solid

from domain.problems import GeometryVerificationFailed, Refusal
from kernel.inspection import inspect
from kernel.profiles import circle, face_with_holes
from kernel.topology import edges_of, faces_of, solids_of, wires_of
from kernel.validity import free_edges, is_valid, shells_are_closed
from tests.domain.corpus import ACCEPTED, Case
from tests.kernel.parts import EXAMPLE, built, part_of, plate


def solid_of(faces: list[TopoDS_Face]) -> TopoDS_Solid:
    """A solid with exactly these faces as its shell."""
    builder, shell, solid = BRep_Builder(), TopoDS_Shell(), TopoDS_Solid()
    builder.MakeShell(shell)
    for face in faces:
        builder.Add(shell, face)
    builder.MakeSolid(solid)
    builder.Add(solid, shell)
    return solid


def prism(face: TopoDS_Face) -> TopoDS_Shape:
    """The face extruded by 5 mm."""
    return BRepPrimAPI_MakePrism(face, gp_Vec(0, 0, 5)).Shape()


def without_one_face() -> TopoDS_Shape:
    return solid_of(faces_of(built())[1:])


def with_one_face_reversed() -> TopoDS_Shape:
    first, *others = faces_of(built())
    return solid_of([TopoDS.Face_s(first.Reversed()), *others])


def with_one_face_twice() -> TopoDS_Shape:
    faces = faces_of(built())
    return solid_of([faces[-1], *faces])


def with_overlapping_holes() -> TopoDS_Shape:
    return plate(circle(0, 0, 50), [circle(20, 0, 6), circle(28, 0, 6)])


def with_touching_holes() -> TopoDS_Shape:
    return plate(circle(0, 0, 50), [circle(20, 0, 4), circle(28, 0, 4)])


def with_a_hole_inside_a_hole() -> TopoDS_Shape:
    return plate(circle(0, 0, 50), [circle(0, 0, 20), circle(3, 0, 5)])


def with_a_hole_across_the_rim() -> TopoDS_Shape:
    return plate(circle(0, 0, 50), [circle(48, 0, 5)])


def with_a_hole_beside_the_part() -> TopoDS_Shape:
    return plate(circle(0, 0, 50), [circle(70, 0, 5)])


def with_a_hole_that_runs_the_wrong_way() -> TopoDS_Shape:
    return plate(circle(0, 0, 50), [TopoDS.Edge_s(circle(20, 0, 5).Reversed())])


def with_a_self_crossing_outline() -> TopoDS_Shape:
    corners = [(0, 0), (10, 10), (10, 0), (0, 10)]
    outline = BRepBuilderAPI_MakePolygon()
    for x, y in corners:
        outline.Add(gp_Pnt(x, y, 0))
    outline.Close()
    return prism(BRepBuilderAPI_MakeFace(gp_Pln(), outline.Wire(), True).Face())


def with_a_hole_lifted_off_its_plane() -> TopoDS_Shape:
    lift = gp_Trsf()
    lift.SetTranslation(gp_Vec(0, 0, 0.5))
    lifted = TopoDS.Edge_s(circle(20, 0, 5).Moved(TopLoc_Location(lift)))
    return prism(face_with_holes(circle(0, 0, 50), [lifted]))


def with_a_hole_drawn_elsewhere() -> TopoDS_Shape:
    """In space it is where it was; in the plane's own coordinates, which a mesh follows, it is 4 mm beside."""
    shape = built()
    plane = next(face for face in faces_of(shape) if len(wires_of(face)) > 2)
    hole = edges_of(wires_of(plane)[-1])[0]
    drawn = BRep_Tool.CurveOnSurface_s(hole, plane, 0.0, 1.0)
    moved = drawn.Translated(gp_Vec2d(4, 0))
    BRep_Builder().UpdateEdge(hole, moved, plane, BRep_Tool.Tolerance_s(hole))
    return shape


INVALID: tuple[Callable[[], TopoDS_Shape], ...] = (
    with_overlapping_holes,
    with_touching_holes,
    with_a_hole_inside_a_hole,
    with_a_hole_across_the_rim,
    with_a_hole_beside_the_part,
    with_a_hole_that_runs_the_wrong_way,
    with_a_self_crossing_outline,
    with_a_hole_lifted_off_its_plane,
    with_a_hole_drawn_elsewhere,
)
LEAKING: tuple[Callable[[], TopoDS_Shape], ...] = (without_one_face, with_one_face_reversed, with_one_face_twice)


@pytest.mark.parametrize("broken", INVALID, ids=lambda broken: broken.__name__)
def test_an_unsound_boundary_is_found_as_the_analyser_finds_it(broken: Callable[[], TopoDS_Shape]) -> None:
    shape = broken()
    assert not BRepCheck_Analyzer(shape).IsValid()
    assert not is_valid(shape)


@pytest.mark.parametrize("broken", LEAKING, ids=lambda broken: broken.__name__)
def test_a_shell_that_leaks_or_twists_is_found_twice_over(broken: Callable[[], TopoDS_Shape]) -> None:
    shape = broken()
    assert not shells_are_closed(shape)
    assert free_edges(shape) > 0


@pytest.mark.parametrize("broken", [*INVALID, *LEAKING], ids=lambda broken: broken.__name__)
def test_no_broken_shape_passes_inspection(broken: Callable[[], TopoDS_Shape]) -> None:
    with pytest.raises(Refusal) as refused:
        inspect(broken(), part_of())
    assert isinstance(refused.value.problem, GeometryVerificationFailed)
    assert refused.value.problem.check in {"closed-shells", "free-edges", "valid-shape"}


@pytest.mark.parametrize("case", ACCEPTED[::4], ids=lambda case: case.id)
def test_a_sound_part_is_sound_to_the_analyser_too(case: Case) -> None:
    shape = built(case.parameters)
    assert is_valid(shape)
    assert BRepCheck_Analyzer(shape).IsValid()


patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no fault of a check."""

hole_lists = st.lists(st.tuples(st.integers(-24, 24), st.integers(-24, 24), st.integers(1, 9)), min_size=1, max_size=5)


@settings(patient, max_examples=150)
@given(hole_lists)
def test_any_plate_is_judged_as_the_analyser_judges_it(holes: list[tuple[int, int, int]]) -> None:
    """Whole numbers make touching, nested and coinciding circles common."""
    shape = plate(circle(0, 0, 25), [circle(x, y, radius) for x, y, radius in holes])
    assert is_valid(shape) == BRepCheck_Analyzer(shape).IsValid()


def test_a_plane_bounded_by_straight_edges_is_left_to_the_analyser() -> None:
    assert is_valid(BRepPrimAPI_MakeBox(1, 2, 3).Shape())


def test_a_shape_with_no_shell_is_not_closed() -> None:
    assert not shells_are_closed(face_with_holes(circle(0, 0, 5), []))


def test_an_inside_out_solid_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        inspect(built().Reversed(), part_of())
    assert isinstance(refused.value.problem, GeometryVerificationFailed)
    assert refused.value.problem.check in {"positive-volume", "valid-shape"}


def test_two_solids_are_refused() -> None:
    builder, both = BRep_Builder(), TopoDS_Compound()
    builder.MakeCompound(both)
    for shape in (built(), BRepPrimAPI_MakeBox(gp_Pnt(500, 0, 0), 1, 2, 3).Shape()):
        builder.Add(both, shape)
    with pytest.raises(Refusal) as refused:
        inspect(both, part_of())
    assert refused.value.problem == GeometryVerificationFailed("solids", "1", "2")


LOOSE: dict[str, Callable[[], TopoDS_Shape]] = {
    "circle": lambda: circle(0, 0, 5),
    "vertex": lambda: BRepBuilderAPI_MakeVertex(gp_Pnt(1, 2, 3)).Vertex(),
    "face": lambda: face_with_holes(circle(0, 0, 5), []),
}


def compound_of(*parts: TopoDS_Shape) -> TopoDS_Compound:
    builder, compound = BRep_Builder(), TopoDS_Compound()
    builder.MakeCompound(compound)
    for part in parts:
        builder.Add(compound, part)
    return compound


@pytest.mark.parametrize("loose", LOOSE)
def test_anything_loose_beside_the_part_is_refused(loose: str) -> None:
    (solid,) = solids_of(built())
    assert inspect(compound_of(solid), part_of()).solids == 1
    with pytest.raises(Refusal) as refused:
        inspect(compound_of(solid, LOOSE[loose]()), part_of())
    assert isinstance(refused.value.problem, GeometryVerificationFailed)
    assert refused.value.problem.check == "loose-parts"


def test_anything_loose_within_the_part_is_refused() -> None:
    (solid,) = solids_of(built())
    solid.Free(True)
    BRep_Builder().Add(solid, LOOSE["vertex"]().Oriented(TopAbs_INTERNAL))
    with pytest.raises(Refusal) as refused:
        inspect(solid, part_of())
    assert isinstance(refused.value.problem, GeometryVerificationFailed)
    assert refused.value.problem.check == "loose-parts"


def test_a_part_that_is_vague_about_where_its_edges_are_is_refused() -> None:
    shape = built()
    ShapeFix_ShapeTolerance().SetTolerance(shape, 5e-4)
    with pytest.raises(Refusal) as refused:
        inspect(shape, part_of())
    assert isinstance(refused.value.problem, GeometryVerificationFailed)
    assert refused.value.problem.check == "tolerance"


@pytest.mark.parametrize("shape", [None, TopoDS_Shape()])
def test_no_shape_is_refused(shape: TopoDS_Shape | None) -> None:
    with pytest.raises(Refusal) as refused:
        inspect(shape, part_of())
    assert refused.value.problem == GeometryVerificationFailed("shape", "a shape", "none")


def test_a_part_that_ignores_a_parameter_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        inspect(built({**EXAMPLE, "fillet_radius": 2.4}), part_of())
    assert isinstance(refused.value.problem, GeometryVerificationFailed)
    assert refused.value.problem.check == "volume"


def test_a_part_in_the_wrong_place_is_refused() -> None:
    shift = gp_Trsf()
    shift.SetTranslation(gp_Vec(0, 0, -0.001))
    with pytest.raises(Refusal) as refused:
        inspect(built().Moved(TopLoc_Location(shift)), part_of())
    assert isinstance(refused.value.problem, GeometryVerificationFailed)
    assert refused.value.problem.check == "bounds"
    assert "-0.001 to 299.999" in refused.value.problem.found
