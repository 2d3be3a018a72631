"""`python -m bench.kernel`: building, checking and exporting a part, beside the CadQuery chain that most people write.

Never starts a service: both run in this process, in turn, on the same parts.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from cadquery import exporters
from OCP.TopoDS import TopoDS_Shape

from bench.celery_service.part import bored_cylinder, write_step
from bench.table import Goal, machine, print_table
from domain.bored_cylinder import BORED_CYLINDER
from domain.messages import GeometryFacts, MeshQuality, Part
from domain.ports import KernelJob
from kernel.brep_file import read_brep, write_brep
from kernel.console import quieten
from kernel.families import BUILDERS
from kernel.formats import EXPORTS
from kernel.inspection import inspect
from kernel.kept_shape import KeptShape
from kernel.validity import free_edges, is_valid, shells_are_closed

Act: TypeAlias = Callable[[], Any]
Pair: TypeAlias = tuple[float, float]

HOLES_MM = {6: 10.0, 50: 3.0, 200: 0.8}
"""Diameter by count: as many as fit the example's pitch circle."""

BUILD_GOALS = {6: Goal(8, 8), 50: Goal(12, 12), 200: Goal(12, 12)}
"""How many times faster than CadQuery."""

GROWTH_GOAL = Goal(aim=6, least=8)
"""Of the validity check from 50 to 200 holes: four times the holes; their square would be 16."""

ROUNDS, SMOKE_ROUNDS = 7, 1
FORMATS = ("step", "brep", "stl")


@dataclass(frozen=True)
class Rival:
    """What is measured, by step, for one number of holes."""

    ours: Mapping[str, Act]
    theirs: Mapping[str, Act]


def main() -> None:
    """Measure, print, stop."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernel", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="one small round: it all runs")
    smoke = parser.parse_args().smoke
    print(machine(), end="\n\n")
    quieten()
    counts = (6,) if smoke else tuple(HOLES_MM)
    with tempfile.TemporaryDirectory(prefix="partmill-bench-") as folder:
        seen = {holes: _measured(holes, Path(folder), SMOKE_ROUNDS if smoke else ROUNDS) for holes in counts}
    _print(seen, judged=not smoke)


def _measured(holes: int, folder: Path, rounds: int) -> dict[str, Pair]:
    """Median milliseconds by step: ours, theirs."""
    rival = _rival(holes, folder)
    return {step: _in_turn(rival.ours[step], rival.theirs[step], rounds) for step in rival.ours}


def _in_turn(ours: Act, theirs: Act, rounds: int) -> Pair:
    """One after the other, so that whatever else the machine does hits both."""
    ours(), theirs()
    times = [(_milliseconds(ours), _milliseconds(theirs)) for _ in range(rounds)]
    return median(pair[0] for pair in times), median(pair[1] for pair in times)


def _milliseconds(act: Act) -> float:
    """Of the processor: both sides compute in one thread, and other load would stretch the longer of them more."""
    begun = time.process_time()
    act()
    return (time.process_time() - begun) * 1e3


def _rival(holes: int, folder: Path) -> Rival:
    pattern = {"count": holes, "pitch_diameter": 80.0, "hole_diameter": HOLES_MM[holes]}
    parameters = {**BORED_CYLINDER.example, "hole_pattern": pattern}
    return Rival(_ours(parameters, folder), _theirs(parameters, folder))


def _ours(parameters: dict[str, Any], folder: Path) -> dict[str, Act]:
    """Every export is written, read back, checked and hashed."""
    part = Part(
        model=BORED_CYLINDER.name,
        model_version=BORED_CYLINDER.version,
        engine="opencascade-brep",
        parameters=BORED_CYLINDER.parameters.model_validate(parameters).model_dump(mode="json"),
    )
    kept = _kept(BUILDERS[part.model](part.parameters), part, folder / "shape.brep")
    job = KernelJob(part, FORMATS, None, MeshQuality(), folder, deadline_s=0)
    return {
        "build": lambda: BUILDERS[part.model](part.parameters),
        "validity": lambda: (shells_are_closed(kept.shape), free_edges(kept.shape), is_valid(kept.shape)),
        "all checks": lambda: inspect(kept.shape, part),
        **{f"export {name}": lambda name=name: EXPORTS[name](kept, job) for name in FORMATS},  # type: ignore[misc]
    }


def _kept(shape: TopoDS_Shape, part: Part, path: Path) -> KeptShape:
    write_brep(shape, path)
    kept = read_brep(path)
    facts: GeometryFacts = inspect(kept, part)
    return KeptShape(path, kept, facts)


def _theirs(parameters: dict[str, Any], folder: Path) -> dict[str, Act]:
    """As most people write it: `isValid()`, the default quadrature, and exports that nobody reads back."""
    part = bored_cylinder(parameters)
    stl = {"tolerance": 0.1, "angularTolerance": 0.5}
    return {
        "build": lambda: bored_cylinder(parameters),
        "validity": lambda: part.val().isValid(),
        "all checks": lambda: (part.val().isValid(), part.val().Volume(), part.val().BoundingBox()),
        "export step": lambda: write_step(part, folder / "theirs.step"),
        "export brep": lambda: exporters.export(part, str(folder / "theirs.brep")),
        "export stl": lambda: _their_stl(part, str(folder / "theirs.stl"), stl),
    }


def _their_stl(part: Any, path: str, quality: dict[str, float]) -> None:
    """Of a copy: CadQuery keeps the mesh in the shape, and a second export would cost nothing."""
    exporters.export(part.newObject([part.val().copy()]), path, exporters.ExportTypes.STL, **quality)


def _print(seen: dict[int, dict[str, Pair]], judged: bool) -> None:
    rows = [
        (str(holes), step, f"{ours:.1f}", f"{theirs:.1f}", f"{theirs / ours:.1f}", _verdict(holes, step, theirs / ours))
        for holes, steps in seen.items()
        for step, (ours, theirs) in steps.items()
    ]
    head = ("holes", "step", "partmill CPU ms", "CadQuery CPU ms", "times faster", "goal")
    print_table(head, rows if judged else [(*row[:-1], "") for row in rows])
    print("CPU time: on an idle machine the same as the time that passes, as both compute in one thread.")
    print("partmill's exports are written, read back, checked and hashed; CadQuery's are written.")
    if judged:
        ours, theirs = (seen[200]["validity"][side] / seen[50]["validity"][side] for side in (0, 1))
        print(f"From 50 to 200 holes the validity check grows {ours:.1f} times: {GROWTH_GOAL.verdict(ours)}", end="")
        print(f" (CadQuery's {theirs:.1f} times).")


def _verdict(holes: int, step: str, ratio: float) -> str:
    return BUILD_GOALS[holes].verdict(ratio) if step == "build" else ""


if __name__ == "__main__":
    main()
