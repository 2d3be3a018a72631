"""The options of the `partmill` command.

Never does any work: each function hands its options to a command and imports it only then, because `partmill --help`
and the start of a stack must not wait for what they do not need.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from partmill.exit_codes import Exit
from partmill.screen import answering

if TYPE_CHECKING:
    from partmill.flows import Action

app = typer.Typer(
    name="partmill",
    help="CAD files from parameters: one request, one job, one verified file.",
    epilog="Exit codes: " + ", ".join(f"{code.value} {code.wording}" for code in Exit) + ".",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
jobs_app = typer.Typer(help="Look at jobs and steer them.", no_args_is_help=True)
app.add_typer(jobs_app, name="jobs")

Server = Annotated[
    str | None,
    typer.Option("--server", envvar="PARTMILL_SERVER", help="The server's URL; if not given, the one on this machine."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout and nothing else there.")]
RequestSource = Annotated[str, typer.Argument(metavar="FILE", help="The request as JSON; - reads it from stdin.")]
JobIdentity = Annotated[str, typer.Argument(metavar="JOB_ID")]


def main() -> None:
    """The entry point."""
    app()


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"partmill {version('partmill')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """CAD files from parameters: one request, one job, one verified file."""


@app.command()
def generate(
    source: RequestSource,
    out: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="A file, or a folder for all formats.")],
    formats: Annotated[list[str] | None, typer.Option("--format", help="Instead of the request's; repeatable.")] = None,
    idempotency_key: Annotated[
        str | None, typer.Option(help="A key of your own for this job; without one, the request is the key.")
    ] = None,
    server: Server = None,
    no_start: Annotated[
        bool, typer.Option("--no-start", help="Fail if no server runs, instead of starting one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a part and save its file. Starts what is missing on this machine, and stops it again.

    Run twice, it finds the same job and saves the same file.
    """
    from partmill.commands.generate import Wish
    from partmill.commands.generate import generate as run

    with answering(as_json=as_json) as screen:
        run(Wish(source, out, tuple(formats or ()), idempotency_key, server, not no_start), screen)


@app.command()
def up(
    port: Annotated[int, typer.Option(envvar="PARTMILL_PORT", help="Of the API.")] = 8000,
    temporal_port: Annotated[int, typer.Option(help="Of Temporal.")] = 7233,
    ui_port: Annotated[int, typer.Option(help="Of Temporal's Web UI.")] = 8233,
    as_json: Json = False,
) -> None:
    """Run the whole stack in the foreground until Ctrl-C."""
    from partmill.commands.up import up as run
    from partmill.ports import Ports

    with answering(as_json=as_json) as screen:
        run(Ports(port, temporal_port, ui_port), screen)


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(help="One model in full.")] = None,
    server: Server = None,
    as_json: Json = False,
) -> None:
    """What can be made, and from which parameters."""
    from partmill.commands.catalogue import models as run

    with answering(as_json=as_json) as screen:
        run(name, server, screen)


@app.command()
def validate(source: RequestSource, server: Server = None, as_json: Json = False) -> None:
    """Check a request without making anything."""
    from partmill.commands.catalogue import validate as run

    with answering(as_json=as_json) as screen:
        run(source, server, screen)


@jobs_app.command("show")
def show_job(job_id: JobIdentity, server: Server = None, as_json: Json = False) -> None:
    """A job as it is now."""
    from partmill.commands.jobs import show as run

    with answering(as_json=as_json) as screen:
        run(job_id, server, screen)


@jobs_app.command("watch")
def watch_job(job_id: JobIdentity, server: Server = None, as_json: Json = False) -> None:
    """Follow a job until it ends."""
    from partmill.commands.jobs import follow as run

    with answering(as_json=as_json) as screen:
        run(job_id, server, screen)


@jobs_app.command("cancel")
def cancel_job(job_id: JobIdentity, server: Server = None, as_json: Json = False) -> None:
    """Ask for a job's end; its kernel is killed and nothing is published."""
    _steer(job_id, "cancel", server, as_json=as_json)


@jobs_app.command("retry")
def retry_job(job_id: JobIdentity, server: Server = None, as_json: Json = False) -> None:
    """Run a failed or cancelled job once more, or a completed one whose files are gone."""
    _steer(job_id, "retry", server, as_json=as_json)


@jobs_app.command("pause")
def pause_job(job_id: JobIdentity, server: Server = None, as_json: Json = False) -> None:
    """Suspend a job at its next stage boundary."""
    _steer(job_id, "pause", server, as_json=as_json)


@jobs_app.command("resume")
def resume_job(job_id: JobIdentity, server: Server = None, as_json: Json = False) -> None:
    """Let a paused job go on."""
    _steer(job_id, "resume", server, as_json=as_json)


def _steer(job_id: str, action: "Action", server: str | None, *, as_json: bool) -> None:
    from partmill.commands.jobs import steer as run

    with answering(as_json=as_json) as screen:
        run(job_id, action, server, screen)
