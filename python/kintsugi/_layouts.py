"""Writes a data set in the layouts of others.

In: the folder of a set. Out: one HDF5 file as GARF's loader reads it; one Parquet file with a row a piece. Both are written
break by break, so memory does not grow with the set.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from ._native import Error
from ._breaks import SPLITS, Break, Breaks, PathLike

Progress = Callable[[str, float], Any]

# Rows of a Parquet file that are in memory at a time.
ROWS = 20_000


def _needed(module: str, package: str, who: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{who} needs {package}, which is not installed: pip install {package}") from error


def _all_of(folder: PathLike | Sequence[Break]) -> Sequence[Break]:
    return Breaks(folder) if isinstance(folder, (str, os.PathLike)) else folder


def _counted(breaks: Sequence[Break], stage: str, progress: Progress | None) -> Iterator[Break]:
    for number, broken in enumerate(breaks):
        if progress is not None:
            progress(stage, number / len(breaks))
        yield broken
    if progress is not None:
        progress(stage, 1.0)


def to_hdf5(
    folder: PathLike | Sequence[Break],
    file: PathLike,
    kind: str = "garf",
    *,
    category: str | None = None,
    compression: str | None = None,
    progress: Progress | None = None,
) -> int:
    """Writes the set of `folder` (or `Breaks`) as one HDF5 file in the layout of GARF's loader; returns how many breaks.

    `data_split/CATEGORY/train`, `val` and `test` name the breaks. The group of a break has `pieces_names` and
    `pieces/PIECE/vertices` (N, 3) float64, `faces` (T, 3) int64, `shared_faces` (T,) int64: for each triangle the number
    of the piece beyond, -1 where there is none. Names of pieces are padded with zeros, so that their alphabetical order, by
    which the loader counts, is that of their numbers.

    `category` names all breaks' category otherwise: the loader takes "everyday", "artifact" and "other". `compression` is
    h5py's, "gzip" or "lzf"; without it reading is faster. The file appears whole once all is written.
    """
    if kind != "garf":
        raise ValueError(f'the layout {kind!r} is unknown; "garf" is the one that is written')
    h5py = _needed("h5py", "h5py", "kintsugi.data.to_hdf5")
    breaks = _all_of(folder)
    target = Path(file)
    aside = target.with_name(target.name + f".part-{os.getpid()}")
    names: dict[str, dict[str, list[str]]] = {}
    try:
        with h5py.File(aside, "w") as out:
            text = h5py.string_dtype("utf-8")
            for broken in _counted(breaks, "write HDF5", progress):
                own = broken.category if category is None else category
                names.setdefault(own, {split: [] for split in SPLITS})[broken.split].append(broken.name)
                group = out.create_group(broken.name)
                width = len(str(max(len(broken) - 1, 0)))
                keys = [f"piece_{k:0{width}d}" for k in range(len(broken))]
                group.create_dataset("pieces_names", data=[key.encode() for key in keys], dtype=text)
                for k, key in enumerate(keys):
                    vertices, triangles = broken.mesh(k)
                    beyond = np.maximum(broken.piece_faces_beyond(k).astype(np.int64), -1)
                    if len(beyond) != len(triangles):
                        raise Error(f"{broken.name}: piece {k} has {len(triangles)} triangles and {len(beyond)} neighbours")
                    piece = group.create_group(f"pieces/{key}")
                    for name, data in (("vertices", vertices), ("faces", triangles), ("shared_faces", beyond)):
                        # Chunks of nothing cannot be compressed.
                        piece.create_dataset(name, data=data, compression=compression if len(data) else None)
            for own, splits in names.items():
                for split, listed in splits.items():
                    words = [name.encode() for name in listed]
                    out.create_dataset(f"data_split/{own}/{split}", data=words, shape=(len(words),), dtype=text)
        os.replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)
    return len(breaks)


def to_parquet(
    folder: PathLike | Sequence[Break], file: PathLike, *, progress: Progress | None = None
) -> int:
    """Writes an index of the set of `folder` (or `Breaks`) as Parquet, a row a piece; returns how many rows.

    Columns: `break`, `category`, `object`, `split`, `piece`, `cell`, `parent`, `volume`, `mass`, `centre` (x, y, z),
    `bounds_low`, `bounds_high`, `touching` (pieces that touch it) with `touching_area`, `points` (how many were sampled),
    `path` of its mesh below the folder (missing where the set has no meshes). The file appears whole once all is written.
    """
    arrow = _needed("pyarrow", "pyarrow", "kintsugi.data.to_parquet")
    parquet = _needed("pyarrow.parquet", "pyarrow", "kintsugi.data.to_parquet")
    breaks = _all_of(folder)
    number, place = arrow.float64(), arrow.list_(arrow.float64())
    schema = arrow.schema(
        [
            ("break", arrow.string()),
            ("category", arrow.string()),
            ("object", arrow.string()),
            ("split", arrow.string()),
            ("piece", arrow.int32()),
            ("cell", arrow.int32()),
            ("parent", arrow.int32()),
            ("volume", number),
            ("mass", number),
            ("centre", place),
            ("bounds_low", place),
            ("bounds_high", place),
            ("touching", arrow.list_(arrow.int32())),
            ("touching_area", place),
            ("points", arrow.int32()),
            ("path", arrow.string()),
        ]
    )
    target = Path(file)
    aside = target.with_name(target.name + f".part-{os.getpid()}")
    written = 0
    rows: list[dict[str, Any]] = []
    try:
        with parquet.ParquetWriter(aside, schema) as out:
            for broken in _counted(breaks, "write Parquet", progress):
                rows += _rows(broken)
                if len(rows) >= ROWS:
                    out.write_table(arrow.Table.from_pylist(rows, schema=schema))
                    written += len(rows)
                    rows = []
            # A file without rows has its columns, too.
            if rows or written == 0:
                out.write_table(arrow.Table.from_pylist(rows, schema=schema))
        os.replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)
    return written + len(rows)


def _rows(broken: Break) -> Iterator[dict[str, Any]]:
    arrays = broken.arrays()
    pairs, areas = arrays["touching"], arrays["touching_area"]
    starts = arrays.get("point_start", np.zeros(len(broken) + 1, dtype=np.int64))
    for k in range(len(broken)):
        first, second = pairs[:, 0] == k, pairs[:, 1] == k
        others = np.concatenate([pairs[first, 1], pairs[second, 0]])
        order = np.argsort(others, kind="stable")
        path = broken.mesh_path(k)
        yield {
            "break": broken.name,
            "category": broken.category,
            "object": broken.object,
            "split": broken.split,
            "piece": int(arrays["piece"][k]),
            "cell": int(arrays["cell"][k]),
            "parent": int(arrays["parent"][k]),
            "volume": float(arrays["volume"][k]),
            "mass": float(arrays["mass"][k]),
            "centre": arrays["centre"][k].tolist(),
            "bounds_low": arrays["bounds"][k][0].tolist(),
            "bounds_high": arrays["bounds"][k][1].tolist(),
            "touching": others[order].tolist(),
            "touching_area": np.concatenate([areas[first], areas[second]])[order].tolist(),
            "points": int(starts[k + 1] - starts[k]),
            "path": None if path is None else f"{broken.name}/{path.name}",
        }
