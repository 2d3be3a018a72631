"""An artifact store in memory, for tests of what stands on the port.

Never touches a disk, except for the files that callers name.
"""

import asyncio
import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from adapters.local_store import SMALL_BYTES, checked_key
from domain.messages import StoreKey
from domain.ports import Stored, StoreUnreachable


@dataclass
class FakeStore:
    """Objects in a dictionary; while `is_down`, every method refuses."""

    objects: dict[str, bytes] = field(default_factory=dict)
    modified: dict[str, datetime] = field(default_factory=dict)
    is_down: bool = False
    refuses_copies: bool = False
    """Nothing can be published, everything else works."""
    refused: int = 0
    """How many copies were refused."""
    copies_wait: asyncio.Event | None = None
    """Every copy waits for it."""
    copying: bool = False
    """Whether a copy has come so far as to wait."""

    async def put_file(self, key: StoreKey, path: Path, sha256: str) -> None:
        """See `ArtifactStore`."""
        content = _read(path)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise StoreUnreachable("wrong hash")
        await self.put_bytes(key, content)

    async def put_bytes(self, key: StoreKey, content: bytes) -> None:
        """See `ArtifactStore`."""
        name = self._name(key)
        self.objects[name] = content
        self.modified[name] = datetime.now(UTC)

    async def get_file(self, key: StoreKey, path: Path) -> bool:
        """See `ArtifactStore`."""
        content = self.objects.get(self._name(key))
        if content is not None:
            _write(path, content)
        return content is not None

    async def get_bytes(self, key: StoreKey) -> bytes | None:
        """See `ArtifactStore`."""
        content = self.objects.get(self._name(key))
        if content is not None and len(content) > SMALL_BYTES:
            raise StoreUnreachable("too large")
        return content

    async def copy(self, source: StoreKey, target: StoreKey) -> bool:
        """See `ArtifactStore`."""
        if self.refuses_copies:
            self.refused += 1
            raise StoreUnreachable("no copies")
        if self.copies_wait is not None:
            self.copying = True
            await self.copies_wait.wait()
        content = self.objects.get(self._name(source))
        if content is None:
            self._name(target)
            return False
        await self.put_bytes(target, content)
        return True

    async def stat(self, key: StoreKey) -> Stored | None:
        """See `ArtifactStore`."""
        name = self._name(key)
        content = self.objects.get(name)
        return None if content is None else Stored(len(content), self.modified[name])

    async def delete_folder(self, prefix: StoreKey) -> None:
        """See `ArtifactStore`."""
        folder = self._name(prefix) + "/"
        for name in [name for name in self.objects if name.startswith(folder)]:
            del self.objects[name], self.modified[name]

    async def probe(self) -> None:
        """See `ArtifactStore`."""
        self._name(StoreKey("probe"))

    def _name(self, key: StoreKey) -> str:
        if self.is_down:
            raise StoreUnreachable("down")
        return checked_key(key)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreUnreachable("unreadable") from error
