"""Data sets: what `kintsugi.data` reads of a set that the program makes, and what it writes of it."""

from __future__ import annotations

import csv
import gc
import importlib
import json
import multiprocessing
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import kintsugi as kg
from kintsugi import _recipe
from kintsugi.data import ARRAYS, Break, Breaks, Recipe, read_mesh, to_hdf5, to_parquet

JOBS = """
meshes = ["builtin:box", "builtin:sphere", "builtin:brick", "builtin:coin"]
levels = [5]

[fracture]
preset = "uniform"
seeds = 12

[[job]]
mesh = "builtin:sphere"
level = 4

[job.fracture]
seeds = 4

[dataset]
name = "shapes"
breaks = 2
points = 150
format = "FORMAT"
keep = ["points", "meshes", "correspondences"]
split = { train = 0.5, val = 0.25, test = 0.25 }
"""


@pytest.fixture(scope="module", params=["obj", "ply"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a set of 9 breaks of 4 objects."""
    folder = tmp_path_factory.mktemp("set")
    (folder / "jobs.toml").write_text(JOBS.replace("FORMAT", request.param))
    kg.run(["dataset", "jobs.toml", "--out", "set", "--compute", "cpu"], folder=folder)
    return folder / "set"


def test_every_break_is_in_one_part(made: Path) -> None:
    every = Breaks(made)
    assert len(every) == 9 and len(set(every.names)) == 9
    parts = [Breaks(made, split) for split in ("train", "val", "test")]
    assert [name for part in parts for name in part.names] == every.names
    with open(made / "table.csv", newline="") as lines:
        rows = {row["path"]: row for row in csv.DictReader(lines)}
    assert set(rows) == set(every.names)
    objects: dict[str, set[str]] = {}
    for broken in every:
        assert rows[broken.name]["split"] == broken.split
        assert int(rows[broken.name]["counts.pieces"]) == len(broken)
        objects.setdefault(broken.object, set()).add(broken.split)
        assert broken.category == "shapes"
    assert len(objects) == 4 and all(len(splits) == 1 for splits in objects.values()), "objects are not divided"
    assert every[-1].name == every.names[-1] and [one.name for one in every[1:3]] == every.names[1:3]
    assert every.info["jobs"] == 9
    again = pickle.loads(pickle.dumps(every))
    assert again.names == every.names and np.array_equal(again[0].points, every[0].points)


def test_arrays_fit_together(made: Path) -> None:
    for broken in Breaks(made):
        arrays = broken.arrays()
        assert set(arrays) == set(ARRAYS), set(arrays) ^ set(ARRAYS)
        assert all(np.array_equal(getattr(broken, name), array) for name, array in arrays.items())
        count = len(broken)
        assert broken.piece.tolist() == list(range(count))
        for name, shape in {
            "mass": (count,),
            "centre": (count, 3),
            "bounds": (count, 2, 3),
            "start_rotation": (count, 4),
            "start_translation": (count, 3),
            "impact_point": (3,),
            "point_start": (count + 1,),
            "face_start": (count + 1,),
        }.items():
            assert arrays[name].shape == shape, name
        assert np.allclose(np.linalg.norm(broken.start_rotation, axis=1), 1.0)
        assert np.allclose(np.linalg.norm(broken.normals, axis=1), 1.0, atol=1e-4)
        assert np.linalg.norm(broken.impact_direction) == pytest.approx(1.0)
        assert broken.points.shape == broken.normals.shape == (broken.point_start[-1], 3)
        assert broken.points.dtype == np.float32 and len(broken.face_beyond) == broken.face_start[-1]
        assert (np.diff(broken.point_start) == 150).all()
        assert np.array_equal(broken.crack == 1, broken.beyond != -1)
        # Correspondences: each point on a crack and the nearest of the piece beyond, by brute force.
        piece_of = np.repeat(broken.piece, np.diff(broken.point_start))
        has = broken.beyond >= 0
        assert has.any() and np.array_equal(broken.partner >= 0, has)
        assert (broken.partner_distance[~has] == -1).all()
        assert np.array_equal(piece_of[broken.partner[has]], broken.beyond[has])
        for point in np.flatnonzero(has)[::17]:
            offsets = broken.points[piece_of == broken.beyond[point]].astype(float) - broken.points[point]
            assert broken.partner_distance[point] == pytest.approx(np.linalg.norm(offsets, axis=1).min(), rel=1e-5, abs=1e-7)
        with pytest.raises(AttributeError, match="touching_area"):
            broken.touching_aera  # noqa: B018


def test_points_meshes_and_neighbours_agree(made: Path) -> None:
    for broken in Breaks(made)[::3]:
        table = broken.adjacency
        assert table.dtype == bool and np.array_equal(table, table.T) and not table.diagonal().any()
        assert table.sum() == 2 * len(broken.touching)
        for k, (vertices, triangles) in enumerate(broken.meshes()):
            beyond = broken.piece_faces_beyond(k)
            assert len(triangles) == len(beyond) and triangles.max() < len(vertices)
            corners = vertices[triangles]
            signed = np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
            assert signed == pytest.approx(broken.mesh_volume[k], rel=1e-4)
            # Cracks come last.
            assert (np.diff((beyond != -1).astype(int)) >= 0).all()
            points = broken.piece_points(k)
            assert np.array_equal(points.beyond, beyond[points.triangle])
            at = corners[points.triangle]
            normal = np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])
            normal /= np.linalg.norm(normal, axis=1)[:, None]
            off = np.einsum("ni,ni->n", points.positions - at[:, 0], normal)
            assert np.abs(off).max() < 1e-4 * np.ptp(broken.bounds.reshape(-1, 3), axis=0).max()
            # The start pose keeps lengths and turns about the centre.
            started = broken.started(k)
            moved = started - broken.start_translation[k]
            assert np.allclose(
                np.linalg.norm(moved, axis=1), np.linalg.norm(points.positions - broken.centre[k], axis=1), atol=1e-5
            )
            matrix = broken.start_matrix(k)
            assert np.linalg.det(matrix[:3, :3]) == pytest.approx(1.0)
        seen = {(k, int(other)) for k in range(len(broken)) for other in np.unique(broken.piece_faces_beyond(k)) if other >= 0}
        pairs = {tuple(pair) for pair in broken.touching.tolist()}
        assert pairs <= {(min(pair), max(pair)) for pair in seen}


def test_a_break_is_what_the_library_makes(made: Path) -> None:
    broken = next(one for one in Breaks(made) if one.name == "shapes/box/fractured_0")
    pieces = kg.voxelise("builtin:box", level=5).fracture(
        seeds=12,
        preset="uniform",
        rng=1,
        impact=broken.impact_point,
        direction=broken.impact_direction,
        smallest={"voxels": 8},
    )
    assert pieces.digest() == broken.voxels_sha256.tobytes().hex()
    assert np.allclose([piece.volume for piece in pieces], broken.volume, rtol=1e-12)
    assert np.array_equal(pieces.touching().pairs, broken.touching)


def read_like_garf(file: Path, split: str, category: str) -> "list[dict[str, object]]":
    """What the loader of GARF takes from a file: items of a split, pieces in the order of keys, graph by shared faces."""
    h5py = pytest.importorskip("h5py")
    items = []
    with h5py.File(file, "r") as source:
        for name in [entry.decode("utf-8") for entry in source["data_split"][category][split]]:
            group = source[name]["pieces"]
            keys = list(group.keys())
            shared = [np.array(group[key]["shared_faces"][:]) for key in keys]
            graph = np.zeros((len(keys), len(keys)), dtype=bool)
            for i in range(len(keys)):
                for j in range(i + 1, len(keys)):
                    graph[i, j] = graph[j, i] = j in shared[i]
            items.append(
                {
                    "name": name,
                    "names": [entry.decode("utf-8") for entry in source[name]["pieces_names"][:]],
                    "keys": keys,
                    "meshes": [(np.array(group[key]["vertices"][:]), np.array(group[key]["faces"][:])) for key in keys],
                    "shared": shared,
                    "graph": graph,
                }
            )
    return items


def test_hdf5_is_read_as_the_loader_of_garf_reads_it(made: Path, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    told: list[float] = []
    assert to_hdf5(made, tmp_path / "set.hdf5", progress=lambda stage, fraction: told.append(fraction)) == 9
    assert told[0] == 0.0 and told[-1] == 1.0 and told == sorted(told)
    found = 0
    for split in ("train", "val", "test"):
        breaks = Breaks(made, split)
        items = read_like_garf(tmp_path / "set.hdf5", split, "shapes")
        assert [item["name"] for item in items] == breaks.names
        for item, broken in zip(items, breaks):
            assert item["keys"] == item["names"] and len(item["keys"]) == len(broken)
            for k, (vertices, faces) in enumerate(item["meshes"]):
                own_vertices, own_faces = broken.mesh(k)
                assert np.array_equal(vertices, own_vertices) and np.array_equal(faces, own_faces)
                shared = item["shared"][k]
                assert shared.dtype == np.int64 and len(shared) == len(faces)
                assert np.array_equal(shared, np.maximum(broken.piece_faces_beyond(k), -1))
            # A triangle that borders on several pieces has the name of the one with most of it, so small contacts may be
            # on no face. The loader reads the lower piece of each pair alone.
            large = broken.touching[broken.touching_area > 0.1 * broken.touching_area.max()]
            assert item["graph"][large[:, 0], large[:, 1]].all() and len(large) >= len(broken) - 1
            found += 1
    assert found == 9
    assert to_hdf5(Breaks(made, "train"), tmp_path / "part.hdf5", category="everyday", compression="gzip") == len(
        Breaks(made, "train")
    )
    assert len(read_like_garf(tmp_path / "part.hdf5", "train", "everyday")) == len(Breaks(made, "train"))
    assert read_like_garf(tmp_path / "part.hdf5", "val", "everyday") == []
    with pytest.raises(ValueError, match="garf"):
        to_hdf5(made, tmp_path / "x.hdf5", kind="other")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["part.hdf5", "set.hdf5"], "nothing is left over"


def test_parquet_has_a_row_for_each_piece(made: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = to_parquet(made, tmp_path / "set.parquet")
    table = parquet.read_table(tmp_path / "set.parquet").to_pylist()
    breaks = Breaks(made)
    assert rows == len(table) == sum(len(broken) for broken in breaks)
    at = iter(table)
    for broken in breaks:
        for k in range(len(broken)):
            row = next(at)
            assert (row["break"], row["object"], row["split"], row["piece"]) == (broken.name, broken.object, broken.split, k)
            assert row["volume"] == broken.volume[k] and row["centre"] == broken.centre[k].tolist()
            assert row["touching"] == np.flatnonzero(broken.adjacency[k]).tolist()
            assert len(row["touching_area"]) == len(row["touching"]) and row["points"] == 150
            vertices, _ = read_mesh(made / row["path"])
            assert np.allclose(vertices.min(axis=0), row["bounds_low"], atol=1e-5)


@pytest.mark.parametrize("made", ["obj"], indirect=True)
def test_a_recipe_makes_the_same_breaks(made: Path, tmp_path: Path) -> None:
    shutil.copy(made / "recipe.json", tmp_path)
    recipe, breaks = Recipe(tmp_path / "recipe.json"), Breaks(made)
    assert sorted(recipe.names) == sorted(breaks.names)
    for split in ("train", "val", "test"):
        assert set(Recipe(tmp_path, split=split).names) == set(Breaks(made, split).names)
    by_name = {broken.name: broken for broken in breaks}
    for number in (0, len(recipe) - 1):
        again, there = recipe[number], by_name[recipe.names[number]]
        assert isinstance(again, Break) and again.split == there.split
        ours, theirs = again.arrays(), there.arrays()
        assert list(ours) == list(theirs)
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
        assert np.array_equal(again.mesh(0)[0], there.mesh(0)[0])
    kept = Recipe(tmp_path / "recipe.json", folder=tmp_path / "kept")
    assert np.array_equal(kept[1].points, by_name[kept.names[1]].points)
    hashes = json.loads((tmp_path / "recipe.json").read_text())["breaks"]
    assert [folder.name for folder in (tmp_path / "kept").iterdir()] == [f"1-{hashes[1]}"]
    copied = pickle.loads(pickle.dumps(recipe))
    assert np.array_equal(copied[0].volume, recipe[0].volume)
    # A recipe of other breaks is told apart.
    other = json.loads((tmp_path / "recipe.json").read_text())
    other["breaks"][0] = "0" * len(other["breaks"][0])
    (tmp_path / "other.json").write_text(json.dumps(other))
    wrong = Recipe(tmp_path / "other.json", folder=tmp_path / "wrong")
    for _ in range(2):
        with pytest.raises(kg.Error, match="break 0 of .*hash"):
            wrong[0]
    assert list((tmp_path / "wrong").iterdir()) == [], "nothing is left over"
    # Hashes name folders.
    other["breaks"][0] = "../0"
    (tmp_path / "other.json").write_text(json.dumps(other))
    with pytest.raises(kg.Error, match="no hash"):
        Recipe(tmp_path / "other.json")


def made_of(folder: Path, name: str, seeds: int) -> Path:
    """A set of one job, all of it in a folder of its own."""
    jobs = f'meshes = ["builtin:box"]\nlevels = [4]\nfracture.seeds = {seeds}\n'
    folder.mkdir()
    (folder / "jobs.toml").write_text(jobs + f'[dataset]\nname = "{name}"\nbreaks = 1\npoints = 20\n')
    kg.run(["dataset", "jobs.toml", "--out", "set", "--compute", "cpu"], folder=folder)
    return folder / "set"


def test_recipes_share_a_folder(tmp_path: Path) -> None:
    sets = [made_of(tmp_path / str(k), name, seeds) for k, (name, seeds) in enumerate((("a", 4), ("a", 9), ("b", 9)))]
    known = [Breaks(folder)[0].arrays() for folder in sets]
    assert not np.array_equal(known[0]["points"], known[1]["points"])
    for _ in range(2):
        for folder, arrays in list(zip(sets, known))[:2]:
            again = Recipe(folder, folder=tmp_path / "kept")[0]
            assert all(np.array_equal(again.arrays()[name], arrays[name]) for name in arrays)
    # The arrays of the second and the third are the same, so their hashes are; their names are not.
    hashes = [json.loads((folder / "recipe.json").read_text())["breaks"][0] for folder in sets]
    assert len(set(hashes[:2])) == 2 and hashes[1] == hashes[2]
    with pytest.raises(kg.Error, match="in the way"):
        Recipe(sets[2], folder=tmp_path / "kept")[0]
    assert sorted(folder.name for folder in (tmp_path / "kept").iterdir()) == sorted(f"0-{digits}" for digits in hashes[:2])


@pytest.mark.parametrize("made", ["obj"], indirect=True)
def test_what_ctrl_c_stops_is_taken_away(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled part works on after Ctrl+C, and writes its files when the call has ended."""
    real, begun = _recipe._Maker.make, []

    def interrupted(maker: _recipe._Maker, job: int, place: Path) -> None:
        begun.append(place)
        place.mkdir(parents=True)
        raise KeyboardInterrupt

    recipe = Recipe(made / "recipe.json", folder=tmp_path / "kept")
    monkeypatch.setattr(_recipe._Maker, "make", interrupted)
    with pytest.raises(KeyboardInterrupt):
        recipe[0]
    assert list((tmp_path / "kept").iterdir()) == []
    begun[0].mkdir(parents=True)
    (begun[0] / "late").write_text("x")
    monkeypatch.setattr(_recipe._Maker, "make", real)
    recipe[1]
    assert [folder.name.split("-")[0] for folder in (tmp_path / "kept").iterdir()] == ["1"]


@pytest.mark.parametrize("made", ["obj"], indirect=True)
def test_a_temporary_folder_ends_with_its_recipe(made: Path) -> None:
    recipe = Recipe(made / "recipe.json")
    file = recipe[0].mesh_path(0)
    assert file is not None and file.is_file()
    del recipe
    gc.collect()
    assert not file.exists() and not any(folder.is_dir() and "kintsugi-recipe-" in folder.name for folder in file.parents)


@pytest.mark.parametrize("made", ["obj"], indirect=True)
def test_an_object_of_a_recipe_is_voxelised_once(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, int]] = []

    def counted(mesh: kg.Mesh, level: int, up: str = "y", units: object = None, voxel_size: object = None) -> kg.Object:
        assert units is None and voxel_size is None
        calls.append((mesh.name, level))
        return kg.voxelise(mesh, level, up)

    monkeypatch.setattr("kintsugi._recipe.voxelise", counted)
    recipe, by_name = Recipe(made / "recipe.json"), {broken.name: broken for broken in Breaks(made)}
    of = {name: [k for k, path in enumerate(recipe.names) if f"/{name}/" in path] for name in ("box", "sphere", "brick")}

    def make(number: int) -> None:
        again, there = recipe[number], by_name[recipe.names[number]]
        ours, theirs = again.arrays(), there.arrays()
        assert list(ours) == list(theirs)
        assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)

    for number in of["box"]:
        make(number)
        file = recipe[number].mesh_path(0)
        there = by_name[recipe.names[number]].mesh_path(0)
        assert file is not None and there is not None and file.read_bytes() == there.read_bytes()
    assert len(of["box"]) == 2 and calls == [("builtin:box", 5)]
    # Another level is another object.
    for number in of["sphere"]:
        make(number)
    assert len(of["sphere"]) == 3 and calls[1:] == [("builtin:sphere", 5), ("builtin:sphere", 4)]
    # With room for one object, the other one goes.
    monkeypatch.setattr("kintsugi._recipe.OBJECTS", 1)
    recipe, before = Recipe(made / "recipe.json"), len(calls)
    for number in (of["box"][0], of["brick"][0], of["brick"][1], of["box"][1]):
        make(number)
    assert [name for name, _ in calls[before:]] == ["builtin:box", "builtin:brick", "builtin:box"]


