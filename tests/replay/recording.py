"""Writes the histories that tests produce to a folder, when PARTMILL_RECORD_HISTORIES names one.

Never keeps what belongs to a machine: host names, process IDs and the paths in stacks go.
"""

import json
import os
import re
import socket
from pathlib import Path
from typing import Any

from temporalio.client import Client

IDENTITY = re.compile(r"\d+@[\w.-]+")


async def record(client: Client, name: str) -> None:
    """The history of every closed job in the namespace, as `name` and a number."""
    folder = os.environ.get("PARTMILL_RECORD_HISTORIES")
    if folder is None:
        return
    number = 0
    async for execution in client.list_workflows("ExecutionStatus != 'Running'"):
        history = await client.get_workflow_handle(execution.id, run_id=execution.run_id).fetch_history()
        text = IDENTITY.sub("0@worker", history.to_json()).replace(socket.gethostname(), "worker")
        document = {"id": execution.id, "history": _without_stacks(json.loads(text))}
        path = Path(folder) / f"{name}-{number}.json"
        path.write_text(json.dumps(document, indent=1) + "\n")
        number += 1


def _without_stacks(node: Any) -> Any:
    """The same, every stack trace empty."""
    if isinstance(node, dict):
        return {key: "" if key == "stackTrace" else _without_stacks(value) for key, value in node.items()}
    return [_without_stacks(each) for each in node] if isinstance(node, list) else node
