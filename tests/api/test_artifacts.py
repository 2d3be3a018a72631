"""Downloads from the local store (contract rule 27)."""

import asyncio
import hashlib
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import httpx
import pytest

from adapters.signed_links import KEY_FILE, SignedLinks, SigningKeyError, load_signing_key
from domain.messages import StoreKey
from tests.api.conftest import Service

KEY = StoreKey("artifacts/local/cad_00000000000000000000000000000001/bored-cylinder.step")
CONTENT = b"ISO-10303-21;" + bytes(range(256)) * 4000
SIZE = len(CONTENT)

FAR_YEAR = "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"

Conditions: TypeAlias = dict[str, str] | list[tuple[str, str]]


@pytest.fixture
async def link(service: Service) -> str:
    """A good link to a stored file."""
    await service.store.put_bytes(KEY, CONTENT)
    return service.link(KEY)


def slug(answer: httpx.Response) -> str:
    """Of a problem."""
    return str(answer.json()["type"]).rpartition("/")[2]


async def test_a_link_serves_the_file(api: httpx.AsyncClient, link: str) -> None:
    answer = await api.get(link)
    assert answer.status_code == 200
    assert hashlib.sha256(answer.content).digest() == hashlib.sha256(CONTENT).digest()
    assert answer.headers["Content-Type"] == "model/step"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="bored-cylinder.step"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert int(answer.headers["Content-Length"]) == SIZE


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("a.stl", "model/stl"), ("a.brep", "application/octet-stream"), ("a", "application/octet-stream")],
)
async def test_each_format_has_its_media_type(
    api: httpx.AsyncClient, service: Service, name: str, media_type: str
) -> None:
    key = StoreKey(f"artifacts/local/types/{name}")
    await service.store.put_bytes(key, b"x")
    assert (await api.get(service.link(key))).headers["Content-Type"] == media_type


@pytest.mark.parametrize(
    "name", ['my "part".step', "größe.step", "a\r\nX-Evil: 1.step", "../../etc/passwd", "%41.step"]
)
async def test_any_file_name_survives_in_a_header(
    api: httpx.AsyncClient, service: Service, link: str, name: str
) -> None:
    answer = await api.get(service.link(KEY, name))
    assert answer.status_code == 200
    assert "X-Evil" not in answer.headers
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="')


async def test_head_tells_what_get_would(api: httpx.AsyncClient, link: str) -> None:
    got, head = await api.get(link), await api.head(link)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Last-Modified", "Content-Length", "Content-Type", "Content-Disposition", "Accept-Ranges"):
        assert head.headers[name] == got.headers[name]


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=10-", 10, SIZE),
        (f"bytes={SIZE - 1}-", SIZE - 1, SIZE),
        ("bytes=-1", SIZE - 1, SIZE),
        ("bytes=-100", SIZE - 100, SIZE),
        (f"bytes=-{SIZE + 100}", 0, SIZE),
        (f"bytes=5-{SIZE + 100}", 5, SIZE),
        ("Bytes = 10 - 19", 10, 20),
        ("bytes=300000-900000", 300_000, 900_001),
    ],
)
async def test_a_range_serves_just_these_bytes(
    api: httpx.AsyncClient, link: str, asked: str, start: int, stop: int
) -> None:
    answer = await api.get(link, headers={"Range": asked})
    assert answer.status_code == 206
    assert answer.content == CONTENT[start:stop]
    assert answer.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{SIZE}"
    assert int(answer.headers["Content-Length"]) == stop - start


@pytest.mark.parametrize("asked", [f"bytes={SIZE}-", f"bytes={SIZE + 5}-{SIZE + 9}", "bytes=-0"])
async def test_a_range_outside_the_file_is_a_416(api: httpx.AsyncClient, link: str, asked: str) -> None:
    answer = await api.get(link, headers={"Range": asked})
    assert answer.status_code == 416
    assert answer.headers["Content-Range"] == f"bytes */{SIZE}"


@pytest.mark.parametrize(
    "asked",
    ["bytes=0-1,5-6", "lines=0-1", "bytes=", "bytes=-", "bytes=5-2", "bytes=a-b", "bytes=" + "9" * 99 + "-", "x"],
)
async def test_what_is_no_single_range_is_ignored(api: httpx.AsyncClient, link: str, asked: str) -> None:
    answer = await api.get(link, headers={"Range": asked})
    assert (answer.status_code, len(answer.content)) == (200, SIZE)


