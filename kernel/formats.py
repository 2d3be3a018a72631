"""Every format's way from the kept shape to its finished, checked file.

Never decides which formats a job gets.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from domain.messages import Produced
from domain.ports import KernelJob
from kernel.brep_file import read_brep
from kernel.exports import check_read_back, described, write_checked
from kernel.kept_shape import KeptShape
from kernel.step_file import read_step, write_step
from kernel.stl_file import write_stl

Export: TypeAlias = Callable[[KeptShape, KernelJob], Produced]


def export_step(kept: KeptShape, job: KernelJob) -> Produced:
    """`part.step`: AP214 in mm, the model's name as the product's."""
    target = job.workdir / "part.step"
    write_checked(
        target,
        "step",
        lambda path: write_step(kept.shape, path, job.part.model),
        lambda path: check_read_back(read_step(path), kept.facts, "step"),
    )
    return described(target, "step")


def export_brep(kept: KeptShape, job: KernelJob) -> Produced:
    """`part.brep`: the kept file's own bytes; writing the shape anew would number its parts differently."""
    target = job.workdir / "part.brep"
    write_checked(
        target,
        "brep",
        lambda path: _copied(kept.path, path),
        lambda path: check_read_back(read_brep(path, "brep"), kept.facts, "brep"),
    )
    return described(target, "brep")


def export_stl(kept: KeptShape, job: KernelJob) -> Produced:
    """`part.stl`: binary, in mm."""
    target = job.workdir / "part.stl"
    triangles = write_stl(kept.shape, target, kept.facts, job.mesh, job.max_triangles)
    return described(target, "stl", triangles=triangles)


def _copied(source: Path, target: Path) -> bool:
    shutil.copyfile(source, target)
    return True


EXPORTS: Mapping[str, Export] = {"step": export_step, "brep": export_brep, "stl": export_stl}
