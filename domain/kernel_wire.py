"""The frames between a worker and its kernel processes: a length, then one JSON object.

Never reads or writes a descriptor: both ends bring their own.
"""

import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from domain.messages import MeshQuality, Part, Phase, Produced
from domain.ports import Built, KernelJob, OutOfMemory, Progress, Refused
from domain.problems import problem_from_dict

MAX_REPLY_BYTES = 64 * 1024
"""The largest honest reply is a refusal that names some dozens of faults, about 10 KiB."""

MAX_JOB_BYTES = 8 * 1024 * 1024
"""A request's body is at most 1 MiB; JSON escapes may swell it sixfold."""

_LENGTH = struct.Struct(">I")
_REHEARSAL = {"rehearse": True}

Reply: TypeAlias = Progress | Produced | Built | Refused | OutOfMemory
"""What a kernel process says: its news, and at most one last word."""


class BrokenFrame(Exception):
    """What arrived is not what an honest process sends."""


def pack(message: dict[str, Any]) -> bytes:
    """One frame."""
    body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    return _LENGTH.pack(len(body)) + body


def unpack(body: bytes) -> dict[str, Any]:
    """The object in a frame.

    Raises:
        BrokenFrame: it holds no JSON object.
    """
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise BrokenFrame("not JSON") from None
    if not isinstance(message, dict):
        raise BrokenFrame("not an object")
    return message


class FrameReader:
    """Cuts a stream of bytes into frames of at most `limit_bytes`."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The bodies of the frames that `chunk` completes, in order.

        Raises:
            BrokenFrame: a frame announces more than the limit.
        """
        self._rest += chunk
        while len(self._rest) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._rest)
            if length > self._limit_bytes:
                raise BrokenFrame("oversized")
            end = _LENGTH.size + length
            if len(self._rest) < end:
                return
            body = bytes(self._rest[_LENGTH.size : end])
            del self._rest[:end]
            yield body


class _Frame(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)


class _Job(_Frame):
    part: Part
    outputs: tuple[str, ...]
    shape_file: str | None
    mesh: MeshQuality
    workdir: Path
    deadline_s: float
    max_triangles: int


class _Progress(_Frame):
    kind: Literal["progress"] = "progress"
    phase: Phase
    fraction: float = Field(ge=0, le=1)


class _Produced(_Frame):
    kind: Literal["produced"] = "produced"
    file: Produced


class _Built(_Frame):
    kind: Literal["built"] = "built"


class _Refused(_Frame):
    kind: Literal["refused"] = "refused"
    problem: dict[str, Any]


class _OutOfMemory(_Frame):
    kind: Literal["out-of-memory"] = "out-of-memory"
    limit_bytes: int = Field(gt=0)


_AnyReply: TypeAlias = Annotated[_Progress | _Produced | _Built | _Refused | _OutOfMemory, Field(discriminator="kind")]
_REPLY: TypeAdapter[_AnyReply] = TypeAdapter(_AnyReply)


def job_frame(job: KernelJob) -> bytes:
    """What a worker sends a kernel process, once."""
    fields = {name: getattr(job, name) for name in _Job.model_fields}
    return pack(_Job.model_construct(**fields).model_dump(mode="json"))


def rehearsal_frame() -> bytes:
    """What a worker may send before the job: use the time until it comes."""
    return pack(_REHEARSAL)


def is_rehearsal(body: bytes) -> bool:
    """Whether a frame's body is what `rehearsal_frame` sends."""
    return unpack(body) == _REHEARSAL


def job_from(body: bytes) -> KernelJob:
    """The job in a frame.

    Raises:
        BrokenFrame: it holds none.
    """
    try:
        job = _Job.model_validate_json(body)
    except ValidationError:
        raise BrokenFrame("not a job") from None
    return KernelJob(**{name: getattr(job, name) for name in _Job.model_fields})


def reply_frame(reply: Reply) -> bytes:
    """What a kernel process sends back."""
    return pack(_as_frame(reply).model_dump(mode="json"))


def _as_frame(reply: Reply) -> _AnyReply:
    match reply:
        case Progress():
            return _Progress(phase=reply.phase, fraction=reply.fraction)
        case Produced():
            return _Produced(file=reply)
        case Built():
            return _Built()
        case Refused():
            return _Refused(problem=reply.problem.as_dict())
        case OutOfMemory():
            return _OutOfMemory(limit_bytes=reply.limit_bytes)


def reply_from(body: bytes) -> Reply:
    """The reply in a frame; whatever the bytes are, nothing but `BrokenFrame` comes of them.

    Raises:
        BrokenFrame: it holds none.
    """
    try:
        frame = _REPLY.validate_json(body)
        if not _is_finite(frame.model_dump()):
            raise BrokenFrame("not a number")
        return _as_reply(frame)
    except (ValidationError, TypeError):  # TypeError: a problem without its fields
        raise BrokenFrame("not a reply") from None


def _is_finite(value: Any) -> bool:
    """Whether no number in it, however deep, is infinite or none: the frame's own rule does not reach what it holds."""
    match value:
        case float():
            return math.isfinite(value)
        case dict():
            return all(map(_is_finite, value.values()))
        case list() | tuple():
            return all(map(_is_finite, value))
    return True


def _as_reply(frame: _AnyReply) -> Reply:
    match frame:
        case _Progress():
            return Progress(frame.phase, frame.fraction)
        case _Produced():
            return frame.file
        case _Built():
            return Built()
        case _Refused():
            return Refused(problem_from_dict(frame.problem))
        case _OutOfMemory():
            return OutOfMemory(frame.limit_bytes)
