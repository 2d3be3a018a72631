"""A worker of one job, for tests that kill it: `python -m tests.kernel_process.small_worker ACT SCRATCH`.

Never outlives its test: whoever starts it stops it.
"""

import asyncio
import sys
from pathlib import Path

from adapters.kernel_process import ForkedKernel
from domain.defaults import Limits
from tests.kernel_process.jobs import SABOTEUR, outcome_of


async def main(act: str, scratch: Path) -> None:
    """Run one job that does `act` in `scratch`."""
    kernel = ForkedKernel(Limits(), SABOTEUR)
    await kernel.start()
    print(await outcome_of(kernel, act, scratch))
    await kernel.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
