# Lists the recipes.
default:
    @just --list

# Exactly what CI runs.
check: lint types imports test

# Style and likely mistakes.
lint:
    uv run ruff check .
    uv run ruff format --check .

# Strict types.
types:
    uv run mypy

# Imports go one way.
imports:
    uv run lint-imports

# The tests that every change must pass.
test:
    uv run pytest

# The tests that are too long for every change.
slow:
    uv run pytest -m slow

# Rewrites code in the project's style.
format:
    uv run ruff format .
    uv run ruff check --fix .

# Pins every transitive dependency anew in pyproject.toml.
lock:
    uv run python .ci/lock.py