async def test_a_range_of_an_empty_file_is_a_416(api: httpx.AsyncClient, service: Service) -> None:
    key = StoreKey("artifacts/local/empty/x.step")
    await service.store.put_bytes(key, b"")
    assert (await api.get(service.link(key))).status_code == 200
    assert (await api.get(service.link(key), headers={"Range": "bytes=0-"})).status_code == 416


async def test_if_range_serves_a_part_of_the_same_version_only(api: httpx.AsyncClient, link: str) -> None:
    whole = await api.get(link)
    for validator in (whole.headers["ETag"], whole.headers["Last-Modified"]):
        answer = await api.get(link, headers={"Range": "bytes=0-9", "If-Range": validator})
        assert answer.status_code == 206
    for validator in ('"another"', "W/" + whole.headers["ETag"], "Fri, 25 Oct 2024 08:30:00 GMT", "nonsense"):
        answer = await api.get(link, headers={"Range": "bytes=0-9", "If-Range": validator})
        assert (answer.status_code, len(answer.content)) == (200, SIZE)


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        (lambda h: {"If-None-Match": h["ETag"]}, 304),
        (lambda h: {"If-None-Match": "W/" + h["ETag"]}, 304),
        (lambda h: {"If-None-Match": '"a", ' + h["ETag"]}, 304),
        (lambda h: {"If-None-Match": "*"}, 304),
        (lambda h: {"If-None-Match": '"a"'}, 200),
        (lambda h: {"If-None-Match": '"a"', "If-Modified-Since": h["Last-Modified"]}, 200),
        (lambda h: {"If-Modified-Since": h["Last-Modified"]}, 304),
        (lambda h: {"If-Modified-Since": "Fri, 25 Oct 2024 08:30:00 GMT"}, 200),
        (lambda h: {"If-Modified-Since": "yesterday"}, 200),
        (lambda h: {"If-Modified-Since": "Fri, 99 Xyz 9999999 88:99:00 GMT"}, 200),
        (lambda h: {"If-Modified-Since": FAR_YEAR}, 200),
        (lambda h: {"If-Unmodified-Since": FAR_YEAR}, 200),
        (lambda h: [("If-None-Match", '"a"'), ("If-None-Match", h["ETag"])], 304),
        (lambda h: [("If-Match", '"a"'), ("If-Match", h["ETag"])], 200),
        (lambda h: [("If-Match", '"a"'), ("If-Match", '"b"')], 412),
        (lambda h: {"If-None-Match": '"a,*,b"'}, 200),
        (lambda h: {"If-Match": '"a,*,b"'}, 412),
        (lambda h: {"If-Match": h["ETag"]}, 200),
        (lambda h: {"If-Match": "*"}, 200),
        (lambda h: {"If-Match": '"a"'}, 412),
        (lambda h: {"If-Match": "W/" + h["ETag"]}, 412),
        (lambda h: {"If-Unmodified-Since": h["Last-Modified"]}, 200),
        (lambda h: {"If-Unmodified-Since": "Fri, 25 Oct 2024 08:30:00 GMT"}, 412),
        (lambda h: {"If-None-Match": h["ETag"], "Range": "bytes=0-1"}, 304),
    ],
    ids=range(24),
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_conditions_are_kept(
    api: httpx.AsyncClient, link: str, method: str, condition: Callable[[httpx.Headers], Conditions], status: int
) -> None:
    headers = condition((await api.head(link)).headers)
    answer = await api.request(method, link, headers=headers)
    assert answer.status_code == status
    assert "ETag" in answer.headers


async def test_a_replaced_file_has_another_etag(api: httpx.AsyncClient, service: Service) -> None:
    key = StoreKey("artifacts/local/versions/x.step")
    await service.store.put_bytes(key, b"one")
    first = (await api.head(service.link(key))).headers["ETag"]
    await service.store.put_bytes(key, b"three")
    assert (await api.head(service.link(key))).headers["ETag"] != first


