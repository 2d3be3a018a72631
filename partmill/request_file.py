"""The request a user hands to the command line, and where its files shall go.

Never changes a request beyond the formats the user asked for: its text is its identity.
"""

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partmill.screen import UsageFault

ENDINGS = {name: name for name in ("step", "iges", "brep", "stl", "3mf", "glb", "obj")} | {"stp": "step", "igs": "iges"}
"""File endings that name a format."""


@dataclass(frozen=True)
class RequestFile:
    """A request as it will be sent."""

    body: bytes
    formats: tuple[str, ...]
    """What it asks for; empty where it leaves that to the server, or where only the server can tell."""


def read_request(source: str, formats: tuple[str, ...] = ()) -> RequestFile:
    """The request in the file `source` (`-` is stdin), asking for `formats` instead of its own if there are any.

    Raises:
        UsageFault: there is no such file, or no JSON object in it.
    """
    body = _read(source)
    try:
        request = json.loads(body)
        if not isinstance(request, dict):
            raise UsageFault(f"{source} must hold one JSON object.")
        if formats:
            request = _with_formats(request, formats)
            body = json.dumps(request).encode()
    except ValueError as error:
        raise UsageFault(f"{source} is not JSON: {error}") from None
    except RecursionError:
        raise UsageFault(f"{source} is nested too deeply.") from None
    return RequestFile(body, _formats_of(request))


def destinations(out: str, formats: tuple[str, ...], stem: str) -> dict[str, Path]:
    """Which format goes where: a folder takes all, a file the one its ending names, or the only one.

    Raises:
        UsageFault: there is no place for any of them.
    """
    path = Path(out)
    if _folder_of(out) == path:
        return {file_format: path / f"{stem}.{file_format}" for file_format in formats}
    ending = path.suffix.lower().removeprefix(".")
    named = ENDINGS.get(ending)
    if named in formats:
        return {str(named): path}
    if len(formats) == 1 and named is None:
        return {formats[0]: path}
    raise UsageFault(
        f"{out} does not say which of the job's files it is to be ({', '.join(formats)}): "
        "give it that ending, ask for other files with --format, or name a folder to get all."
    )


def check_writable(out: str) -> None:
    """Try the place out with a nameless file, before any work is done for it.

    Raises:
        UsageFault: nothing can be written there.
    """
    path = Path(out)
    try:
        folder = _folder_of(out)
        if path.exists() and not (path.is_dir() or path.is_file()):
            raise UsageFault(f"{out} is no ordinary file.")  # replacing a device would break the machine
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UsageFault(f"{out} can't be written: {error.strerror}.") from None


def _folder_of(out: str) -> Path:
    """The folder that `out` is, or is in."""
    path = Path(out)
    if path.is_dir():
        return path
    if out.endswith("/") or not path.parent.is_dir():
        raise UsageFault(f"There is no folder {path if out.endswith('/') else path.parent}.")
    return path.parent


def _read(source: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise UsageFault(f"{source} can't be read: {error.strerror}") from None


def _with_formats(request: dict[str, Any], formats: tuple[str, ...]) -> dict[str, Any]:
    rest = {key: value for key, value in request.items() if key not in ("export_format", "export_formats")}
    return rest | ({"export_format": formats[0]} if len(formats) == 1 else {"export_formats": list(formats)})


def _formats_of(request: dict[str, Any]) -> tuple[str, ...]:
    """Whatever is wrong with them is the server's to say."""
    asked = request.get("export_formats") or [request.get("export_format")]
    return tuple(asked) if isinstance(asked, list) and all(isinstance(each, str) for each in asked) else ()
