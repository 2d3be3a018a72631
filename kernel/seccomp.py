"""A system call filter: no network, no new processes, no signals to others, no way around Landlock.

Never written by hand for one machine: it is made from forbidden_calls.py and the few calls that depend on an argument.
"""

import ctypes
import errno
import os
import struct

from kernel.forbidden_calls import FORBIDDEN
from kernel.linux import MACHINE, ON_LINUX, PR_SET_PDEATHSIG, PR_SET_SECCOMP, prctl

_FILTER_MODE = 2
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_CLONE_THREAD = 0x00010000

_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_KILL_AND_TGKILL = {"x86_64": (62, 234), "aarch64": (129, 131)}
_PRCTL = {"x86_64": 157, "aarch64": 167}
_PRLIMIT64 = {"x86_64": 302, "aarch64": 261}

# Classic BPF: a load, three jumps, a return; and where `struct seccomp_data` has what is loaded (little-endian).
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

Instruction = tuple[int, int, int, int]
"""Operation, how many to skip if true, how many if false, operand."""

_PERMIT: Instruction = (_RETURN, 0, 0, _ALLOW)
_DENY: Instruction = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
_ABSENT: Instruction = (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def available() -> bool:
    """Whether this kernel filters system calls and this machine's numbers are known."""
    return ON_LINUX and MACHINE in _ARCHITECTURES and os.path.exists("/proc/sys/kernel/seccomp/actions_avail")


def restrict() -> None:
    """Install the filter on this (single-threaded) process, for ever. Needs the no-new-privileges bit.

    Raises:
        OSError: the kernel refuses.
    """
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in _instructions(MACHINE, os.getpid()))
    program = _Program(len(code) // 8, code)
    prctl(PR_SET_SECCOMP, _FILTER_MODE, ctypes.addressof(program))


def _instructions(machine: str, pid: int) -> list[Instruction]:
    """The filter for process `pid`. An unknown architecture (32-bit calls) is killed: its numbers mean other calls."""
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        program += [(_IF_AT_LEAST, 0, 1, _X32_BIT), _ABSENT]
    for number in FORBIDDEN[machine]:
        program += [(_IF_EQUAL, 0, 1, number), _DENY]
    # Its flags lie in memory, where no filter sees them; the C library falls back to clone.
    program += [(_IF_EQUAL, 0, 1, _CLONE3), _ABSENT]
    program += _only_if(_CLONE[machine], (_IF_ANY_BIT, 0, 1, _CLONE_THREAD))
    for number in _KILL_AND_TGKILL[machine]:
        program += _only_if(number, (_IF_EQUAL, 0, 1, pid))
    program += _only_if(_PRLIMIT64[machine], (_IF_EQUAL, 0, 1, 0))
    program += _only_if(_PRCTL[machine], (_IF_EQUAL, 1, 0, PR_SET_PDEATHSIG))
    return [*program, _PERMIT]


def _only_if(number: int, test: Instruction) -> list[Instruction]:
    """Allow call `number` if its first argument (an `int`: the low half is all of it) passes."""
    return [(_IF_EQUAL, 0, 4, number), (_LOAD, 0, 0, _ARGUMENTS), test, _PERMIT, _DENY]
