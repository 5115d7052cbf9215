"""Reads data sets of broken objects that `kintsugi dataset` makes.

In: the folder of a set, or its recipe alone. Out: breaks with their arrays and meshes; an HDF5 file in the layout of GARF's
loader; a Parquet index. Reading needs NumPy alone.

    from kintsugi.data import Breaks
    for broken in Breaks("set", split="train"):
        print(broken.name, len(broken), broken.adjacency.sum() // 2)

docs/dataset.md describes the folder.
"""

from __future__ import annotations

from ._breaks import ARRAYS, SPLITS, Break, Breaks, PiecePoints, read_mesh
from ._layouts import to_hdf5, to_parquet
from ._recipe import Recipe

__all__ = ["ARRAYS", "SPLITS", "Break", "Breaks", "PiecePoints", "Recipe", "read_mesh", "to_hdf5", "to_parquet"]
