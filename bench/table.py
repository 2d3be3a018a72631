"""How figures are printed: Markdown tables, a line about the machine, goals and whether they were reached.

Never rounds a miss into a hit.
"""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Goal:
    """A ratio to the usual way: the one aimed at, and the least that will do."""

    aim: float
    least: float

    def verdict(self, ratio: float) -> str:
        """In words."""
        better_is_smaller = self.aim < self.least
        sign = "≤" if better_is_smaller else "≥"

        def reached(bound: float) -> bool:
            return ratio <= bound if better_is_smaller else ratio >= bound

        if reached(self.aim):
            return f"goal {sign} {self.aim:g} reached"
        if reached(self.least):
            return f"goal {sign} {self.aim:g} missed, the least ({sign} {self.least:g}) reached"
        return f"MISSED: goal {sign} {self.aim:g}, least {sign} {self.least:g}"


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """As Markdown, its columns aligned."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    for row in (head, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
    print()


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that `percent` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100).__trunc__() - 1)]


def machine() -> str:
    """What the figures were measured on."""
    cores = len(os.sched_getaffinity(0))
    system = f"{platform.system()}, Python {platform.python_version()}"
    return f"{cores} cores ({_processor()}), {system}; load before the start {os.getloadavg()[0]:.1f}"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
