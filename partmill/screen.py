"""Where output goes and which exit code an ending gets.

Never mixes the two streams: results are on stdout, and with `--json` exactly one document; everything that is said
on the way is on stderr.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from partmill import wording
from partmill.documents import Problem
from partmill.errors import (
    DownloadCorrupt,
    JobCancelled,
    JobFailed,
    PartmillError,
    ProblemError,
    ServerUnreachable,
)
from partmill.exit_codes import Exit
from partmill.stack_errors import StackError
from partmill.steps import TRY_AGAIN


class UsageFault(Exception):
    """The command line, the request file or the output path can't be used."""


class Screen:
    """The output of one command."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._has_answered = False

    def say(self, text: str) -> None:
        """Something for the person who watches."""
        typer.echo(text, err=True)

    def result(self, document: Mapping[str, Any], text: str) -> None:
        """What the command was asked for; once."""
        self._has_answered = True
        typer.echo(json.dumps(document, indent=2) if self._as_json else text)

    def failure(self, code: Exit, text: str, **document: Any) -> None:
        """Why there is no result, or why the command did not end well after it."""
        typer.secho(text, err=True, fg="red")
        if self._as_json and not self._has_answered:
            members = {key: value for key, value in document.items() if value is not None}
            error = {"exit_code": code.value, "kind": code.wording, "message": text, **members}
            typer.echo(json.dumps({"error": error}, indent=2))


@contextmanager
def answering(*, as_json: bool) -> Iterator[Screen]:
    """Run a command; every ending that can be foreseen becomes a readable message and its exit code."""
    screen = Screen(as_json=as_json)
    try:
        yield screen
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
        screen.failure(code, "Interrupted.")
    except UsageFault as error:
        code = Exit.USAGE
        screen.failure(code, str(error))
    except (PartmillError, StackError, OSError) as error:
        code, text, problem = explain(error)
        screen.failure(code, text, problem=problem and problem.document, job=_job_of(error))
    else:
        return
    raise typer.Exit(code)


def explain(error: PartmillError | StackError | OSError) -> tuple[Exit, str, Problem | None]:
    """The exit code of an error, what to tell the user, and the problem behind it, if there is one."""
    match error:
        case ProblemError(problem=problem, status=status):
            return _code_of(status), wording.problem(problem), problem
        case JobFailed(problem=problem, job=job):
            return Exit.JOB_FAILED, wording.failed_job(job, problem), problem
        case JobCancelled():
            return Exit.JOB_CANCELLED, str(error), None
        case ServerUnreachable():
            return Exit.UNREACHABLE, f"{error}\nStart a server with `partmill up`, or name one with --server.", None
        case DownloadCorrupt():
            return Exit.CORRUPT_DOWNLOAD, str(error), None
        case _:
            return Exit.UNEXPECTED, str(error), None


def _code_of(status: int) -> Exit:
    if status in TRY_AGAIN:
        return Exit.UNREACHABLE
    return Exit.REFUSED if 400 <= status < 500 else Exit.UNEXPECTED


def _job_of(error: Exception) -> Mapping[str, Any] | None:
    return error.job.document if isinstance(error, JobFailed | JobCancelled) else None
