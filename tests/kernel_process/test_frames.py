"""The frames: what is packed comes out again, and whatever else arrives is a broken frame."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.kernel_wire import (
    MAX_JOB_BYTES,
    MAX_REPLY_BYTES,
    BrokenFrame,
    FrameReader,
    Reply,
    job_frame,
    job_from,
    pack,
    reply_frame,
    reply_from,
    unpack,
)
from domain.messages import MeshQuality, Part, Produced
from domain.ports import Built, KernelJob, OutOfMemory, Progress, Refused
from domain.problems import GeometryVerificationFailed, TooManyTriangles
from tests.fakes.fake_kernel import FACTS

REPLIES: list[Reply] = [
    Progress("meshing", 1 / 3),
    Produced(output="shape", file_name="shape.brep", size_bytes=7, sha256="0" * 64, facts=FACTS),
    Produced(output="stl", file_name="part.stl", size_bytes=7, sha256="0" * 64, triangles=12),
    Built(),
    Refused(GeometryVerificationFailed("volume", "1", "2", "step")),
    Refused(TooManyTriangles(7_000_000, 5_000_000)),
    OutOfMemory(1024),
]


def bodies(stream: bytes, limit_bytes: int = MAX_REPLY_BYTES) -> list[bytes]:
    """All frames in a stream that comes at once."""
    return list(FrameReader(limit_bytes).feed(stream))


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: type(reply).__name__)
def test_a_reply_survives_its_frame(reply: Reply) -> None:
    (body,) = bodies(reply_frame(reply))
    assert reply_from(body) == reply


def test_a_job_survives_its_frame() -> None:
    part = Part(model="m", model_version="1", engine="e", parameters={"length": 0.1 + 0.2, "names": ["ä", None]})
    job = KernelJob(part, ("shape", "stl"), "shape.brep", MeshQuality(linear_deflection=0.3), Path("/scratch/ü"), 1.5)
    (body,) = bodies(job_frame(job), MAX_JOB_BYTES)
    assert job_from(body) == job


@given(st.lists(st.integers(1, 40), max_size=60))
def test_frames_do_not_depend_on_how_the_stream_is_cut(cuts: list[int]) -> None:
    stream = b"".join(map(reply_frame, REPLIES))
    reader = FrameReader(MAX_REPLY_BYTES)
    found: list[Reply] = []
    for cut in [*cuts, len(stream)]:
        chunk, stream = stream[:cut], stream[cut:]
        found += map(reply_from, reader.feed(chunk))
    assert found == REPLIES


@given(st.binary(max_size=200))
def test_any_bytes_are_a_reply_or_a_broken_frame(body: bytes) -> None:
    try:
        reply_from(body)
        unpack(body)
    except BrokenFrame:
        return


def test_an_oversized_frame_is_broken_before_it_is_read() -> None:
    with pytest.raises(BrokenFrame):
        bodies((MAX_REPLY_BYTES + 1).to_bytes(4, "big"))


def test_frames_before_a_broken_one_are_heard() -> None:
    frames = FrameReader(MAX_REPLY_BYTES).feed(reply_frame(Built()) + b"\xff" * 8)
    assert reply_from(next(frames)) == Built()
    with pytest.raises(BrokenFrame):
        next(frames)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[" * 5000,
        b'{"kind":"progress","phase":"meshing","fraction":1.5}',
        b'{"kind":"progress","phase":"meshing","fraction":Infinity}',
        b'{"kind":"progress","phase":"dreaming","fraction":0.5}',
        b'{"kind":"refused","problem":{"type":"https://partmill.dev/problems/kernel-crashed"}}',
        b'{"kind":"out-of-memory","limit_bytes":-1}',
        b'{"kind":"unheard of"}',
    ],
)
def test_what_is_no_reply_is_a_broken_frame(body: bytes) -> None:
    with pytest.raises(BrokenFrame):
        reply_from(body)


@pytest.mark.parametrize("body", [b"", b"[]", b"[" * 100_000, b"\xff", b"7"])
def test_what_is_no_object_is_a_broken_frame(body: bytes) -> None:
    with pytest.raises(BrokenFrame):
        unpack(body)


def test_what_is_no_job_is_a_broken_frame() -> None:
    with pytest.raises(BrokenFrame):
        job_from(b'{"part":null}')


def test_a_frame_holds_no_numbers_that_json_has_not() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        pack({"fraction": float("nan")})


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("field", ["1000.0", "-5.0"])
def test_a_measure_that_is_no_number_is_a_broken_frame(field: str, number: str) -> None:
    """In the facts themselves or deeper, in a bounding box."""
    (body,) = bodies(reply_frame(REPLIES[1]))
    assert field in body.decode()
    with pytest.raises(BrokenFrame):
        reply_from(body.decode().replace(field, number, 1).encode())
