"""Arrays of a break against what they mean, computed anew with NumPy."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import kintsugi as kg

# docs/files.md, voxels.npz: dtype and shape; letters are lengths.
ARRAYS = {
    "source": (np.int32, "M3"),
    "source_inside": (np.int32, "K4"),
    "source_coverage": (np.float32, "M"),
    "source_plane": (np.float32, "M4"),
    "coords": (np.int32, "N3"),
    "piece": (np.int32, "N"),
    "cell": (np.int32, "N"),
    "crack": (np.uint8, "N"),
    "normal": (np.float32, "N3"),
    "coverage": (np.float32, "N"),
    "plane": (np.float32, "N4"),
    "cut": (np.float32, "N4"),
    "piece_inside": (np.int32, "Q5"),
    "dust": (np.int32, "D3"),
    "seeds": (np.float64, "S3"),
    "seed_object": (np.int32, "S"),
    "grid_to_mesh": (np.float64, "44"),
    "level": (np.int32, ""),
    "first_seed": (np.int32, "B"),
    "surface": (np.int32, "B"),
    "transition_level": (np.int32, "B"),
    "island_level": (np.int32, "B"),
}


def has_shape(array: np.ndarray, shape: str, lengths: dict[str, int]) -> bool:
    if array.ndim != len(shape):
        return False
    for length, what in zip(array.shape, shape):
        if length != (int(what) if what.isdigit() else lengths.setdefault(what, length)):
            return False
    return True


@pytest.mark.parametrize("which", ["planar", "rough"])
def test_arrays_have_the_shapes_of_the_file(which: str, request: pytest.FixtureRequest) -> None:
    arrays = request.getfixturevalue(which).arrays()
    assert list(arrays) == list(ARRAYS)
    lengths: dict[str, int] = {}
    for name, (dtype, shape) in ARRAYS.items():
        assert arrays[name].dtype == dtype, name
        assert has_shape(arrays[name], shape, lengths), f"{name}: {arrays[name].shape} is not {shape} with {lengths}"
        assert arrays[name].ndim == 0 or arrays[name].flags.c_contiguous, name
    assert lengths["B"] == 1 and lengths["S"] == 30


def test_named_arrays_are_those_of_all(planar: kg.Pieces) -> None:
    whole, some = planar.arrays(), planar.arrays(["piece", "coords"])
    assert list(some) == ["coords", "piece"], "the order is that of the file"
    for name, array in some.items():
        assert array.dtype == whole[name].dtype and np.array_equal(array, whole[name]), name
    with pytest.raises(kg.ExportError, match="there are source, "):
        planar.arrays(["peice"])


@pytest.mark.parametrize("which", ["planar", "rough"])
def test_voxels_and_volumes_are_those_of_the_arrays(which: str, request: pytest.FixtureRequest) -> None:
    pieces: kg.Pieces = request.getfixturevalue(which)
    a = pieces.arrays()
    count = len(pieces)
    cubes = a["piece_inside"]
    edges = cubes[:, 3].astype(float) ** 3
    voxels = np.bincount(a["piece"], minlength=count) + np.bincount(cubes[:, 4], edges, count)
    assert [piece.voxels for piece in pieces] == voxels.tolist()
    assert (np.diff(voxels) <= 0).all(), "pieces come by descending size"
    shares = np.bincount(a["piece"], a["coverage"].astype(float), count) + np.bincount(cubes[:, 4], edges, count)
    unit = pieces.object.edge**3
    assert np.allclose([piece.volume for piece in pieces], shares * unit, rtol=1e-6)
    assert sum(piece.volume for piece in pieces) == pytest.approx(pieces.object.volume, rel=1e-6)
    source = a["source_coverage"].sum(dtype=float) + (a["source_inside"][:, 3].astype(float) ** 3).sum()
    assert pieces.object.volume == pytest.approx(source * unit, rel=1e-6)
    assert np.array_equal(a["source"], pieces.object.coords)
    assert np.array_equal(a["source_coverage"], pieces.object.coverage)


def test_pieces_have_what_the_report_says(planar: kg.Pieces) -> None:
    report = planar.report()
    assert json.loads(json.dumps(report)) == report, "the report is made of plain values"
    assert len(report["pieces"]) == len(planar)
    for piece, told in zip(planar, report["pieces"]):
        assert (piece.id, piece.cell, piece.parent, piece.voxels) == tuple(told[k] for k in ("id", "cell", "parent", "voxels"))
        assert piece.generation == 1 and piece.volume == told["volume"]
        assert piece.centre.tolist() == told["centre"] and piece.bounds.tolist() == told["bounds"]
        assert piece.centre.shape == (3,) and piece.bounds.shape == (2, 3)
        assert (piece.bounds[0] < piece.centre).all() and (piece.centre < piece.bounds[1]).all()
    assert report["parameters"]["seeds"] == 30 and planar.parameters["rng"] == 7
    assert all(entry["ok"] for entry in planar.check()) and len(planar.check()) >= 8
    assert planar.timings and all(isinstance(value, float) for value in planar.timings.values())


def nearest(places: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """The nearest seed of each place, of equally near ones the first."""
    return np.array([np.argmin(((seeds - place) ** 2).sum(axis=1)) for place in places])


def test_own_seeds_are_the_sites_of_a_voronoi_diagram(vase: kg.Object) -> None:
    random = np.random.default_rng(5)
    low, high = vase.bounds
    own = low + random.random((12, 3)) * (high - low)
    pieces = vase.fracture(seeds=own)
    a = pieces.arrays()
    # Used as multiples of side / 2^14.
    used = a["seeds"] @ a["grid_to_mesh"][:3, :3].T + a["grid_to_mesh"][:3, 3]
    unit = vase.edge * 2**6 / 2**14
    assert np.abs(used - own).max() <= unit
    cell_of = np.array([piece.cell for piece in pieces])
    # Inside: the centre of each node that no crack touches is nearest to the seed of its piece's cell.
    cubes = a["piece_inside"]
    assert len(cubes) > 100
    centres = cubes[:, :3] + cubes[:, 3:4] / 2
    places = centres @ a["grid_to_mesh"][:3, :3].T + a["grid_to_mesh"][:3, 3]
    assert np.array_equal(nearest(places, own), cell_of[cubes[:, 4]])
    # Boundary: a voxel has a copy in exactly the cells of its corners, where these are whole numbers of the same unit.
    scale = 2 ** (14 - 6)
    seeds = np.rint(a["seeds"] * scale).astype(np.int64)
    copies: dict[tuple[int, ...], set[int]] = {}
    for place, cell in zip(a["coords"].tolist(), a["cell"].tolist()):
        copies.setdefault(tuple(place), set()).add(cell)
    for place in list(copies)[:: max(1, len(copies) // 2000)]:
        corners = [[place[axis] + (c >> axis & 1) for axis in range(3)] for c in range(8)]
        assert copies[place] == set(nearest(np.array(corners) * scale, seeds).tolist()), place


def test_the_same_seed_gives_the_same_bytes(vase: kg.Object, planar: kg.Pieces) -> None:
    again = kg.voxelise("builtin:vase", level=6).fracture(seeds=30, rng=7)
    other = vase.fracture(seeds=30, rng=8)
    assert again.digest() == planar.digest() != other.digest()
    assert len(planar.digest()) == 64 and int(planar.digest(), 16) >= 0
    a, b = planar.arrays(), again.arrays()
    assert all(np.array_equal(a[name], b[name]) for name in a)
    # As its docstring says.
    own = hashlib.sha256()
    for name, array in a.items():
        own.update(name.encode() + b"\0" + array.dtype.newbyteorder("<").str.encode() + b"\0")
        own.update(np.array([array.ndim, *array.shape], dtype="<u8").tobytes())
        own.update(array.tobytes())
    assert own.hexdigest() == planar.digest()


def test_generations_break_again(box: kg.Object) -> None:
    pieces = box.fracture(seeds=6, rng=2, generations=2)
    assert {piece.generation for piece in pieces} == {1, 2}
    assert all((piece.parent is None) == (piece.generation == 1) for piece in pieces)
    assert sum(piece.volume for piece in pieces) == pytest.approx(box.volume, rel=1e-6)
    assert len(pieces.arrays()["first_seed"]) > 1


def test_nested_parameters_and_the_table(box: kg.Object) -> None:
    table = {entry["name"]: entry for entry in kg.parameters()}
    assert {"seeds", "preset", "radii", "surface", "rng"} <= set(table)
    assert all({"name", "unit", "low", "high", "default", "help"} <= set(entry) for entry in table.values())
    assert (table["seeds"]["low"], table["seeds"]["high"], table["seeds"]["default"]) == (1, 8192, 40)
    smooth = box.fracture(seeds=8, surface="rough", crack={"noise": {"amplitude": 0.0}, "strength": 1.0})
    wild = box.fracture(seeds=8, surface="rough", crack={"noise": {"amplitude": 1.0}, "strength": 0.5})
    assert smooth.parameters["crack"]["noise"]["amplitude"] == 0.0
    assert smooth.digest() != wild.digest()


def test_export_writes_what_the_program_writes(rough: kg.Pieces, tmp_path: Path) -> None:
    report = rough.export(tmp_path / "called", ["obj"])
    command = "fracture builtin:vase --level 6 --seeds 30 --rng 7 --surface rough --smallest 0 --format npz,obj --compute cpu"
    kg.run([*command.split(), "--out", tmp_path / "run"])
    for name in ("pieces.obj", "pieces.mtl"):
        assert (tmp_path / "called" / name).read_bytes() == (tmp_path / "run" / name).read_bytes(), name
    called, run, arrays = np.load(tmp_path / "called/voxels.npz"), np.load(tmp_path / "run/voxels.npz"), rough.arrays()
    assert called.files == run.files == list(arrays)
    for name in run.files:
        assert np.array_equal(called[name], run[name]) and np.array_equal(arrays[name], run[name]), name
    written = json.loads((tmp_path / "run/report.json").read_text())
    for name in ("counts", "pieces", "checks", "source_mass"):
        assert report[name] == written[name], name


def test_overlays_and_labelling(rough: kg.Pieces) -> None:
    overlays = rough.overlays(["transition", "triangles", "points", "labels"])
    assert overlays["transition_voxels"].shape == (len(overlays["transition_objects"]), 4)
    assert overlays["triangles"].shape == (len(overlays["triangle_cells"]), 3, 3)
    steps = rough.labelling()
    assert steps.agrees and len(steps) == len(steps.changes) and steps.changes.dtype == np.int32
    assert np.array_equal(steps.start, np.arange(len(steps.start))) and steps.start.dtype == np.uint32
    before = steps.start
    for labels, changed in zip(steps, steps.changes):
        assert np.count_nonzero(labels != before) == changed
        assert (labels <= before).all() or (labels >= before).all()
        before = labels
    assert np.array_equal(steps[-1], before) and np.array_equal(before, overlays["labels"][-1])
    with pytest.raises(IndexError):
        steps[len(steps)]
    # What is labelled is what the arrays hold, by cell and place.
    assert np.array_equal(np.column_stack([steps.coords, steps.size]), overlays["label_voxels"])
    assert np.array_equal(steps.cells, overlays["label_cell"])
    assert np.array_equal(1 << (6 - steps.levels), steps.size)
    # In the end two voxels have one label exactly where they are of one piece.
    pairs = np.unique(np.stack([before, overlays["label_piece"]], axis=1), axis=0)
    assert len(pairs) == len(rough) == len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1]))


def test_pictures_show_the_object(planar: kg.Pieces) -> None:
    picture = planar.picture(96, 64, transparent=True)
    assert picture.shape == (64, 96, 4) and picture.dtype == np.uint8
    shown = picture[:, :, 3] > 0
    assert 0.02 < shown.mean() < 0.9 and picture[shown][:, :3].std() > 5
    apart = planar.picture(96, 64, transparent=True, apart=0.5)
    assert not np.array_equal(picture, apart)
    whole = planar.object.picture(96, 64, view="front")
    assert whole.shape == (64, 96, 4) and (whole[:, :, 3] == 255).all()


def test_seams_are_the_surface_voxels_whose_corners_lie_in_several_cells(blocks: kg.Pieces) -> None:
    arrays, found = blocks.arrays(), kg.seams(blocks)
    cell = [piece.cell for piece in blocks]
    assert len(set(cell)) == len(cell), "cells of a box are convex, so that each is one piece"
    piece_of = {int(c): i for i, c in enumerate(cell)}
    corners = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), -1).reshape(8, 3)
    source = arrays["source"]
    at = source[:, None, :] + corners
    distance = ((at[:, :, None, :] - arrays["seeds"][None, None]) ** 2).sum(-1)
    owner = distance.argmin(-1)
    # A corner as near to two seeds is either's, as rounding has it.
    two = np.sort(distance, axis=-1)[..., :2]
    is_clear = (two[..., 1] - two[..., 0] > 1e-6).all(-1)
    wanted = set()
    for voxel, cells in zip(source[is_clear], owner[is_clear]):
        ids = sorted({piece_of[int(c)] for c in cells if int(c) in piece_of})
        wanted |= {(*map(int, voxel), a, b) for i, a in enumerate(ids) for b in ids[i + 1 :]}
    clear = {tuple(map(int, voxel)) for voxel in source[is_clear]}
    given = {(*map(int, c), *map(int, p)) for c, p in zip(found.coords, found.pieces) if tuple(map(int, c)) in clear}
    assert given == wanted and len(given) > 100
    assert np.allclose(found.points, (found.coords + 0.5) @ arrays["grid_to_mesh"][:3, :3].T + arrays["grid_to_mesh"][:3, 3])
