"""A kernel program that does what the job's model is called: work, die, hang, lie, or try to break out.

Never imported by the service; a forkserver of a test runs it.
"""

import ctypes
import ctypes.util
import hashlib
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from domain.messages import Phase, Produced
from domain.ports import KernelJob, KernelNews, Progress
from domain.problems import KernelTimeout, Refusal

Announce = Callable[[KernelNews], None]
Act = Callable[[KernelJob, Announce], None]

REPLY_FD = 3
MIB = 1024 * 1024
PHASES: tuple[Phase, ...] = ("building", "checking", "exporting")


def perform(job: KernelJob, announce: Announce) -> None:
    """Do what `job.part.model` says."""
    ACTS[job.part.model](job, announce)


def produce(job: KernelJob, announce: Announce, output: str, content: bytes | None = None) -> None:
    """Write an honest file and announce it."""
    content = f"{output} of {job.part.model}\n".encode() if content is None else content
    name = f"part.{output}"
    (job.workdir / name).write_bytes(content)
    announce(_announcement(output, name, content))


def _announcement(output: str, name: str, content: bytes) -> Produced:
    return Produced(output=output, file_name=name, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def work(job: KernelJob, announce: Announce) -> None:
    for phase in PHASES:
        announce(Progress(phase, 0.5))
    for output in job.outputs:
        produce(job, announce, output)


def nothing(_: KernelJob, __: Announce) -> None:
    return


def refuse(_: KernelJob, announce: Announce) -> None:
    announce(Progress("checking", 0.0))
    raise Refusal(KernelTimeout(limit_s=1.5, phase="checking"))


def raise_error(_: KernelJob, __: Announce) -> None:
    raise ValueError("a secret of the kernel")


def system_exit(_: KernelJob, __: Announce) -> None:
    sys.exit(0)


def exit_silently(job: KernelJob, announce: Announce) -> None:
    work(job, announce)
    os._exit(0)


def leave_one_out(job: KernelJob, announce: Announce) -> None:
    for output in job.outputs[:-1]:
        produce(job, announce, output)


def segfault_by_signal(_: KernelJob, announce: Announce) -> None:
    announce(Progress("meshing", 0.25))
    os.kill(os.getpid(), signal.SIGSEGV)


def segfault(_: KernelJob, __: Announce) -> None:
    ctypes.string_at(0)


def abort(_: KernelJob, __: Announce) -> None:
    os.abort()


def bad_alloc_uncaught(_: KernelJob, __: Announce) -> None:
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
    os.abort()


def touch_memory(_: KernelJob, announce: Announce) -> None:
    """Use memory without ever being refused any: small steps, kept."""
    announce(Progress("meshing", 0.0))
    kept = []
    while True:
        kept.append(bytearray(b"x") * (8 * MIB))


def hoard_slowly(_: KernelJob, announce: Announce) -> None:
    """Use more than the limit, less than the address space, and stay."""
    announce(Progress("meshing", 0.0))
    kept = bytearray(b"x") * (512 * MIB)
    signal.pause()
    del kept


def hoard_shared(_: KernelJob, announce: Announce) -> None:
    """The same in memory that is mapped to be shared."""
    announce(Progress("meshing", 0.0))
    kept = mmap.mmap(-1, 512 * MIB)
    for _offset in range(512):
        kept.write(b"x" * MIB)
    signal.pause()


def reserve_memory(_: KernelJob, __: Announce) -> None:
    bytearray(64 * 1024 * MIB)


def burn_cpu(_: KernelJob, announce: Announce) -> None:
    announce(Progress("meshing", 0.0))
    while True:
        pass


def hang_in_c(job: KernelJob, announce: Announce) -> None:
    """Hold the GIL in C with every signal blocked that can be."""
    announce(Progress("building", 0.5))
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.valid_signals()))
    (job.workdir / "hanging").touch()
    ctypes.PyDLL(None).sleep(3600)


def hang(job: KernelJob, announce: Announce) -> None:
    announce(Progress("building", 0.5))
    (job.workdir / "hanging").touch()
    signal.pause()


def hang_after_the_result(job: KernelJob, announce: Announce) -> None:
    """A destructor that hangs: the result is said, the process stays."""
    _finish(job, announce)
    os.write(REPLY_FD, _frame(b'{"kind":"built"}'))
    signal.pause()


def _frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def _raw(*pieces: bytes) -> Act:
    def act(_: KernelJob, announce: Announce) -> None:
        announce(Progress("exporting", 0.0))
        for piece in pieces:
            os.write(REPLY_FD, piece)
        signal.pause()

    return act


def cut_reply(_: KernelJob, announce: Announce) -> None:
    announce(Progress("exporting", 0.0))
    os.write(REPLY_FD, _frame(b'{"kind":"built"}')[:-4])
    os._exit(0)


