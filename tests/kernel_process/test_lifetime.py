"""No kernel process outlives its job, its forkserver or its worker, and none leaves anything behind."""

import asyncio
import contextlib
import os
import resource
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.kernel_process import ForkedKernel
from domain.ports import Built, Crashed, DeadlineExceeded, KernelNews, Outcome, OutOfMemory, Progress
from tests.kernel_process.conftest import LIMITS
from tests.kernel_process.jobs import (
    SABOTEUR,
    Heard,
    children,
    exists,
    job_for,
    lives,
    open_files,
    outcome_of,
    settles,
    working_in,
)
from tests.processes import Process

JOBS = 200
"""Enough that one descriptor or zombie lost in twenty jobs shows."""


@contextlib.asynccontextmanager
async def hanging(
    kernel: ForkedKernel, scratch: Path, act: str = "hang"
) -> AsyncIterator[tuple[asyncio.Task[Outcome], int]]:
    """A run that hangs, and the process it hangs in; in the end it is cancelled."""
    run = asyncio.create_task(outcome_of(kernel, act, scratch))
    await exists(scratch / "hanging")
    (pid,) = working_in(scratch, children(server_of(kernel)))
    yield run, pid
    run.cancel()
    await asyncio.wait({run})


def server_of(kernel: ForkedKernel) -> int:
    """The forkserver's PID."""
    assert kernel.server_pid is not None
    return kernel.server_pid


def group_lives(pid: int) -> bool:
    """Whether anybody is left in the process group."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("act", ["hang", "hang_in_c"])
async def test_a_cancelled_run_returns_when_its_process_is_reaped(
    kernel: ForkedKernel, tmp_path: Path, act: str
) -> None:
    async with hanging(kernel, tmp_path, act) as (run, pid):
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert not lives(pid)
        assert not group_lives(pid)


async def test_a_run_cancelled_again_and_again_still_sees_its_process_dead(
    kernel: ForkedKernel, tmp_path: Path
) -> None:
    async with hanging(kernel, tmp_path) as (run, pid):
        while not run.done():
            run.cancel()
            await asyncio.sleep(0)
        assert run.cancelled()
        assert not lives(pid)


async def test_a_run_cancelled_while_its_listener_works_sees_its_process_dead(
    kernel: ForkedKernel, tmp_path: Path
) -> None:
    listening = asyncio.Event()

    async def listen(_: KernelNews) -> None:
        listening.set()
        await asyncio.Event().wait()

    run = asyncio.create_task(kernel.run(job_for("hang", tmp_path), listen))
    await listening.wait()
    await exists(tmp_path / "hanging")
    (pid,) = working_in(tmp_path, children(server_of(kernel)))
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert not lives(pid)


async def test_a_run_cancelled_while_its_listener_stores_a_file_sees_its_process_dead_first(
    kernel: ForkedKernel, tmp_path: Path
) -> None:
    """A write to a slow store can't be interrupted: the listener ends when it likes, the process at once."""
    listening, stored = asyncio.Event(), asyncio.Event()

    async def store(_: KernelNews) -> None:
        listening.set()
        while not stored.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await stored.wait()

    run = asyncio.create_task(kernel.run(job_for("hang", tmp_path), store))
    try:
        await listening.wait()
        await exists(tmp_path / "hanging")
        (pid,) = working_in(tmp_path, children(server_of(kernel)))
        run.cancel()
        await settles(lambda: lives(pid), False, "the process is dead")
        assert not run.done()
    finally:
        stored.set()
    with pytest.raises(asyncio.CancelledError):
        await run


@pytest.mark.parametrize(("act", "outcome"), [("hang", DeadlineExceeded), ("hoard_slowly", OutOfMemory)])
async def test_a_stopped_forkserver_does_not_hold_off_a_limit(
    own_kernel: ForkedKernel, tmp_path: Path, act: str, outcome: type[Outcome]
) -> None:
    """It can't obey the kill, so it is given up, and its children with it."""
    (tmp_path / "work").mkdir()
    assert await outcome_of(own_kernel, "work", tmp_path / "work") == Built()
    deadline_s = 1 if act == "hang" else 60
    run = asyncio.create_task(outcome_of(own_kernel, act, tmp_path, deadline_s=deadline_s))
    await settles(lambda: bool(working_in(tmp_path, children(server_of(own_kernel)))), True, "the job has begun")
    (pid,) = working_in(tmp_path, children(server_of(own_kernel)))
    os.kill(server_of(own_kernel), signal.SIGSTOP)
    assert isinstance(await run, outcome)
    await settles(lambda: lives(pid), False, "the child is gone")


