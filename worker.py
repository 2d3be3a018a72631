"""The composition root of a worker: `python -m worker --role all|workflows|kernel`.

Never imported by anything: what it wires together knows nothing of it.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.kernel_activities import KernelActivities
from activities.publish_activities import PublishActivities
from adapters.execution_reader import ExecutionReader
from adapters.kernel_process import ForkedKernel
from adapters.local_store import LocalArtifactStore
from adapters.scratch import own_scratch
from adapters.settings import Settings, SettingsError, load_settings
from adapters.temporal_connection import reach
from domain.defaults import Limits
from workflows.generation import GeneratePart
from workflows.policies import KERNEL_QUEUE, WORKFLOW_QUEUE

log = logging.getLogger("partmill.worker")

PLACEMENT_TIME_S = 2.0
"""How long the workflow worker stays for the new placements of evicted jobs; one takes about 50 ms."""

EXIT_TIME_S = 1.0
"""What is kept of the grace for the process's own end."""

POLL_S = 0.05
"""As often as a new placement takes."""


def main() -> None:
    """Run one worker until SIGTERM or SIGINT."""
    arguments = _arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        settings = load_settings(os.environ)
    except SettingsError as error:
        sys.exit(f"partmill worker: {error}")
    asyncio.run(_serve_and_leave(settings, arguments.role))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="worker", description="Runs jobs: their workflows, their kernels, or both.")
    parser.add_argument("--role", choices=("all", "workflows", "kernel"), default="all")
    return parser.parse_args()


async def _serve_and_leave(settings: Settings, role: str) -> None:
    await _serve(settings, role)
    logging.shutdown()
    # The SDK's core aborts about one interpreter exit in twenty while its threads are torn down (sdk-python 300), and
    # a copy to a slow store may still be under way: everything of ours is flushed and reported, so leave without that.
    os._exit(0)


async def _serve(settings: Settings, role: str) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    store = LocalArtifactStore(settings.store_dir)
    async with AsyncExitStack() as stack:
        kernel = await _warm_kernel(settings, stack) if role != "workflows" else None
        client = await _reached(stop)
        if client is None:
            return
        workflows = _workflow_worker(client, settings, store) if role != "kernel" else None
        activities = _kernel_activities(settings, store, kernel) if kernel else None
        kernels = _kernel_worker(client, settings.limits, activities) if activities else None
        await _run(workflows, kernels, stop, lambda: _placed_anew(client, activities))


def _kernel_activities(settings: Settings, store: LocalArtifactStore, kernel: ForkedKernel) -> KernelActivities:
    scratch = own_scratch(settings.scratch_dir)
    return KernelActivities(kernel, store, scratch, settings.limits, lambda: datetime.now(UTC))


async def _warm_kernel(settings: Settings, stack: AsyncExitStack) -> ForkedKernel:
    """The kernel's forkserver warms up while the connection to Temporal is made."""
    kernel = ForkedKernel(settings.limits, settings.kernel_program)
    await kernel.start()
    stack.push_async_callback(kernel.close)
    return kernel


async def _reached(stop: asyncio.Event) -> Client | None:
    """Wait for Temporal, but not past an order to stop."""
    reaching = asyncio.ensure_future(reach())
    stopping = asyncio.ensure_future(stop.wait())
    either: set[asyncio.Future[Any]] = {reaching, stopping}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if reaching.done():
        return reaching.result()
    reaching.cancel()
    return None


def _workflow_worker(client: Client, settings: Settings, store: LocalArtifactStore) -> Worker:
    publishing = PublishActivities(store)
    return Worker(
        client,
        task_queue=WORKFLOW_QUEUE,
        workflows=[GeneratePart],
        activities=[publishing.publish_artifacts, publishing.withdraw_artifacts],
        # Every test worker runs the same workflows in the sandbox; here it would import them anew for each job.
        workflow_runner=UnsandboxedWorkflowRunner(),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=settings.limits.sticky_timeout_s),
        graceful_shutdown_timeout=timedelta(seconds=EXIT_TIME_S),
    )


def _kernel_worker(client: Client, limits: Limits, activities: KernelActivities) -> Worker:
    return Worker(
        client,
        task_queue=KERNEL_QUEUE,
        activities=[activities.build_geometry, activities.mesh_geometry],
        max_concurrent_activities=limits.kernels_per_worker or os.cpu_count() or 1,
        max_heartbeat_throttle_interval=timedelta(seconds=limits.heartbeat_throttle_s),
        default_heartbeat_throttle_interval=timedelta(seconds=limits.heartbeat_throttle_s),
        graceful_shutdown_timeout=timedelta(seconds=limits.grace_s - PLACEMENT_TIME_S - EXIT_TIME_S),
    )


async def _run(
    workflows: Worker | None,
    kernels: Worker | None,
    stop: asyncio.Event,
    placed_anew: Callable[[], Awaitable[None]],
) -> None:
    """Poll until told to stop; then the kernel worker goes first, so that the other can place its evicted work anew."""
    running = [worker for worker in (workflows, kernels) if worker is not None]
    tasks = [asyncio.create_task(worker.run()) for worker in running]
    log.info("ready: %s", ", ".join(worker.task_queue for worker in running))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    log.info("stopping")
    if kernels is not None:
        await kernels.shutdown()
    if workflows is not None:
        await placed_anew()
        # Bounded: what a workflow worker leaves undone (a copy to a slow store), the server gives to the next one.
        await asyncio.wait({asyncio.create_task(workflows.shutdown())}, timeout=2 * EXIT_TIME_S)
    ended = [task for task in tasks if task.done()]
    await asyncio.gather(*ended)


async def _placed_anew(client: Client, activities: KernelActivities | None) -> None:
    """Wait until every job that this worker gave up has its next placement; bounded, since any worker can do it."""
    reader = ExecutionReader(client)
    give_up_at = asyncio.get_running_loop().time() + PLACEMENT_TIME_S
    for job_id in activities.evicted if activities else ():
        while asyncio.get_running_loop().time() < give_up_at:
            try:
                if await reader.is_placed(job_id):
                    break
            except RPCError as error:
                log.warning("can't see whether %s was placed anew: %s", job_id, error.status)
            await asyncio.sleep(POLL_S)


if __name__ == "__main__":
    main()
