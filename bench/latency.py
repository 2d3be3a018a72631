"""`python -m bench.latency`: partmill beside FastAPI + Celery + Redis, from the POST to the bytes, on this machine.

Never sends anything beyond loopback; stops by itself and ends what it started.
"""

import argparse
import asyncio
import importlib.util
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from statistics import median

from bench.client import Made
from bench.measuring import Plan, Seen, measure
from bench.split import Steps, split
from bench.stack import Service, partmill, scratch_folder, usual_way
from bench.table import Goal, machine, percentile, print_table
from partmill.interrupts import interruptible

OURS, THEIRS = "partmill", "Celery"
STARTS = {OURS: partmill, THEIRS: usual_way}

END_TO_END = Goal(aim=0.7, least=1.0)
THROUGHPUT = Goal(aim=3, least=1.5)
NO_GOAL = ""

AGAIN = "PARTMILL_BENCH_AGAIN"


def main() -> None:
    """Measure, print, stop."""
    given = _arguments()
    if THEIRS in given.only and importlib.util.find_spec("celery") is None:
        _come_back_with_celery()
    print(machine(), end="\n\n")
    with interruptible(), ExitStack() as running:
        folder = running.enter_context(scratch_folder())
        services = [running.enter_context(STARTS[name](folder / name)) for name in given.only]
        seen = asyncio.run(measure(services, _plan(given)))
        steps = [asyncio.run(_split(service, seen)) for service in services if service.temporal_address]
    _print_comparison(seen, judged=not given.smoke)
    _print_rounds(seen)
    _print_cpu(seen)
    for each in steps:
        print_table(("where partmill's time goes", "median ms"), [(name, f"{ms:.1f}") for name, ms in each])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.latency", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=40, help="one by one, for each service and round (40)")
    parser.add_argument("--rounds", type=int, default=3, help="in which each service is measured once (3)")
    parser.add_argument("--flood", type=int, default=240, help="with 60 outstanding, for each service and round (240)")
    parser.add_argument("--flood-limit", type=float, default=60, help="seconds after which a flood ends anyway (60)")
    parser.add_argument("--holes", type=int, default=6, help="in the part: 6 is the example; more are heavier (6)")
    parser.add_argument("--only", choices=tuple(STARTS), action="append", help="measure this service alone")
    parser.add_argument("--smoke", action="store_true", help="a handful of jobs and no judgement: it all runs")
    given = parser.parse_args()
    given.only = given.only or list(STARTS)
    return given


def _plan(given: argparse.Namespace) -> Plan:
    if given.smoke:
        return Plan(1, jobs=3, flood=6, flood_limit_s=30, holes=given.holes, outstanding=3, warm_up=2)
    return Plan(given.rounds, given.jobs, given.flood, given.flood_limit, given.holes)


def _come_back_with_celery() -> None:
    """`uv run` by itself leaves the benchmarks' packages out: run again with them."""
    if AGAIN in os.environ:
        sys.exit("Celery can't be imported; try: uv sync --group bench")
    os.environ[AGAIN] = "1"
    os.execvp("uv", ["uv", "run", "--group", "bench", "python", "-m", "bench.latency", *sys.argv[1:]])


async def _split(service: Service, seen: dict[str, Seen]) -> Steps:
    return await split(service.temporal_address or "", seen[service.name].made)


def _print_comparison(seen: dict[str, Seen], *, judged: bool) -> None:
    def spans(name: str, look: Callable[[Made], float], goal: Goal | None) -> list[tuple[str, ...]]:
        values = {who: [1000 * look(made) for made in what.made] for who, what in seen.items()}
        return [
            row(f"{name}, p{percent}", {who: percentile(each, percent) for who, each in values.items()}, "ms", goal)
            for percent in (50, 95)
        ]

    def row(name: str, values: dict[str, float], unit: str, goal: Goal | None) -> tuple[str, ...]:
        ratio = values[OURS] / values[THEIRS] if len(values) == 2 else None
        said = goal.verdict(ratio) if goal and ratio and judged else NO_GOAL
        return (name, *(f"{value:.1f} {unit}" for value in values.values()), f"{ratio:.2f}" if ratio else "", said)

    rates = {who: median(flood.per_second for flood in what.floods) for who, what in seen.items()}
    print_table(
        ("", *seen, "ratio", ""),
        [
            *spans("POST → completed → bytes", lambda made: made.total_s, END_TO_END),
            *spans("POST alone", lambda made: made.posted_s, None),
            row("throughput, 60 outstanding" if judged else "throughput", rates, "/s", THROUGHPUT),
        ],
    )


def _print_rounds(seen: dict[str, Seen]) -> None:
    print_table(
        ("in each round", "end to end, p50 in ms", "jobs/s", "jobs flooded", "processors others kept busy"),
        [
            (
                name,
                ", ".join(f"{1000 * percentile([made.total_s for made in each], 50):.0f}" for each in what.rounds),
                ", ".join(f"{flood.per_second:.1f}" for flood in what.floods),
                ", ".join(str(flood.made) for flood in what.floods),
                ", ".join(f"{max(busy, 0):.1f}" for busy in what.others),
            )
            for name, what in seen.items()
        ],
    )


def _print_cpu(seen: dict[str, Seen]) -> None:
    rows = []
    for name, what in seen.items():
        parts = {part: median(each.get(part, 0) for each in what.cpu_ms) for part in what.cpu_ms[-1]}
        rows += [(f"{name}: {part}", f"{ms:.1f}") for part, ms in parts.items()]
        rows.append((f"{name}: all", f"{sum(parts.values()):.1f}"))
    print_table(("processor time in a flood", "ms/job"), rows)


if __name__ == "__main__":
    main()
