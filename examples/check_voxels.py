#!/usr/bin/env python3
"""Checks a break from voxels.npz alone, with NumPy and SciPy and nothing of Kintsugi's own code.

    pip install numpy scipy
    kintsugi fracture builtin:vase --level 6 --seeds 40 --rng 7 --out out/
    python3 examples/check_voxels.py out/voxels.npz

F1  The boundary voxels of the pieces, without copies, are the source's boundary voxels and those voxels inside it whose eight
    corners lie in several Voronoi cells; and the copies of each voxel are exactly the cells of its corners. Every corner's
    cell is found anew: the nearest seed, of equally near ones the lowest number. Seeds are multiples of side / 2^14, so the
    distances are compared as whole numbers and ties are exact. In a local fracture several cells have one object id
    (seed_object) and count as one: between them there is no face.
F4  The pieces are exactly the 26-connected components of the cells: the solid of each cell is labelled by
    scipy.ndimage.label and compared with the piece numbers, up to renaming.

The grid has side^3 voxels; level 9 needs about 2 GB. Breaks of one generation with the leaf level as island level are checked.
"""

import sys
from pathlib import Path

import numpy as np
from scipy import ndimage

UNITS = 1 << 14  # units of a grid side in which seeds are whole numbers


def fill(grid, cubes, value=True):
    """Writes value (one for all, or one each) into cubes given as x, y, z, size."""
    values = np.broadcast_to(value, len(cubes))
    for (x, y, z, size), v in zip(cubes[:, :4], values):
        grid[x : x + size, y : y + size, z : z + size] = v


def corner_cells(side, seeds, objects, first, last):
    """Object ids of the grid corners whose x is first..=last, (last - first + 1, side + 1, side + 1) of them."""
    axis = np.arange(side + 1, dtype=np.int64) * (UNITS // side)
    across = axis[first : last + 1]
    best = np.full((len(across), side + 1, side + 1), np.iinfo(np.int64).max)
    cell = np.zeros(best.shape, dtype=np.int32)
    for number, (x, y, z) in enumerate(seeds):
        distance = (
            ((across - x) ** 2)[:, None, None]
            + ((axis - y) ** 2)[None, :, None]
            + ((axis - z) ** 2)[None, None, :]
        )
        nearer = distance < best  # strictly: a tie stays with the lower number
        best[nearer] = distance[nearer]
        cell[nearer] = number
    return objects[cell]


def in_order(rows):
    return rows[np.lexsort(rows.T[::-1])]


def check_objects(data):
    objects = data["seed_object"]
    own = np.arange(len(objects))
    assert len(objects) == len(data["seeds"]) and (objects >= 0).all(), "an object id for every seed"
    assert (objects <= own).all() and np.array_equal(objects[objects], objects), "object ids are smallest indices"


def check_f1(data, side):
    seeds = np.rint(data["seeds"] * (UNITS / side)).astype(np.int64)
    assert np.array_equal(seeds / (UNITS / side), data["seeds"]), "seeds are not multiples of side / 2^14"
    source = np.zeros((side,) * 3, dtype=bool)
    source[tuple(data["source"].T)] = True
    inside = np.zeros((side,) * 3, dtype=bool)
    fill(inside, data["source_inside"])
    assert not (source & inside).any(), "a boundary voxel of the source is inside it too"
    is_crack = ~source[tuple(data["coords"].T)]
    assert np.array_equal(is_crack, data["crack"] == 1), "F1: crack flags are wrong"
    found = np.zeros((side,) * 3, dtype=bool)
    found[tuple(data["coords"].T)] = True

    # Slab by slab: at level 9 the corners of the whole grid would not fit a small machine.
    slab = max(1, min(side, (1 << 22) // side**2))
    voxels = copies = 0
    for low in range(0, side, slab):
        corner = corner_cells(side, seeds, data["seed_object"], low, low + slab)
        corners = np.stack(
            [
                corner[dx : dx + slab, dy : dy + side, dz : dz + side]
                for dx in (0, 1)
                for dy in (0, 1)
                for dz in (0, 1)
            ],
            axis=-1,
        )
        split = (corners != corners[..., :1]).any(axis=-1)
        here = slice(low, low + slab)
        wanted = source[here] | (inside[here] & split)
        wrong = np.count_nonzero(wanted != found[here])
        assert wrong == 0, f"F1: {wrong} voxels differ at x = {low}..{low + slab - 1}"

        at = np.argwhere(wanted)
        cells = np.sort(corners[tuple(at.T)], axis=1)
        first = np.ones(cells.shape, dtype=bool)
        first[:, 1:] = cells[:, 1:] != cells[:, :-1]
        at[:, 0] += low
        expected = np.column_stack([np.repeat(at, first.sum(axis=1), axis=0), cells[first]])
        own = (data["coords"][:, 0] >= low) & (data["coords"][:, 0] < low + slab)
        given = np.column_stack([data["coords"][own], data["cell"][own]])
        assert np.array_equal(in_order(expected), in_order(given)), "F1: copies are not the cells of the corners"
        voxels += len(at)
        copies += len(given)
    print(f"F1 holds: {voxels} voxels, {copies} with copies, {np.count_nonzero(is_crack)} of them cracks")


def check_f4(data, side):
    coords, cell, piece, inside = (data[name] for name in ("coords", "cell", "piece", "piece_inside"))
    cell_of_piece = np.full(piece.max() + 1, -1)
    cell_of_piece[piece] = cell
    labels = np.empty((side,) * 3, dtype=np.int32)
    components = 0
    for c in np.unique(cell):
        labels[...] = -1
        own = cell == c
        labels[tuple(coords[own].T)] = piece[own]
        cubes = inside[cell_of_piece[inside[:, 4]] == c]
        fill(labels, cubes, cubes[:, 4])
        solid = labels >= 0
        box = ndimage.find_objects(solid.astype(np.int8))[0]
        mine, count = ndimage.label(solid[box], structure=np.ones((3, 3, 3)))
        pairs = np.unique(np.stack([mine[solid[box]], labels[box][solid[box]]], axis=1), axis=0)
        assert len(pairs) == count == len(np.unique(pairs[:, 1])), f"F4: cell {c} is labelled wrongly"
        components += count
    assert components == piece.max() + 1, "F4: pieces are missing"
    print(f"F4 holds: {components} pieces in {len(np.unique(cell))} cells")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = Path(sys.argv[1])
    with np.load(path / "voxels.npz" if path.is_dir() else path) as archive:
        data = {name: archive[name] for name in archive.files}
    # The longest side of the object leaves one free voxel of the grid on both ends.
    side = 1 << int(np.ceil(np.log2(data["source"].max() + 1)))
    unit = np.linalg.norm(data["normal"], axis=1)
    assert np.allclose(unit, 1, atol=1e-5), "normals are not unit vectors"
    check_objects(data)
    check_f1(data, side)
    check_f4(data, side)


if __name__ == "__main__":
    main()
