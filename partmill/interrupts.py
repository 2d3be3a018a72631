"""Ctrl-C and its relatives, as one exception that comes once.

Never active outside the two context managers: importing this changes nothing.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C; what service managers send; what a closed terminal sends."""


class Interrupted(KeyboardInterrupt):
    """The user or the system asked this command to end."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, the first of SIGNALS raises `Interrupted`; later ones change nothing, so that the way out is never cut
    short."""
    # A SIGHUP that is ignored already was so by `nohup`.
    heard = [number for number in SIGNALS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]
    previous = {number: signal.signal(number, _interrupt) for number in heard}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Inside, SIGNALS change nothing."""
    previous = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted(signal.Signals(number).name)
