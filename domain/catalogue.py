"""Every part family by name.

Never builds geometry, and never holds a family's formulas: each has a module of its own.
"""

from collections.abc import Mapping
from types import MappingProxyType

from domain.bored_cylinder import BORED_CYLINDER
from domain.models import Model
from domain.problems import JsonObject

MODELS: Mapping[str, Model] = MappingProxyType({model.name: model for model in (BORED_CYLINDER,)})

DEFAULT_MODEL = BORED_CYLINDER.name
"""What a request gets that names no model."""


def parameters_schema(model: Model) -> JsonObject:
    """The JSON Schema (2020-12) of the model's parameters, units in the descriptions."""
    return model.parameters.model_json_schema()
