"""The breaks of a data set as they lie in its folder.

In: the folder that `kintsugi dataset` wrote. Out: `Breaks`, a sequence of `Break`, whose arrays are read when they are used.
"""

from __future__ import annotations

import json
import os
import re
from functools import cached_property
from pathlib import Path
from typing import Any, Iterator, NamedTuple, Sequence, Union, overload

import numpy as np
from numpy.typing import NDArray

from ._native import Error

PathLike = Union[str, "os.PathLike[str]"]

SPLITS = ("train", "val", "test")
# Folder of everything but the meshes, whose own folders hold nothing else.
ARRAYS_FOLDER = "arrays"

# The arrays of a break, each also an attribute of `Break`.
ARRAYS = {
    "piece": "(P,) ids of the pieces, 0 to P - 1 by descending size",
    "mass": "(P,) masses at density 1, mesh units^3",
    "volume": "(P,) volumes, mesh units^3",
    "centre": "(P, 3) centres of mass, mesh units",
    "bounds": "(P, 2, 3) low and high corners, mesh units",
    "cell": "(P,) Voronoi cell of each, -1 for none",
    "parent": "(P,) piece that broke again to make each, -1 for the whole object",
    "touching": "(K, 2) pairs of pieces that touch, the lower one first",
    "touching_area": "(K,) area that they share, mesh units^2",
    "touching_centre": "(K, 3) centre of that area",
    "touching_normal": "(K, 3) its unit normal, from the first to the second",
    "impact_point": "(3,) where the object was hit, mesh units",
    "impact_direction": "(3,) unit direction of the blow",
    "start_rotation": "(P, 4) random start pose, unit quaternions x, y, z, w",
    "start_translation": "(P, 3) random start pose: start = R (x - centre) + translation",
    "voxels_sha256": "(32,) uint8, SHA-256 of the arrays of voxels.npz of the break",
    "mesh_volume": "(P,) volumes of the meshes, mesh units^3",
    "point_start": "(P + 1,) the points of piece k are rows point_start[k] to point_start[k + 1]",
    "points": "(N, 3) float32, spread evenly over the surfaces, in the true pose",
    "normals": "(N, 3) float32, outward unit normals of the points",
    "crack": "(N,) uint8, 1 for a point on a crack face",
    "beyond": "(N,) int32, the piece beyond the point; -1 outside, -2 a crack without a piece beyond",
    "triangle": "(N,) triangle of the piece's mesh file that the point lies in",
    "partner": "(N,) int32, the row of the nearest point of the piece beyond; -1 off cracks. With \"correspondences\" in keep",
    "partner_distance": "(N,) float32, how far it is, mesh units; -1 off cracks. With \"correspondences\" in keep",
    "face_start": "(P + 1,) the triangles of piece k, in the order of its file, are rows face_start[k] to face_start[k + 1]",
    "face_beyond": "(F,) int32, the piece beyond each triangle, as `beyond`",
}


class PiecePoints(NamedTuple):
    """Points of one piece, n of them, as rows of the arrays of its break."""

    positions: NDArray[np.float32]
    normals: NDArray[np.float32]
    crack: NDArray[np.bool_]
    beyond: NDArray[np.int32]
    triangle: NDArray[Any]


