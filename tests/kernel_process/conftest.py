"""A forked kernel that runs the saboteur, shared by the tests that leave it as they found it."""

from collections.abc import AsyncIterator

import pytest

from adapters.kernel_process import ForkedKernel
from domain.defaults import MIB, Limits
from tests.kernel_process.jobs import SABOTEUR

LIMITS = Limits(kernel_memory_bytes=256 * MIB, kernel_cpu_s=20, kernel_file_bytes=8 * MIB)
"""Small, so that reaching them is quick; but no honest act comes near."""


@pytest.fixture(scope="session")
async def kernel() -> AsyncIterator[ForkedKernel]:
    """Shared: its processes die one by one, the forkserver stays."""
    forked = ForkedKernel(LIMITS, SABOTEUR)
    await forked.start()
    yield forked
    await forked.close()


@pytest.fixture
async def own_kernel() -> AsyncIterator[ForkedKernel]:
    """For tests that kill its forkserver or count its children."""
    forked = ForkedKernel(LIMITS, SABOTEUR)
    await forked.start()
    yield forked
    await forked.close()
