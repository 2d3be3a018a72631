"""Landlock: which folders a kernel process may read, the one it may write, and no TCP at all.

Never widens: a rule set only takes rights away, and for ever.
"""

import ctypes
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from kernel.linux import ON_LINUX, syscall

# Numbers and bits of <linux/landlock.h>; the syscalls have the same numbers on every machine.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_QUERY = 1
_PATH_BENEATH = 1

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_FS_BITS_SINCE = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many file rights each version knows; later ones added none."""

_TCP_BIND_AND_CONNECT = 0b11
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6

_READ = _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _TRUNCATE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER
"""No symbolic links, sockets or devices: nobody who reads the folder later is led out of it."""
_OF_FILES = _READ_FILE | _WRITE_FILE | _TRUNCATE


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def version() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    if not ON_LINUX:
        return 0
    try:
        return syscall(_CREATE_RULESET, None, 0, _VERSION_QUERY)
    except OSError:
        return 0


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> None:
    """From now on this process reads only below `readable`, writes only below `writable`, and opens no TCP.

    Paths that do not exist are left out. Needs the no-new-privileges bit.

    Raises:
        OSError: the kernel has no Landlock, or refuses.
    """
    abi = version()
    handled = (1 << _FS_BITS_SINCE.get(abi, 16)) - 1
    ruleset = _create(abi, handled)
    try:
        for path in readable:
            _allow(ruleset, path, _READ & handled)
        for path in writable:
            _allow(ruleset, path, _WRITE & handled)
        syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _create(abi: int, handled: int) -> int:
    network = _TCP_BIND_AND_CONNECT if abi >= _NETWORK_SINCE else 0
    scoped = _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if abi >= _SCOPES_SINCE else 0
    attributes = _RulesetAttributes(handled, network, scoped)
    size = 24 if abi >= _SCOPES_SINCE else 16 if abi >= _NETWORK_SINCE else 8
    return syscall(_CREATE_RULESET, ctypes.byref(attributes), size, 0)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        # A folder's rights on a file are refused as invalid.
        allowed = rights if stat.S_ISDIR(os.fstat(fd).st_mode) else rights & _OF_FILES
        rule = _PathBeneath(allowed, fd)
        syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(fd)