async def test_an_expired_link_and_a_forged_one_are_different_403s(
    api: httpx.AsyncClient, service: Service, link: str
) -> None:
    expired = await api.get(service.link(KEY, seconds=-1))
    assert (expired.status_code, slug(expired)) == (403, "link-expired")
    path, query = link.split("?")
    for forged in (
        path,
        f"{path}?expires=1",
        link[:-1],
        link + "&file_name=x.exe",
        link.replace("expires=", "expires=9"),
        f"/v1/artifacts/local/other/x.step?{query}",
        f"/v1/{KEY}/../x?{query}",
        f"/v1/artifacts/..%2f..%2flink-signing-key?{query}",
        f"{path}?expires=%ff&signature=%00",
    ):
        answer = await api.get(forged)
        assert (answer.status_code, slug(answer)) == (403, "link-forged"), forged


async def test_a_file_that_is_gone_is_a_404_of_its_own(api: httpx.AsyncClient, service: Service) -> None:
    answer = await api.get(service.link(StoreKey("artifacts/local/gone/x.step")))
    assert (answer.status_code, slug(answer)) == (404, "artifact-gone")


async def test_a_link_out_of_the_store_leads_nowhere(api: httpx.AsyncClient, service: Service) -> None:
    await service.store.put_bytes(StoreKey("artifacts/local/out/beside"), b"x")
    (service.data_dir / "artifacts/artifacts/local/out/x.step").symlink_to(service.data_dir / KEY_FILE)
    answer = await api.get(service.link(StoreKey("artifacts/local/out/x.step")))
    assert (answer.status_code, slug(answer)) == (404, "artifact-gone")


async def test_a_store_that_can_not_be_read_is_a_503(api: httpx.AsyncClient, service: Service) -> None:
    """A key that holds for every store, with a name that this one's file system can't even look for."""
    answer = await api.get(service.link(StoreKey("artifacts/local/" + "x" * 300)))
    assert (answer.status_code, slug(answer)) == (503, "store-unavailable")


async def test_a_download_goes_on_when_its_file_is_deleted(service: Service) -> None:
    key = StoreKey("artifacts/local/deleted/x.step")
    content = os.urandom(4 * 1024 * 1024)
    await service.store.put_bytes(key, content)
    received = bytearray()
    async with (
        httpx.AsyncClient(base_url=service.url, timeout=30) as client,
        client.stream("GET", service.link(key)) as answer,
    ):
        chunks = answer.aiter_bytes()
        received += await anext(chunks)
        await service.store.delete_folder(StoreKey("artifacts/local/deleted"))
        async for chunk in chunks:
            received += chunk
    assert received == content


async def test_many_clients_download_at_once(api: httpx.AsyncClient, link: str) -> None:
    answers = await asyncio.gather(*(api.get(link) for _ in range(20)))
    assert {answer.content == CONTENT for answer in answers} == {True}


# ---- the signing key


def test_processes_that_start_at_once_get_the_same_key(tmp_path: Path) -> None:
    assert len({load_signing_key(tmp_path / "data") for _ in range(5)}) == 1


async def test_racing_makers_of_the_key_agree(tmp_path: Path) -> None:
    keys = await asyncio.gather(*(asyncio.to_thread(load_signing_key, tmp_path / "data") for _ in range(16)))
    assert len(set(keys)) == 1
    assert [path.name for path in _files(tmp_path / "data")] == [KEY_FILE]


def test_the_key_is_its_owners_only(tmp_path: Path) -> None:
    load_signing_key(tmp_path / "data")
    assert stat.S_IMODE((tmp_path / "data" / KEY_FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_key_is_refused_by_the_name_of_its_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / KEY_FILE).write_bytes(content)
    with pytest.raises(SigningKeyError, match=KEY_FILE):
        load_signing_key(tmp_path)


def test_a_data_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SigningKeyError, match="file"):
        load_signing_key(tmp_path / "file" / "data")


def test_a_link_is_the_same_for_the_same_arguments() -> None:
    links, again = SignedLinks(b"k" * 32), SignedLinks(b"k" * 32)
    expires_at = datetime(2024, 10, 25, 8, 30, tzinfo=UTC)
    assert links.link(KEY, "x", expires_at) == again.link(KEY, "x", expires_at)


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir())
