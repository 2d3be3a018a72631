"""The bored cylinder as a CadQuery user writes it, and its STEP file.

Never checks anything: the usual service does not either.
"""

from pathlib import Path
from typing import Any

import cadquery as cq
from cadquery import exporters

OUTERMOST = cq.selectors.RadiusNthSelector(-1)


def bored_cylinder(parameters: dict[str, Any]) -> cq.Workplane:
    """The part; lengths in millimetres."""
    holes = parameters["hole_pattern"]
    return (
        cq.Workplane("XY")
        .circle(parameters["outer_diameter"] / 2)
        .extrude(parameters["length"])
        .faces(">Z")
        .workplane()
        .hole(parameters["inner_diameter"])
        .edges(OUTERMOST)
        .fillet(parameters["fillet_radius"])
        .faces(">Z")
        .workplane()
        .polarArray(holes["pitch_diameter"] / 2, 0, 360, holes["count"])
        .hole(holes["hole_diameter"])
    )


def write_step(part: cq.Workplane, path: Path) -> None:
    """Save `part` as STEP."""
    exporters.export(part, str(path), exporters.ExportTypes.STEP)
