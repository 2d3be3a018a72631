"""What a kernel process does with idle time before its job: the example part, so that code and tables are in place.

Never touches a file system, and never goes on when a job has come: it makes a job's first calls cheaper, nothing else.
A new process has none of the kernel's pages mapped and none of its STEP tables made: some 20 ms of a small job.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from domain.catalogue import DEFAULT_MODEL, MODELS
from domain.messages import Part
from kernel.brep_file import read_brep, write_brep
from kernel.console import quieten
from kernel.families import BUILDERS
from kernel.inspection import inspect
from kernel.step_file import read_step, write_step


def rehearse(wanted: Callable[[], bool]) -> None:
    """Go through a job's steps until they are done or `wanted()`; each takes 5-20 ms."""
    if not hasattr(os, "memfd_create"):
        return
    quieten()
    for _ in _steps():
        if wanted():
            return


def _steps() -> Iterator[None]:
    model = MODELS[DEFAULT_MODEL]
    part = Part(
        model=model.name, model_version=model.version, engine=next(iter(model.engines)), parameters=dict(model.example)
    )
    built = BUILDERS[model.name](part.parameters)
    yield
    brep, step = (os.memfd_create(name) for name in ("brep", "step"))
    write_brep(built, _path(brep))
    shape = read_brep(_path(brep))
    yield
    inspect(shape, part)
    yield
    write_step(shape, _path(step), model.name)
    yield
    read_step(_path(step))
    os.close(brep)
    os.close(step)


def _path(descriptor: int) -> Path:
    """A file in memory, by a name that the kernel's writers and readers can open."""
    return Path(f"/proc/self/fd/{descriptor}")
