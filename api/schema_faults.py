"""What a schema found wrong, in our own words: field, rule, detail, and the nearest value that would pass.

Never repeats what it was given beyond a number or a short string, and never passes on a validator's text.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from domain.models import Fault
from domain.problems import JsonObject, Refusal, ValidationFailed

Location: TypeAlias = Sequence[str | int]
Wording: TypeAlias = tuple[str, Callable[[dict[str, Any]], str]]

LONGEST_ECHO = 64
"""Characters of a string that an error repeats; enough to recognise a typo."""

MOST_FAULTS = 200
"""Listed in one answer: a request of 1 MiB can have a hundred thousand, and nobody reads more than this."""

RULES: dict[str, Wording] = {
    "missing": ("required", lambda _: "This field is required."),
    "extra_forbidden": ("unknown-field", lambda _: "There is no such field."),
    "float_type": ("number-type", lambda _: "This must be a number."),
    "int_type": ("number-type", lambda _: "This must be a whole number."),
    "int_from_float": ("number-type", lambda _: "This must be a whole number."),
    "string_type": ("string-type", lambda _: "This must be a string."),
    "list_type": ("list-type", lambda _: "This must be a list."),
    "dict_type": ("object-type", lambda _: "This must be an object."),
    "model_type": ("object-type", lambda _: "This must be an object."),
    "greater_than_equal": ("out-of-range", lambda c: f"This must be at least {c['ge']:g}."),
    "less_than_equal": ("out-of-range", lambda c: f"This must be at most {c['le']:g}."),
    "greater_than": ("out-of-range", lambda c: f"This must be more than {c['gt']:g}."),
    "less_than": ("out-of-range", lambda c: f"This must be less than {c['lt']:g}."),
    "literal_error": ("not-a-choice", lambda c: f"This must be one of: {c['expected']}."),
    "string_too_long": ("too-long", lambda c: f"This may have at most {c['max_length']} characters."),
    "string_too_short": ("too-short", lambda c: f"This must have at least {c['min_length']} character(s)."),
    "too_long": ("too-many", lambda c: f"This may have at most {c['max_length']} entries."),
    "too_short": ("too-few", lambda c: f"This must have at least {c['min_length']} entry."),
}
"""Pydantic's error types to our rules; a test sees to it that every field of a request finds its errors here."""

OTHERWISE: Wording = ("invalid-value", lambda _: "This value is not accepted.")


def schema_faults(schema: type[BaseModel], content: Any, below: str) -> tuple[BaseModel | None, list[Fault]]:
    """`content` as a `schema`, or all that keeps it from being one; pointers start with `below`."""
    try:
        return schema.model_validate(content), []
    except ValidationError as error:
        return None, [_fault(found, below) for found in error.errors(include_url=False)]


def refusal(faults: Sequence[Fault]) -> Refusal:
    """All faults of a request as one problem."""
    listed = [_member(fault) for fault in faults[:MOST_FAULTS]]
    if len(faults) > MOST_FAULTS:
        rest = Fault("", "more-faults", f"{len(faults) - MOST_FAULTS} more are not listed.", None, None)
        listed.append(_member(rest))
    return Refusal(ValidationFailed(tuple(listed)))


def pointer_to(location: Iterable[str | int]) -> str:
    """JSON Pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in location)


def _fault(found: ErrorDetails, below: str) -> Fault:
    context = found.get("ctx", {})
    rule, wording = RULES.get(found["type"], OTHERWISE)
    nearest = context.get("ge", context.get("le"))
    # Pydantic marks what is wrong with the name of a dictionary's member, not with its value, by a last "[key]".
    location = found["loc"][:-1] if found["loc"][-1:] == ("[key]",) else found["loc"]
    value = None if rule in ("required", "unknown-field") else echo(found["input"])
    return Fault(below + pointer_to(location), rule, wording(context), value, nearest)


def echo(value: Any) -> float | int | str | None:
    """`value` if an answer may repeat it: a number or a short string."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_ECHO else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _member(fault: Fault) -> JsonObject:
    """A fault as the contract spells it: `limit` always there, `value` where there is something to repeat."""
    members = asdict(fault)
    if fault.value is None:
        del members["value"]
    return members