def volumes(recipe: Recipe) -> "list[float]":
    return [float(volume) for volume in recipe[0].volume]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be forked here")
@pytest.mark.parametrize("made", ["obj"], indirect=True)
@pytest.mark.parametrize("compute", ["cpu", "auto"])
def test_a_forked_worker_makes_the_same_break(made: Path, compute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = volumes(Recipe(made / "recipe.json"))
    recipe = Recipe(made / "recipe.json", compute=compute)

    def refuse(*words: object, **more: object) -> None:
        raise AssertionError("the worker started the program, which only adapters need")

    if compute == "cpu":
        monkeypatch.setattr("kintsugi._program.run", refuse)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(volumes, (recipe,)).get(timeout=120) == here


def inherited(recipes: "list[Recipe]", answers: "multiprocessing.SimpleQueue[list[float]]") -> None:
    answers.put(volumes(recipes[0]))
    # The last reference of this process.
    recipes.clear()
    gc.collect()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be forked here")
@pytest.mark.parametrize("made", ["obj"], indirect=True)
def test_a_forked_process_leaves_the_files_of_its_parent(made: Path) -> None:
    recipes = [Recipe(made / "recipe.json")]
    broken = recipes[0][0]
    file = broken.mesh_path(0)
    assert file is not None
    before = file.read_bytes()
    forked = multiprocessing.get_context("fork")
    answers = forked.SimpleQueue()
    # It inherits the recipe, which is not pickled.
    child = forked.Process(target=inherited, args=(recipes, answers))
    child.start()
    child.join(timeout=120)
    assert child.exitcode == 0 and answers.get() == broken.volume.tolist()
    assert file.read_bytes() == before


def test_what_is_missing_is_said(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, part in ((tmp_path / "none", "no folder"), (tmp_path, "data_split")):
        with pytest.raises(kg.Error, match=part):
            Breaks(folder)
    with pytest.raises(ValueError, match="validation"):
        Breaks(made, "validation")
    with pytest.raises(kg.Error, match="no recipe"):
        Recipe(made / "table.csv")
    damaged = tmp_path / "damaged"
    shutil.copytree(made, damaged)
    broken = Breaks(damaged)[0]
    (damaged / "arrays" / broken.name / "pieces.npz").write_bytes(b"PK")
    with pytest.raises(kg.Error, match="pieces.npz") as caught:
        broken.points  # noqa: B018
    assert "\n" not in str(caught.value)
    with pytest.raises(IndexError):
        Breaks(made)[0].piece_points(10_000)

    def without(name: str, *rest: object) -> object:
        if name.split(".")[0] in ("h5py", "pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    real = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", without)
    for call, package in ((to_hdf5, "h5py"), (to_parquet, "pyarrow")):
        with pytest.raises(ImportError, match=f"pip install {package}"):
            call(made, tmp_path / "out")
