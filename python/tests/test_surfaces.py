"""Meshes of pieces, what lies beyond their cracks, and points on them."""

from __future__ import annotations

import numpy as np
import pytest

import kintsugi as kg


def areas(mesh: kg.PieceMesh) -> np.ndarray:
    corners = mesh.vertices[mesh.triangles]
    return np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2


def volume(mesh: kg.PieceMesh) -> float:
    corners = mesh.vertices[mesh.triangles]
    return float(np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6)


def test_types_and_closed_surfaces(blocks: kg.Pieces) -> None:
    for piece in blocks:
        mesh = piece.mesh
        count = len(mesh.triangles)
        for array, shape, dtype in (
            (mesh.vertices, (len(mesh.vertices), 3), np.float64),
            (mesh.triangles, (count, 3), np.uint32),
            (mesh.crack, (count,), np.bool_),
            (mesh.beyond, (count,), np.int32),
            (mesh.beyond_cell, (count,), np.int32),
            (mesh.normals, (count, 3, 3), np.float32),
            (mesh.uv, (count, 3, 2), np.float32),
            (mesh.colors, (count, 3, 3), np.uint8),
        ):
            assert array.shape == shape and array.dtype == dtype
        # Every edge is there once each way.
        edges = np.concatenate([mesh.triangles[:, [k, (k + 1) % 3]] for k in range(3)]).astype(np.int64)
        there = edges[:, 0] * len(mesh.vertices) + edges[:, 1]
        back = edges[:, 1] * len(mesh.vertices) + edges[:, 0]
        assert len(np.unique(there)) == len(there) and np.array_equal(np.sort(there), np.sort(back))
        assert (mesh.vertices >= piece.bounds[0] - blocks.object.edge).all()
        assert (mesh.vertices <= piece.bounds[1] + blocks.object.edge).all()
    # A box of flat sides, cut by planes: what the cuts made is what was there.
    whole = np.prod(np.ptp(blocks.object.bounds, axis=0))
    assert sum(volume(piece.mesh) for piece in blocks) == pytest.approx(whole, rel=1e-5)


def test_what_lies_beyond_is_symmetric(blocks: kg.Pieces) -> None:
    count = len(blocks)
    shared = np.zeros((count, count))
    for piece in blocks:
        mesh = piece.mesh
        assert np.array_equal(mesh.beyond != -1, mesh.crack), "-1 is the outside, and nothing else is"
        assert (mesh.beyond >= -2).all() and (mesh.beyond < count).all() and (mesh.beyond != piece.id).all()
        known = mesh.beyond >= 0
        np.add.at(shared[piece.id], mesh.beyond[known], areas(mesh)[known])
        # The cell that the face was cut by is that of the piece beyond, but for slivers at edges.
        both = known & (mesh.beyond_cell >= 0)
        cells = np.array([other.cell for other in blocks])
        other = cells[mesh.beyond[both]] != mesh.beyond_cell[both]
        assert areas(mesh)[both][other].sum() <= 0.01 * areas(mesh)[both].sum()
    largest = shared.max()
    difference = np.abs(shared - shared.T)
    assert difference.max() < 0.05 * largest, f"{difference.max()} of {largest}"
    # A second computation: pairs that touch, with their areas.
    touching = blocks.touching()
    pairs, area = touching.pairs, touching.area
    assert pairs.dtype == np.int32 and pairs.shape == (len(area), 2) and (pairs[:, 0] < pairs[:, 1]).all()
    assert touching.centre.shape == touching.normal.shape == (len(area), 3)
    assert np.allclose(np.linalg.norm(touching.normal, axis=1), 1.0, atol=1e-6)
    found = np.zeros((count, count))
    found[pairs[:, 0], pairs[:, 1]] = area
    upper = np.triu((shared + shared.T) / 2)
    assert np.abs(found - upper).max() < 0.05 * largest
    centres = np.array([piece.centre for piece in blocks])
    ahead = np.einsum("ki,ki->k", centres[pairs[:, 1]] - centres[pairs[:, 0]], touching.normal)
    assert (ahead > 0).mean() > 0.9, "normals lead from the first piece to the second"


