"""How many triangles a mesh will need, before the kernel spends minutes and gigabytes on it.

Never meshes anything.
"""

import math

from OCP.BRepAdaptor import BRepAdaptor_Curve, BRepAdaptor_Surface
from OCP.GeomAbs import GeomAbs_Circle, GeomAbs_Cone, GeomAbs_Cylinder, GeomAbs_Line, GeomAbs_Plane, GeomAbs_Torus
from OCP.TopoDS import TopoDS_Edge, TopoDS_Face, TopoDS_Shape

from domain.messages import MeshQuality
from kernel.bounds import bounding_box
from kernel.topology import edges_of, faces_of

KERNEL_EXTRA = 3.0
"""The kernel turns about 1.5 to 4 times as many triangles as the bound asks for: it rounds up, and splits long ones."""


def estimated_triangles(shape: TopoDS_Shape, quality: MeshQuality) -> int:
    """About how many triangles a mesh of this quality has: within a factor of 2.5 on parts of this catalogue."""
    return math.ceil(KERNEL_EXTRA * sum(_least_triangles(face, quality) for face in faces_of(shape)))


def chord_angle(radius: float, quality: MeshQuality) -> float:
    """The widest angle, radians, that one chord may span of an arc of `radius` mm: sagitta r(1 - cos(θ/2)) ≤ d."""
    return min(quality.angular_deflection, 2 * math.acos(max(0.0, 1 - quality.linear_deflection / radius)))


def _least_triangles(face: TopoDS_Face, quality: MeshQuality) -> float:
    surface = BRepAdaptor_Surface(face)
    kind = surface.GetType()
    if kind in (GeomAbs_Plane, GeomAbs_Cylinder, GeomAbs_Cone):
        return sum(_chords(edge, quality) for edge in edges_of(face))
    if kind == GeomAbs_Torus:
        torus = surface.Torus()
        around, across = torus.MajorRadius() + torus.MinorRadius(), torus.MinorRadius()
    else:
        box = bounding_box(face)
        around = across = math.dist(box.min, box.max) / 2
    return 2 * _turns(surface, around, across, quality)


def _turns(surface: BRepAdaptor_Surface, around: float, across: float, quality: MeshQuality) -> float:
    u = min(surface.LastUParameter() - surface.FirstUParameter(), 2 * math.pi)
    v = min(surface.LastVParameter() - surface.FirstVParameter(), 2 * math.pi)
    return math.ceil(u / chord_angle(around, quality)) * math.ceil(v / chord_angle(across, quality))


def _chords(edge: TopoDS_Edge, quality: MeshQuality) -> int:
    curve = BRepAdaptor_Curve(edge)
    kind = curve.GetType()
    if kind == GeomAbs_Line:
        return 1
    turn = curve.LastParameter() - curve.FirstParameter() if kind == GeomAbs_Circle else 2 * math.pi
    box = bounding_box(edge)
    radius = curve.Circle().Radius() if kind == GeomAbs_Circle else math.dist(box.min, box.max) / 2
    return max(2, math.ceil(turn / chord_angle(radius, quality)))
