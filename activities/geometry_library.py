"""Finished outputs under their content address: looked up before a kernel runs, kept as soon as each is done.

Never computes geometry, and never trusts a record whose file is not there.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from domain.addresses import file_key, geometry_folder, output_folder, record_key
from domain.messages import KernelVersion, Produced, StageOrder, StoredOutput
from domain.ports import ArtifactStore, StoreUnreachable
from domain.problems import Refusal, StoreUnavailable

T = TypeVar("T")

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 15.0
"""A store that restarts is back within seconds; asking it more often than this helps nobody."""


class GeometryLibrary:
    """The outputs of one stage's part in the store. Every method keeps trying for `patience_s`, then refuses."""

    def __init__(self, store: ArtifactStore, order: StageOrder, kernel: KernelVersion, patience_s: float) -> None:
        self._store = store
        self._order = order
        self._kernel = kernel
        self._patience_s = patience_s
        self._geometry = geometry_folder(order.tenant, order.part, kernel)

    async def find(self, output: str) -> StoredOutput | None:
        """The finished output, if a record and its file are both there."""
        return await self._insist(lambda: self._find(output))

    async def keep(self, produced: Produced, path: Path) -> StoredOutput:
        """Store the file, then the record that makes it findable."""
        return await self._insist(lambda: self._keep(produced, path))

    async def fetch(self, stored: StoredOutput, path: Path) -> bool:
        """Write the output's file to `path`; False if it went away."""
        return await self._insist(lambda: self._store.get_file(stored.key, path))

    async def _find(self, output: str) -> StoredOutput | None:
        folder = output_folder(self._geometry, output, self._order.mesh)
        record = await self._store.get_bytes(record_key(folder, output))
        if record is None:
            return None
        stored = StoredOutput.model_validate_json(record)
        seen = await self._store.stat(stored.key)
        return stored if seen is not None and seen.size_bytes == stored.produced.size_bytes else None

    async def _keep(self, produced: Produced, path: Path) -> StoredOutput:
        folder = output_folder(self._geometry, produced.output, self._order.mesh)
        key = file_key(folder, produced.output, produced.sha256)
        stored = StoredOutput(produced=produced, key=key, kernel=self._kernel)
        await self._store.put_file(key, path, produced.sha256)
        await self._store.put_bytes(record_key(folder, produced.output), stored.model_dump_json().encode())
        return stored

    async def _insist(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """A store that is down must not cost the kernel's one retry: wait here, the heartbeat goes on."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._patience_s
        wait_s = FIRST_WAIT_S
        while True:
            try:
                return await attempt()
            except StoreUnreachable:
                if loop.time() + wait_s > give_up_at:
                    raise Refusal(StoreUnavailable()) from None
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)
