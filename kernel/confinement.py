"""What a kernel process may do: which bounds it lives in, and from when.

Never confines the forkserver itself, and never lets a process start its job unconfined where the system can confine.
"""

import functools
import os
import resource
import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernel import landlock, seccomp
from kernel.linux import ON_LINUX, PR_SET_NO_NEW_PRIVS, die_with_parent, drop_capabilities, prctl

RESERVE_BYTES = 1024 * 1024 * 1024
"""Address space beyond the memory limit that is reserved and never touched: thread stacks and malloc's arenas (64 MiB
each, eight at most). The limit itself is on memory in use, which the worker watches from outside."""

OPEN_FILES = 128
"""The kernel has one or two files open at a time, an import a few more."""

_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/fonts"),
    *("/dev/zero", "/dev/random", "/dev/urandom", "/sys/devices/system/cpu"),
)
"""What Python and the C library read; nothing of it is anyone's secret."""


@dataclass(frozen=True)
class Bounds:
    """The limits of one kernel process."""

    memory_bytes: int
    cpu_s: int
    file_bytes: int


def gaps() -> list[str]:
    """What this system can't enforce, in words for an operator."""
    missing = []
    if not landlock.version():
        missing.append("kernel processes can read and write outside their scratch folder (no Landlock)")
    if not seccomp.available():
        missing.append("kernel processes can open the network and start processes (no seccomp)")
    return missing


def enter_own_group(server: int) -> None:
    """Straight after the fork: a session and group of its own, dead with its server, first to go when memory runs out.

    SIGTERM and SIGINT are the worker's to answer, even when a platform sends them to every process at once.
    """
    die_with_parent(server, signal.SIGKILL)
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGCHLD, signal.SIGXFSZ):  # Python ignores SIGXFSZ, and OCCT then reports success
        signal.signal(number, signal.SIG_DFL)
    os.umask(0o077)
    if ON_LINUX:
        Path("/proc/self/oom_score_adj").write_text("1000")


def confine(workdir: Path, bounds: Bounds) -> None:
    """Before the job: `workdir` is where it is and all it may write.

    Raises:
        OSError: the system can confine and did not; the job must not start.
    """
    os.chdir(workdir)
    os.environ["TMPDIR"] = str(workdir)
    tempfile.tempdir = None  # so that TMPDIR is looked at again
    _limit(bounds)
    drop_capabilities()
    if ON_LINUX:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
    if landlock.version():
        landlock.restrict(readable=readable(), writable=(workdir, Path("/dev/null")))
    if seccomp.available():
        seccomp.restrict()


def _limit(bounds: Bounds) -> None:
    lower(resource.RLIMIT_FSIZE, bounds.file_bytes)
    lower(resource.RLIMIT_NOFILE, OPEN_FILES)
    lower(resource.RLIMIT_CORE, 0)
    # SIGXCPU comes at the soft limit; were the hard one the same, SIGKILL would come instead and say less.
    lower(resource.RLIMIT_CPU, bounds.cpu_s, slack=1)
    if ON_LINUX:  # elsewhere the system counts what it maps itself, or refuses
        lower(resource.RLIMIT_AS, _address_space() + bounds.memory_bytes + RESERVE_BYTES)


def lower(kind: int, bound: int, slack: int = 0) -> None:
    """Lower a resource limit to `bound`, for ever (but for `slack`); one that is lower already stays."""
    _, hard = resource.getrlimit(kind)
    unlimited = hard == resource.RLIM_INFINITY
    resource.setrlimit(kind, (bound, bound + slack) if unlimited else (min(bound, hard), min(bound + slack, hard)))


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


@functools.cache
def readable() -> tuple[Path, ...]:
    """What a kernel process may read: the system's libraries, this Python, and the packages that are loaded; not the
    folders these happen to lie in, where the store may be.

    Found once, before the first fork: walking all modules costs 6-10 ms.
    """
    installed = {Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix)}
    packages = {name.partition(".")[0] for name in sys.modules}
    own = (root for package in packages for root in _roots(package))
    return (*(Path(path) for path in _SYSTEM), *installed, *own)


def _roots(package: str) -> list[Path]:
    """The folders of a package, or the file of a module; none if it came with Python or stands beside what did."""
    module = sys.modules.get(package)
    found = list(getattr(module, "__path__", ())) or [getattr(module, "__file__", None)]
    roots = [Path(path) for path in found if path is not None]
    return [root for root in roots if not any(map(root.is_relative_to, (sys.prefix, sys.base_prefix)))]