async def test_what_a_listener_raises_comes_out_when_the_process_is_reaped(
    kernel: ForkedKernel, tmp_path: Path
) -> None:
    pids: set[int] = set()

    async def listen(_: KernelNews) -> None:
        await exists(tmp_path / "hanging")
        pids.update(working_in(tmp_path, children(server_of(kernel))))
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        await kernel.run(job_for("hang", tmp_path), listen)
    assert [lives(pid) for pid in pids] == [False]


async def test_a_run_cancelled_before_the_forkserver_is_warm_leaves_its_child_to_the_next(
    own_kernel: ForkedKernel, tmp_path: Path
) -> None:
    run = asyncio.create_task(outcome_of(own_kernel, "work", tmp_path))
    await asyncio.sleep(0)
    run.cancel()
    await asyncio.wait({run})
    assert await outcome_of(own_kernel, "work", tmp_path) == Built()


async def test_runs_cancelled_before_the_forkserver_is_warm_leave_one_spare(
    own_kernel: ForkedKernel, tmp_path: Path
) -> None:
    """Each had a child on its way; the others have nothing to wait for."""
    runs = [asyncio.create_task(outcome_of(own_kernel, "work", tmp_path)) for _ in range(8)]
    await asyncio.sleep(0)
    for run in runs:
        run.cancel()
    await asyncio.wait(runs)
    assert await outcome_of(own_kernel, "work", tmp_path) == Built()
    await settles(lambda: len(children(server_of(own_kernel))), 1, "one spare is left")
    assert await outcome_of(own_kernel, "work", tmp_path) == Built()


async def test_a_forkserver_without_descriptors_refuses_and_lives(own_kernel: ForkedKernel, tmp_path: Path) -> None:
    assert await outcome_of(own_kernel, "work", tmp_path) == Built()
    server = server_of(own_kernel)
    await settles(lambda: len(children(server)), 1, "the spare is there")
    limits = resource.prlimit(server, resource.RLIMIT_NOFILE)
    resource.prlimit(server, resource.RLIMIT_NOFILE, (5, limits[1]))
    assert await outcome_of(own_kernel, "work", tmp_path) == Built()  # in the spare
    assert await outcome_of(own_kernel, "work", tmp_path) == Crashed("no process", "building")
    resource.prlimit(server, resource.RLIMIT_NOFILE, limits)
    assert await outcome_of(own_kernel, "work", tmp_path) == Built()
    assert server_of(own_kernel) == server


async def test_a_stopped_forkserver_does_not_hold_a_cancelled_run(own_kernel: ForkedKernel, tmp_path: Path) -> None:
    """It can't obey, so it is given up, and its children with it."""
    async with hanging(own_kernel, tmp_path) as (run, pid):
        os.kill(server_of(own_kernel), signal.SIGSTOP)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await settles(lambda: lives(pid), False, "the child is gone")
    assert await outcome_of(own_kernel, "work", tmp_path) == Built()


async def test_a_killed_forkserver_crashes_its_runs_and_is_replaced(own_kernel: ForkedKernel, tmp_path: Path) -> None:
    async with hanging(own_kernel, tmp_path) as (run, pid):
        server = server_of(own_kernel)
        left = children(server)
        os.kill(server, signal.SIGKILL)
        assert await run == Crashed("SIGKILL", "building")
        await settles(lambda: any(map(lives, left)), False, "all children are gone")
        assert not lives(pid)
    assert await outcome_of(own_kernel, "work", tmp_path) == Built()
    assert server_of(own_kernel) != server
    await settles(lambda: lives(server), False, "the dead forkserver is reaped")


async def test_a_killed_spare_costs_no_job(own_kernel: ForkedKernel, tmp_path: Path) -> None:
    assert await outcome_of(own_kernel, "work", tmp_path) == Built()
    server = server_of(own_kernel)
    await settles(lambda: len(children(server)), 1, "the next spare is there")
    (spare,) = children(server)
    os.kill(spare, signal.SIGKILL)
    await settles(lambda: lives(spare), False, "the spare is reaped")
    assert await outcome_of(own_kernel, "work", tmp_path) == Built()


