"""Which JSON is read (contract rule 10)."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.strict_json import DEEPEST, LARGEST_INTEGER, parse
from domain.problems import MalformedRequest, Refusal


def reason_for(body: bytes) -> str:
    """Why it is refused."""
    with pytest.raises(Refusal) as caught:
        parse(body)
    assert isinstance(caught.value.problem, MalformedRequest)
    return caught.value.problem.reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "it is empty"),
        (b" \r\n\t", "it is empty"),
        (b"\xef\xbb\xbf{}", "it begins with a byte order mark"),
        (b'{"a": "\xff"}', "it is not UTF-8 from byte 7 on"),
        ("{}".encode("utf-16"), "it is not UTF-8 from byte 0 on"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": Infinity}', "Infinity is not a JSON number"),
        (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"a": 1e400}', "it holds a number too large for 64-bit floating point"),
        (b'{"a": -1e400}', "it holds a number too large for 64-bit floating point"),
        (b'{"a": 1, "a": 1}', 'the name "a" stands twice in one object'),
        (b'{"b": [{"a": 1, "c": 2, "\\u0061": 1}]}', 'the name "a" stands twice in one object'),
        (b'{"a": "\\ud800"}', "it holds half of a surrogate pair"),
        (b'{"a": ["\\udc00\\ud800"]}', "it holds half of a surrogate pair"),
        (b'{"\\ud800": 1}', "it holds half of a surrogate pair"),
        (b'{"\\ud800": 1, "\\ud800": 2}', 'the name "\\ud800" stands twice in one object'),
        (b'{"a": 1} x', "it stops being JSON at line 1, column 10"),
        (b'{"a": 1}{}', "it stops being JSON at line 1, column 9"),
        (b'{"a":\n01}', "it stops being JSON at line 2, column 2"),
        (b'{"a": 1,}', "it stops being JSON at line 1, column 9"),
        (b"{'a': 1}", "it stops being JSON at line 1, column 2"),
        (b'{"a": .5}', "it stops being JSON at line 1, column 7"),
        (b'{"a": +1}', "it stops being JSON at line 1, column 7"),
        (b'{"a": 0x1}', "it stops being JSON at line 1, column 8"),
        (b'{"a": "\n"}', "it stops being JSON at line 1, column 8"),
        (b'{"a": /* */ 1}', "it stops being JSON at line 1, column 7"),
        (b'{"a": "open', "it stops being JSON at line 1, column 7"),
        (b'{"a": "open\\', "it stops being JSON at line 1, column 7"),
        (b"\x00", "it stops being JSON at line 1, column 1"),
    ],
)
def test_what_two_readers_could_read_differently_is_refused(body: bytes, reason: str) -> None:
    assert reason_for(body) == reason


@pytest.mark.parametrize("integer", [LARGEST_INTEGER, -LARGEST_INTEGER])
def test_the_largest_integers_are_read(integer: int) -> None:
    assert parse(b"[%d]" % integer) == [integer]
    beyond = integer + (1 if integer > 0 else -1)
    assert "2^53 - 1" in reason_for(b"[%d]" % beyond)


def test_a_very_long_integer_is_refused_before_it_is_computed() -> None:
    assert "2^53 - 1" in reason_for(b"1" * 1_000_000)


def test_nesting_is_allowed_to_its_limit_and_no_further() -> None:
    parse(b"[" * DEEPEST + b"]" * DEEPEST)
    parse(b'{"a":' * DEEPEST + b"1" + b"}" * DEEPEST)
    assert "nests deeper" in reason_for(b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1))


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":', b'["",'])
def test_a_megabyte_of_brackets_is_refused_without_recursion(opening: bytes) -> None:
    assert "nests deeper" in reason_for(opening * (1_000_000 // len(opening)))


@pytest.mark.parametrize("unit", [b'"', b'"\\', b'\\"', b'"\\"', b"\\", b'"[', b'["a"'])
def test_a_megabyte_of_quotes_and_backslashes_is_answered(unit: bytes) -> None:
    """One look at each character, however strings begin and never end."""
    reason_for(unit * (1_000_000 // len(unit)))


def test_brackets_in_strings_do_not_count() -> None:
    text = '["' + "[{" * 1000 + '", "\\"[[", "\\\\"]'
    assert parse(text.encode()) == json.loads(text)


def test_a_whole_surrogate_pair_is_read() -> None:
    assert parse(b'"\\ud83d\\ude00"') == "\U0001f600"


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST_INTEGER, LARGEST_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_all_other_json_is_read_as_it_was_written(value: Any, escaped: bool, indent: int | str | None) -> None:
    assert parse(json.dumps(value, ensure_ascii=escaped, indent=indent).encode()) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(Refusal):
        parse(body)
