"""Meshes a shape to an absolute quality, and says how far the mesh's volume may be from the shape's.

Never leaves an older mesh in place: the kernel would quietly keep a finer one.
"""

import math

from OCP.BRep import BRep_Tool
from OCP.BRepMesh import BRepMesh_IncrementalMesh
from OCP.BRepTools import BRepTools
from OCP.IMeshTools import IMeshTools_Parameters
from OCP.TopLoc import TopLoc_Location
from OCP.TopoDS import TopoDS_Shape

from domain.messages import BoundingBox, MeshQuality
from kernel.topology import faces_of

SHORTEST_CHORD_MM = 1e-7
"""By default no chord is shorter than a tenth of the deflection, which turns small holes into hexagons."""


def mesh(shape: TopoDS_Shape, quality: MeshQuality) -> None:
    """Put a triangulation of this quality into the shape, and nothing of any earlier one."""
    unmesh(shape)
    wanted = IMeshTools_Parameters()
    wanted.Deflection = quality.linear_deflection
    wanted.Angle = quality.angular_deflection
    wanted.MinSize = SHORTEST_CHORD_MM
    wanted.Relative = False
    wanted.InParallel = False  # as many kernels as cores run side by side already
    BRepMesh_IncrementalMesh(shape, wanted)


def unmesh(shape: TopoDS_Shape) -> None:
    """Take every triangulation out of the shape again."""
    BRepTools.Clean_s(shape, True)


def triangles_by_face(shape: TopoDS_Shape) -> list[int]:
    """How many triangles each face of a meshed shape has; 0 where the kernel gave up."""
    location = TopLoc_Location()
    meshes = [BRep_Tool.Triangulation_s(face, location) for face in faces_of(shape)]
    return [0 if found is None else found.NbTriangles() for found in meshes]


def volume_bound(area: float, box: BoundingBox, quality: MeshQuality) -> float:
    """The most, mm³, by which the volume inside a mesh may miss the shape's: its area times its farthest chord.

    A chord strays by the linear deflection at most, and by the sagitta R(1 - cos(α/2)) that the angular one allows
    on the largest radius R that fits the box.
    """
    radius = math.dist(box.min, box.max) / 2
    return area * min(quality.linear_deflection, radius * (1 - math.cos(quality.angular_deflection / 2)))
