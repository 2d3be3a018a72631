"""The STL reader finds what is wrong with a mesh, and a third reader agrees with it."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from domain.messages import MeshQuality
from kernel.inspection import inspect
from kernel.readback import RECORD, judge, read_stl
from kernel.stl_file import write_stl
from tests.kernel.parts import built, part_of

Corners = npt.NDArray[np.float64]

TETRAHEDRON: Corners = np.array(
    [
        [[0, 0, 0], [0, 1, 0], [1, 0, 0]],
        [[0, 0, 0], [1, 0, 0], [0, 0, 1]],
        [[0, 0, 0], [0, 0, 1], [0, 1, 0]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    ],
    dtype=np.float64,
)


def stl_bytes(corners: Corners) -> bytes:
    """A binary STL file of these triangles."""
    records = np.zeros(len(corners), RECORD)
    records["corners"] = corners
    return bytes(80) + np.uint32(len(corners)).tobytes() + records.tobytes()


def test_a_closed_mesh_is_found_closed() -> None:
    found = judge(TETRAHEDRON)
    assert (found.triangles, found.vertices, found.open_edges, found.degenerate) == (4, 4, 0, 0)
    assert found.volume == pytest.approx(1 / 6)


def test_minus_zero_is_the_same_point_as_zero() -> None:
    corners = TETRAHEDRON.copy()
    corners[0][corners[0] == 0] = -0.0
    assert judge(corners).open_edges == 0


def test_a_missing_triangle_leaves_three_open_edges() -> None:
    assert judge(TETRAHEDRON[1:]).open_edges > 0


def test_a_reversed_triangle_leaves_open_edges() -> None:
    corners = TETRAHEDRON.copy()
    corners[0] = corners[0][::-1]
    assert judge(corners).open_edges > 0


def test_a_triangle_that_comes_twice_leaves_open_edges() -> None:
    assert judge(np.concatenate([TETRAHEDRON, TETRAHEDRON[:1]])).open_edges > 0


def test_two_bodies_that_share_an_edge_are_not_a_closed_mesh() -> None:
    """Every edge on exactly two triangles: the shared one is on four."""
    mirrored = (TETRAHEDRON * [-1, -1, 1])[:, :, :]
    assert judge(np.concatenate([TETRAHEDRON, mirrored])).open_edges > 0


def test_a_triangle_with_two_equal_corners_is_degenerate() -> None:
    corners = np.concatenate([TETRAHEDRON, [[[0, 0, 0], [0, 0, 0], [1, 0, 0]]]])
    assert judge(corners).degenerate == 1


def test_an_inside_out_mesh_has_a_negative_volume() -> None:
    assert judge(TETRAHEDRON[:, ::-1]).volume == pytest.approx(-1 / 6)


def test_the_volume_does_not_suffer_far_from_the_origin() -> None:
    assert judge(TETRAHEDRON + 1e6).volume == pytest.approx(1 / 6, rel=1e-9)


@pytest.mark.parametrize("cut", [0, 50, 83, 84, 84 + 50 * 4 - 1])
def test_a_file_that_is_cut_off_is_not_read(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "cut.stl"
    path.write_bytes(stl_bytes(TETRAHEDRON)[:cut])
    assert read_stl(path) is None


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "whole.stl"
    path.write_bytes(stl_bytes(TETRAHEDRON))
    corners = read_stl(path)
    assert corners is not None
    assert np.array_equal(corners, TETRAHEDRON)


def test_an_independent_reader_agrees_on_the_example(tmp_path: Path) -> None:
    shape, path = built(), tmp_path / "part.stl"
    facts = inspect(shape, part_of())
    triangles = write_stl(shape, path, facts, MeshQuality())
    ours = read_stl(path)
    assert ours is not None
    theirs = trimesh.load_mesh(path, process=False)
    theirs.merge_vertices()
    assert theirs.is_watertight
    assert theirs.is_winding_consistent
    assert len(theirs.faces) == judge(ours).triangles == triangles
    assert len(theirs.vertices) == judge(ours).vertices
    assert theirs.volume == pytest.approx(judge(ours).volume, rel=1e-9)
