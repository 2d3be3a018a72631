"""One client for both services: create a job, poll it, fetch its file; alone, or many at a time.

Never treats the services differently: they differ in two paths and in where the file's URL stands. It asks both to wait
with their answer (`Prefer: wait`, RFC 7240), as any client may; a service that does not is asked again after a pause.
"""

import asyncio
import json
import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import aiohttp

from bench.stack import Service

EXAMPLE = json.loads((Path(__file__).parent.parent / "examples" / "bored-cylinder.json").read_text())

POLL_S = 0.005
"""Of a client that waits for one part: finer than anything measured, at 1-2 ms of work for each look."""

WAIT = {"Prefer": "wait=20"}

PATIENT_POLL_S = 1.0
"""Of each of many clients: what partmill's Retry-After asks for. Spread by a quarter, so that they do not march in
step."""

JOB_TIMEOUT_S = 300.0
"""A bound against hanging: the last of 60 heavy jobs in line was seen to wait more than 60 s."""

KEEP_ALIVE_S = 2.0
"""uvicorn closes a connection after 5 s of silence; a POST sent at that moment would be lost."""

CREATE = {"partmill": "/v1/models/generate", "Celery": "/generate"}


def orders(holes: int) -> Iterator[bytes]:
    """The example part again and again, each a micrometre longer: no two are the same job. With another number of
    holes than its own, they are as wide as leaves two fifths of the pitch circle between them."""
    parameters = EXAMPLE["parameters"]
    pattern = parameters["hole_pattern"]
    room = math.pi * pattern["pitch_diameter"] / holes
    pattern = pattern | {"count": holes, "hole_diameter": min(pattern["hole_diameter"], round(0.6 * room, 2))}
    for number in count(1):
        longer = {"length": parameters["length"] + number / 1000, "hole_pattern": pattern}
        yield json.dumps(EXAMPLE | {"parameters": parameters | longer}).encode()


@dataclass(frozen=True)
class Made:
    """One job, from its POST to its bytes; seconds."""

    job_id: str
    posted_s: float
    total_s: float
    polls: int
    clock: tuple[float, float, float]
    """Time of day when the POST left, when "completed" was seen, and when the bytes were there."""


@dataclass
class Client:
    """Talks to one service; `async with`."""

    service: Service
    orders: Iterator[bytes]

    async def __aenter__(self) -> "Client":
        # aiohttp and not httpx, which took 4 ms of processor time for each request: as much as either service.
        timeout = aiohttp.ClientTimeout(total=JOB_TIMEOUT_S)
        self._http = aiohttp.ClientSession(
            self.service.url, timeout=timeout, connector=aiohttp.TCPConnector(keepalive_timeout=KEEP_ALIVE_S)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()

    async def make(self, poll_s: float = POLL_S, spread: float = 0) -> Made:
        """Make the next part.

        Raises:
            RuntimeError: it did not come.
        """
        body = next(self.orders)
        start, started_at = time.perf_counter(), time.time()
        created, location = await self._create(body)
        posted_s = time.perf_counter() - start
        job, polls = await self._completed(location, start + JOB_TIMEOUT_S, poll_s, spread)
        completed_at = time.time()
        await self._fetch(job)
        total_s = time.perf_counter() - start
        return Made(created["job_id"], posted_s, total_s, polls, (started_at, completed_at, time.time()))

    async def _create(self, body: bytes) -> tuple[dict[str, Any], str]:
        headers = {"Content-Type": "application/json"}
        async with self._http.post(CREATE[self.service.name], data=body, headers=headers) as answer:
            if answer.status != 202:
                raise RuntimeError(f"{self.service.name}: {answer.status} {await answer.text()}")
            created: dict[str, Any] = await answer.json()
            return created, answer.headers["Location"]

    async def _completed(
        self, location: str, give_up_at: float, poll_s: float, spread: float
    ) -> tuple[dict[str, Any], int]:
        polls = 0
        has_waited = False
        while time.perf_counter() < give_up_at:
            if not has_waited:
                await asyncio.sleep(poll_s * random.uniform(1 - spread, 1 + spread))
            async with self._http.get(location, headers=WAIT, raise_for_status=True) as answer:
                job: dict[str, Any] = await answer.json()
                has_waited = "Preference-Applied" in answer.headers
            polls += 1
            if job["status"] == "completed":
                return job, polls
            if job["status"] == "failed":
                break
        raise RuntimeError(f"{self.service.name}: {location} was not completed: {job}")

    async def _fetch(self, job: dict[str, Any]) -> None:
        url = urljoin(self.service.url, job.get("result", job)["download_url"])
        async with self._http.get(url, raise_for_status=True) as answer:
            content = await answer.read()
        if not content.startswith(b"ISO-10303-21") or not content.rstrip().endswith(b"END-ISO-10303-21;"):
            raise RuntimeError(f"{self.service.name}: no STEP file at {url}")


async def one_by_one(client: Client, jobs: int) -> list[Made]:
    """The next parts, each waited for before the next is asked for."""
    return [await client.make() for _ in range(jobs)]


@dataclass(frozen=True)
class Flood:
    """What came of keeping many jobs outstanding."""

    per_second: float
    """While their number stood: from when the first few had been made to when the last one was created."""
    made: int
    seconds: float


async def many_at_once(client: Client, jobs: int, outstanding: int, limit_s: float) -> Flood:
    """Keep `outstanding` jobs under way until `jobs` have been created or `limit_s` seconds have passed."""
    start = time.perf_counter()
    left = count(jobs, -1)
    ends: list[float] = []
    last_created = start

    async def slot() -> None:
        nonlocal last_created
        while next(left) > 0 and time.perf_counter() - start < limit_s:
            last_created = time.perf_counter()
            await client.make(PATIENT_POLL_S, spread=0.25)
            ends.append(time.perf_counter())

    await asyncio.gather(*(slot() for _ in range(outstanding)))
    full = [end for end in sorted(ends) if end <= last_created][min(outstanding, jobs // 4) - 1 :]
    if len(full) < 2:  # a smoke run is over before it is steady
        full = [start, *sorted(ends)]
    return Flood((len(full) - 1) / (full[-1] - full[0]), len(ends), time.perf_counter() - start)
