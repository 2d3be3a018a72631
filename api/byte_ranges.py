"""Which bytes of a representation a request wants (RFC 9110, sections 13 and 14).

Never reads a file.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime

from starlette.datastructures import Headers

_RANGE = re.compile(r"bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", re.IGNORECASE | re.ASCII)

_TAG = re.compile(r'(?:W/)?"[^"]*"')

LONGEST_NUMBER = 18
"""Digits of a byte position: more than any file system counts."""


@dataclass(frozen=True)
class Validators:
    """What tells one version of a file from another."""

    etag: str
    """Strong, with its quotes."""
    modified_at: datetime

    @property
    def last_modified(self) -> str:
        """As an HTTP date, which knows whole seconds only."""
        return format_datetime(self.modified_at.astimezone(UTC).replace(microsecond=0), usegmt=True)


@dataclass(frozen=True)
class Span:
    """Bytes `start` to `stop`, the latter not included."""

    start: int
    stop: int


class Unsatisfiable(Exception):
    """The file has none of the bytes that were asked for."""


def precondition_failed(headers: Headers, file: Validators) -> bool:
    """Whether the client asked for another version than this one (If-Match, If-Unmodified-Since)."""
    if tags := headers.getlist("if-match"):
        return not _lists(tags, file.etag, weak=False)
    return _is_after(file, headers.get("if-unmodified-since")) is True


def not_modified(headers: Headers, file: Validators) -> bool:
    """Whether the client has this version already (If-None-Match, If-Modified-Since)."""
    if tags := headers.getlist("if-none-match"):
        return _lists(tags, file.etag, weak=True)
    return _is_after(file, headers.get("if-modified-since")) is False


def wanted(headers: Headers, file: Validators, size: int) -> Span | None:
    """The one range that was asked for; None means the whole file, as does whatever is better ignored: several ranges,
    another unit, a range that is no range, or one of another version (If-Range).

    Raises:
        Unsatisfiable: the range lies outside the file.
    """
    asked = _RANGE.fullmatch(headers.get("range", ""))
    if asked is None or not _is_same_version(headers.get("if-range"), file):
        return None
    first, last = asked.groups()
    if max(len(first), len(last)) > LONGEST_NUMBER or not (first or last):
        return None
    if not first:
        return _span(max(size - int(last), 0) if int(last) else size, size, size)
    if last and int(last) < int(first):
        return None
    return _span(int(first), min(int(last) + 1, size) if last else size, size)


def _span(start: int, stop: int, size: int) -> Span:
    if start >= size:
        raise Unsatisfiable
    return Span(start, stop)


def _is_same_version(if_range: str | None, file: Validators) -> bool:
    return if_range is None or if_range in (file.etag, file.last_modified)


def _lists(lines: list[str], etag: str, *, weak: bool) -> bool:
    """Whether the list, which may stand in several header lines, has this tag; `*` alone stands for any."""
    tags = ", ".join(lines)
    listed = _TAG.findall(tags)
    return tags.strip() == "*" or etag in listed or (weak and f"W/{etag}" in listed)


def _is_after(file: Validators, date: str | None) -> bool | None:
    """Whether the file was modified after `date`; None where that is no date."""
    if date is None:
        return None
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):  # a year may have any number of digits
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return file.modified_at.replace(microsecond=0) > moment