@pytest.mark.parametrize("which", ["blocks", "rough"])
def test_points_lie_on_their_triangles(which: str, request: pytest.FixtureRequest) -> None:
    pieces: kg.Pieces = request.getfixturevalue(which)
    piece = pieces[0]
    mesh, points = piece.mesh, piece.sample(500, seed=4)
    for array, shape, dtype in (
        (points.positions, (500, 3), np.float32),
        (points.normals, (500, 3), np.float32),
        (points.crack, (500,), np.bool_),
        (points.beyond, (500,), np.int32),
        (points.triangle, (500,), np.uint32),
    ):
        assert array.shape == shape and array.dtype == dtype
    corners = mesh.vertices[mesh.triangles[points.triangle]]
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(first, second)
    size = np.linalg.norm(normal, axis=1)
    normal /= size[:, None]
    offset = points.positions - corners[:, 0]
    scale = np.ptp(pieces.object.bounds, axis=0).max()
    assert np.abs(np.einsum("ni,ni->n", offset, normal)).max() < 1e-5 * scale
    # The three parts of a triangle round a point of it make up the whole triangle.
    parts = sum(
        np.linalg.norm(np.cross(corners[:, k] - points.positions, corners[:, (k + 1) % 3] - points.positions), axis=1)
        for k in range(3)
    )
    assert np.abs(parts - size).max() < 1e-4 * scale**2
    assert np.array_equal(points.crack, mesh.crack[points.triangle])
    assert np.array_equal(points.beyond, mesh.beyond[points.triangle])
    assert np.allclose(np.linalg.norm(points.normals, axis=1), 1.0, atol=1e-4)
    assert (np.einsum("ni,ni->n", points.normals, normal) > 0).mean() > 0.98, "normals lead outward"
    again, other = piece.sample(500, seed=4), piece.sample(500, seed=5)
    assert np.array_equal(again.positions, points.positions) and not np.array_equal(other.positions, points.positions)


def test_an_array_is_made_once_and_cannot_be_written_to(blocks: kg.Pieces, vase: kg.Object) -> None:
    piece = blocks[0]
    colored = kg.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], colors=[[1, 2, 3]] * 3)
    of_piece = ["vertices", "triangles", "crack", "beyond", "beyond_cell", "normals", "uv", "colors"]
    for owner, names in (
        (vase.mesh, ["vertices", "triangles"]),
        (colored, ["vertices", "triangles", "colors"]),
        (piece.mesh, of_piece),
        (piece.sample(50), ["positions", "normals", "crack", "beyond", "triangle"]),
    ):
        arrays = [getattr(owner, name) for name in names]
        for name, array in zip(names, arrays):
            assert getattr(owner, name) is array, name
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
            changed = array.copy()
            changed[:] = 0
        assert len({id(array) for array in arrays}) == len(arrays), "each has an array of its own"
    # It is taken where arrays are.
    again = kg.Mesh(colored.vertices, colored.triangles, colors=colored.colors)
    assert again.sha256 == colored.sha256 and again.vertices is not colored.vertices
    assert piece.mesh is piece.mesh and piece.mesh.vertices is blocks[0].mesh.vertices


def test_points_are_spread_evenly(blocks: kg.Pieces) -> None:
    piece = blocks[0]
    points = piece.sample(400).positions.astype(float)
    area = areas(piece.mesh)
    crack_share = area[piece.mesh.crack].sum() / area.sum()
    assert abs(piece.sample(400).crack.mean() - crack_share) < 0.05
    distances = np.linalg.norm(points[:, None] - points[None], axis=2) + np.eye(len(points)) * 1e9
    # Both faces of a thin edge have points of their own.
    normals = piece.sample(400).normals
    distances[normals @ normals.T < -0.5] = np.inf
    spacing = np.sqrt(area.sum() / len(points))
    # Points drawn one by one at random come as near as 0.02 of it.
    assert distances.min() > 0.25 * spacing, f"{distances.min() / spacing}"


def test_trimesh_finds_the_pieces_closed(blocks: kg.Pieces) -> None:
    trimesh = pytest.importorskip("trimesh")
    for piece in blocks:
        mesh = trimesh.Trimesh(piece.mesh.vertices, piece.mesh.triangles, process=False)
        assert mesh.is_watertight and mesh.is_winding_consistent
        assert mesh.volume == pytest.approx(volume(piece.mesh), rel=1e-9)
        assert np.abs(np.asarray(mesh.center_mass) - piece.centre).max() < blocks.object.edge
