"""What the Celery worker imports: CadQuery once, before it forks its processes, and the one task.

Never imported by the HTTP process.
"""

import os
from pathlib import Path
from typing import Any

from bench.celery_service.broker import GENERATE, app
from bench.celery_service.part import bored_cylinder, write_step

FILES = Path(os.environ["FILES_DIR"])


def generate(task: Any, parameters: dict[str, Any]) -> int:
    """Make the part's file; answers its size in bytes."""
    path = FILES / f"{task.request.id}.step"
    write_step(bored_cylinder(parameters), path)
    return path.stat().st_size


app.task(name=GENERATE, bind=True)(generate)
