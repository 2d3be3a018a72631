"""What makes two requests the same job (contract rules 3, 5, 6)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.identity import fingerprint_of, idempotency_key, is_job_id, job_id_of
from domain.messages import Tenant
from domain.problems import InvalidIdempotencyKey, Refusal

VECTORS = json.loads((Path(__file__).parent / "identity_vectors.json").read_text())

SAFE = 2**53 - 1
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_every_published_vector_holds(vector: dict[str, Any]) -> None:
    fingerprint = fingerprint_of(json.loads(vector["body"]))
    assert fingerprint == vector["fingerprint"]
    assert job_id_of(Tenant(vector["tenant"]), vector["operation"], vector["key"], fingerprint) == vector["id"]


def reversed_and_respelt(value: Any) -> Any:
    """The same JSON value with members in another order and whole numbers as floats."""
    match value:
        case dict():
            return {name: reversed_and_respelt(value[name]) for name in reversed(value)}
        case list():
            return [reversed_and_respelt(item) for item in value]
        case int() if not isinstance(value, bool):
            return float(value)
    return value


@given(JSON_VALUES)
def test_order_and_spelling_do_not_change_the_fingerprint(value: Any) -> None:
    assert fingerprint_of(value) == fingerprint_of(reversed_and_respelt(value))


@given(JSON_VALUES)
def test_a_value_and_its_own_json_text_have_the_same_fingerprint(value: Any) -> None:
    assert fingerprint_of(value) == fingerprint_of(json.loads(json.dumps(value)))


@pytest.mark.parametrize(
    ("one", "other"),
    [({"a": 1}, {"a": 2}), ({"a": 1}, {"a": "1"}), ({"a": 1}, {"a": True}), ({"a": None}, {}), ([1, 2], [2, 1])],
)
def test_another_value_has_another_fingerprint(one: Any, other: Any) -> None:
    assert fingerprint_of(one) != fingerprint_of(other)


def test_a_key_never_meets_a_body() -> None:
    """A client can't name a keyless request's job by sending the fingerprint as its key."""
    local, fingerprint = Tenant("local"), fingerprint_of({})
    assert job_id_of(local, "generate", None, fingerprint) != job_id_of(local, "generate", fingerprint, fingerprint)


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("abc", "abc"),
        ('"abc"', "abc"),
        ("3e0a1c52-a.b:c_D", "3e0a1c52-a.b:c_D"),
        ('"two words"', "two words"),
        ("abc ", "abc"),
        (" \tabc\t ", "abc"),
        ('"abc" \t', "abc"),
        ('" abc "', " abc "),
        (r'"say \"so\" \\ then"', r'say "so" \ then'),
        ("x" * 255, "x" * 255),
        ('"' + "x" * 255 + '"', "x" * 255),
    ],
)
def test_both_spellings_of_a_key_are_read(value: str, key: str) -> None:
    assert idempotency_key([value]) == key


def test_no_header_is_no_key() -> None:
    assert idempotency_key([]) is None


@pytest.mark.parametrize(
    "lines",
    [
        [""],
        ['""'],
        ["x" * 256],
        ['"' + "x" * 256 + '"'],
        ["ä"],
        ['"ä"'],
        ['"tab\t"'],
        ["a, b"],
        ['"a", "b"'],
        ["two words"],
        ['"open'],
        ['open"'],
        [r'"bad \n escape"'],
        ['"a"; b=1'],
        ["abc\n"],
        ["abc", "abc"],
    ],
)
def test_anything_else_is_refused(lines: list[str]) -> None:
    with pytest.raises(Refusal) as caught:
        idempotency_key(lines)
    assert caught.value.problem == InvalidIdempotencyKey()


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("cad_" + "0f" * 16, True),
        ("cad_" + "0F" * 16, False),
        ("task_" + "0f" * 16, False),
        ("cad_", False),
        ("", False),
    ],
)
def test_only_what_we_could_have_made_is_a_job_id(text: str, is_one: bool) -> None:
    assert is_job_id(text) is is_one
