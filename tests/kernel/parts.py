"""Parts, jobs and listeners that the kernel's tests share.

Never asserts anything.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from OCP.BRepPrimAPI import BRepPrimAPI_MakePrism
from OCP.gp import gp_Vec
from OCP.TopoDS import TopoDS_Edge, TopoDS_Shape

from domain.bored_cylinder import BORED_CYLINDER
from domain.messages import MeshQuality, Part, Produced
from domain.ports import KernelJob, KernelNews, Progress
from kernel.families import BUILDERS
from kernel.profiles import face_with_holes

EXAMPLE: dict[str, Any] = dict(BORED_CYLINDER.example)


def part_of(parameters: dict[str, Any] = EXAMPLE) -> Part:
    """The bored cylinder as an order carries it: validated, defaults filled in."""
    return Part(
        model=BORED_CYLINDER.name,
        model_version=BORED_CYLINDER.version,
        engine="opencascade-brep",
        parameters=BORED_CYLINDER.parameters.model_validate(parameters).model_dump(mode="json"),
    )


def built(parameters: dict[str, Any] = EXAMPLE) -> TopoDS_Shape:
    """The shape straight from its builder."""
    return BUILDERS[BORED_CYLINDER.name](part_of(parameters).parameters)


def plate(outer: TopoDS_Edge, holes: list[TopoDS_Edge], thickness: float = 5.0) -> TopoDS_Shape:
    """The outline with whatever holes, extruded, sound or not."""
    return BRepPrimAPI_MakePrism(face_with_holes(outer, holes), gp_Vec(0, 0, thickness)).Shape()


def job_of(
    workdir: Path,
    *outputs: str,
    shape_file: str | None = None,
    mesh: MeshQuality | None = None,
    parameters: dict[str, Any] = EXAMPLE,
) -> KernelJob:
    """A job in `workdir`."""
    return KernelJob(part_of(parameters), outputs, shape_file, mesh or MeshQuality(), workdir, deadline_s=60)


@dataclass
class HeardNews:
    """Keeps what a job announced."""

    news: list[KernelNews] = field(default_factory=list)

    def __call__(self, news: KernelNews) -> None:
        self.news.append(news)

    @property
    def produced(self) -> list[Produced]:
        return [news for news in self.news if isinstance(news, Produced)]

    @property
    def progress(self) -> list[Progress]:
        return [news for news in self.news if isinstance(news, Progress)]
