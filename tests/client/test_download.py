"""A download ends with exactly the bytes of the job's status, or with nothing."""

from pathlib import Path

import pytest

from partmill import reading
from partmill.client import DownloadCorrupt, Job, ProblemError, ServerUnreachable
from tests.client.conftest import Call
from tests.client.documents import CONTENT, JOB, LINK, completed, status
from tests.client.scripted_server import Reply, ScriptedServer, problem, reply

WHOLE = Reply(body=CONTENT, honours_ranges=True)


def names_in(folder: Path) -> list[str]:
    """What is in a folder, hidden files too."""
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def job() -> Job:
    """A job with one STEP file behind LINK."""
    return reading.job(completed())


async def test_the_file_arrives_whole(server: ScriptedServer, call: Call, job: Job, tmp_path: Path) -> None:
    server.answers(LINK, WHOLE)
    saved = await call("download", job, "step", tmp_path / "part.step")
    assert saved.read_bytes() == CONTENT
    assert names_in(tmp_path) == ["part.step"]


async def test_a_name_may_be_as_long_as_names_can_be(
    server: ScriptedServer, call: Call, job: Job, tmp_path: Path
) -> None:
    server.answers(LINK, WHOLE)
    name = "n" * 250 + ".step"
    await call("download", job, "step", tmp_path / name)
    assert names_in(tmp_path) == [name]


async def test_a_broken_connection_is_resumed_where_it_broke(
    server: ScriptedServer, call: Call, job: Job, tmp_path: Path
) -> None:
    broken = [Reply(body=CONTENT, honours_ranges=True, cut_after=size) for size in (40_000, 30_000)]
    server.answers(LINK, *broken, Reply(drop=True), WHOLE)
    saved = await call("download", job, "step", tmp_path / "part.step")
    assert saved.read_bytes() == CONTENT
    assert [request.headers.get("range") for request in server.asked(LINK)] == [
        None,
        "bytes=40000-",
        "bytes=70000-",
        "bytes=70000-",
    ]


async def test_a_server_without_ranges_is_asked_for_everything_again(
    server: ScriptedServer, call: Call, job: Job, tmp_path: Path
) -> None:
    server.answers(LINK, Reply(body=CONTENT, cut_after=50_000), Reply(body=CONTENT))
    assert (await call("download", job, "step", tmp_path / "part.step")).read_bytes() == CONTENT


async def test_an_expired_link_is_replaced_by_a_fresh_one(
    server: ScriptedServer, call: Call, job: Job, tmp_path: Path
) -> None:
    fresh = LINK.replace("one", "two")
    server.answers(LINK, problem(403, "link-expired"))
    server.answers(JOB, reply(completed(link=fresh)))
    server.answers(fresh, WHOLE)
    assert (await call("download", job, "step", tmp_path / "part.step")).read_bytes() == CONTENT


async def test_a_file_that_is_gone_is_a_problem(server: ScriptedServer, call: Call, job: Job, tmp_path: Path) -> None:
    server.answers(LINK, problem(410, "artifact-gone"))
    server.answers(JOB, reply(status("completed")))
    with pytest.raises(ProblemError) as caught:
        await call("download", job, "step", tmp_path / "part.step")
    assert caught.value.status == 410


@pytest.mark.parametrize(
    "content",
    [CONTENT[:-1] + b"?", CONTENT[:-1], CONTENT + b"?", b""],
    ids=["another byte", "too short", "too long", "empty"],
)
async def test_wrong_bytes_leave_the_old_file_as_it_was(
    server: ScriptedServer, call: Call, job: Job, tmp_path: Path, content: bytes
) -> None:
    server.answers(LINK, Reply(body=content, honours_ranges=True))
    target = tmp_path / "part.step"
    target.write_text("the old part")
    with pytest.raises(DownloadCorrupt):
        await call("download", job, "step", target)
    assert target.read_text() == "the old part"
    assert names_in(tmp_path) == ["part.step"]


async def test_a_damaged_transfer_is_made_good_by_a_second_one(
    server: ScriptedServer, call: Call, job: Job, tmp_path: Path
) -> None:
    server.answers(LINK, Reply(body=b"?" + CONTENT[1:]), WHOLE)
    assert (await call("download", job, "step", tmp_path / "part.step")).read_bytes() == CONTENT


async def test_a_connection_that_never_gets_further_is_given_up(
    server: ScriptedServer, call: Call, job: Job, tmp_path: Path
) -> None:
    server.answers(LINK, Reply(body=CONTENT, cut_after=1000))
    with pytest.raises(ServerUnreachable):
        await call("download", job, "step", tmp_path / "part.step")
    assert names_in(tmp_path) == []


async def test_a_format_the_job_does_not_have_is_a_key_error(
    server: ScriptedServer, call: Call, job: Job, tmp_path: Path
) -> None:
    with pytest.raises(KeyError, match="no stl file"):
        await call("download", job, "stl", tmp_path / "part.stl")
    assert server.requests == []
