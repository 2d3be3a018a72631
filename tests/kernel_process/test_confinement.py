"""A kernel process reads its libraries, writes its scratch folder, and reaches nothing else."""

import asyncio
import contextlib
import os
import re
import resource
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from adapters.kernel_process import ForkedKernel
from domain.ports import Built
from kernel import landlock, seccomp
from kernel.forbidden_calls import FORBIDDEN
from tests.kernel_process.conftest import LIMITS
from tests.kernel_process.jobs import SABOTEUR, Heard, children, exists, job_for, settles
from tests.kernel_process.saboteur import WAYS_OUT

confined = pytest.mark.skipif(
    landlock.version() < 6 or not seccomp.available(), reason="this system can't confine; the worker warns of it"
)

SECRET = "the worker's own"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the scratch folder, with a secret in it."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text(SECRET)
    return folder


@pytest.fixture
def scratch(tmp_path: Path, outside: Path) -> Path:
    """A scratch folder with a symbolic link that leads out of it."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    return folder


@pytest.fixture
async def secretive_kernel(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ForkedKernel]:
    """Started by a worker with secrets in its environment."""
    monkeypatch.setenv("PARTMILL_SECRET", SECRET)
    monkeypatch.setenv("TEMPORAL_API_KEY", SECRET)
    forked = ForkedKernel(LIMITS, SABOTEUR)
    yield forked
    await forked.close()


async def surroundings_of(kernel: ForkedKernel, scratch: Path) -> str:
    """What a kernel process sees of itself."""
    assert await kernel.run(job_for("report_surroundings", scratch), Heard()) == Built()
    return (scratch / "part.step").read_text() + "\n"


async def answers(kernel: ForkedKernel, scratch: Path, outside: Path) -> dict[str, str]:
    """What each way out came to."""
    job = job_for("attempt", scratch, target=str(outside), worker=os.getpid())
    assert await kernel.run(job, Heard()) == Built()
    return dict(line.split(": ") for line in (scratch / "part.step").read_text().splitlines())


@contextlib.contextmanager
def many_open_files() -> Iterator[None]:
    """No descriptor below 1100 is free."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 2000), limits[1]))
    taken = [os.open(os.devnull, os.O_RDONLY)]
    while taken[-1] < 1100:
        taken.append(os.dup(taken[0]))
    try:
        yield
    finally:
        for fd in taken:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def adjustments(pids: set[int]) -> set[str]:
    """How willingly the machine kills these processes."""
    return {Path(f"/proc/{pid}/oom_score_adj").read_text().strip() for pid in pids}


@confined
async def test_every_way_out_is_shut(kernel: ForkedKernel, scratch: Path, outside: Path) -> None:
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    found = await answers(kernel, scratch, outside)
    assert {way: answer for way, answer in found.items() if answer != "PermissionError"} == {}
    assert set(found) == set(WAYS_OUT)
    assert os.listdir(outside) == ["secret"]
    assert (outside / "secret").read_text() == SECRET
    assert "partmill-escaped" not in os.listdir("/tmp")
    assert os.getpriority(os.PRIO_PROCESS, 0) == priority


@confined
async def test_no_process_of_a_kernel_outlives_it(kernel: ForkedKernel, scratch: Path) -> None:
    assert await kernel.run(job_for("leave_grandchild", scratch), Heard()) == Built()
    assert not (scratch / "started").exists()


@confined
async def test_the_scratch_folder_may_be_used_freely(kernel: ForkedKernel, scratch: Path) -> None:
    assert await kernel.run(job_for("use_scratch", scratch), Heard()) == Built()


async def test_the_environment_holds_nothing_of_the_workers(secretive_kernel: ForkedKernel, scratch: Path) -> None:
    surroundings = await surroundings_of(secretive_kernel, scratch)
    assert SECRET not in surroundings
    names = set(re.findall(r"^([A-Z_0-9]+)=", surroundings, re.MULTILINE))
    assert names <= {
        *("PATH", "LANG", "PYTHONPATH", "PYTHONHASHSEED", "LC_CTYPE", "TMPDIR"),
        *("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX", "LD_LIBRARY_PATH"),
    }


async def test_a_kernel_is_alone_in_its_group_and_scratch_folder(kernel: ForkedKernel, scratch: Path) -> None:
    surroundings = await surroundings_of(kernel, scratch)
    assert f"cwd={scratch}\n" in surroundings
    assert "group=True\n" in surroundings
    assert "umask=77\n" in surroundings
    assert "core=(0, 0)\n" in surroundings
    assert "fds=[0, 1, 2, 3]" in surroundings
    assert (scratch / "part.step").stat().st_mode & 0o077 == 0


async def test_a_worker_with_many_files_open_leaves_none_of_them_to_its_kernels(scratch: Path) -> None:
    """Its end of the connection then has a number past the forkserver's own limit."""
    with many_open_files():
        forked = ForkedKernel(LIMITS, SABOTEUR)
        await forked.start()
    assert "fds=[0, 1, 2, 3]" in await surroundings_of(forked, scratch)
    await forked.close()


async def test_the_machine_kills_kernels_before_anything_else(own_kernel: ForkedKernel, scratch: Path) -> None:
    run = asyncio.create_task(own_kernel.run(job_for("hang", scratch), Heard()))
    await exists(scratch / "hanging")
    server = own_kernel.server_pid
    assert server is not None
    await settles(lambda: adjustments(children(server)), {"1000"}, "the kernel and the spare are marked")
    run.cancel()
    await asyncio.wait({run})


def test_both_machines_forbid_the_same_modern_calls() -> None:
    """Calls newer than 424 have the same number everywhere: a slip in one column shows here."""
    newer = {machine: {number for number in numbers if number >= 424} for machine, numbers in FORBIDDEN.items()}
    assert newer["x86_64"] == newer["aarch64"]


async def test_one_warning_tells_what_a_system_cannot_confine(caplog: pytest.LogCaptureFixture) -> None:
    forked = ForkedKernel(LIMITS, SABOTEUR)
    for _ in range(2):
        forked.warn(["the scratch folder is open"])
    assert caplog.text.count("the scratch folder is open") == 1
