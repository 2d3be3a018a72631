"""Turns JSON answers into the values of documents.py.

Never guesses: a document that lacks what its reader needs raises `UnexpectedAnswer`. Members it does not know are
left alone, so that an older client reads a newer service.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from partmill.documents import (
    Document,
    Fault,
    File,
    Geometry,
    Job,
    Kernel,
    Model,
    Problem,
    Progress,
    Result,
    Validation,
)
from partmill.errors import UnexpectedAnswer

T = TypeVar("T")

_JOB_ID = re.compile(r"(cad|task)_[0-9a-f]{32}")
_FORMAT = re.compile(r"[a-z0-9]+")
"""Both become names of files on the user's disk, so a server can't be free to choose them."""


def document(body: bytes) -> Document:
    """The JSON object in `body`.

    Raises:
        UnexpectedAnswer: it is anything else.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnexpectedAnswer("the answer is not JSON: is this address a partmill server?") from error
    if not isinstance(value, dict):
        raise UnexpectedAnswer("the answer is not a JSON object: is this address a partmill server?")
    return value


def job(doc: Document, *, replayed: bool = False, retry_after_s: float | None = None) -> Job:
    """A job's status, or the shorter answer to its creation."""
    return _read(
        "job",
        lambda: Job(
            job_id=_matching(_JOB_ID, doc["job_id"]),
            status=doc["status"],
            created_at=datetime.fromisoformat(doc["created_at"]),
            started_at=_moment(doc, "started_at"),
            completed_at=_moment(doc, "completed_at"),
            model=doc.get("model"),
            engine=doc.get("engine"),
            attempt=doc.get("attempt", 1),
            evictions=doc.get("evictions", 0),
            cancel_requested=doc.get("cancel_requested", False),
            suspended_reason=doc.get("suspended_reason"),
            progress=_optional(doc, "progress", _progress),
            result=_optional(doc, "result", _result),
            error=_optional(doc, "error", problem),
            replayed=replayed,
            retry_after_s=retry_after_s,
            document=doc,
        ),
    )


def problem(doc: Document) -> Problem:
    """A problem; absent members get the defaults of RFC 9457."""
    return Problem(
        type=doc.get("type", "about:blank"),
        title=doc.get("title", "Problem"),
        detail=doc.get("detail", ""),
        status=doc.get("status"),
        instance=doc.get("instance"),
        errors=tuple(_fault(error) for error in doc.get("errors", ())),
        document=doc,
    )


def model(doc: Document) -> Model:
    """One entry of the catalogue."""
    return _read(
        "model",
        lambda: Model(
            name=doc["name"],
            description=doc.get("description", ""),
            version=doc.get("version"),
            engines={name: tuple(formats) for name, formats in doc.get("engines", {}).items()},
            parameters=doc.get("parameters", {}),
            example=doc.get("example", {}),
            document=doc,
        ),
    )


def models(doc: Document) -> tuple[Model, ...]:
    """The catalogue."""
    return _read("catalogue", lambda: tuple(model(entry) for entry in doc["models"]))


def validation(doc: Document) -> Validation:
    """The answer to a request that would be accepted."""
    return Validation(volume=doc.get("volume"), bounding_box=doc.get("bounding_box"), document=doc)


def _read(what: str, build: Callable[[], T]) -> T:
    try:
        return build()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnexpectedAnswer(f"the answer is not a {what} as this client knows it ({error!r})") from error


def _matching(pattern: re.Pattern[str], text: str) -> str:
    if pattern.fullmatch(text) is None:
        raise ValueError(text)
    return text


def _optional(doc: Document, key: str, read: Callable[[Document], T]) -> T | None:
    return None if doc.get(key) is None else read(doc[key])


def _moment(doc: Document, key: str) -> datetime | None:
    return None if doc.get(key) is None else datetime.fromisoformat(doc[key])


def _progress(doc: Document) -> Progress:
    return Progress(doc["phase"], float(doc["fraction"]), _moment(doc, "last_heartbeat"))


def _result(doc: Document) -> Result:
    files = doc.get("files") or [doc]
    return Result(
        files=tuple(_file(file) for file in files),
        geometry=_optional(doc, "geometry", _geometry),
        kernel=_optional(doc, "kernel", lambda kernel: Kernel(kernel["engine"], kernel["version"])),
    )


def _file(doc: Document) -> File:
    return File(
        file_format=_matching(_FORMAT, doc["file_format"]),
        file_size_bytes=doc["file_size_bytes"],
        sha256=doc["sha256"],
        download_url=doc["download_url"],
        expires_at=_moment(doc, "expires_at"),
        triangles=doc.get("triangles"),
    )


def _geometry(doc: Document) -> Geometry:
    plain: dict[str, Any] = {
        key: doc[key] for key in ("volume", "area", "bounding_box", "faces", "edges", "valid", "watertight")
    }
    return Geometry(center_of_mass=tuple(doc["center_of_mass"]), **plain)


def _fault(doc: Mapping[str, Any]) -> Fault:
    return Fault(
        pointer=doc.get("pointer", ""),
        rule=doc.get("rule", ""),
        detail=doc.get("detail", ""),
        value=doc.get("value"),
        limit=doc.get("limit"),
    )
