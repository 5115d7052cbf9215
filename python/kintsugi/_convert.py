"""Turns what people have as a mesh into the program's mesh.

In: a path, `builtin:NAME`, a `kintsugi.Mesh`, arrays, or an object of trimesh or meshio. Out: a `kintsugi.Mesh`. Neither
trimesh nor meshio is imported: their objects are recognised by their attributes.
"""

from __future__ import annotations

import os
from typing import Any, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._native import Mesh, MeshError, ParameterError

# `Any` stands for trimesh.Trimesh, trimesh.Scene and meshio.Mesh, which need not be installed.
MeshLike = Union[str, "os.PathLike[str]", Mesh, Tuple[ArrayLike, ArrayLike], Any]

TAKEN = (
    'a path, "builtin:NAME", a kintsugi.Mesh, a pair (vertices, triangles) of arrays, a trimesh.Trimesh or Scene, or a '
    "meshio.Mesh"
)


def as_mesh(what: MeshLike) -> Mesh:
    """The mesh that `what` describes.

    Raises TypeError for what is none of these, ParameterError for arrays of another shape, and MeshError for a file that
    cannot be read and for triangles that name missing vertices or places that are not finite.
    """
    if isinstance(what, Mesh):
        return what
    if isinstance(what, (str, os.PathLike)):
        return Mesh.read(os.fspath(what))
    if hasattr(what, "graph") and hasattr(what, "geometry"):
        return _of_scene(what)
    if hasattr(what, "vertices") and hasattr(what, "faces"):
        return _of_trimesh(what)
    if hasattr(what, "points") and hasattr(what, "cells"):
        return _of_meshio(what)
    if isinstance(what, (tuple, list)):
        if len(what) != 2:
            raise ParameterError(f"a mesh of arrays is the pair (vertices, triangles); a {_name(what)} of {len(what)} came")
        return of_arrays(what[0], what[1])
    hint = ""
    if isinstance(what, np.ndarray):
        hint = f" of shape {what.shape}; its triangles are missing: give (vertices, triangles)"
    raise TypeError(f"a mesh is {TAKEN}; a {_name(what)} came{hint}")


def of_arrays(
    vertices: ArrayLike, triangles: ArrayLike, *, colors: NDArray[np.uint8] | None = None, name: str = "mesh"
) -> Mesh:
    """The mesh of (N, 3) places and (T, 3) rows of them, once these were looked at."""
    places = _array(vertices, "vertices", "(N, 3) numbers")
    corners = _array(triangles, "triangles", "(T, 3) whole numbers")
    if places.dtype.kind not in "fiu":
        raise TypeError(f"vertices must be (N, 3) numbers; an array of {places.dtype} came")
    if corners.size == 0:
        corners = corners.reshape(-1, 3).astype(np.int64)
    if corners.dtype.kind not in "iu":
        raise TypeError(f"triangles must be (T, 3) whole numbers, rows of vertices; an array of {corners.dtype} came")
    for array, what in ((places, "vertices must be (N, 3)"), (corners, "triangles must be (T, 3)")):
        if array.ndim != 2 or array.shape[1] != 3:
            raise ParameterError(f"{what}; an array of shape {array.shape} came")
    if len(corners) == 0:
        raise MeshError("the mesh has no triangles; give (T, 3) rows of vertices with T of 1 or more")
    low, high = int(corners.min()), int(corners.max())
    if low < 0 or high >= len(places):
        wrong = low if low < 0 else high
        raise MeshError(f"a triangle names vertex {wrong}; with {len(places)} vertices the rows are 0 to {len(places) - 1}")
    places = places.astype(np.float64)
    bad = ~np.isfinite(places).all(axis=1)
    if bad.any():
        used = np.zeros(len(places), dtype=bool)
        used[corners.ravel()] = True
        rows = np.flatnonzero(bad & used)
        if len(rows):
            raise MeshError(f"{len(rows)} vertices of triangles are not finite, the first is row {rows[0]}; mend or remove them")
        # Nothing refers to them, but the reader would warn of each.
        places[bad] = 0.0
    # Meshes hold places in single precision.
    if np.abs(places).max(initial=0.0) > np.finfo(np.float32).max:
        raise MeshError("a vertex is beyond the range of single precision (3.4e38); scale the mesh down")
    return Mesh(
        np.ascontiguousarray(places),
        np.ascontiguousarray(corners.astype(np.int64)),
        name=name,
        colors=None if colors is None else np.ascontiguousarray(colors),
    )


def _array(what: ArrayLike, name: str, meaning: str) -> NDArray[Any]:
    try:
        array = np.asarray(what)
    except ValueError:
        # Rows of different lengths.
        raise ParameterError(f"{name} must be {meaning}; rows of different lengths came") from None
    if array.dtype == object:
        raise TypeError(f"{name} must be {meaning}; a {_name(what)} came")
    return array


def _name(what: object) -> str:
    kind = type(what)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _of_trimesh(mesh: Any) -> Mesh:
    visual: Any = getattr(mesh, "visual", None)
    colors = None
    if getattr(visual, "kind", None) == "vertex":
        colors = np.asarray(visual.vertex_colors)[:, :3].astype(np.uint8)
    return of_arrays(mesh.vertices, mesh.faces, colors=colors, name=_file_name(mesh))


def _file_name(mesh: Any) -> str:
    source = getattr(mesh, "source", None)
    name = getattr(source, "file_name", None)
    return name if isinstance(name, str) and name else "mesh"


def _of_scene(scene: Any) -> Mesh:
    """All meshes of a trimesh.Scene in their places; paths and point clouds have no faces and stay out."""
    vertices, triangles, first = [], [], 0
    for node in scene.graph.nodes_geometry:
        matrix, name = scene.graph[node]
        geometry = scene.geometry[name]
        if not hasattr(geometry, "faces"):
            continue
        matrix = np.asarray(matrix, dtype=np.float64)
        places = np.asarray(geometry.vertices, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        corners = np.asarray(geometry.faces, dtype=np.int64) + first
        # A mirrored copy would be inside out.
        if np.linalg.det(matrix[:3, :3]) < 0.0:
            corners = corners[:, ::-1]
        vertices.append(places)
        triangles.append(corners)
        first += len(places)
    if not vertices:
        raise MeshError("the trimesh.Scene has no meshes; give one that has a Trimesh in it")
    return of_arrays(np.concatenate(vertices), np.concatenate(triangles))


def _of_meshio(mesh: Any) -> Mesh:
    """Triangles, quads and polygons of a meshio.Mesh; points and lines stay out."""
    triangles, kinds = [], []
    for block in mesh.cells:
        kinds.append(str(block.type))
        if block.type == "triangle":
            triangles.append(np.asarray(block.data, dtype=np.int64))
        elif block.type == "quad":
            quads = np.asarray(block.data, dtype=np.int64)
            triangles.append(np.stack([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]], axis=1).reshape(-1, 3))
        elif block.type == "polygon":
            fans = [(row[0], row[k], row[k + 1]) for row in block.data for k in range(1, len(row) - 1)]
            triangles.append(np.array(fans, dtype=np.int64).reshape(-1, 3))
    if not triangles:
        found = ", ".join(sorted(set(kinds))) or "no cells"
        raise MeshError(f"the meshio.Mesh has no triangle, quad or polygon cells but {found}; give its surface")
    points = np.asarray(mesh.points)
    if points.ndim == 2 and points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    return of_arrays(points, np.concatenate(triangles))