def reply_twice(job: KernelJob, announce: Announce) -> None:
    _finish(job, announce)
    os.write(REPLY_FD, _frame(b'{"kind":"built"}'))


def crash_after_the_result(job: KernelJob, announce: Announce) -> None:
    """A destructor that crashes."""
    _finish(job, announce)
    os.write(REPLY_FD, _frame(b'{"kind":"built"}'))
    os.kill(os.getpid(), signal.SIGSEGV)


def _finish(job: KernelJob, announce: Announce) -> None:
    """Do the work, and tell whoever looks which process did it."""
    (job.workdir / "pid").write_text(str(os.getpid()))
    work(job, announce)


def flood_replies(_: KernelJob, __: Announce) -> None:
    frame = _frame(b'{"kind":"progress","phase":"meshing","fraction":0.5}') * 500
    while True:
        os.write(REPLY_FD, frame)


def hurry(job: KernelJob, announce: Announce) -> None:
    """More progress than anybody can hear, every one of it sent."""
    for number in range(5000):
        announce(Progress(PHASES[number % 2], 0.5))
    for output in job.outputs:
        produce(job, announce, output)
    announce(Progress("exporting", 1.0))
    (job.workdir / "sent").touch()


def print_garbage(job: KernelJob, announce: Announce) -> None:
    os.write(1, b'\x00\x00\x00\x10{"kind":"built"}\xff\xfe\n')
    print("Statistics on Transfer", flush=True)
    work(job, announce)


def print_flood(job: KernelJob, announce: Announce) -> None:
    for _ in range(64):
        os.write(1, b"a long line of nothing\n" * 45_000)
    os.write(2, b"the last line\n")
    work(job, announce)
    os._exit(7)


def _lie(name: str, size: int | None = None, output: str = "step") -> Act:
    def act(job: KernelJob, announce: Announce) -> None:
        content = b"content"
        (job.workdir / "part.step").write_bytes(content)
        lie = _announcement(output, name, content)
        announce(lie if size is None else lie.model_copy(update={"size_bytes": size}))
        signal.pause()

    return act


def write_too_large(job: KernelJob, _: Announce) -> None:
    with (job.workdir / "large").open("wb") as file:
        while True:
            file.write(bytes(MIB))


def write_too_many(job: KernelJob, _: Announce) -> None:
    """Empty files: none is too large."""
    for number in range(1500):
        (job.workdir / str(number)).touch()
    signal.pause()


def fill_scratch(job: KernelJob, _: Announce) -> None:
    """Files below the limit of one, in folders, more than may be there together."""
    for number in range(5):
        folder = job.workdir / str(number)
        folder.mkdir()
        (folder / "file").write_bytes(bytes(5 * MIB))
    signal.pause()


def leave_grandchild(job: KernelJob, announce: Announce) -> None:
    """A process started if the system lets us; it would outlive us."""
    for start in (lambda: subprocess.Popen(["sleep", "1000"]), os.fork):
        try:
            start()
        except OSError:
            continue
        (job.workdir / "started").touch()
    work(job, announce)


def threads(job: KernelJob, announce: Announce) -> None:
    """Threads are allowed: meshing wants them."""
    started = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    work(job, announce)


def use_scratch(job: KernelJob, announce: Announce) -> None:
    """Folders, renames, removals, temporary files."""
    (job.workdir / "folder").mkdir()
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(b"x")
    os.rename(file.name, job.workdir / "folder" / "renamed")
    os.replace(job.workdir / "folder" / "renamed", job.workdir / "back")
    with (job.workdir / "back").open("w") as shorter:
        shorter.truncate(0)
    (job.workdir / "back").unlink()
    (job.workdir / "folder").rmdir()
    work(job, announce)


def report_surroundings(job: KernelJob, announce: Announce) -> None:
    """What a process can see of itself, as files."""
    lines = [f"{name}={value}" for name, value in sorted(os.environ.items())]
    lines += [f"cwd={os.getcwd()}", f"group={os.getpgrp() == os.getpid() == os.getsid(0)}"]
    lines += [f"umask={os.umask(0o077):o}", f"core={resource.getrlimit(resource.RLIMIT_CORE)}", f"fds={_open_fds()}"]
    produce(job, announce, "step", "\n".join(lines).encode())


def _open_fds() -> list[int]:
    found = []
    for fd in range(4096):
        try:
            os.fstat(fd)
        except OSError:
            continue
        found.append(fd)
    return found


