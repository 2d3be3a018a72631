"""Volume, area and centre of mass: plates in closed form agree with the kernel's own integration."""

import math

import pytest
from OCP.BRepBuilderAPI import BRepBuilderAPI_Transform
from OCP.BRepGProp import BRepGProp
from OCP.BRepPrimAPI import BRepPrimAPI_MakeBox, BRepPrimAPI_MakeCylinder, BRepPrimAPI_MakeTorus
from OCP.gp import gp_Ax1, gp_Dir, gp_Pnt, gp_Trsf, gp_Vec
from OCP.GProp import GProp_GProps
from OCP.TopoDS import TopoDS_Shape

from kernel.families import BUILDERS
from kernel.measures import TIGHT_EPSILON, Skin
from tests.kernel.parts import EXAMPLE


def moved(shape: TopoDS_Shape) -> TopoDS_Shape:
    """Somewhere in space, leaning, so that no coordinate is zero."""
    turn, shift = gp_Trsf(), gp_Trsf()
    turn.SetRotation(gp_Ax1(gp_Pnt(1, 2, 3), gp_Dir(1, 1, 3)), 0.7)
    shift.SetTranslation(gp_Vec(-40, 30, 20))
    return BRepBuilderAPI_Transform(shape, shift * turn).Shape()


def mirrored(shape: TopoDS_Shape) -> TopoDS_Shape:
    mirror = gp_Trsf()
    mirror.SetMirror(gp_Ax1(gp_Pnt(5, 0, 0), gp_Dir(0, 0, 1)))
    return BRepBuilderAPI_Transform(shape, mirror).Shape()


def part() -> TopoDS_Shape:
    shape: TopoDS_Shape = BUILDERS["bored-cylinder"](EXAMPLE)
    return shape


SHAPES = {
    "the example": part,
    "the example in space": lambda: moved(part()),
    "the example mirrored": lambda: mirrored(moved(part())),
    "the example inside out": lambda: part().Reversed(),
    "a box, which has no circles": lambda: BRepPrimAPI_MakeBox(1, 2, 3).Shape(),
    "a torus, which has no planes": lambda: BRepPrimAPI_MakeTorus(10, 2).Shape(),
    "a cylinder whose plates say everything": lambda: BRepPrimAPI_MakeCylinder(3, 7).Shape(),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_skin_measures_what_the_kernel_integrates(name: str) -> None:
    shape = SHAPES[name]()
    volume, area = GProp_GProps(), GProp_GProps()
    BRepGProp.VolumeProperties_s(shape, volume, TIGHT_EPSILON)
    BRepGProp.SurfaceProperties_s(shape, area, TIGHT_EPSILON)
    center = volume.CentreOfMass()
    skin = Skin(shape)
    found = skin.solidity(TIGHT_EPSILON)
    assert found.volume == pytest.approx(volume.Mass(), rel=1e-9)
    assert found.center_of_mass == pytest.approx((center.X(), center.Y(), center.Z()), rel=1e-9, abs=1e-7)
    assert skin.area() == pytest.approx(area.Mass(), rel=1e-9)


def test_a_plate_far_from_the_origin_keeps_its_volume() -> None:
    """What it adds is next to nothing beside the cones over its two faces, of which it is the difference."""
    shift = gp_Trsf()
    shift.SetTranslation(gp_Vec(0, 0, 1e5))
    found = Skin(BRepBuilderAPI_Transform(BRepPrimAPI_MakeCylinder(3, 1).Shape(), shift).Shape()).solidity()
    assert found.volume == pytest.approx(9 * math.pi, rel=1e-6)
    assert found.center_of_mass == pytest.approx((0, 0, 1e5 + 0.5), rel=1e-6)
