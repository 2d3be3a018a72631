"""The service's settings, read once from the environment by the composition roots.

Never falls back silently: a bad value names its variable and the accepted form.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from domain.defaults import Limits

PREFIX = "PARTMILL_"


class SettingsError(Exception):
    """A variable has a value that can't be used; the message names it and the accepted form."""


class Settings(BaseModel):
    """Where things are, and how much of everything is allowed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_dir: Path = Field(Path(".partmill"), description="where a self-contained installation keeps everything")
    store_dir: Path = Field(Path(), description="artifacts and geometry; `artifacts` below data_dir as shipped")
    scratch_dir: Path = Field(Path(), description="kernel scratch folders; `scratch` below data_dir as shipped")
    host: str = Field("127.0.0.1", description="where the API listens; loopback while no API keys exist")
    port: int = Field(8000, ge=0, le=65535, description="0 takes a free port")
    kernel_program: str = Field(
        "kernel.work:perform",
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$",
        description="module:function that a kernel process runs; chaos tests put one in its place that fails on time",
    )
    limits: Limits = Limits()


def load_settings(environ: Mapping[str, str]) -> Settings:
    """Read every `PARTMILL_` variable that names a setting or a limit.

    Raises:
        SettingsError: a value does not have the accepted form.
    """
    given = {key.removeprefix(PREFIX).lower(): value for key, value in environ.items() if key.startswith(PREFIX)}
    data_dir = Path(given.get("data_dir", ".partmill")).resolve()
    own: dict[str, Any] = {
        "data_dir": data_dir,
        "store_dir": Path(given.get("store_dir", data_dir / "artifacts")).resolve(),
        "scratch_dir": Path(given.get("scratch_dir", data_dir / "scratch")).resolve(),
        **{name: given[name] for name in ("host", "port", "kernel_program") if name in given},
    }
    try:
        limits = Limits.model_validate({name: given[name] for name in Limits.model_fields if name in given})
        return Settings(**own, limits=limits)
    except ValidationError as error:
        raise SettingsError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    lines = [f"{PREFIX}{str(fault['loc'][0]).upper()}: {fault['msg'].lower()}" for fault in error.errors()]
    return "; ".join(lines)
