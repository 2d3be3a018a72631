"""What every artifact store promises, run on the fake and on the real one."""

import asyncio
import hashlib
import os
import socket
import stat
import threading
from collections.abc import Callable
from contextlib import chdir
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from adapters import local_store
from adapters.atomic_files import copy_hashed
from adapters.local_store import INCOMING, SMALL_BYTES, LocalArtifactStore
from domain.messages import StoreKey
from domain.ports import ArtifactStore, StoreUnreachable
from tests.fakes.fake_store import FakeStore

KEY = StoreKey("artifacts/local/cad_1/part.step")
OTHER = StoreKey("artifacts/local/cad_2/part.step")
CONTENT = b"ISO-10303-21;" * 100_000


@pytest.fixture(params=["fake", "local"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    """Each store, empty."""
    return FakeStore() if request.param == "fake" else LocalArtifactStore(tmp_path / "store")


@pytest.fixture
def local(tmp_path: Path) -> LocalArtifactStore:
    """The real one, for what only a disk can show."""
    return LocalArtifactStore(tmp_path / "store")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to store."""
    path = tmp_path / "source"
    path.write_bytes(CONTENT)
    return path


def _content_of(path: Path) -> bytes:
    return path.read_bytes()


def sha256(content: bytes = CONTENT) -> str:
    """Hex."""
    return hashlib.sha256(content).hexdigest()


async def test_a_stored_file_comes_back_byte_for_byte(store: ArtifactStore, source: Path, tmp_path: Path) -> None:
    await store.put_file(KEY, source, sha256())
    assert await store.get_file(KEY, tmp_path / "back") is True
    assert (tmp_path / "back").read_bytes() == CONTENT


async def test_storing_a_file_leaves_the_callers_own(store: ArtifactStore, source: Path) -> None:
    await store.put_file(KEY, source, sha256())
    assert sha256(_content_of(source)) == sha256()


async def test_storing_twice_is_harmless(store: ArtifactStore, source: Path) -> None:
    await store.put_file(KEY, source, sha256())
    await store.put_file(KEY, source, sha256())
    assert await store.stat(KEY) is not None


async def test_a_file_with_another_hash_is_refused_and_not_visible(store: ArtifactStore, source: Path) -> None:
    with pytest.raises(StoreUnreachable):
        await store.put_file(KEY, source, sha256(b"what was announced"))
    assert await store.stat(KEY) is None


async def test_a_refused_file_leaves_the_object_that_was_there(store: ArtifactStore, source: Path) -> None:
    await store.put_bytes(KEY, b"before")
    with pytest.raises(StoreUnreachable):
        await store.put_file(KEY, source, sha256(b"what was announced"))
    assert await store.get_bytes(KEY) == b"before"


async def test_a_source_that_is_not_there_is_refused(store: ArtifactStore, tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachable):
        await store.put_file(KEY, tmp_path / "missing", sha256())


async def test_of_two_small_objects_the_later_stays(store: ArtifactStore) -> None:
    await store.put_bytes(KEY, b"one")
    await store.put_bytes(KEY, b"two")
    assert await store.get_bytes(KEY) == b"two"


async def test_an_object_too_large_for_one_read_is_refused(store: ArtifactStore) -> None:
    await store.put_bytes(KEY, b"x" * SMALL_BYTES)
    assert len(await store.get_bytes(KEY) or b"") == SMALL_BYTES
    await store.put_bytes(KEY, b"x" * (SMALL_BYTES + 1))
    with pytest.raises(StoreUnreachable):
        await store.get_bytes(KEY)


async def test_what_is_not_there_is_none_and_no_error(store: ArtifactStore, tmp_path: Path) -> None:
    assert await store.get_bytes(KEY) is None
    assert await store.stat(KEY) is None
    assert await store.get_file(KEY, tmp_path / "back") is False
    assert await store.copy(KEY, OTHER) is False
    assert not (tmp_path / "back").exists()


async def test_a_folder_is_no_object(store: ArtifactStore, tmp_path: Path) -> None:
    await store.put_bytes(KEY, b"x")
    folder = StoreKey("artifacts/local/cad_1")
    assert await store.stat(folder) is None
    assert await store.get_bytes(folder) is None
    assert await store.get_file(folder, tmp_path / "back") is False
    assert await store.copy(folder, OTHER) is False


async def test_below_an_object_there_is_nothing(store: ArtifactStore) -> None:
    await store.put_bytes(KEY, b"x")
    below = StoreKey(f"{KEY}/below")
    assert (await store.stat(below), await store.get_bytes(below)) == (None, None)


async def test_a_copy_is_the_same_object_under_another_key(store: ArtifactStore, source: Path, tmp_path: Path) -> None:
    await store.put_file(KEY, source, sha256())
    assert await store.copy(KEY, OTHER) is True
    assert await store.get_file(OTHER, tmp_path / "back") is True
    assert (tmp_path / "back").read_bytes() == CONTENT


async def test_copying_twice_is_harmless(store: ArtifactStore, source: Path) -> None:
    await store.put_file(KEY, source, sha256())
    assert [await store.copy(KEY, OTHER), await store.copy(KEY, OTHER)] == [True, True]
    assert await store.copy(KEY, KEY) is True
    assert (await store.stat(KEY)) is not None


async def test_a_copy_outlives_its_source_and_its_changes(store: ArtifactStore) -> None:
    await store.put_bytes(KEY, b"first")
    await store.copy(KEY, OTHER)
    await store.put_bytes(KEY, b"second")
    await store.delete_folder(StoreKey("artifacts/local/cad_1"))
    assert await store.get_bytes(OTHER) == b"first"


async def test_a_copy_replaces_what_had_its_key(store: ArtifactStore) -> None:
    await store.put_bytes(KEY, b"new")
    await store.put_bytes(OTHER, b"old")
    await store.copy(KEY, OTHER)
    assert await store.get_bytes(OTHER) == b"new"


async def test_stat_tells_size_and_time(store: ArtifactStore) -> None:
    await store.put_bytes(KEY, b"12345")
    seen = await store.stat(KEY)
    assert seen is not None
    assert seen.size_bytes == 5
    assert abs(seen.modified_at - datetime.now(UTC)) < timedelta(days=1)


async def test_deleting_a_folder_takes_all_below_it_and_nothing_beside_it(store: ArtifactStore) -> None:
    beside = StoreKey("artifacts/local/cad_10/part.step")
    deep = StoreKey("artifacts/local/cad_1/deep/er/x")
    for key in (KEY, deep, beside):
        await store.put_bytes(key, b"x")
    await store.delete_folder(StoreKey("artifacts/local/cad_1"))
    assert (await store.stat(KEY), await store.stat(deep)) == (None, None)
    assert await store.stat(beside) is not None


async def test_deleting_a_folder_twice_is_harmless(store: ArtifactStore) -> None:
    await store.delete_folder(StoreKey("artifacts/local/cad_1"))
    await store.put_bytes(KEY, b"x")
    await store.delete_folder(StoreKey("artifacts/local/cad_1"))
    await store.delete_folder(StoreKey("artifacts/local/cad_1"))


async def test_deleting_a_folder_spares_an_object_of_that_name(store: ArtifactStore) -> None:
    await store.put_bytes(KEY, b"x")
    await store.delete_folder(KEY)
    assert await store.get_bytes(KEY) == b"x"


async def test_a_probe_leaves_nothing_behind(store: ArtifactStore, tmp_path: Path) -> None:
    await store.probe()
    await store.probe()
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "key",
    ["", "/etc/passwd", "a/../../b", "..", ".", "a//b", "a/", "/a", ".incoming/x", "a/.hidden", "a b", "ä", "a\0b",
     "a\nb", "a\n", "a\\b", "x" * 1025],
)  # fmt: skip
async def test_a_key_that_is_none_touches_nothing(store: ArtifactStore, key: str) -> None:
    with pytest.raises(ValueError, match="not a store key"):
        await store.put_bytes(StoreKey(key), b"x")
    with pytest.raises(ValueError, match="not a store key"):
        await store.get_bytes(StoreKey(key))
    with pytest.raises(ValueError, match="not a store key"):
        await store.delete_folder(StoreKey(key))


async def test_many_writers_of_one_key_leave_one_whole_object(store: ArtifactStore) -> None:
    contents = [bytes([number]) * 10_000 for number in range(20)]
    await asyncio.gather(*(store.put_bytes(KEY, content) for content in contents))
    assert await store.get_bytes(KEY) in contents


# ---- what only a disk can show


async def test_nothing_is_readable_by_others(local: LocalArtifactStore, tmp_path: Path, source: Path) -> None:
    await local.put_file(KEY, source, sha256())
    await local.put_bytes(OTHER, b"x")
    root = tmp_path / "store"
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [root, *root.rglob("*")]}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


async def test_no_draft_is_left_after_success_or_refusal(
    local: LocalArtifactStore, tmp_path: Path, source: Path
) -> None:
    await local.put_file(KEY, source, sha256())
    await local.copy(KEY, OTHER)
    await local.copy(KEY, OTHER)
    await local.delete_folder(StoreKey("artifacts/local/cad_2"))
    with pytest.raises(StoreUnreachable):
        await local.put_file(KEY, source, "0" * 64)
    assert list((tmp_path / "store" / INCOMING).iterdir()) == []


def _make_link(path: Path, target: Path) -> None:
    path.symlink_to(target)


def _make_pipe(path: Path, target: Path) -> None:
    os.mkfifo(path)


def _make_socket(path: Path, target: Path) -> None:
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as bound:  # a socket's path may have 100 characters only
        bound.bind(path.name)


NO_FILE = pytest.mark.parametrize("make", [_make_link, _make_pipe, _make_socket])


@NO_FILE
async def test_what_is_no_regular_file_is_no_object(
    local: LocalArtifactStore, tmp_path: Path, source: Path, make: Callable[[Path, Path], None]
) -> None:
    """A link would lead out of the store, and opening a pipe would wait for ever."""
    await local.put_bytes(OTHER, b"x")
    make(tmp_path / "store" / OTHER.replace("part", "trap"), source)
    trap = StoreKey(OTHER.replace("part", "trap"))
    assert await local.open(trap) is None
    assert await local.get_bytes(trap) is None
    assert await local.get_file(trap, tmp_path / "back") is False
    assert await local.stat(trap) is None
    assert await local.copy(trap, KEY) is False
    assert await local.stat(KEY) is None


@NO_FILE
async def test_what_is_no_regular_file_is_not_stored(
    local: LocalArtifactStore, tmp_path: Path, source: Path, make: Callable[[Path, Path], None]
) -> None:
    make(tmp_path / "trap", source)
    with pytest.raises(StoreUnreachable):
        await local.put_file(KEY, tmp_path / "trap", sha256())


async def test_a_link_to_a_folder_is_not_deleted(local: LocalArtifactStore, tmp_path: Path, source: Path) -> None:
    await local.put_bytes(KEY, b"x")
    (tmp_path / "store" / "elsewhere").symlink_to(tmp_path)
    await local.delete_folder(StoreKey("elsewhere"))
    assert (tmp_path / "store" / "elsewhere").is_symlink()
    assert source.exists()


async def test_a_copy_takes_no_space(local: LocalArtifactStore, tmp_path: Path, source: Path) -> None:
    await local.put_file(KEY, source, sha256())
    await local.copy(KEY, OTHER)
    assert (tmp_path / "store" / KEY).samefile(tmp_path / "store" / OTHER)


async def test_a_file_system_without_links_gets_a_copy(
    local: LocalArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: Any, target: Any, **how: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    await local.put_bytes(KEY, b"x")
    assert await local.copy(KEY, OTHER) is True
    assert await local.copy(StoreKey("missing"), OTHER) is False
    assert await local.get_bytes(OTHER) == b"x"
    assert not (tmp_path / "store" / KEY).samefile(tmp_path / "store" / OTHER)


async def test_an_opened_object_stays_readable_when_it_is_deleted(local: LocalArtifactStore) -> None:
    await local.put_bytes(KEY, b"still here")
    opened = await local.open(KEY)
    assert opened is not None
    await local.delete_folder(StoreKey("artifacts/local/cad_1"))
    with opened:
        assert opened.read() == b"still here"
    assert await local.open(KEY) is None


async def test_a_store_whose_folder_can_not_be_made_is_unreachable(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    blocked = LocalArtifactStore(tmp_path / "file" / "store")
    for attempt in (blocked.put_bytes(KEY, b"x"), blocked.copy(KEY, OTHER), blocked.probe()):
        with pytest.raises(StoreUnreachable):
            await attempt


async def test_a_cancelled_copy_is_over_when_its_caller_goes_on(
    local: LocalArtifactStore, tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a file could be published after the clean-up that follows a cancellation."""
    has_begun, may_go_on = threading.Event(), threading.Event()

    def copy_when_told(original: BinaryIO, target: BinaryIO) -> str:
        has_begun.set()
        may_go_on.wait()
        return copy_hashed(original, target)

    monkeypatch.setattr(local_store, "copy_hashed", copy_when_told)
    putting = asyncio.ensure_future(local.put_file(KEY, source, sha256()))
    await asyncio.to_thread(has_begun.wait)
    putting.cancel()
    _, pending = await asyncio.wait({putting}, timeout=0)
    may_go_on.set()
    assert pending == {putting}
    with pytest.raises(asyncio.CancelledError):
        await putting
    assert list((tmp_path / "store" / INCOMING).iterdir()) == []
