"""The HTTP side: a job is queued, looked at and downloaded.

Never runs the CAD kernel.
"""

import os
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel

from bench.celery_service.broker import GENERATE
from bench.celery_service.broker import app as queue

FILES = Path(os.environ["FILES_DIR"])

app = FastAPI()


class HolePattern(BaseModel):
    """Holes on a circle; millimetres."""

    count: int
    pitch_diameter: float
    hole_diameter: float


class Parameters(BaseModel):
    """Of the bored cylinder; millimetres."""

    outer_diameter: float
    inner_diameter: float
    length: float
    fillet_radius: float
    hole_pattern: HolePattern


class Order(BaseModel):
    """The request's body."""

    parameters: Parameters


# Plain functions and not coroutines: Celery's client blocks, and FastAPI runs these in its threads.


@app.get("/ready")
def ready() -> dict[str, str]:
    """Answers once the process serves."""
    return {"status": "ok"}


@app.post("/generate", status_code=202)
def generate(order: Order, response: Response) -> dict[str, str]:
    """Queue a job."""
    job = queue.send_task(GENERATE, [order.parameters.model_dump()])
    response.headers["Location"] = f"/jobs/{job.id}"
    return {"job_id": job.id, "status": "queued"}


@app.get("/jobs/{job_id}")
def job(job_id: str) -> dict[str, Any]:
    """How far it is."""
    result = queue.AsyncResult(job_id)
    state = result.state
    if state == "SUCCESS":
        return {"status": "completed", "size": result.result, "download_url": f"/files/{job_id}"}
    return {"status": "failed" if state == "FAILURE" else "queued"}


@app.get("/files/{job_id}")
def file(job_id: str) -> FileResponse:
    """The finished file."""
    path = FILES / f"{job_id}.step"
    if not path.is_file():
        raise HTTPException(404)
    return FileResponse(path, media_type="model/step", filename=path.name)
