"""The 220 parameter sets of the bored cylinder with their known answers.

Never computes an answer.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).resolve().parent.parent / "corpus" / "cylinder.jsonl"


@dataclass(frozen=True)
class Case:
    """One parameter set: refused by exactly these rules, or built with that volume (mm³)."""

    id: str
    parameters: dict[str, Any]
    refused: tuple[str, ...]
    volume: float | None
    mesh_may_be_refused: bool


def _case(line: str) -> Case:
    record = json.loads(line)
    expect = record["expect"]
    return Case(
        id=record["id"],
        parameters=record["parameters"],
        refused=tuple(expect.get("refused", ())),
        volume=expect.get("volume"),
        mesh_may_be_refused=expect.get("mesh_may_be_refused", False),
    )


CASES = tuple(_case(line) for line in CORPUS.read_text().splitlines())
ACCEPTED = tuple(case for case in CASES if not case.refused)
REFUSED = tuple(case for case in CASES if case.refused)
