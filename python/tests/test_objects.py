"""Meshes and objects: what comes in, and the arrays of both."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import kintsugi as kg


def test_a_tetrahedron_keeps_its_volume_however_it_comes(tetrahedron, tmp_path: Path) -> None:
    vertices, triangles = tetrahedron
    file = tmp_path / "tetrahedron.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + ["f {} {} {}".format(*(row + 1)) for row in triangles]
    file.write_text("\n".join(lines) + "\n")
    ways = [
        (vertices, triangles),
        (vertices.astype(np.float32), triangles.astype(np.uint32)),
        (vertices.tolist(), triangles.tolist()),
        kg.Mesh(vertices, triangles),
        file,
        str(file),
    ]
    objects = [kg.voxelise(way, level=5) for way in ways]
    for made in objects:
        assert abs(made.volume - 1 / 6) < 0.02
        assert made.health["closed"]
        assert np.array_equal(made.coords, objects[0].coords)


def test_attributes_have_the_types_of_the_stub(vase: kg.Object) -> None:
    assert vase.level == 6 and vase.voxels > 10_000 and vase.edge > 0.0
    assert vase.bounds.shape == (2, 3) and vase.bounds.dtype == np.float64
    assert (vase.bounds[1] > vase.bounds[0]).all()
    assert vase.grid_to_mesh.shape == (4, 4) and vase.grid_to_mesh.dtype == np.float64
    assert vase.coords.shape == (len(vase.coverage), 3) and vase.coords.dtype == np.int32
    assert vase.coverage.dtype == np.float32 and (vase.coverage >= 0).all() and (vase.coverage <= 1).all()
    assert vase.mesh.vertices.dtype == np.float32 and vase.mesh.vertices.shape[1] == 3
    assert vase.mesh.triangles.dtype == np.uint32 and vase.mesh.triangles.shape[1] == 3
    assert len(vase.mesh.sha256) == 64 and vase.warnings == []
    point, direction = vase.default_impact
    assert point.shape == direction.shape == (3,)
    assert abs(np.linalg.norm(direction) - 1.0) < 1e-12


def test_the_grid_is_where_the_mesh_is(vase: kg.Object) -> None:
    low = vase.grid_to_mesh @ [*vase.coords.min(axis=0), 1.0]
    high = vase.grid_to_mesh @ [*(vase.coords.max(axis=0) + 1), 1.0]
    assert np.all(low[:3] <= vase.bounds[0] + 1e-9) and np.all(low[:3] > vase.bounds[0] - 2 * vase.edge)
    assert np.all(high[:3] >= vase.bounds[1] - 1e-9) and np.all(high[:3] < vase.bounds[1] + 2 * vase.edge)
    assert abs(np.linalg.det(vase.grid_to_mesh[:3, :3])) == pytest.approx(vase.edge**3)


def test_a_file_has_the_objects_that_do_not_touch(tetrahedron, tmp_path: Path) -> None:
    vertices, triangles = tetrahedron
    lines = []
    for number, (name, shift) in enumerate([("Left", 0.0), ("Right", 3.0)]):
        lines.append(f"o {name}")
        lines += [f"v {x + shift} {y} {z}" for x, y, z in vertices]
        lines += ["f {} {} {}".format(*(row + 1 + number * len(vertices))) for row in triangles]
    file = tmp_path / "two.obj"
    file.write_text("\n".join(lines) + "\n")
    both = kg.Mesh.read(file)
    objects = both.objects()
    assert [name for name, _ in objects] == ["Left", "Right"]
    for (_, mesh), shift in zip(objects, (0.0, 3.0)):
        assert len(mesh.triangles) == len(triangles)
        assert mesh.vertices[:, 0].min() == np.float32(np.min(vertices[:, 0]) + shift)
    [(name, whole)] = both.objects("together")
    assert name == "two" and np.array_equal(whole.vertices, both.vertices)
    with pytest.raises(kg.ParameterError, match="touching, apart, together"):
        both.objects("near")
    # The warning that the file becomes one object comes once, where the file is voxelised.
    line = r"its 2 objects \(Left, Right\), which do not touch, are joined to one"
    with pytest.warns(UserWarning, match=line):
        joined = kg.voxelise(both, level=4)
    assert len(joined.warnings) == 1 and "`Mesh.objects` gives each" in joined.warnings[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kg.voxelise(joined.mesh, level=4).warnings == joined.warnings
        assert kg.voxelise(objects[0][1], level=4).warnings == []


def test_a_mesh_stands_up() -> None:
    lying = kg.voxelise("builtin:column", level=5, up="z")
    standing = kg.voxelise("builtin:column", level=5)
    size = [np.ptp(made.bounds, axis=0) for made in (standing, lying)]
    # What is long along y in the file lies along z once its z axis points up.
    assert np.argmax(size[0]) == 1 and np.argmax(size[1]) == 2


def test_objects_of_trimesh(tetrahedron) -> None:
    trimesh = pytest.importorskip("trimesh")
    vertices, triangles = tetrahedron
    mesh = trimesh.Trimesh(vertices, triangles, process=False)
    alone = kg.voxelise(mesh, level=5)
    assert abs(alone.volume - 1 / 6) < 0.01
    scene = trimesh.Scene()
    scene.add_geometry(mesh)
    mirrored = np.diag([-1.0, 1.0, 1.0, 1.0])
    mirrored[0, 3] = -1.0
    scene.add_geometry(mesh.copy(), transform=mirrored)
    both = kg.as_mesh(scene)
    assert both.vertices.shape == (8, 3) and both.triangles.shape == (8, 3)
    # The mirrored copy is turned outside out again, so that both volumes count.
    corners = both.vertices.astype(float)[both.triangles]
    signed = np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert signed.sum() == pytest.approx(1 / 3, rel=1e-6)
    colored = trimesh.Trimesh(vertices, triangles, vertex_colors=np.full((4, 4), 200, np.uint8), process=False)
    assert kg.as_mesh(colored).vertices.shape == (4, 3)


def test_objects_of_meshio(tetrahedron) -> None:
    meshio = pytest.importorskip("meshio")
    vertices, triangles = tetrahedron
    surface = meshio.Mesh(vertices, [("triangle", triangles), ("line", [[0, 1]])])
    assert abs(kg.voxelise(surface, level=5).volume - 1 / 6) < 0.01
    square = meshio.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [("quad", [[0, 1, 2, 3]])])
    assert kg.as_mesh(square).triangles.shape == (2, 3)
    with pytest.raises(kg.MeshError, match="tetra"):
        kg.as_mesh(meshio.Mesh(vertices, [("tetra", [[0, 1, 2, 3]])]))
