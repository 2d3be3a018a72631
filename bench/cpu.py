"""How much processor time the parts of a service have used, read from /proc.

Never guesses: on a system without /proc it fails.
"""

import os
from collections.abc import Mapping
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def spent_s(parts: Mapping[str, int]) -> dict[str, float]:
    """Seconds by part, its descendants under `NAME's children`, ended ones included."""
    processes = dict(_processes())
    spent: dict[str, float] = {}
    for name, pid in parts.items():
        own, ended, _ = processes[pid]
        spent[name] = own
        spent[f"{name}'s children"] = ended + sum(_tree(pid, processes))
    return {name: seconds for name, seconds in spent.items() if seconds}


def others_s() -> float:
    """Seconds that all processors have spent on anything but this process and its descendants."""
    everything = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    idle = int(everything[3]) + int(everything[4])
    processes = dict(_processes())
    own, ended, _ = processes[os.getpid()]
    everybody = (sum(map(int, everything[:8])) - idle) / TICKS
    return everybody - own - ended - sum(_tree(os.getpid(), processes))


def _tree(root: int, processes: Mapping[int, tuple[float, float, int]]) -> list[float]:
    below = [pid for pid, (_, _, parent) in processes.items() if parent == root]
    return [sum(processes[pid][:2]) for pid in below] + [each for pid in below for each in _tree(pid, processes)]


def _processes() -> list[tuple[int, tuple[float, float, int]]]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # Behind the last ")": a command's name may hold anything.
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended while we looked
        own, ended = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
        found.append((int(entry.name), (own / TICKS, ended / TICKS, int(fields[1]))))
    return found
