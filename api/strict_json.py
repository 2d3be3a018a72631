"""JSON as RFC 8259 and I-JSON (RFC 7493) have it, and nothing that parsers read differently.

Never guesses: what two readers could understand in two ways is refused, with a reason in plain words.
"""

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

from domain.problems import MalformedRequest, Refusal

DEEPEST = 64
"""Arrays and objects inside each other: far more than any request needs, far less than a parser's stack holds."""

LARGEST_INTEGER = 2**53 - 1
"""Beyond it, JavaScript and other readers silently take a neighbouring number (RFC 7493, section 2.2)."""

LONGEST_INTEGER = len(str(LARGEST_INTEGER)) + 1
"""With its sign: longer ones need not be computed to be refused."""

LONGEST_ECHO = 64
"""Characters of a member's name that an error repeats."""

# Strings are skipped to their end, or to the end of the text: every character is looked at once, whatever they hold.
_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|([\[{])|([\]}])', re.DOTALL)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def parse(body: bytes) -> Any:
    """The JSON value that `body` spells.

    Raises:
        Refusal: `MalformedRequest`.
    """
    text = _decoded(body)
    _refuse_deep_nesting(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=lambda name: _refuse(f"{name} is not a JSON number"),
            parse_float=_float,
            parse_int=_integer,
        )
    except json.JSONDecodeError as error:
        _refuse(f"it stops being JSON at line {error.lineno}, column {error.colno}")
    # Only an escape can spell a lone surrogate: UTF-8 has none.
    if "\\u" in text:
        _refuse_surrogates(value)
    return value


def _decoded(body: bytes) -> str:
    if not body.strip(b" \t\r\n"):
        _refuse("it is empty")
    if body.startswith(b"\xef\xbb\xbf"):
        _refuse("it begins with a byte order mark")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse(f"it is not UTF-8 from byte {error.start} on")


def _refuse_deep_nesting(text: str) -> None:
    depth = 0
    for match in _BRACKETS.finditer(text):
        if match[1]:
            depth += 1
        elif match[2]:
            depth -= 1
        if depth > DEEPEST:
            _refuse(f"it nests deeper than {DEEPEST} levels")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        _refuse(f'the name "{_printable(twice)}" stands twice in one object')
    return members


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_INTEGER or abs(int(digits)) > LARGEST_INTEGER:
        _refuse("it holds an integer beyond 2^53 - 1, which not every reader keeps exactly")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        _refuse("it holds a number too large for 64-bit floating point")
    return value


def _refuse_surrogates(value: Any) -> None:
    """Recursion is safe here: the depth has been checked."""
    match value:
        case str():
            if _LONE_SURROGATE.search(value):
                _refuse("it holds half of a surrogate pair")
        case list():
            for item in value:
                _refuse_surrogates(item)
        case dict():
            for name, item in value.items():
                _refuse_surrogates(name)
                _refuse_surrogates(item)


def _printable(name: str) -> str:
    return name[:LONGEST_ECHO].encode("utf-8", "backslashreplace").decode()


def _refuse(reason: str) -> NoReturn:
    raise Refusal(MalformedRequest(reason))
