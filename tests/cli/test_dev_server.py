"""temporal-dev.yaml says what the Temporal dev server is started with, and nothing it does not understand."""

import json
import re
import sqlite3
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from partmill.child import Child
from partmill.dev_server import FLAGS, DevServer, load_dev_server, temporal_binary
from partmill.ports import HOST, answers, reserve
from partmill.stack_errors import StackError
from tests.cli.seeing import seen
from tests.processes import ROOT, free_port


def written(folder: Path, text: str) -> Path:
    """A temporal-dev.yaml of this test's own."""
    path = folder / "temporal-dev.yaml"
    path.write_text(text)
    return path


def test_the_shipped_file_becomes_these_flags(tmp_path: Path) -> None:
    server = load_dev_server().placed(tmp_path, 7000, 8000)
    command = server.start_command()[1:]
    assert command[:2] == ["server", "start-dev"]
    pairs = list(zip(command[2::2], command[3::2], strict=True))
    assert ("--db-filename", str(tmp_path / "temporal.db")) in pairs
    assert ("--port", "7000") in pairs
    assert ("--ui-port", "8000") in pairs
    assert [value for flag, value in pairs if flag == "--sqlite-pragma"] == ["journal_mode=wal", "synchronous=normal"]
    assert len([value for flag, value in pairs if flag == "--dynamic-config-value"]) == 5
    assert server.retention == "720h"


def test_the_file_ships_in_the_package_too() -> None:
    """Where there is no checkout, the package's own copy is read."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included["temporal-dev.yaml"] == "partmill/temporal-dev.yaml"


def test_every_known_flag_is_a_flag_of_the_program() -> None:
    asked = [temporal_binary(), "server", "start-dev", "--help"], [temporal_binary(), "options"]
    help_text = "".join(subprocess.run(words, capture_output=True, text=True, check=True).stdout for words in asked)
    assert set(re.findall(r"--([a-z-]+)", help_text)) >= FLAGS


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("uiport: 8233", "`uiport` is no flag"),
        ("port: {a: 1}", "`port` must be"),
        ("sqlite-pragma: []", "`sqlite-pragma` must be"),
        ("search-attribute: [PartmillTenant]", "Name=Type"),
        ("- port", "one `flag: value` a line"),
        ("port: [", "can't be read"),
    ],
)
def test_what_is_no_flag_is_an_error_that_names_it(tmp_path: Path, line: str, named: str) -> None:
    with pytest.raises(StackError, match=re.escape(named)):
        load_dev_server(written(tmp_path, line))


def test_true_and_false_are_written_as_the_program_reads_them(tmp_path: Path) -> None:
    server = load_dev_server(written(tmp_path, "headless: true"))
    assert "--headless=true" in server.start_command()
    assert server.web_ui is None


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """The shipped server, started and set up as the stack does it."""
    folder = tmp_path_factory.mktemp("dev-server")
    shipped = load_dev_server().placed(folder, *reserve(0, 0))
    ours = {"log-level": "info", "http-port": free_port()}  # what fairness did is told in the log
    server = DevServer({**shipped.flags, **ours}, shipped.retention)
    child = Child("temporal", server.start_command(), {"HOME": str(folder)}, folder / "temporal.log")
    try:
        seen(lambda: answers(HOST, server.flags["port"]), "the server listens")
        for _ in range(2):  # at every start, so a second time must be harmless
            for command in server.setup_commands():
                subprocess.run(command, check=True, capture_output=True)
        yield server
    finally:
        child.stop(10)


def asked(server: DevServer, *words: str) -> str:
    """What `temporal` says of the running server."""
    command = [temporal_binary(), *words, "--address", server.address, "--output", "json"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_database_is_in_wal_mode(running: DevServer) -> None:
    with sqlite3.connect(running.flags["db-filename"]) as database:
        (mode,) = database.execute("PRAGMA journal_mode").fetchone()
    database.close()
    assert mode == "wal"


def test_the_namespace_keeps_closed_jobs_for_thirty_days(running: DevServer) -> None:
    description = json.loads(asked(running, "operator", "namespace", "describe", "--namespace", "default"))
    assert description["config"]["workflowExecutionRetentionTtl"] == "2592000s"


def test_the_search_attributes_exist(running: DevServer) -> None:
    listed = json.loads(asked(running, "operator", "search-attribute", "list"))["customAttributes"]
    ours = {name: kind for name, kind in listed.items() if name.startswith("Partmill")}
    assert ours == {
        "PartmillTenant": "INDEXED_VALUE_TYPE_KEYWORD",
        "PartmillModel": "INDEXED_VALUE_TYPE_KEYWORD",
        "PartmillEngine": "INDEXED_VALUE_TYPE_KEYWORD",
        "PartmillIdempotencyKey": "INDEXED_VALUE_TYPE_KEYWORD",
        "PartmillEvictions": "INDEXED_VALUE_TYPE_INT",
    }


def test_the_dynamic_config_that_can_be_seen_is_in_effect(running: DevServer) -> None:
    """`enableCancelActivityWorkerCommand` shows only in how fast a running activity hears of its cancellation."""
    described = json.loads(asked(running, "operator", "namespace", "describe", "--namespace", "default"))
    capabilities = described["namespaceInfo"]["capabilities"]
    assert capabilities["workerPollCompleteOnShutdown"]
    assert capabilities["workerCommands"]
    assert "backlog=fairness" in (Path(running.flags["db-filename"]).parent / "temporal.log").read_text()


def test_the_http_api_answers_no_page_that_rebinds_its_name_to_this_machine(running: DevServer) -> None:
    port = running.flags["http-port"]
    url = f"http://127.0.0.1:{port}/api/v1/namespaces"
    hosts = (f"rebound.example:{port}", f"127.0.0.1:{port}")
    assert [httpx.get(url, headers={"host": host}).status_code for host in hosts] == [403, 200]
