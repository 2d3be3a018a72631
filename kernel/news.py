"""The one way in which a job tells how far it is.

Never sends anything: whoever runs the job hands in where news goes.
"""

from collections.abc import Callable
from typing import TypeAlias

from domain.ports import KernelNews

Announce: TypeAlias = Callable[[KernelNews], None]
