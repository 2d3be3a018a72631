"""The shape that a job's files are made from: built, or read where an earlier placement kept it.

Never hands on a shape as the builder left it: what is inspected and exported is what the kept file holds, so that a
resumed job gives the same bytes as one that was never interrupted.
"""

from dataclasses import dataclass
from pathlib import Path

from OCP.TopoDS import TopoDS_Shape

from domain.messages import GeometryFacts
from domain.ports import KernelJob, Progress
from kernel.brep_file import read_brep, write_brep
from kernel.exports import write_checked
from kernel.families import BUILDERS
from kernel.inspection import inspect
from kernel.news import Announce
from kernel.verdicts import insist

SHAPE_FILE = "shape.brep"


@dataclass(frozen=True)
class KeptShape:
    """An inspected shape and the file it was read from."""

    path: Path
    shape: TopoDS_Shape
    facts: GeometryFacts


def kept_shape(job: KernelJob, announce: Announce) -> KeptShape:
    """Build the shape unless the job names one, and inspect it as read from its file. Raises Refusal."""
    path = job.workdir / (job.shape_file or SHAPE_FILE)
    if job.shape_file is not None:
        return _inspected(path, job, announce)
    announce(Progress("building", 0.0))
    shape = BUILDERS[job.part.model](job.part.parameters)
    insist(not shape.IsNull(), "shape", "a shape", "none")
    announce(Progress("building", 0.9))
    found: list[KeptShape] = []
    write_checked(
        path, "brep", lambda file: write_brep(shape, file), lambda file: found.append(_inspected(file, job, announce))
    )
    return KeptShape(path, found[0].shape, found[0].facts)


def _inspected(path: Path, job: KernelJob, announce: Announce) -> KeptShape:
    announce(Progress("checking", 0.0))
    shape = read_brep(path)
    facts = inspect(shape, job.part)
    announce(Progress("checking", 1.0))
    return KeptShape(path, shape, facts)
