"""The catalogue: every part family by name, with all that can be known of it without a kernel.

Never builds geometry: kernel/ holds one builder for each name here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from domain.messages import BoundingBox


@dataclass(frozen=True)
class Fault:
    """One broken rule of a parameter set."""

    pointer: str
    """JSON Pointer to the field inside the parameters, for example `/fillet_radius`."""
    rule: str
    detail: str
    value: float | int | str | None
    limit: float | int | None
    """The nearest value of this one field that passes, all others unchanged; None where none does."""


@dataclass(frozen=True)
class Model:
    """A part family with named parameters."""

    name: str
    version: str
    """Rises with every change that may change a byte of a file: it is part of each content address."""
    description: str
    parameters: type[BaseModel]
    engines: Mapping[str, tuple[str, ...]]
    """Engine to the formats it writes of this model."""
    example: Mapping[str, Any]
    faults: Callable[[Any], tuple[Fault, ...]]
    """All broken rules of a schema-valid parameter set; empty means it may be built."""
    volume: Callable[[Any], float]
    """Closed form, mm³."""
    bounds: Callable[[Any], BoundingBox]
    """Closed form, mm."""
