"""How a job's status is spelled (contract rules 20-27), and the links in it."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from starlette.responses import Response

from adapters.signed_links import SignedLinks
from api.answers import JobAnswers
from api.documents import spelled
from domain.messages import (
    BoundingBox,
    Checkpoint,
    Generation,
    GeometryFacts,
    JobId,
    KernelVersion,
    PublishedFile,
    StoreKey,
    Tenant,
)
from domain.problems import KernelTimeout
from domain.status import TERMINAL, JobStatus, State

CREATED = datetime(2024, 10, 25, 8, 30, tzinfo=UTC)
JOB_ID = JobId("cad_8f93b2a1c0d44b5ea1f0c2d3e4f50617")
STATES: tuple[State, ...] = ("queued", "processing", "suspended", "completed", "failed", "cancelled")


def published(file_format: str, triangles: int | None = None) -> PublishedFile:
    """An artifact of the job."""
    name = f"bored-cylinder.{file_format}"
    key = StoreKey(f"artifacts/local/{JOB_ID}/{name}")
    size = 1000 + len(file_format)
    return PublishedFile(
        file_format=file_format, key=key, file_name=name, file_size_bytes=size, sha256="ab" * 32, triangles=triangles
    )


MADE = Generation(
    files=(published("step"), published("stl", 4000)),
    geometry=GeometryFacts(
        volume=2801746.16,
        area=1.5,
        center_of_mass=(0, 0, 150),
        bounding_box=BoundingBox(min=(-60, -60, 0), max=(60, 60, 300)),
        solids=1,
        faces=12,
        edges=30,
        valid=True,
        watertight=True,
    ),
    kernel=KernelVersion(engine="opencascade-brep", version="7.9.3.1"),
    checkpoint=Checkpoint(),
)


def job(state: State = "processing", **members: object) -> JobStatus:
    """A job in that state."""
    known = {
        "job_id": JOB_ID,
        "tenant": Tenant("local"),
        "fingerprint": "0" * 64,
        "state": state,
        "created_at": CREATED,
        "model": "bored-cylinder",
        "engine": "opencascade-brep",
        "formats": ("step", "stl"),
    }
    return JobStatus.model_validate(known | members)


def answered(seen: JobStatus, age: timedelta = timedelta(0)) -> Response:
    """The status answer when the job is `age` old."""
    return JobAnswers(SignedLinks(b"k" * 32), lambda: CREATED + age, 3600).status(seen)


def document(answer: Response) -> dict[str, object]:
    """Its JSON."""
    read: dict[str, object] = json.loads(bytes(answer.body))
    return read


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (CREATED, "2024-10-25T08:30:00Z"),
        (CREATED + timedelta(milliseconds=5, microseconds=999), "2024-10-25T08:30:00.005Z"),
        (CREATED + timedelta(microseconds=999), "2024-10-25T08:30:00Z"),
        (CREATED.astimezone(), "2024-10-25T08:30:00Z"),
    ],
)
def test_moments_are_spelled_in_utc(moment: datetime, text: str) -> None:
    assert spelled(moment) == text


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_a_200(state: State) -> None:
    answer = answered(job(state))
    assert (answer.status_code, document(answer)["status"]) == (200, state)


@pytest.mark.parametrize(("age_s", "wait_s"), [(0, "1"), (9, "1"), (10, "2"), (59, "2"), (60, "5"), (10**6, "5")])
def test_retry_after_grows_with_the_jobs_age(age_s: int, wait_s: str) -> None:
    assert answered(job(), timedelta(seconds=age_s)).headers["Retry-After"] == wait_s


@pytest.mark.parametrize("state", TERMINAL)
def test_retry_after_is_absent_once_the_job_has_ended(state: State) -> None:
    assert "Retry-After" not in answered(job(state)).headers


def test_progress_is_the_checkpoints() -> None:
    beat = CREATED + timedelta(seconds=3)
    seen = job(checkpoint=Checkpoint(phase="meshing", fraction=0.6123456, last_heartbeat=beat))
    expected = {"phase": "meshing", "fraction": 0.6123, "last_heartbeat": "2024-10-25T08:30:03Z"}
    assert document(answered(seen))["progress"] == expected


def test_a_completed_job_is_done() -> None:
    seen = job("completed", result=MADE, checkpoint=Checkpoint(phase="publishing", fraction=0.97))
    assert document(answered(seen))["progress"] == {"phase": "done", "fraction": 1.0, "last_heartbeat": None}


def test_a_suspended_job_says_why() -> None:
    assert document(answered(job("suspended", suspended_reason="evicted")))["suspended_reason"] == "evicted"


def test_a_failed_job_holds_its_problem() -> None:
    problem = KernelTimeout(300, "building").as_dict()
    assert document(answered(job("failed", problem=problem)))["error"] == problem


def test_a_result_tells_the_first_file_and_all_files() -> None:
    result = document(answered(job("completed", result=MADE)))["result"]
    assert isinstance(result, dict)
    assert result.keys() == {
        *("file_format", "file_size_bytes", "sha256", "download_url", "expires_at", "triangles"),
        *("files", "geometry", "kernel"),
    }
    assert [file["file_format"] for file in result["files"]] == ["step", "stl"]
    assert result["file_format"] == "step"
    assert result["files"][1]["triangles"] == 4000
    assert result["geometry"]["bounding_box"] == {"min": [-60, -60, 0], "max": [60, 60, 300]}
    assert result["kernel"] == {"engine": "opencascade-brep", "version": "7.9.3.1"}


def test_rule_27_links_are_new_in_each_half_of_their_life_and_the_same_within_it() -> None:
    def link(minutes: float) -> tuple[object, object]:
        result = document(answered(job("completed", result=MADE), timedelta(minutes=minutes)))["result"]
        assert isinstance(result, dict)
        return result["download_url"], result["expires_at"]

    assert link(0) == link(29.9)
    assert link(0)[1] == "2024-10-25T09:30:00Z"
    assert link(30) != link(29.9)
    assert link(30)[1] == "2024-10-25T10:00:00Z"


def test_a_replay_says_so() -> None:
    answer = JobAnswers(SignedLinks(b"k" * 32), lambda: CREATED, 3600).replayed(job())
    assert (answer.status_code, answer.headers["Idempotent-Replayed"]) == (200, "true")
    assert answer.headers["Location"] == f"/v1/jobs/{JOB_ID}"
