"""A program that makes the example part in a process of its own and prints each output's SHA-256 as JSON.

`python -m tests.kernel.example_job FOLDER fresh|after-other-work|rehearsed|resumed`; never leaves OCCT in a process
that forks.
"""

import json
import sys
from pathlib import Path

from kernel.work import perform, rehearse
from tests.kernel.parts import EXAMPLE, HeardNews, job_of

FORMATS = ("step", "brep", "stl")


def run(folder: Path, *outputs: str, shape_file: str | None = None) -> dict[str, str]:
    """SHA-256 by output."""
    heard = HeardNews()
    perform(job_of(folder, *outputs, shape_file=shape_file), heard)
    return {produced.output: produced.sha256 for produced in heard.produced}


def other_work(folder: Path) -> None:
    """Another part in every format: moves the kernel's counters and warms its caches."""
    folder.mkdir()
    perform(job_of(folder, "stl", "step", parameters={**EXAMPLE, "length": 80.0}), HeardNews())


def main(folder: Path, way: str) -> dict[str, str]:
    """The hashes of `shape` and all formats, made in one of four ways."""
    if way == "after-other-work":
        other_work(folder / "other")
    if way == "rehearsed":
        rehearse(lambda: False)
    if way == "resumed":
        shape = run(folder, "shape")
        return shape | run(folder, *reversed(FORMATS), shape_file="shape.brep")
    return run(folder, "shape", *FORMATS)


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
