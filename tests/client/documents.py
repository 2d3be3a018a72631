"""Answers of the service, as its contract has them."""

import hashlib
from typing import Any

JOB_ID = "cad_8f93b2a1c0d44b5ea1f0c2d3e4f50617"
JOB = f"/v1/jobs/{JOB_ID}"
LINK = "/v1/artifacts/part.step?signature=one"
CONTENT = bytes(range(256)) * 400


def status(state: str, **members: Any) -> dict[str, Any]:
    """A job's status document."""
    return {
        "job_id": JOB_ID,
        "status": state,
        "created_at": "2024-10-25T08:30:00Z",
        "started_at": None,
        "completed_at": None,
        "model": "bored-cylinder",
        "engine": "opencascade-brep",
        "attempt": 1,
        "evictions": 0,
        "cancel_requested": False,
        "progress": {"phase": "building", "fraction": 0.5, "last_heartbeat": None},
        "result": None,
        "error": None,
        "a_member_of_a_later_version": 1,
        **members,
    }


def completed(content: bytes = CONTENT, link: str = LINK) -> dict[str, Any]:
    """The status of a job whose one STEP file is `content`."""
    file = {
        "file_format": "step",
        "file_size_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "download_url": link,
        "expires_at": "2024-10-25T09:30:00Z",
    }
    geometry = {
        "volume": 2801746.16,
        "area": 200000.5,
        "center_of_mass": [0, 0, 150],
        "bounding_box": {"min": [-60, -60, 0], "max": [60, 60, 300]},
        "faces": 12,
        "edges": 30,
        "valid": True,
        "watertight": True,
    }
    result = {**file, "files": [file], "geometry": geometry, "kernel": {"engine": "opencascade-brep", "version": "7.9"}}
    return status("completed", result=result)
