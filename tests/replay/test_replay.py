"""Every shape of history that a release has left behind must still replay: jobs outlive deployments."""

import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from tests.sandbox import strict_sandbox
from workflows.generation import GeneratePart

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))


def test_there_are_histories() -> None:
    assert HISTORIES


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_a_recorded_history_replays(path: Path) -> None:
    recorded = json.loads(path.read_text())
    history = WorkflowHistory.from_json(recorded["id"], recorded["history"])
    replayer = Replayer(
        workflows=[GeneratePart],
        workflow_runner=strict_sandbox(),
        data_converter=pydantic_data_converter,
    )
    await replayer.replay_workflow(history)
