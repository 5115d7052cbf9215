"""Where cracks run over an object's surface.

In: the pieces of a break. Out: the surface voxels that several pieces share, with those pieces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._native import Pieces

# A voxel has a copy for each cell at its eight corners at most.
MOST_COPIES = 8


class Seams(NamedTuple):
    """Lines of cracks on the surface; S is the number of pairs of pieces, over all voxels of the lines."""

    coords: NDArray[np.int32]
    """(S, 3) leaf coordinates; a voxel that three pieces share stands here three times, once for each pair."""
    pieces: NDArray[np.int32]
    """(S, 2) the two pieces, the lower id first."""
    points: NDArray[np.float64]
    """(S, 3) middle of the voxel, units of the mesh."""


def seams(pieces: Pieces) -> Seams:
    """The voxels of the object's surface through which cracks run, with the pieces on both sides.

    A voxel of the surface has a copy in each piece that owns one of its corners (Domaradzki & Martyn 2016, sec. 4.3); those
    with copies in several pieces are the lines that the sandbox shows in gold.
    """
    arrays = pieces.arrays()
    is_surface = arrays["crack"] == 0
    coords, piece = arrays["coords"][is_surface], arrays["piece"][is_surface]
    side = np.int64(1) << int(arrays["level"])
    keys = coords.astype(np.int64) @ np.array([side * side, side, 1])
    order = np.lexsort((piece, keys))
    coords, piece, keys = coords[order], piece[order], keys[order]
    places, others = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for step in range(1, MOST_COPIES):
        (first,) = np.nonzero((keys[step:] == keys[:-step]) & (piece[step:] != piece[:-step]))
        places.append(first)
        others.append(first + step)
    place, other = np.concatenate(places), np.concatenate(others)
    pairs = np.stack([piece[place], piece[other]], axis=-1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], keys[place]))
    place, pairs = place[order], pairs[order]
    matrix = arrays["grid_to_mesh"]
    points = (coords[place] + 0.5) @ matrix[:3, :3].T + matrix[:3, 3]
    return Seams(coords[place], pairs, points)
