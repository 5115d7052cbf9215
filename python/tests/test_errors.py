"""What is refused, by which exception, and that its message is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import numpy as np
import pytest

import kintsugi as kg

V = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
T = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def refused(kind: type[Exception], *parts: str, call: Callable[[], object]) -> None:
    with pytest.raises(kind) as caught:
        call()
    said = str(caught.value)
    assert said and "\n" not in said, said
    for part in parts:
        assert part in said, f"{part!r} in {said!r}"


@pytest.mark.parametrize(
    ("mesh", "kind", "parts"),
    [
        ("no-such-file.obj", kg.MeshError, ["no-such-file.obj"]),
        ("builtin:dinosaur", kg.MeshError, ["dinosaur"]),
        (Path("no-such-file.stl"), kg.MeshError, ["no-such-file.stl"]),
        ((V[:, :2], T), kg.ParameterError, ["vertices", "(4, 2)"]),
        ((V, T[:, :2]), kg.ParameterError, ["triangles", "(4, 2)"]),
        ((V.ravel(), T), kg.ParameterError, ["(12,)"]),
        ((V, T, T), kg.ParameterError, ["tuple of 3"]),
        (([[0, 0, 0], [1, 0]], T), kg.ParameterError, ["vertices"]),
        ((V, T.astype(float)), TypeError, ["triangles", "float64"]),
        ((V, np.array([["a", "b", "c"]])), TypeError, ["triangles"]),
        ((V, np.zeros((0, 3), int)), kg.MeshError, ["no triangles"]),
        ((V, T + 1), kg.MeshError, ["vertex 4", "0 to 3"]),
        ((V, T - 1), kg.MeshError, ["vertex -1"]),
        ((np.where(V == 1, np.nan, V), T), kg.MeshError, ["not finite", "row 1"]),
        ((np.where(V == 1, np.inf, V), T), kg.MeshError, ["not finite"]),
        ((V * 1e39, T), kg.MeshError, ["single precision"]),
        (V, TypeError, ["(4, 3)", "(vertices, triangles)"]),
        (7, TypeError, ["int"]),
        (None, TypeError, ["NoneType"]),
    ],
)
def test_meshes(mesh: object, kind: type[Exception], parts: list[str]) -> None:
    refused(kind, *parts, call=lambda: kg.voxelise(mesh, level=3))


def test_a_vertex_that_no_triangle_has_may_be_anything() -> None:
    made = kg.voxelise((np.vstack([V, [[np.nan] * 3]]), T), level=4)
    assert abs(made.volume - 1 / 6) < 0.03


def test_levels_and_axes() -> None:
    for level in (0, 13):
        refused(kg.Error, str(level), call=lambda: kg.voxelise("builtin:box", level=level))
    refused((kg.Error, ValueError), "sideways", call=lambda: kg.voxelise("builtin:box", level=3, up="sideways"))
    refused(TypeError, call=lambda: kg.voxelise("builtin:box", level="six"))
    refused(kg.Error, "furlong", call=lambda: kg.voxelise("builtin:box", level=3, units="furlong"))
    refused(kg.Error, "as in 2mm", call=lambda: kg.voxelise("builtin:box", voxel_size="2"))
    refused(kg.Error, "either", call=lambda: kg.voxelise("builtin:box"))
    refused(kg.Error, "either", call=lambda: kg.voxelise("builtin:box", level=3, voxel_size=0.1))


def test_units_and_edges_of_voxels() -> None:
    made = kg.voxelise("builtin:box", units="cm", voxel_size="1mm")
    # 10 mm in voxels of 1 mm at most: the least 2^level - 2 from 10 on is 14.
    assert made.level == 4 and abs(made.edge - 0.01 / 14) < 1e-6
    assert kg.Scene.open("builtin:box", units="cm", up="z", voxel_size=0.001).toml.count("voxel_size") == 1


@pytest.mark.parametrize(
    ("parameters", "kind", "part"),
    [
        ({"sedes": 30}, (kg.ParameterError, TypeError), "sedes"),
        ({"seeds": 0}, kg.Error, "seeds"),
        ({"surface": "fluffy"}, kg.ParameterError, "fluffy"),
        ({"surface": "rough", "crack": {"strenght": 1}}, kg.ParameterError, "strenght"),
        ({"surface": "rough", "crack": {"strength": 2.0}}, kg.Error, "strength"),
        ({"radii": [-1.0]}, kg.Error, "radi"),
        ({"seeds": np.zeros((3, 2))}, kg.ParameterError, "(3, 2)"),
        ({"seeds": np.full((3, 3), np.nan)}, kg.Error, "finite"),
        ({"seeds": np.full((3, 3), 1e6)}, kg.Error, "seed"),
        ({"impact": [0.0, 1.0]}, (kg.ParameterError, TypeError), ""),
        ({"direction": [0.0, 0.0, 0.0]}, kg.Error, "direction"),
        ({"seeds": "many"}, (TypeError, kg.ParameterError), ""),
        ({"rng": -1}, (kg.ParameterError, TypeError, OverflowError), ""),
        ({"method": "hammer"}, kg.Error, "hammer"),
    ],
)
def test_parameters(box: kg.Object, parameters: dict[str, object], kind, part: str) -> None:
    refused(kind, part, call=lambda: box.fracture(**parameters))


def test_errors_are_of_one_family() -> None:
    for kind in (kg.MeshError, kg.ParameterError, kg.FractureError, kg.ExportError, kg.SceneError, kg.DeviceError):
        assert issubclass(kind, kg.Error) and issubclass(kind, Exception)


def test_pieces_and_places(blocks: kg.Pieces, tmp_path: Path) -> None:
    with pytest.raises(IndexError):
        blocks[len(blocks)]
    assert blocks[-1].id == len(blocks) - 1 and [piece.id for piece in blocks[1:3]] == [1, 2]
    refused(kg.Error, "docx", call=lambda: blocks.export(tmp_path / "out", ["docx"]))
    refused(kg.Error, "fog", call=lambda: blocks.overlays(["fog"]))
    refused(kg.SceneError, "no-such-scene", call=lambda: kg.Scene.open("no-such-scene.toml"))
    refused(kg.SceneError, call=lambda: kg.Scene.parse("gravity = 'down'", tmp_path))


def test_the_program_says_what_is_wrong(tmp_path: Path) -> None:
    refused(kg.Error, "no-such-file", call=lambda: kg.run(["fracture", "no-such-file.obj", "--out", tmp_path / "out"]))
    done = kg.run(["fracture", "no-such-file.obj", "--out", tmp_path / "out"], check=False)
    assert done.returncode == 2
