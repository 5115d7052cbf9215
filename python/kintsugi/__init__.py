"""Breaks meshes into pieces along exact, seeded cracks.

    import kintsugi as kg

    vase = kg.voxelise("builtin:vase", level=6)
    pieces = vase.fracture(seeds=30, surface="rough", rng=7)
    for piece in pieces:
        print(piece.id, piece.volume, piece.mesh.vertices.shape)

Names, units and meanings are those of the program's files: docs/files.md, docs/scenes.md. The same mesh, parameters and
`rng` give the same bytes on every machine. Long calls release the interpreter lock, end at Ctrl+C, and take
`progress=kintsugi.progress.bar()`.

`kintsugi.data` reads data sets, `kintsugi.fit` searches for parameters. Both are imported by name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Optional, Union

from . import _native, progress
from ._convert import MeshLike, as_mesh
from ._native import (
    DeviceError,
    Engine,
    Error,
    ExportError,
    FractureError,
    Labelling,
    Mesh,
    MeshError,
    Object,
    ParameterError,
    Piece,
    PieceMesh,
    Pieces,
    Points,
    Scene,
    SceneError,
    Simulation,
    State,
    Touching,
    World,
    __version__,
    parameters,
)
from ._program import run
from ._seams import Seams, seams

Progress = Callable[[str, float], Any]

__all__ = [
    "DeviceError",
    "Engine",
    "Error",
    "ExportError",
    "FractureError",
    "Labelling",
    "Mesh",
    "MeshError",
    "MeshLike",
    "Object",
    "ParameterError",
    "Piece",
    "PieceMesh",
    "Pieces",
    "Points",
    "Progress",
    "Scene",
    "SceneError",
    "Seams",
    "Simulation",
    "State",
    "Touching",
    "World",
    "__version__",
    "as_mesh",
    "parameters",
    "progress",
    "run",
    "scenes",
    "seams",
    "voxelise",
]


def voxelise(
    mesh: MeshLike,
    level: Optional[int] = None,
    up: str = "y",
    progress: Optional[Progress] = None,
    *,
    units: Optional[str] = None,
    voxel_size: Union[float, str, None] = None,
) -> Object:
    """Voxelises a mesh to an octree with 2^level voxels along the longest side.

    `mesh` is a path (OBJ, PLY, STL, OFF, glTF, GLB, FBX, USD, USDZ, VOX), "builtin:NAME" (vase, column, box, sphere,
    shell, cavity, statue, pig, coin, brick, plate, shelf), a `Mesh`, a pair (vertices (N, 3), triangles (T, 3)), a
    trimesh.Trimesh or Scene, or a meshio.Mesh. `level` is 1 to 12. `up` names the axis of the mesh that points up: "y", "z", "x",
    "-y", "-z" or "-x". `units` is the unit of the mesh's lengths, "mm", "cm", "m", "in" or "ft": the object is then in
    metres. `voxel_size` takes the place of `level`: the widest edge of a voxel, metres or a text as "2mm". A file of
    several objects that do not touch becomes one object, of which a UserWarning tells; `Mesh.objects` gives each of them.

    Raises MeshError for a mesh that cannot be read or has no triangles, ParameterError for a level or shape out of range,
    TypeError for anything else as `mesh`.
    """
    return _native.voxelise(as_mesh(mesh), level, up, progress, units=units, voxel_size=voxel_size)


def scenes() -> Path:
    """The folder of the shipped scenes, such as `scenes() / "vase.toml"`."""
    here = Path(__file__).resolve().parent
    places = [here / "assets/scenes", *(above / "assets/scenes" for above in here.parents)]
    for place in places:
        if (place / "vase.toml").is_file():
            return place
    raise SceneError("the shipped scenes are not installed; install kintsugi by its wheel")
