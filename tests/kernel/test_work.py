"""A job from its order to its files, as the kernel process runs it."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from OCP.gp import gp_Dir

from domain.catalogue import MODELS
from domain.messages import MeshQuality, Produced
from domain.ports import KernelNews
from domain.problems import GeometryVerificationFailed, Refusal, TooManyTriangles
from kernel import families, kept_shape
from kernel.brep_file import write_brep
from kernel.formats import EXPORTS
from kernel.work import perform
from tests.kernel.parts import EXAMPLE, HeardNews, built, job_of

ROOT = Path(__file__).resolve().parent.parent.parent


def run(code: list[str]) -> str:
    """What a fresh interpreter prints."""
    ended = subprocess.run([sys.executable, *code], cwd=ROOT, check=True, capture_output=True, text=True, timeout=120)
    return ended.stdout


@pytest.fixture(scope="module")
def hashes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The example part's hashes by output, by the way a process of its own made it."""
    ways = ("fresh", "after-other-work", "rehearsed", "resumed")
    folders = {way: str(tmp_path_factory.mktemp(way)) for way in ways}
    return {way: json.loads(run(["-m", "tests.kernel.example_job", folders[way], way])) for way in ways}


@pytest.mark.parametrize("output", ["shape", "step", "brep", "stl"])
def test_three_processes_make_the_same_bytes(hashes: dict[str, dict[str, str]], output: str) -> None:
    """A fresh one, one that did other work before, and one that resumed from the kept shape in another order."""
    assert len({hashes[way][output] for way in hashes}) == 1


def test_importing_the_kernel_needs_neither_cadquery_nor_temporal() -> None:
    loaded = run(
        ["-c", "import sys, kernel.work; print(*sorted({name.split('.')[0] for name in sys.modules}))"]
    ).split()
    assert {"OCP", "kernel"} <= set(loaded)
    assert {"cadquery", "temporalio", "fastapi", "httpx"}.isdisjoint(loaded)


def test_the_kernel_prints_nothing(tmp_path: Path) -> None:
    printed = run(["-m", "tests.kernel.example_job", str(tmp_path), "fresh"])
    assert list(json.loads(printed)) == ["shape", "step", "brep", "stl"]


def test_outputs_are_announced_in_the_order_of_the_job(tmp_path: Path) -> None:
    heard = HeardNews()
    perform(job_of(tmp_path, "stl", "shape", "step"), heard)
    assert [(news.output, news.file_name) for news in heard.produced] == [
        ("stl", "part.stl"),
        ("shape", "shape.brep"),
        ("step", "part.step"),
    ]


def test_an_announced_file_is_there_with_its_size_and_hash(tmp_path: Path) -> None:
    def check(news: KernelNews) -> None:
        if isinstance(news, Produced):
            content = (tmp_path / news.file_name).read_bytes()
            assert (news.size_bytes, news.sha256) == (len(content), hashlib.sha256(content).hexdigest())

    perform(job_of(tmp_path, "shape", "step", "brep", "stl"), check)


def test_facts_stand_on_the_shape_and_triangles_on_the_mesh(tmp_path: Path) -> None:
    heard = HeardNews()
    perform(job_of(tmp_path, "shape", "step", "stl"), heard)
    shape, step, stl = heard.produced
    assert shape.facts is not None
    assert (shape.facts.faces, shape.facts.edges, shape.facts.solids) == (12, 28, 1)
    assert shape.facts.volume == pytest.approx(2_801_746.1619674726, rel=1e-9)
    assert shape.facts.area == pytest.approx(230_395.7968694049, rel=1e-6)
    assert shape.facts.center_of_mass == pytest.approx((0, 0, 150), abs=1e-6)
    assert (step.facts, step.triangles, stl.facts) == (None, None, None)
    assert stl.triangles == (stl.size_bytes - 84) // 50


def test_progress_goes_through_the_phases_and_never_back(tmp_path: Path) -> None:
    heard = HeardNews()
    perform(job_of(tmp_path, "shape", "step", "stl"), heard)
    phases = list(dict.fromkeys(news.phase for news in heard.progress))
    assert phases == ["building", "checking", "exporting", "meshing"]
    for phase in phases:
        fractions = [news.fraction for news in heard.progress if news.phase == phase]
        assert fractions == sorted(fractions)
        assert 0 <= fractions[0] <= fractions[-1] <= 1


def test_a_resumed_job_does_not_build(tmp_path: Path) -> None:
    write_brep(built(), tmp_path / "kept.brep")
    heard = HeardNews()
    perform(job_of(tmp_path, "step", shape_file="kept.brep"), heard)
    assert "building" not in {news.phase for news in heard.progress}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.brep", "part.step"]


def test_a_kept_shape_of_another_part_is_refused(tmp_path: Path) -> None:
    write_brep(built({**EXAMPLE, "length": 301.0}), tmp_path / "kept.brep")
    with pytest.raises(Refusal) as refused:
        perform(job_of(tmp_path, "step", shape_file="kept.brep"), HeardNews())
    assert isinstance(refused.value.problem, GeometryVerificationFailed)
    assert refused.value.problem.check == "volume"


def test_a_refused_job_leaves_only_what_it_announced(tmp_path: Path) -> None:
    huge = {"outer_diameter": 90_000.0, "inner_diameter": 0.0, "length": 90_000.0, "fillet_radius": 1_000.0}
    heard = HeardNews()
    fine = MeshQuality(linear_deflection=1e-4)
    with pytest.raises(Refusal) as refused:
        perform(job_of(tmp_path, "shape", "step", "stl", mesh=fine, parameters=huge), heard)
    assert isinstance(refused.value.problem, TooManyTriangles)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(news.file_name for news in heard.produced)


def test_a_failure_inside_the_kernel_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's own exceptions share no base class, and their text is not for clients."""
    monkeypatch.setattr(kept_shape, "BUILDERS", {"bored-cylinder": lambda _: gp_Dir(0, 0, 0)})
    with pytest.raises(Refusal) as refused:
        perform(job_of(tmp_path, "step"), HeardNews())
    assert refused.value.problem == GeometryVerificationFailed("kernel", "a finished step", "a failure of the kernel")


def test_a_fault_of_our_own_is_not_dressed_up_as_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_shape, "BUILDERS", {})
    with pytest.raises(KeyError):
        perform(job_of(tmp_path, "step"), HeardNews())


def test_every_model_of_the_catalogue_has_a_builder_and_every_format_an_export() -> None:
    assert set(families.BUILDERS) == set(MODELS)
    formats = {name for model in MODELS.values() for names in model.engines.values() for name in names}
    assert formats == set(EXPORTS)