def attempt(job: KernelJob, announce: Announce) -> None:
    """Try every way out that the job's parameters name; each answer is the error's name, or `done`."""
    target = job.part.parameters["target"]
    worker = job.part.parameters["worker"]
    answers = [f"{name}: {_try(way, target, worker)}" for name, way in WAYS_OUT.items()]
    produce(job, announce, "step", "\n".join(answers).encode())


def _try(way: Callable[[str, int], object], target: str, worker: int) -> str:
    try:
        way(target, worker)
    except OSError as error:
        return type(error).__name__
    return "done"


def _udp(_: str, __: int) -> None:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))


def _raise_limits(_: str, worker: int) -> None:
    resource.prlimit(worker, resource.RLIMIT_NOFILE, (64, 64))


def _io_uring(_: str, __: int) -> None:
    _call("syscall", 425, 4, ctypes.byref((ctypes.c_char * 256)()))


def _call(function: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc[function](*arguments) < 0:
        raise OSError(ctypes.get_errno(), function)


WAYS_OUT: dict[str, Callable[[str, int], object]] = {
    "write": lambda target, _: Path(target, "escaped").write_text("x"),
    "overwrite": lambda target, _: Path(target, "secret").write_text("x"),
    "write through a link": lambda _, __: Path("link", "escaped").write_text("x"),
    "write in /tmp": lambda _, __: Path("/tmp/partmill-escaped").write_text("x"),
    "read": lambda target, _: Path(target, "secret").read_text(),
    "read through a link": lambda _, __: Path("link", "secret").read_text(),
    "list": lambda target, _: os.listdir(target),
    "remove": lambda target, _: Path(target, "secret").unlink(),
    "truncate": lambda target, _: os.truncate(Path(target, "secret"), 0),
    "chmod": lambda target, _: Path(target, "secret").chmod(0o777),
    "symlink": lambda target, _: Path("own-link").symlink_to(target),
    "hard link": lambda target, _: os.link(Path(target, "secret"), "own-secret"),
    "rename in": lambda target, _: os.rename(Path(target, "secret"), "own-secret"),
    "worker's environment": lambda _, worker: Path(f"/proc/{worker}/environ").read_bytes(),
    "server's environment": lambda _, __: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "tcp": lambda _, __: socket.create_connection(("127.0.0.1", 9)),
    "udp": _udp,
    "unix": lambda _, __: socket.socket(socket.AF_UNIX),
    "listen": lambda _, __: socket.create_server(("127.0.0.1", 0)),
    "io_uring": _io_uring,
    "memory as a file": lambda _, __: os.memfd_create("kept"),
    "secret memory": lambda _, __: _call("syscall", 447, 0),
    "watch files": lambda _, __: _call("inotify_init1", 0),
    "watch files the old way": lambda _, __: _call("inotify_init"),
    "signal the worker": lambda _, worker: os.kill(worker, 0),
    "signal the server": lambda _, __: os.kill(os.getppid(), 0),
    "signal everybody": lambda _, __: os.kill(-1, 0),
    "fork": lambda _, __: os.fork(),
    "exec": lambda _, __: os.execv("/bin/true", ["true"]),
    "spawn": lambda _, __: subprocess.run(["/bin/true"], check=False),
    "new session": lambda _, __: os.setsid(),
    "worker's limits": _raise_limits,
    "worker's priority": lambda _, worker: os.setpriority(os.PRIO_PROCESS, worker, 19),
}

ACTS: dict[str, Act] = {
    act.__name__: act
    for act in (
        *(work, nothing, refuse, raise_error, system_exit, exit_silently, leave_one_out),
        *(segfault, segfault_by_signal, abort, bad_alloc_uncaught),
        *(touch_memory, hoard_slowly, hoard_shared, reserve_memory, burn_cpu, hang, hang_in_c, hang_after_the_result),
        crash_after_the_result,
        *(cut_reply, reply_twice, flood_replies, hurry, print_garbage, print_flood),
        *(write_too_large, write_too_many, fill_scratch),
        *(leave_grandchild, threads, use_scratch, report_surroundings, attempt),
    )
} | {
    "oversized_frame": _raw(b"\xff\xff\xff\xff", b"x" * 4096),
    "garbage_frame": _raw(_frame(b"\xff\xfe garbage")),
    "other_json": _raw(_frame(b"[1, 2]")),
    "nan_progress": _raw(_frame(b'{"kind":"progress","phase":"meshing","fraction":NaN}')),
    "unknown_problem_fields": _raw(
        _frame(b'{"kind":"refused","problem":{"type":"https://partmill.dev/problems/kernel-crashed"}}')
    ),
    "path_in_name": _lie("../part.step"),
    "missing_file": _lie("absent.step"),
    "wrong_size": _lie("part.step", size=3),
    "symbolic_link": _lie("link"),
    "folder": _lie("."),
    "other_output": _lie("part.step", output="stl"),
}
