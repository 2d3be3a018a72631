"""The one table of defaults, each with its why. Settings may override any of them by name.

Never reads the environment: adapters/settings.py does.
"""

from pydantic import BaseModel, ConfigDict, Field

MIB = 1024 * 1024
GIB = 1024 * MIB


MAX_TRIANGLES = 5_000_000


class Limits(BaseModel):
    """Every bound of the service. `PARTMILL_` + the upper-case name overrides a field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    build_deadline_s: float = Field(300, gt=0, description="a part that takes longer is a fault, not a part")
    mesh_deadline_s: float = Field(300, gt=0, description="a finer mesh than this allows is refused by count first")
    transfer_deadline_s: float = Field(600, gt=0, description="moving 2 GiB to a slow store, beside the kernel's time")
    publish_deadline_s: float = Field(600, gt=0, description="outlasts a store's restart; then the job says so")
    heartbeat_timeout_s: float = Field(10, ge=3, description="a silence of ten beats: the worker is dead or cut off")
    kernel_memory_bytes: int = Field(4 * GIB, ge=256 * MIB, description="four kernels fit a 16 GiB machine")
    kernel_cpu_s: int = Field(300, gt=0, description="the deadline again, where the clock is not looked at")
    kernel_file_bytes: int = Field(2 * GIB, gt=0, description="no mesh below the triangle ceiling is larger")
    kernels_per_worker: int = Field(0, ge=0, description="0 means one for each core: the kernel is CPU-bound")
    max_triangles: int = Field(MAX_TRIANGLES, gt=0, description="250 MB of STL; beyond it no viewer follows")
    heartbeat_throttle_s: float = Field(1, gt=0, description="the SDK's default loses every beat after the first")
    sticky_timeout_s: float = Field(1, gt=0, description="what a takeover after SIGKILL waits for; 10 s by default")
    grace_s: float = Field(20, gt=0, description="below the 25-30 s that spot platforms grant")
    body_bytes: int = Field(MIB, gt=0, description="a request is parameters, never geometry")
    link_lifetime_s: int = Field(3600, gt=1, description="long enough to download, short enough to leak")


LINEAR_DEFLECTION_MM = 0.1
"""How far a mesh may stray from the true surface: fine enough to print, about 4,000 triangles on the example part."""

ANGULAR_DEFLECTION_RAD = 0.5
"""How far neighbouring facets may turn: keeps small rounds round when the linear bound alone would not."""

KERNEL_ATTEMPTS = 2
"""One retry: enough for a passing fault; a part that kills its kernel twice would do so for ever."""

EVICTIONS_WITHOUT_PROGRESS = 20
"""Evictions in a row, the checkpoint standing still, after which a job is taken for one that can't finish."""
