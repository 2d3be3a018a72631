"""The few Linux calls that Python's standard library lacks, by ctypes.

Never decides what to forbid: confinement.py does. Elsewhere than on Linux nothing of it is there.
"""

import ctypes
import os
import platform
import sys

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38

ON_LINUX = sys.platform == "linux"
MACHINE = platform.machine()

_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


class CapabilityHeader(ctypes.Structure):
    """`struct __user_cap_header_struct`."""

    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def prctl(option: int, *arguments: int) -> None:
    """Set an attribute of this process.

    Raises:
        OSError: the kernel refuses.
    """
    padded = (*arguments, 0, 0, 0, 0)[:4]
    _checked(_libc.prctl(option, *(ctypes.c_ulong(argument) for argument in padded)))


def syscall(number: int, *arguments: object) -> int:
    """Call the kernel; integers travel as machine words, pointers as ctypes made them.

    Raises:
        OSError: the kernel refuses.
    """
    words = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *words))


def drop_capabilities() -> None:
    """Give up all capabilities for good, so that a kernel process of a root worker is no more than its owner."""
    if ON_LINUX and MACHINE in _CAPSET:
        header = CapabilityHeader(_CAPABILITY_VERSION_3, 0)
        none = (ctypes.c_uint32 * 6)()
        syscall(_CAPSET[MACHINE], ctypes.byref(header), ctypes.byref(none))


def die_with_parent(parent: int, signal_number: int) -> None:
    """Get `signal_number` when the thread that forked this process ends; leave at once if `parent` is gone already.

    Other systems have no such signal: there the end of the socket to the parent must do.
    """
    if ON_LINUX:
        prctl(PR_SET_PDEATHSIG, signal_number)
    if os.getppid() != parent:
        os._exit(1)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
