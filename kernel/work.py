"""One kernel job from its order to its files; importing this module loads all of the kernel that a job needs.

Never runs the kernel when imported: a process that has run it must not be forked.
"""

from OCP.Standard import Standard_OutOfMemory

from domain.messages import MESH_FORMATS, Phase, Produced
from domain.ports import KernelJob, Progress
from domain.problems import GeometryVerificationFailed, Refusal
from kernel.console import quieten
from kernel.exports import described
from kernel.formats import EXPORTS
from kernel.kept_shape import KeptShape, kept_shape
from kernel.news import Announce
from kernel.rehearsal import rehearse as rehearse


def perform(job: KernelJob, announce: Announce) -> None:
    """Produce the job's outputs in order, announcing each when its file is finished and checked.

    Raises Refusal where a check fails or the kernel gives up; the outputs announced until then are sound.
    Raises MemoryError where the kernel finds no more memory.
    """
    quieten()
    try:
        _perform(job, announce)
    except Standard_OutOfMemory:
        raise MemoryError from None
    except Exception as error:
        if not _is_from_the_kernel(error):
            raise
        raise Refusal(GeometryVerificationFailed("kernel", "a finished step", "a failure of the kernel")) from error


def _is_from_the_kernel(error: Exception) -> bool:
    """The kernel's exceptions have no common base in Python, only a common package."""
    return type(error).__module__.split(".")[0] == "OCP"


def _perform(job: KernelJob, announce: Announce) -> None:
    kept = kept_shape(job, announce)
    for index, output in enumerate(job.outputs):
        phase: Phase = "meshing" if output in MESH_FORMATS else "exporting"
        announce(Progress(phase, index / len(job.outputs)))
        announce(_produced(output, kept, job))
        announce(Progress(phase, (index + 1) / len(job.outputs)))


def _produced(output: str, kept: KeptShape, job: KernelJob) -> Produced:
    if output == "shape":
        return described(kept.path, "shape", facts=kept.facts)
    return EXPORTS[output](kept, job)
