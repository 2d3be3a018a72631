"""How problems, jobs and models read in a terminal.

Never prints: it makes text.
"""

import json
from collections.abc import Mapping
from typing import Any

from partmill.documents import Fault, File, Job, Model, Problem, Validation


def problem(value: Problem) -> str:
    """A problem with every broken rule, each with the nearest value that passes."""
    lines = [f"{value.title}: {value.detail}", *(fault(error) for error in value.errors)]
    if value.instance:
        lines.append(f"  (reference for the operator: {value.instance})")
    return "\n".join(lines)


def fault(value: Fault) -> str:
    """One broken rule."""
    given = "" if value.value is None else f" (given: {value.value})"
    nearest = "" if value.limit is None else f"\n    nearest value that passes: {_number(value.limit)}"
    return f"  {value.pointer or '/'}: {value.detail}{given} [{value.rule}]{nearest}"


def failed_job(job: Job, reason: Problem) -> str:
    """Why a job failed, and how to get a new one."""
    return (
        f"Job {job.job_id} failed.\n{problem(reason)}\n"
        f"The same request is the same job. `partmill jobs retry {job.job_id}` lets a running server try it again;\n"
        "an --idempotency-key makes another job of the request."
    )


def job(value: Job) -> str:
    """A job's status on a few lines."""
    rows = [
        ("job", value.job_id),
        ("status", status(value)),
        ("model", value.model),
        ("engine", value.engine),
        ("created", value.created_at),
        ("started", value.started_at),
        ("completed", value.completed_at),
        ("evictions", value.evictions or None),
    ]
    lines = [f"{name:<10}{cell}" for name, cell in rows if cell is not None]
    for made in value.result.files if value.result else ():
        lines.append(f"{'file':<10}{file(made)}")
    if value.result and value.result.geometry:
        lines.append(f"{'volume':<10}{value.result.geometry.volume:,.3f} mm³")
    return "\n".join([*lines, problem(value.error)] if value.error else lines)


def status(value: Job) -> str:
    """A job's state in one phrase."""
    notes = [value.suspended_reason, "cancellation requested" if value.cancel_requested else None]
    if value.progress and not value.is_terminal:
        notes.append(f"{value.progress.phase}, {value.progress.fraction:.0%}")
    return ", ".join([value.status, *(note for note in notes if note)])


def file(value: File) -> str:
    """One artifact on one line."""
    return f"{value.file_format}, {value.file_size_bytes:,} bytes, sha256 {value.sha256}"


def model(value: Model) -> str:
    """A model with its parameters, engines and a request to start from."""
    engines = [f"  {engine}: {', '.join(formats)}" for engine, formats in value.engines.items()]
    return "\n".join(
        [
            f"{value.name}: {value.description}",
            "parameters:",
            *_parameters(value.parameters, value.parameters, "  "),
            "engines and their formats:",
            *engines,
            "example of its parameters:",
            json.dumps(value.example, indent=2),
        ]
    )


def validation(value: Validation) -> str:
    """A request that would be accepted."""
    return "valid" if value.volume is None else f"valid; the part's volume will be {value.volume:,.3f} mm³"


def _parameters(schema: Mapping[str, Any], root: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for name, member in schema.get("properties", {}).items():
        inner = _resolved(member, root)
        optional = "" if name in schema.get("required", ()) else " (optional)"
        described = f": {text}" if (text := member.get("description") or inner.get("description")) else ""
        lines.append(f"{indent}{name}{optional}{described}")
        lines.extend(_parameters(inner, root, indent + "  "))
    return lines


def _resolved(member: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema behind a reference, also where null is allowed instead."""
    for choice in (member, *member.get("anyOf", ())):
        reference = choice.get("$ref", "")
        if reference.startswith("#/$defs/"):
            found: Mapping[str, Any] = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})
            return found
    return member


def _number(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
