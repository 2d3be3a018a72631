"""Many requests at once: one job for each identity, each job once (rule 4)."""

import asyncio
import uuid
from collections import Counter

import httpx
import pytest

from tests.chaos.scene import EXAMPLE, Scene
from tests.processes import RunningStack


async def identical_posts(urls: list[str], count: int, at_once: int) -> tuple[Counter[int], set[str]]:
    """`count` identical requests over several APIs, at most `at_once` outstanding; statuses and job IDs."""
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    gate = asyncio.Semaphore(at_once)
    statuses: Counter[int] = Counter()
    jobs: set[str] = set()
    limits = httpx.Limits(max_connections=at_once)
    async with httpx.AsyncClient(timeout=120, limits=limits) as http:

        async def post(url: str) -> None:
            async with gate:
                answer = await http.post(f"{url}/v1/models/generate", json=EXAMPLE, headers=headers)
            statuses[answer.status_code] += 1
            jobs.add(answer.json()["job_id"])

        await asyncio.gather(*(post(urls[number % len(urls)]) for number in range(count)))
    return statuses, jobs


async def with_second_api(stack: RunningStack) -> list[str]:
    """URLs of the stack's API and of one more."""
    first = stack.url
    await stack.start_api()
    return [first, stack.url]


async def test_a_thousand_identical_posts_over_two_apis_create_one_job_and_one_kernel_run(scene: Scene) -> None:
    await scene.worker()
    urls = await with_second_api(scene.stack)
    statuses, jobs = await identical_posts(urls, count=1000, at_once=100)
    assert statuses == {202: 1, 200: 999}
    assert len(jobs) == 1
    scene.job_id = jobs.pop()
    await scene.assert_completed(kernel_runs=1)


@pytest.mark.slow
async def test_five_hundred_different_jobs_all_complete_and_none_twice(scene: Scene) -> None:
    await scene.worker()
    jobs = []
    for number in range(500):
        request = {**EXAMPLE, "parameters": {**EXAMPLE["parameters"], "length": 300 + number / 1000}}
        answer = await scene.http.post("/v1/models/generate", json=request)
        assert answer.status_code == 202
        jobs.append(answer.json()["job_id"])
    for job_id in jobs:
        scene.job_id = job_id
        await scene.assert_completed(kernel_runs=1)
