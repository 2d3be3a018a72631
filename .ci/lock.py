"""Pins every transitive dependency under `[tool.uv] constraint-dependencies` in pyproject.toml.

Resolves afresh for all platforms; the resolver's lock file itself is not kept, because it names registry hosts.
"""

import re
import subprocess
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
BLOCK = re.compile(r"\nconstraint-dependencies = \[\n.*?\n\]\n", re.DOTALL)


def main() -> None:
    """Rewrite the block; everything else in the file stays as it is."""
    text = BLOCK.sub("\n", PROJECT.read_text())
    PROJECT.write_text(text)
    (PROJECT.parent / "uv.lock").unlink(missing_ok=True)
    subprocess.run(["uv", "lock", "-q"], cwd=PROJECT.parent, check=True)
    pins = "".join(f'    "{pin}",\n' for pin in resolved())
    PROJECT.write_text(text.rstrip("\n") + f"\nconstraint-dependencies = [\n{pins}]\n")


def resolved() -> list[str]:
    """`name==version` of every package in the lock that came from a registry; packages with several versions are
    left to the resolver, whose markers choose among them."""
    locked = tomllib.loads((PROJECT.parent / "uv.lock").read_text())["package"]
    versions: dict[str, set[str]] = {}
    for package in locked:
        if "registry" in package.get("source", {}):
            versions.setdefault(package["name"], set()).add(package["version"])
    return [f"{name}=={only.pop()}" for name, only in sorted(versions.items()) if len(only) == 1]


if __name__ == "__main__":
    main()
