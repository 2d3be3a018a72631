"""Where things stand in the artifact store: geometry under its content, artifacts under their job.

Never reads or writes the store.
"""

import hashlib

import rfc8785

from domain.messages import MESH_FORMATS, JobId, KernelVersion, MeshQuality, Part, StoreKey, Tenant
from domain.problems import JsonObject


def _digest(content: JsonObject) -> str:
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()


def geometry_folder(tenant: Tenant, part: Part, kernel: KernelVersion) -> StoreKey:
    """The folder of everything computed from exactly this part by exactly this kernel for this tenant."""
    content = {"tenant": tenant, "part": part.model_dump(mode="json"), "kernel": kernel.model_dump(mode="json")}
    return StoreKey(f"geometry/{tenant}/{_digest(content)}")


def output_folder(geometry: StoreKey, output: str, mesh: MeshQuality) -> StoreKey:
    """Where one output of that geometry stands; meshes of different quality stand apart."""
    if output not in MESH_FORMATS:
        return geometry
    return StoreKey(f"{geometry}/mesh-{_digest(mesh.model_dump(mode='json'))[:16]}")


def record_key(folder: StoreKey, output: str) -> StoreKey:
    """The record that says `output` is complete; written after the file it describes."""
    return StoreKey(f"{folder}/{output}.json")


def file_key(folder: StoreKey, output: str, sha256: str) -> StoreKey:
    """The file itself. Its hash is part of the key, so a record can never describe another file's bytes."""
    return StoreKey(f"{folder}/{output}-{sha256[:16]}")


ARTIFACTS = "artifacts/"
"""What is published, and all that a download link can name."""


def job_folder(tenant: Tenant, job_id: JobId) -> StoreKey:
    """The folder of a job's published artifacts."""
    return StoreKey(f"{ARTIFACTS}{tenant}/{job_id}")
