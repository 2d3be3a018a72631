"""`python -m bench.cold`: from nothing running to the file of a part, by `partmill generate` in a fresh data folder.

Never counts the installation: the environment is there, and every module has been compiled by a first run.
"""

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.cpu import others_s
from bench.table import machine, print_table
from partmill.place import DEFAULT_SERVER
from partmill.probe import is_partmill

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "bored-cylinder.json"
DROP_CACHES = Path("/proc/sys/vm/drop_caches")

AIM_S = 5.0
LOOK_S = 0.002
TIMEOUT_S = 120.0
"""A bound against hanging; a cold disk under a busy machine took 25 s."""


@dataclass(frozen=True)
class Run:
    """One run of the command; seconds since its start."""

    file_s: float
    end_s: float
    others: float
    """How many processors other programs kept busy meanwhile: what spoils the figures."""


def main() -> None:
    """Measure, print, stop."""
    given = _arguments()
    if is_partmill(DEFAULT_SERVER):
        sys.exit(f"A partmill runs at {DEFAULT_SERVER}; `partmill generate` would use it. Stop it first.")
    print(machine(), end="\n\n")
    _run(cold_disk=False)  # compiles what has not been compiled yet; not counted
    rows = [_row("page cache warm", [_run(cold_disk=False) for _ in range(given.runs)])]
    if given.drop_caches and _may_drop_caches():
        rows.append(_row("page cache dropped", [_run(cold_disk=True) for _ in range(given.runs)]))
    head = (
        "file on disk",
        "median",
        "min",
        "max",
        "command ends",
        "processors others kept busy",
        f"goal < {AIM_S:g} s",
    )
    print_table(head, rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.cold", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5, help="of each case (5)")
    parser.add_argument("--drop-caches", action="store_true", help="also with nothing in the page cache; wants root")
    return parser.parse_args()


def _run(*, cold_disk: bool) -> Run:
    with tempfile.TemporaryDirectory(prefix="partmill-bench-") as folder:
        part = Path(folder) / "part.step"
        command = [str(Path(sysconfig.get_path("scripts")) / "partmill"), "generate", str(EXAMPLE), "-o", str(part)]
        environment = os.environ | {"PARTMILL_DATA_DIR": str(Path(folder) / "data")}
        with (Path(folder) / "output").open("w+b") as output:
            if cold_disk:
                os.sync()  # only clean pages can be dropped
                DROP_CACHES.write_text("3")
            return _timed(command, environment, part, output.fileno())


def _timed(command: list[str], environment: dict[str, str], part: Path, output: int) -> Run:
    start, spoilt = time.monotonic(), others_s()
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output) as running:
        try:
            while not part.exists() and running.poll() is None and time.monotonic() < start + TIMEOUT_S:
                time.sleep(LOOK_S)
            file_s = time.monotonic() - start
            running.wait(TIMEOUT_S)
        finally:
            running.terminate()  # it stops what it started; nothing happens if it has ended
    if running.returncode != 0 or not part.exists():
        sys.exit(f"partmill generate ended with {running.returncode}:\n{os.pread(output, 10_000, 0).decode()}")
    end_s = time.monotonic() - start
    return Run(file_s, end_s, (others_s() - spoilt) / end_s)


def _may_drop_caches() -> bool:
    if os.access(DROP_CACHES, os.W_OK):
        return True
    print("The page cache can be dropped by root only: that case is left out.\n")
    return False


def _row(name: str, runs: list[Run]) -> tuple[str, ...]:
    files = [run.file_s for run in runs]
    reached = "reached" if median(files) < AIM_S else "MISSED"
    times = (median(files), min(files), max(files), median(run.end_s for run in runs))
    others = ", ".join(f"{max(run.others, 0):.1f}" for run in runs)
    return (name, *(f"{seconds:.2f} s" for seconds in times), others, reached)


if __name__ == "__main__":
    main()
