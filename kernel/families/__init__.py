"""Every part family's builder, under the name that the catalogue gives the family.

Never decides whether a part may be built: the rules did.
"""

from collections.abc import Callable, Mapping
from typing import Any

from OCP.TopoDS import TopoDS_Shape

from kernel.families.bored_cylinder import build_bored_cylinder

Builder = Callable[[dict[str, Any]], TopoDS_Shape]

BUILDERS: Mapping[str, Builder] = {"bored-cylinder": build_bored_cylinder}
