"""A geometry kernel in memory: it follows a script and writes small real files.

Never starts a process and never computes geometry.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.messages import BoundingBox, GeometryFacts, KernelVersion, Phase, Produced
from domain.ports import Built, Crashed, DeadlineExceeded, KernelJob, Listener, Outcome, Progress

FACTS = GeometryFacts(
    volume=1000.0,
    area=600.0,
    center_of_mass=(0.0, 0.0, 5.0),
    bounding_box=BoundingBox(min=(-5.0, -5.0, 0.0), max=(5.0, 5.0, 10.0)),
    solids=1,
    faces=6,
    edges=12,
    valid=True,
    watertight=True,
)
"""Of a cube of 10 mm, whatever was asked for."""


@dataclass(frozen=True)
class Script:
    """What one run does: its phases, then its files, then its end. `hangs`: it never ends by itself."""

    outcome: Outcome = field(default_factory=Built)
    phases: tuple[Phase, ...] = ("building", "checking", "exporting")
    produces: bool = True
    hangs: bool = False


class FakeKernel:
    """Implements `GeometryKernel`. `scripts` says what a part of that model does; any other is built."""

    def __init__(self, scripts: Mapping[str, Script] | None = None, version: str = "fake") -> None:
        self._scripts = dict(scripts or {})
        self.version = KernelVersion(engine="opencascade-brep", version=version)
        self.runs: list[KernelJob] = []
        """Every job that was run, in order."""
        self.running = 0
        """How many run now."""

    def script(self, model: str, script: Script) -> None:
        """From now on, parts of `model` follow `script`."""
        self._scripts[model] = script

    async def run(self, job: KernelJob, listen: Listener) -> Outcome:
        """See `GeometryKernel.run`."""
        self.runs.append(job)
        self.running += 1
        script = self._scripts.get(job.part.model, Script())
        try:
            async with asyncio.timeout(job.deadline_s):
                return await self._follow(script, job, listen)
        except TimeoutError:
            return DeadlineExceeded(script.phases[-1])
        finally:
            self.running -= 1

    async def _follow(self, script: Script, job: KernelJob, listen: Listener) -> Outcome:
        for phase in script.phases:
            await listen(Progress(phase, 0.5))
        if script.hangs:
            await asyncio.Event().wait()
        if script.produces:
            for output in job.outputs:
                await listen(produce(job, output))
        return script.outcome


def produce(job: KernelJob, output: str) -> Produced:
    """A small file in the job's folder, the same for the same part."""
    content = f"{output} of {job.part.model_dump_json()}\n".encode()
    name = f"{output}.part"
    (job.workdir / name).write_bytes(content)
    return Produced(
        output=output,
        file_name=name,
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        facts=FACTS if output == "shape" else None,
        triangles=12 if output == "stl" else None,
    )


CRASH = Script(Crashed("SIGSEGV", "meshing"), phases=("meshing",), produces=False)
"""It dies while it meshes."""

HANG = Script(phases=("building",), hangs=True)
"""It builds for ever."""
