"""Files come into being whole and checked, or not at all."""

import subprocess
import sys
from pathlib import Path

import pytest

from domain.problems import GeometryVerificationFailed, Refusal
from kernel.brep_file import read_brep, write_brep
from kernel.exports import described, write_checked
from kernel.inspection import inspect
from kernel.step_file import write_step
from tests.kernel.parts import built, part_of


def check_of(refused: pytest.ExceptionInfo[Refusal]) -> str:
    """Which check refused."""
    problem = refused.value.problem
    assert isinstance(problem, GeometryVerificationFailed)
    return problem.check


def test_a_checked_file_stands_under_its_name_only_after_its_check(tmp_path: Path) -> None:
    target = tmp_path / "part.txt"
    seen: list[bool] = []

    def check(path: Path) -> None:
        seen.append(path != target and path.read_text() == "whole" and not target.exists())

    write_checked(target, "txt", lambda path: path.write_text("whole") > 0, check)
    assert seen == [True]
    assert [path.name for path in tmp_path.iterdir()] == ["part.txt"]


def test_a_writer_that_reports_failure_leaves_nothing(tmp_path: Path) -> None:
    def fail(path: Path) -> bool:
        path.write_text("half")
        return False

    with pytest.raises(Refusal) as refused:
        write_checked(tmp_path / "part.txt", "txt", fail, lambda _: None)
    assert check_of(refused) == "file-written"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, ""])
def test_a_writer_that_claims_success_without_a_byte_is_not_believed(content: str | None, tmp_path: Path) -> None:
    def pretend(path: Path) -> bool:
        if content is not None:
            path.write_text(content)
        return True

    with pytest.raises(Refusal) as refused:
        write_checked(tmp_path / "part.txt", "txt", pretend, lambda _: None)
    assert check_of(refused) == "file-size"
    assert list(tmp_path.iterdir()) == []


def test_the_kernel_writing_into_a_missing_folder_is_refused(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "part.step"
    with pytest.raises(Refusal) as refused:
        write_checked(missing, "step", lambda path: write_step(built(), path, "x"), lambda _: None)
    assert check_of(refused) in {"file-written", "file-size"}


def test_a_file_is_described_by_size_and_hash(tmp_path: Path) -> None:
    path = tmp_path / "part.brep"
    path.write_bytes(b"abc")
    produced = described(path, "brep")
    assert (produced.file_name, produced.size_bytes) == ("part.brep", 3)
    assert produced.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_kept_shape_reads_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "shape.brep"
    assert write_brep(built(), path)
    before, after = inspect(built(), part_of()), inspect(read_brep(path), part_of())
    assert after.volume == pytest.approx(before.volume, rel=1e-12)
    assert after.area == pytest.approx(before.area, rel=1e-12)
    assert (after.faces, after.edges, after.solids) == (before.faces, before.edges, before.solids)


def test_a_kept_shape_that_is_cut_off_anywhere_is_refused_before_the_kernel_reads_it(tmp_path: Path) -> None:
    """The kernel's reader never comes back from some of these."""
    path, cut = tmp_path / "shape.brep", tmp_path / "cut.brep"
    write_brep(built(), path)
    whole = path.read_bytes().rstrip()
    for length in [*range(0, len(whole) - 100, 100), *range(len(whole) - 100, len(whole) - 1)]:
        cut.write_bytes(whole[:length])
        with pytest.raises(Refusal) as refused:
            read_brep(cut)
        assert check_of(refused) == "readable-file"


FULL_DISK = """
import errno, sys
from pathlib import Path
from kernel.brep_file import read_brep, write_brep
from kernel.exports import write_checked
from kernel.step_file import read_step, write_step
from tests.kernel.parts import built
step = (lambda path: write_step(built(), path, "x"), read_step)
write, check = {"step": step, "brep": (lambda path: write_brep(built(), path), read_brep)}[sys.argv[2]]
try:
    write_checked(Path(sys.argv[1], "part"), sys.argv[2], write, check)
except OSError as error:
    sys.exit(f"answer: {errno.errorcode[error.errno]}")
"""


def on_a_small_disk(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run the command where `folder` is a disk of 4 KiB; in a namespace of its own, which takes the disk with it."""
    script = 'mount -t tmpfs -o size=4k tmpfs "$0" && exec "$@"'
    wrapped = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, str(folder), *command]
    try:
        return subprocess.run(wrapped, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no namespaces here")


@pytest.mark.parametrize("output", ["step", "brep"])
def test_a_full_disk_is_no_fault_of_the_part(output: str, tmp_path: Path) -> None:
    """The kernel's writers do not tell; what they leave is cut off."""
    if on_a_small_disk(tmp_path, "true").returncode != 0:
        pytest.skip("this user may not mount a disk")
    found = on_a_small_disk(tmp_path, sys.executable, "-c", FULL_DISK, str(tmp_path), output)
    assert found.stderr.splitlines()[-1:] == ["answer: ENOSPC"]
