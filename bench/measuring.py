"""The order of a comparison: warm up, then in each round every service in its turn: one by one, then flooded.

Never has two services work at the same time.
"""

import asyncio
import os
import sys
import time
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from bench.client import Client, Flood, Made, many_at_once, one_by_one, orders
from bench.cpu import others_s, spent_s
from bench.stack import Service


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    rounds: int
    jobs: int
    flood: int
    flood_limit_s: float
    """No more jobs are created after this; those under way are waited for."""
    holes: int
    """In each part."""
    outstanding: int = 60
    warm_up: int = 12
    """Enough for every process of both services to have worked several times."""


@dataclass
class Seen:
    """What one service did, over all rounds."""

    rounds: list[list[Made]] = field(default_factory=list)
    floods: list[Flood] = field(default_factory=list)
    cpu_ms: list[dict[str, float]] = field(default_factory=list)
    """By part, for each job of a flood."""
    others: list[float] = field(default_factory=list)
    """How many processors other programs kept busy, in each round: what spoils the figures."""

    @property
    def made(self) -> list[Made]:
        """All jobs that were made one by one."""
        return [made for each in self.rounds for made in each]


async def measure(services: Iterable[Service], plan: Plan) -> dict[str, Seen]:
    """What each service did, by its name."""
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(service, orders(plan.holes))) for service in services]
        seen = {client.service.name: Seen() for client in clients}
        for client in clients:
            await asyncio.gather(*(one_by_one(client, plan.warm_up // 2) for _ in range(2)))
        for number in range(1, plan.rounds + 1):
            print(f"Round {number} of {plan.rounds} …", file=sys.stderr)
            for client in clients:
                await _round(client, plan, seen[client.service.name])
    return seen


async def _round(client: Client, plan: Plan, seen: Seen) -> None:
    start, spoilt = time.monotonic(), others_s()
    seen.rounds.append(await one_by_one(client, plan.jobs))
    await _flood(client, plan, seen)
    seen.others.append((others_s() - spoilt) / (time.monotonic() - start))


async def _flood(client: Client, plan: Plan, seen: Seen) -> None:
    parts = client.service.parts | {"client": os.getpid()}
    before = spent_s(parts)
    flood = await many_at_once(client, plan.flood, plan.outstanding, plan.flood_limit_s)
    spent = spent_s(parts)
    # The client's children are the services themselves.
    seen.cpu_ms.append(
        {name: 1000 * (spent[name] - before.get(name, 0)) / flood.made for name in spent if name != "client's children"}
    )
    seen.floods.append(flood)
