"""The artifact store on a local file system: an object is a file at its key below one folder.

Never shows a half-written object, and never follows a key out of its folder.
"""

import asyncio
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, TypeVar

from adapters.atomic_files import (
    CHUNK_BYTES,
    copy_hashed,
    link_or_copy,
    make_folder,
    open_if_there,
    show,
    sync_folder,
    write,
)
from domain.messages import StoreKey
from domain.ports import Stored, StoreUnreachable

T = TypeVar("T")

INCOMING = ".incoming"
"""Holds what is on its way in or out. No key can name it: no part of a key starts with a dot."""

SMALL_BYTES = 64 * 1024
"""The most that `get_bytes` reads: records, never geometry."""

LONGEST_KEY = 1024
"""What S3 allows too: a key that works here works there."""

_PART = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_KEY = re.compile(rf"{_PART}(/{_PART})*")


def checked_key(key: StoreKey) -> str:
    """`key`, if it is one: parts of letters, digits, `.`, `_` and `-`, none of them starting with a dot.

    Raises:
        ValueError: it is not. No request can cause that, so it is a mistake of ours.
    """
    if len(key) > LONGEST_KEY or not _KEY.fullmatch(key):
        raise ValueError(f"not a store key: {key!r}")
    return key


class LocalArtifactStore:
    """The `ArtifactStore` below `root`, a folder that is made when something is first put into it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put_file(self, key: StoreKey, path: Path, sha256: str) -> None:
        """See `ArtifactStore`. The bytes are hashed as they are copied, so nothing can change them in between."""

        def fill(file: BinaryIO) -> None:
            source = open_if_there(path)
            if source is None:
                raise StoreUnreachable("there is no such file to store")
            with source:
                if copy_hashed(source, file) != sha256:
                    raise StoreUnreachable("the file does not have the hash that was announced")

        await self._put(key, fill)

    async def put_bytes(self, key: StoreKey, content: bytes) -> None:
        """See `ArtifactStore`."""

        def fill(file: BinaryIO) -> None:
            file.write(content)

        await self._put(key, fill)

    async def get_file(self, key: StoreKey, path: Path) -> bool:
        """See `ArtifactStore`."""

        def get() -> bool:
            stored = open_if_there(self._path(key))
            if stored is None:
                return False
            with stored, path.open("wb") as file:
                shutil.copyfileobj(stored, file, CHUNK_BYTES)
            return True

        return await _in_thread(get)

    async def get_bytes(self, key: StoreKey) -> bytes | None:
        """See `ArtifactStore`."""

        def get() -> bytes | None:
            stored = open_if_there(self._path(key))
            if stored is None:
                return None
            with stored:
                content = stored.read(SMALL_BYTES + 1)
            if len(content) > SMALL_BYTES:
                raise StoreUnreachable("the object is too large to be read at once")
            return content

        return await _in_thread(get)

    async def open(self, key: StoreKey) -> BinaryIO | None:
        """The object, open for reading, or None. It stays readable when its key is deleted or put anew meanwhile."""
        return await _in_thread(lambda: open_if_there(self._path(key)))

    async def copy(self, source: StoreKey, target: StoreKey) -> bool:
        """See `ArtifactStore`. The copy is a hard link: it takes no space, and no longer for a larger object."""

        def copy() -> bool:
            destination = self._path(target)
            with self._draft() as draft:
                if not link_or_copy(self._path(source), draft):
                    return False
                show(draft, destination)
            # Copying is what publishes: a job must not be complete before its names have reached the disk.
            sync_folder(destination.parent)
            return True

        return await _in_thread(copy)

    async def stat(self, key: StoreKey) -> Stored | None:
        """See `ArtifactStore`."""

        def look() -> Stored | None:
            try:
                seen = self._path(key).lstat()
            except (FileNotFoundError, NotADirectoryError):
                return None
            modified_at = datetime.fromtimestamp(seen.st_mtime, UTC)
            return Stored(seen.st_size, modified_at) if stat.S_ISREG(seen.st_mode) else None

        return await _in_thread(look)

    async def delete_folder(self, prefix: StoreKey) -> None:
        """See `ArtifactStore`. All objects vanish at once, then their bytes go."""

        def delete() -> None:
            folder = self._path(prefix)
            if folder.is_symlink() or not folder.is_dir():
                return
            with self._draft() as grave:
                os.replace(folder, grave)
                shutil.rmtree(grave)

        await _in_thread(delete)

    async def probe(self) -> None:
        """See `ArtifactStore`."""
        folder = StoreKey(f"probe-{secrets.token_hex(8)}")
        key = StoreKey(f"{folder}/probe")
        await self.put_bytes(key, folder.encode())
        if await self.get_bytes(key) != folder.encode():
            raise StoreUnreachable("the store does not give back what it was given")
        await self.delete_folder(folder)

    async def _put(self, key: StoreKey, fill: Callable[[BinaryIO], None]) -> None:
        def put() -> None:
            with self._draft() as draft:
                write(draft, fill)
                show(draft, self._path(key))

        await _in_thread(put)

    def _path(self, key: StoreKey) -> Path:
        return self._root / checked_key(key)

    @contextmanager
    def _draft(self) -> Iterator[Path]:
        """A path that no key can name, in the same file system as the objects; nothing is left there afterwards."""
        make_folder(self._root / INCOMING)
        draft = self._root / INCOMING / secrets.token_hex(16)
        try:
            yield draft
        finally:
            draft.unlink(missing_ok=True)


async def _in_thread(work: Callable[[], T]) -> T:
    """Do blocking work; when the caller is cancelled, still wait for its end.

    Else a copy that was cancelled could publish a file after its caller has cleaned up.
    """
    working = asyncio.ensure_future(asyncio.to_thread(_translated, work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        if not working.cancelled():
            working.exception()  # it has been seen: asyncio need not complain
        raise


def _translated(work: Callable[[], T]) -> T:
    try:
        return work()
    except OSError as error:
        raise StoreUnreachable(error.strerror or type(error).__name__) from error