class Break:
    """One broken object. Every array that `ARRAYS` names is an attribute, read from the file at its first use."""

    name: str
    """Category, object and break, such as "everyday/vase/fractured_7"."""
    split: str
    """ "train", "val" or "test"."""
    folder: Path
    """Folder of the set. The meshes lie in `folder / name`, the arrays in `folder / "arrays" / name`."""

    piece: NDArray[Any]
    mass: NDArray[np.float64]
    volume: NDArray[np.float64]
    centre: NDArray[np.float64]
    bounds: NDArray[np.float64]
    cell: NDArray[Any]
    parent: NDArray[Any]
    touching: NDArray[Any]
    touching_area: NDArray[np.float64]
    touching_centre: NDArray[np.float64]
    touching_normal: NDArray[np.float64]
    impact_point: NDArray[np.float64]
    impact_direction: NDArray[np.float64]
    start_rotation: NDArray[np.float64]
    start_translation: NDArray[np.float64]
    voxels_sha256: NDArray[np.uint8]
    mesh_volume: NDArray[np.float64]
    point_start: NDArray[Any]
    points: NDArray[np.float32]
    normals: NDArray[np.float32]
    crack: NDArray[np.uint8]
    beyond: NDArray[np.int32]
    triangle: NDArray[Any]
    partner: NDArray[np.int32]
    partner_distance: NDArray[np.float32]
    face_start: NDArray[Any]
    face_beyond: NDArray[np.int32]

    def __init__(self, name: str, split: str, folder: Path) -> None:
        self.name, self.split, self.folder = name, split, folder

    @property
    def category(self) -> str:
        """The first part of the name."""
        return self.name.split("/")[0]

    @property
    def object(self) -> str:
        """The name without its last part: which object broke."""
        return self.name.rpartition("/")[0]

    def __len__(self) -> int:
        """How many pieces there are."""
        return len(self.piece)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"Break({self.name!r}, split={self.split!r})"

    def __getattr__(self, name: str) -> Any:
        # Reached where no attribute of that name is there yet.
        if name in ARRAYS:
            value = self._read([name])[name]
            self.__dict__[name] = value
            return value
        raise AttributeError(f"a break has no {name!r}; its arrays are {', '.join(ARRAYS)}")

    @property
    def _file(self) -> Path:
        return self.folder / ARRAYS_FOLDER / self.name / "pieces.npz"

    def _read(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        file = self._file
        try:
            with np.load(file, allow_pickle=False) as archive:
                missing = [name for name in names if name not in archive.files]
                if missing:
                    kept = ", ".join(archive.files)
                    raise Error(f"{file} has no {missing[0]}; the set was made without it, it has {kept}")
                return {name: archive[name] for name in names}
        except (OSError, ValueError) as error:
            raise Error(f"{file} cannot be read: {error}; make the set whole by running `kintsugi dataset` again") from None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays of the break by name, those that the set has."""
        with np.load(self._file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}

    def piece_points(self, k: int) -> PiecePoints:
        """The points of piece `k`, true pose, mesh units."""
        k = self._row(k)
        rows = slice(int(self.point_start[k]), int(self.point_start[k + 1]))
        return PiecePoints(
            self.points[rows], self.normals[rows], self.crack[rows].astype(bool), self.beyond[rows], self.triangle[rows]
        )

    def piece_faces_beyond(self, k: int) -> NDArray[np.int32]:
        """(T,) the piece beyond each triangle of piece `k`; -1 outside, -2 a crack without a piece beyond."""
        k = self._row(k)
        return self.face_beyond[int(self.face_start[k]) : int(self.face_start[k + 1])]

    def start_matrix(self, k: int) -> NDArray[np.float64]:
        """(4, 4) what takes piece `k` from its true pose to its random start pose."""
        k = self._row(k)
        x, y, z, w = self.start_rotation[k] / np.linalg.norm(self.start_rotation[k])
        matrix = np.eye(4)
        matrix[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        matrix[:3, 3] = self.start_translation[k] - matrix[:3, :3] @ self.centre[k]
        return matrix

    def started(self, k: int) -> NDArray[np.float32]:
        """(n, 3) the points of piece `k` in its random start pose."""
        matrix = self.start_matrix(k)
        places = self.piece_points(k).positions.astype(np.float64)
        return (places @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        """(P, P) whether two pieces touch; symmetric, False on the diagonal."""
        count = len(self)
        table = np.zeros((count, count), dtype=bool)
        # Ids are the rows 0 to P - 1.
        first, second = self.touching[:, 0], self.touching[:, 1]
        table[first, second] = table[second, first] = True
        return table

    def mesh_path(self, k: int) -> Path | None:
        """The OBJ or PLY file of piece `k`; None where the set has no meshes."""
        name = f"piece_{int(self.piece[self._row(k)])}"
        files = (self.folder / self.name / f"{name}.{ending}" for ending in ("obj", "ply"))
        return next((file for file in files if file.is_file()), None)

    def mesh(self, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Vertices (N, 3), mesh units, and triangles (T, 3) of piece `k`, true pose. Crack faces come last."""
        file = self.mesh_path(k)
        if file is None:
            raise Error(f'{self.name} has no mesh of piece {k}; make the set with "meshes" in keep (docs/dataset.md)')
        return read_mesh(file)

    def meshes(self) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        """Vertices and triangles of all pieces, see `mesh`."""
        return [self.mesh(k) for k in range(len(self))]

    def _row(self, k: int) -> int:
        count = len(self)
        if not -count <= k < count:
            raise IndexError(f"{self.name} has no piece {k}; it has {count}")
        return k % count


class Breaks(Sequence[Break]):
    """The breaks of a set's folder, in the order of its lists: `Breaks("set", split="train")[0]`.

    `split` is "train", "val", "test", or None for all of them. Only names are in memory; a worker process may get a copy.
    """

    def __init__(self, folder: PathLike, split: str | None = None) -> None:
        self.folder = Path(folder)
        self.split = split
        if split is not None and split not in SPLITS:
            raise ValueError(f"the split {split!r} is none of {', '.join(SPLITS)}")
        if not self.folder.is_dir():
            raise Error(f"{self.folder} is no folder; make a set with `kintsugi dataset JOBS.toml --out {self.folder}`")
        lists = self.folder / "data_split"
        wanted = SPLITS if split is None else (split,)
        files = sorted(lists.glob("*.txt")) if lists.is_dir() else []
        if not files:
            raise Error(
                f"{self.folder} is no finished data set: it has no data_split/NAME.train.txt; run `kintsugi dataset` to its end"
            )
        self._items: list[tuple[str, str]] = []
        for part in wanted:
            for file in files:
                if file.name.endswith(f".{part}.txt"):
                    self._items += [(name, part) for name in self._names(file)]

    def _names(self, file: Path) -> Iterator[str]:
        """The lists name objects; the folders of an object's breaks are numbered."""
        for line in file.read_text(encoding="utf-8").splitlines():
            name = line.strip().strip("/")
            if not name:
                continue
            arrays = self.folder / ARRAYS_FOLDER / name
            if (arrays / "pieces.npz").is_file():
                yield name
            elif arrays.is_dir():
                inside = [entry.name for entry in os.scandir(arrays) if entry.name.startswith("fractured_")]
                yield from (f"{name}/{inner}" for inner in sorted(inside, key=_natural))
            else:
                raise Error(f"{file} names {name}, which {self.folder / ARRAYS_FOLDER} does not have; copy the whole set")

    @cached_property
    def info(self) -> dict[str, Any]:
        """What dataset.json says of the set."""
        file = self.folder / "dataset.json"
        try:
            read: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Error(f"{file} cannot be read: {error}") from None
        return read

    @property
    def names(self) -> list[str]:
        """Names of the breaks, in their order."""
        return [name for name, _ in self._items]

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Break: ...
    @overload
    def __getitem__(self, index: slice) -> list[Break]: ...
    def __getitem__(self, index: int | slice) -> Break | list[Break]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        name, split = self._items[index]
        return Break(name, split, self.folder)

    def __repr__(self) -> str:
        return f"Breaks({str(self.folder)!r}, split={self.split!r}): {len(self)} breaks"


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Sorts fractured_10 after fractured_9."""
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.split(r"(\d+)", name) if part]


def read_mesh(file: PathLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices (N, 3) and triangles (T, 3) of a mesh file of a set, OBJ or PLY."""
    return read_ply(file) if str(file).endswith(".ply") else read_obj(file)


def read_ply(file: PathLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices and triangles of a PLY file as sets have them: binary, six floats a point, triangles with a flag."""
    content = Path(file).read_bytes()
    end = content.find(b"end_header\n") + len(b"end_header\n")
    count = {what: int(number) for what, number in re.findall(rb"element (\w+) (\d+)", content[:end])}
    points, faces = count.get(b"vertex", 0), count.get(b"face", 0)
    face = np.dtype([("corners", "u1"), ("rows", "<i4", 3), ("crack", "u1")])
    if len(content) != end + 24 * points + face.itemsize * faces or b"binary_little_endian" not in content[:end]:
        raise Error(f"{file} is no mesh of a data set; make it again, or read it by another package such as trimesh")
    vertices = np.frombuffer(content, "<f4", 6 * points, end).reshape(-1, 6)[:, :3]
    triangles = np.frombuffer(content, face, faces, end + 24 * points)["rows"]
    return vertices.astype(np.float64), triangles.astype(np.int64).reshape(-1, 3)


def read_obj(file: PathLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices (N, 3) and triangles (T, 3) of an OBJ file; polygons become fans, all else is passed over."""
    places: list[list[bytes]] = []
    corners: list[list[int]] = []
    with open(file, "rb") as lines:
        for line in lines:
            if line.startswith(b"v "):
                places.append(line.split()[1:4])
            elif line.startswith(b"f "):
                row = [int(word.split(b"/", 1)[0]) for word in line.split()[1:]]
                # Numbers count from 1; negative ones from the last vertex so far.
                row = [number - 1 if number > 0 else len(places) + number for number in row]
                corners += [[row[0], row[k], row[k + 1]] for k in range(1, len(row) - 1)]
    vertices = np.array(places, dtype=bytes).astype(np.float64).reshape(-1, 3)
    return vertices, np.array(corners, dtype=np.int64).reshape(-1, 3)
