"""What makes two requests the same one, and the job ID that follows from it.

Never looks at what a request means: parameters, models and rules play no part in its identity.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import rfc8785

from domain.messages import JobId, Tenant
from domain.problems import InvalidIdempotencyKey, Refusal

Operation: TypeAlias = Literal["generate", "batch-generate", "batch-inference"]

PREFIXES: dict[Operation, str] = {"generate": "cad_", "batch-generate": "task_", "batch-inference": "task_"}

LONGEST_KEY = 255
"""Characters; what a keyword search attribute of Temporal's holds on every database."""

_BARE = re.compile(r"[A-Za-z0-9_.:-]+")
_QUOTED = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
_ESCAPED = re.compile(r'\\(["\\])')
_JOB_ID = re.compile(r"cad_[0-9a-f]{32}")


def fingerprint_of(content: Any) -> str:
    """Hex SHA-256 of the canonical JSON (RFC 8785): the same for `1` and `1.0`, and for any order of members."""
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()


def job_id_of(tenant: Tenant, operation: Operation, key: str | None, fingerprint: str) -> JobId:
    """The ID of the job that this request belongs to: by its client's key, or with none by the request itself."""
    identity = f"body:{fingerprint}" if key is None else f"key:{key}"
    text = f"partmill/v1\n{tenant}\n{operation}\n{identity}"
    return JobId(PREFIXES[operation] + hashlib.sha256(text.encode()).hexdigest()[:32])


def is_job_id(text: str) -> bool:
    """Whether `text` could be the ID of a generation."""
    return _JOB_ID.fullmatch(text) is not None


def idempotency_key(lines: Sequence[str]) -> str | None:
    """The client's key from the values of all Idempotency-Key header lines; None where there is no such header.

    A bare token or a quoted string (RFC 8941, section 3.3.3): `abc` and `"abc"` are the same key.
    Blanks around it are none of it (RFC 9110, section 5.5).

    Raises:
        Refusal: `InvalidIdempotencyKey`.
    """
    if not lines:
        return None
    key = _unquoted(lines[0].strip(" \t")) if len(lines) == 1 else None
    if not key or len(key) > LONGEST_KEY:
        raise Refusal(InvalidIdempotencyKey())
    return key


def _unquoted(value: str) -> str | None:
    if _BARE.fullmatch(value):
        return value
    quoted = _QUOTED.fullmatch(value)
    return _ESCAPED.sub(r"\1", quoted[1]) if quoted else None