@pytest.mark.parametrize("act", ["hang", "hang_in_c"])
async def test_nothing_survives_a_killed_worker(tmp_path: Path, act: str) -> None:
    worker = Process(
        "worker", ["tests.kernel_process.small_worker", act, str(tmp_path)], {}, tmp_path / "worker.log"
    ).start()
    await exists(tmp_path / "hanging")
    (server,) = children(worker.pid)
    left = {server, *children(server)}
    assert len(left) == 3  # the forkserver, the kernel, the spare
    for pid in left:
        os.kill(pid, signal.SIGSTOP)  # not even what is stopped
    worker.signal(signal.SIGKILL)
    await worker.ended()
    await settles(lambda: any(map(lives, left)), False, "all its processes are gone")


async def test_a_polite_order_to_everybody_kills_no_kernel(own_kernel: ForkedKernel, tmp_path: Path) -> None:
    """Some platforms send SIGTERM to every process of a service: it is the worker that answers."""
    async with hanging(own_kernel, tmp_path) as (run, pid):
        for process in (pid, server_of(own_kernel)):
            for number in (signal.SIGTERM, signal.SIGINT):
                os.kill(process, number)
        other = tmp_path / "other"
        other.mkdir()
        assert await outcome_of(own_kernel, "work", other) == Built()
        assert not run.done()


async def test_closing_leaves_no_process_and_may_be_done_twice(tmp_path: Path) -> None:
    kernel = ForkedKernel(LIMITS, SABOTEUR)
    async with hanging(kernel, tmp_path) as (run, pid):
        left = {pid, server_of(kernel)}
        await kernel.close()
        await kernel.close()
        assert isinstance(await run, Crashed)
        await settles(lambda: any(map(lives, left)), False, "all processes are gone")


async def test_a_kernel_that_was_never_used_closes() -> None:
    await ForkedKernel(LIMITS).close()


async def test_a_flood_of_news_does_not_pile_up_behind_a_slow_listener(kernel: ForkedKernel, tmp_path: Path) -> None:
    """A thousand wait; then progress overtakes progress, and the latest is heard."""
    heard = Heard()

    async def slow(news: KernelNews) -> None:
        if not heard.news:
            await exists(tmp_path / "sent")
        await heard(news)

    assert await kernel.run(job_for("hurry", tmp_path), slow) == Built()
    assert len(heard.news) < 1100
    assert heard.news[-1] == Progress("exporting", 1.0)


async def test_children_that_end_all_at_once_are_told_apart(own_kernel: ForkedKernel, tmp_path: Path) -> None:
    """Deaths, last outputs and forks come to the forkserver in one batch, their descriptors' numbers taken anew."""
    acts = ("print_flood", "segfault_by_signal", "work") * 5
    expected = [Crashed("exit 7", "exporting"), Crashed("SIGSEGV", "meshing"), Built()] * 5
    folders = [tmp_path / str(number) for number in range(len(acts))]
    for folder in folders:
        folder.mkdir()
    server = server_of(own_kernel)
    for _ in range(3):
        runs = (outcome_of(own_kernel, act, folder) for act, folder in zip(acts, folders, strict=True))
        assert await asyncio.gather(*runs) == expected
    assert server_of(own_kernel) == server


async def test_two_hundred_jobs_leave_nothing_open(own_kernel: ForkedKernel, tmp_path: Path) -> None:
    acts = ("work", "work", "segfault_by_signal", "cut_reply", "print_garbage")
    for act in acts:
        await outcome_of(own_kernel, act, tmp_path)
    server = server_of(own_kernel)
    await settles(lambda: len(children(server)), 1, "one spare is left")
    before = (open_files(os.getpid()), open_files(server), len(asyncio.all_tasks()))
    for number in range(JOBS):
        await outcome_of(own_kernel, acts[number % len(acts)], tmp_path)
    await settles(lambda: len(children(server)), 1, "one spare is left and no zombie")
    assert server_of(own_kernel) == server
    await settles(
        lambda: (open_files(os.getpid()), open_files(server), len(asyncio.all_tasks())), before, "all is closed"
    )
