"""What a request names that the catalogue does not have: models, engines, formats.

Never looks at parameters, and leaves values of a wrong type to the schema.
"""

from collections.abc import Iterable
from typing import Any

from api.schema_faults import echo, pointer_to
from domain.catalogue import DEFAULT_MODEL, MODELS
from domain.models import Fault, Model
from domain.problems import JsonObject

MOST_FORMATS = 16
"""In one request: more than any engine writes."""


def chosen_model(given: JsonObject) -> Model | None:
    """The model that the request names or leaves to the default."""
    name = given.get("model", DEFAULT_MODEL)
    return MODELS.get(name) if isinstance(name, str) else None


def catalogue_faults(given: JsonObject, model: Model | None) -> list[Fault]:
    """Every name in the request that the catalogue does not have, with those that it has."""
    name, engine = given.get("model"), given.get("engine")
    faults = []
    if model is None and isinstance(name, str):
        faults.append(_unknown("model", name, MODELS))
    if model is not None and isinstance(engine, str) and engine not in model.engines:
        faults.append(_unknown("engine", engine, model.engines))
    return faults + _format_faults(given, _formats(model, engine))


def _formats(model: Model | None, engine: Any) -> tuple[str, ...] | None:
    """What the engine writes; where it is unknown, what any engine of the model does; None where all is unknown."""
    if model is None:
        return None
    if isinstance(engine, str) and engine in model.engines:
        return model.engines[engine]
    return tuple(dict.fromkeys(name for formats in model.engines.values() for name in formats))


def _format_faults(given: JsonObject, known: tuple[str, ...] | None) -> list[Fault]:
    one, several = given.get("export_format"), given.get("export_formats")
    if one is not None and several is not None:
        return [Fault("/export_formats", "one-of-two-fields", "Give either export_format or this.", None, None)]
    if one is None and several is None:
        detail = "Either export_format or export_formats is required."
        return [Fault("/export_format", "required", detail, None, None)]
    if one is not None:
        return _unavailable("/export_format", one, known)
    names = several[:MOST_FORMATS] if isinstance(several, list) else []
    return [fault for index in range(len(names)) for fault in _format_in_list(names, index, known)]


def _format_in_list(names: list[Any], index: int, known: tuple[str, ...] | None) -> list[Fault]:
    name, pointer = names[index], pointer_to(("export_formats", index))
    if isinstance(name, str) and index > names.index(name):
        return [Fault(pointer, "duplicate-format", "This format is in the list already.", echo(name), None)]
    return _unavailable(pointer, name, known)


def _unavailable(pointer: str, name: Any, known: tuple[str, ...] | None) -> list[Fault]:
    if known is None or not isinstance(name, str) or name in known:
        return []
    detail = f"The engine does not write this format; it writes: {', '.join(known)}."
    return [Fault(pointer, "format-not-available", detail, echo(name), None)]


def _unknown(field: str, name: str, known: Iterable[str]) -> Fault:
    detail = f"There is no such {field}; there is: {', '.join(known)}."
    return Fault(f"/{field}", f"unknown-{field}", detail, echo(name), None)
