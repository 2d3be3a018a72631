"""Whatever a kernel process does, the run ends in a value that says so, and the next job is built."""

import asyncio
import logging
from pathlib import Path

import pytest

from adapters.kernel_process import ForkedKernel
from adapters.kernel_run import BROKEN_REPLY, SCRATCH_LIMIT
from domain.ports import Built, Crashed, DeadlineExceeded, KernelNews, Outcome, OutOfMemory
from tests.kernel_process.conftest import LIMITS
from tests.kernel_process.jobs import Heard, job_for, lives, outcome_of, settles

OUT_OF_MEMORY = OutOfMemory(LIMITS.kernel_memory_bytes)

FAULTS: dict[str, Outcome] = {
    "segfault": Crashed("SIGSEGV", "building"),
    "segfault_by_signal": Crashed("SIGSEGV", "meshing"),
    "abort": Crashed("SIGABRT", "building"),
    "raise_error": Crashed("exit 1", "building"),
    "system_exit": Crashed("exit 1", "building"),
    "exit_silently": Crashed("exit 0", "exporting"),
    "nothing": Crashed("exit 0", "building"),
    "leave_one_out": Crashed("exit 0", "building"),
    "cut_reply": Crashed("exit 0", "exporting"),
    "oversized_frame": Crashed(BROKEN_REPLY, "exporting"),
    "garbage_frame": Crashed(BROKEN_REPLY, "exporting"),
    "other_json": Crashed(BROKEN_REPLY, "exporting"),
    "nan_progress": Crashed(BROKEN_REPLY, "exporting"),
    "unknown_problem_fields": Crashed(BROKEN_REPLY, "exporting"),
    "flood_replies": Crashed(BROKEN_REPLY, "meshing"),
    "path_in_name": Crashed(BROKEN_REPLY, "building"),
    "missing_file": Crashed(BROKEN_REPLY, "building"),
    "wrong_size": Crashed(BROKEN_REPLY, "building"),
    "symbolic_link": Crashed(BROKEN_REPLY, "building"),
    "folder": Crashed(BROKEN_REPLY, "building"),
    "other_output": Crashed(BROKEN_REPLY, "building"),
    "print_flood": Crashed("exit 7", "exporting"),
    "write_too_large": Crashed("SIGXFSZ", "building"),
    "touch_memory": OUT_OF_MEMORY,
    "write_too_many": Crashed(SCRATCH_LIMIT, "building"),
    "fill_scratch": Crashed(SCRATCH_LIMIT, "building"),
    "hoard_shared": OUT_OF_MEMORY,
    "hoard_slowly": OUT_OF_MEMORY,
    "reserve_memory": OUT_OF_MEMORY,
    "bad_alloc_uncaught": OUT_OF_MEMORY,
}


@pytest.mark.parametrize(("act", "outcome"), FAULTS.items(), ids=FAULTS)
async def test_a_fault_is_its_own_value(kernel: ForkedKernel, tmp_path: Path, act: str, outcome: Outcome) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    server = kernel.server_pid
    assert await outcome_of(kernel, act, tmp_path) == outcome
    assert kernel.server_pid == server
    after = tmp_path / "after"
    after.mkdir()
    assert await outcome_of(kernel, "work", after) == Built()


@pytest.mark.parametrize("act", ["hang", "hang_in_c", "burn_cpu"])
async def test_a_hang_ends_at_the_deadline(kernel: ForkedKernel, tmp_path: Path, act: str) -> None:
    assert isinstance(await outcome_of(kernel, act, tmp_path, deadline_s=1), DeadlineExceeded)


@pytest.mark.parametrize("act", ["hang_after_the_result", "reply_twice", "crash_after_the_result"])
async def test_nothing_counts_after_a_complete_result(kernel: ForkedKernel, tmp_path: Path, act: str) -> None:
    """The files are seen and the result is whole: how the process ends then says nothing of the part."""
    heard = Heard()
    assert await kernel.run(job_for(act, tmp_path), heard) == Built()
    assert [file.output for file in heard.files] == ["step"]
    pid = int((tmp_path / "pid").read_text())
    await settles(lambda: lives(pid), False, "the process is dead")


async def test_processor_time_is_a_deadline_too(tmp_path: Path) -> None:
    kernel = ForkedKernel(LIMITS.model_copy(update={"kernel_cpu_s": 1}), "tests.kernel_process.saboteur:perform")
    assert await outcome_of(kernel, "burn_cpu", tmp_path) == DeadlineExceeded("meshing")
    await kernel.close()


async def test_what_a_kernel_prints_is_no_reply(kernel: ForkedKernel, tmp_path: Path) -> None:
    assert await outcome_of(kernel, "print_garbage", tmp_path) == Built()


async def test_threads_are_allowed(kernel: ForkedKernel, tmp_path: Path) -> None:
    assert await outcome_of(kernel, "threads", tmp_path) == Built()


async def test_the_log_keeps_the_end_of_the_output_and_no_more(
    kernel: ForkedKernel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "partmill.kernel"):
        await outcome_of(kernel, "print_flood", tmp_path)
    assert caplog.text.rstrip().endswith("the last line")
    assert len(caplog.text) < 5000


async def test_a_traceback_stands_in_the_log_and_not_in_the_outcome(
    kernel: ForkedKernel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "partmill.kernel"):
        outcome = await outcome_of(kernel, "raise_error", tmp_path)
    assert "ValueError: a secret of the kernel" in caplog.text
    assert "secret" not in repr(outcome)


async def test_files_announced_before_a_crash_have_been_heard(kernel: ForkedKernel, tmp_path: Path) -> None:
    """They are what a retry need not make again."""
    heard = Heard()
    outcome = await kernel.run(job_for("leave_one_out", tmp_path, "shape", "step"), heard)
    assert outcome == Crashed("exit 0", "building")
    assert [file.output for file in heard.files] == ["shape"]


async def test_the_listeners_time_is_not_the_kernels(kernel: ForkedKernel, tmp_path: Path) -> None:
    """A slow store must not make a part late that the kernel finished in time."""
    loop = asyncio.get_running_loop()
    late = loop.time() + 3.5

    async def slow(_: KernelNews) -> None:
        await asyncio.sleep(max(late - loop.time(), 0))

    assert await kernel.run(job_for("work", tmp_path, deadline_s=3), slow) == Built()


async def test_a_program_that_cannot_be_imported_is_a_value(tmp_path: Path) -> None:
    kernel = ForkedKernel(LIMITS, "tests.kernel_process.absent:perform")
    assert await outcome_of(kernel, "work", tmp_path) == Crashed("no process", "building")
    await kernel.close()
