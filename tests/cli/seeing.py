"""Waiting for what a test expects to see, in tests that block.

Never a claim about speed.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from tests.processes import PATIENCE_S

T = TypeVar("T")


def seen(look: Callable[[], T], what: str) -> T:
    """Look until there is something true to see; fail, naming `what`, when there never is."""
    give_up_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_at:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited {PATIENCE_S:g} s in vain: {what}")
