#!/usr/bin/env python3
"""Checks a break from voxels.npz alone, with NumPy and SciPy and nothing of Kintsugi's own code.

    pip install numpy scipy
    kintsugi fracture builtin:vase --level 6 --seeds 40 --rng 7 --out out/
    python3 examples/check_voxels.py out/

F1  Planar: the boundary voxels of the pieces, without copies, are the source's boundary voxels and those voxels inside it
    whose eight corners lie in several Voronoi cells; and the copies of each voxel are exactly the cells of its corners. Every
    corner's cell is found anew: the nearest seed, of equally near ones the lowest number. Seeds are multiples of side / 2^14,
    so the distances are compared as whole numbers and ties are exact. In a local fracture several cells have one object id
    (seed_object) and count as one: between them there is no face.
    Rough and dusty: a crack goes where the crack surfaces go (examples/check_overlays.py), not where corners lie. Here, that
    every crack voxel comes from inside the source and lies between the cells that its transition voxel's corners name.
F2  Volumes: those of the pieces (coverage of their voxels, and their inner cubes) sum to the source's. Each voxel of the source
    is given away once; what is missing of it is dust, whole voxels of which are exactly those listed, and only a dusty break
    has any. Where report.json lies beside the file, its masses are these.
F4  The pieces are exactly the 26-connected components of the cells: the solid of each cell is labelled by
    scipy.ndimage.label and compared with the piece numbers, up to renaming.
P   Planes have unit normals; a planar crack voxel's plane is the bisector of its seed and another one.

The grid has side^3 voxels; level 9 needs about 2 GB. Breaks of one generation with the leaf level as island level, and
without --smallest, are checked.
"""

import json
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


def objects_of_corners(data, level):
    """Object ids of the corners of the grid of `level`, (2^level + 1)^3."""
    side = 1 << level
    fine = 1 << int(data["level"])
    seeds = np.rint(data["seeds"] * (UNITS / fine)).astype(np.int64)
    return corner_cells(side, seeds, data["seed_object"], 0, side)


def check_crack_places(data, side):
    """Rough and dusty: crack voxels come from inside, where the corners of their transition voxel name both cells."""
    inside = np.zeros((side,) * 3, dtype=bool)
    fill(inside, data["source_inside"])
    is_crack = data["crack"] == 1
    source = np.zeros((side,) * 3, dtype=bool)
    source[tuple(data["source"].T)] = True
    assert np.array_equal(is_crack, ~source[tuple(data["coords"].T)]), "F1: crack flags are wrong"
    cracks = data["coords"][is_crack]
    assert inside[tuple(cracks.T)].all(), "F1: a crack voxel is not from inside the source"
    level = int(data["transition_level"][0])
    corner = objects_of_corners(data, level)
    shift = int(data["level"]) - level
    place = data["coords"] >> shift
    owns = np.zeros(len(place), dtype=bool)
    for c in range(8):
        at = place + [c & 1, c >> 1 & 1, c >> 2]
        owns |= corner[tuple(at.T)] == data["cell"]
    assert owns[is_crack].all(), "F1: a crack voxel belongs to a cell without a corner of its transition voxel"
    both = np.unique(cracks, axis=0)
    print(f"F1 holds: {len(both)} crack voxels, {len(cracks)} with copies, from inside and between their cells")


def check_f2(data, side, report):
    pieces = data["piece"].max() + 1
    volume = np.bincount(data["piece"], data["coverage"].astype(float), pieces)
    cubes = data["piece_inside"]
    volume += np.bincount(cubes[:, 4], cubes[:, 3].astype(float) ** 3, pieces)
    before = np.zeros((side,) * 3)
    fill(before, data["source_inside"], 1.0)
    before[tuple(data["source"].T)] = data["source_coverage"]
    after = np.zeros((side,) * 3)
    fill(after, cubes, 1.0)
    np.add.at(after, tuple(data["coords"].T), data["coverage"].astype(float))
    held = np.zeros((side,) * 3, dtype=np.int32)
    fill(held, cubes)
    held[tuple(data["coords"].T)] = 1
    assert (after <= before + 1e-5).all(), "F2: a voxel is given away twice"
    gone = before - after
    dusty = (data["surface"] == 2).any()
    assert dusty or gone.max() < 1e-5, f"F2: {gone.max()} of a voxel is missing"
    lost = np.argwhere((before > 0) & (held == 0))
    assert np.array_equal(in_order(lost), in_order(data["dust"])), "F2: dust voxels are not those that nobody has"
    assert ((coverage := data["coverage"]) > 0).all() and (coverage <= 1).all(), "F2: a share is not in 0 to 1"
    source, dust = before.sum(), gone.sum()
    error = abs(volume.sum() + (dust if dusty else 0.0) - source) / source
    assert error < 1e-6, f"F2: volumes differ by {error}"
    if report:
        voxel = abs(np.linalg.det(data["grid_to_mesh"][:3, :3]))
        told = np.array([piece["mass"] for piece in report["pieces"]])
        # Shares are stored with 24 bits.
        assert np.allclose(told, volume * voxel, rtol=1e-6, atol=1e-9 * voxel), "F2: masses are not those of the report"
        assert np.isclose(report["source_mass"], source * voxel, rtol=1e-6), "F2: the source's mass is another"
        assert np.isclose(report["dust_mass"], dust * voxel * dusty, rtol=1e-4, atol=1e-6 * source * voxel), "F2: dust"
        assert report["dust_voxels"] == len(lost), "F2: dust voxels are counted otherwise"
    print(f"F2 holds: {volume.sum():.3f} of {source:.3f} voxels in {pieces} pieces, {len(lost)} voxels gone"
          + (", masses as reported" if report else ""))


def check_planes(data):
    for name in ("plane", "source_plane"):
        assert np.allclose(np.linalg.norm(data[name][:, :3], axis=1), 1, atol=1e-5), f"{name}: no unit normals"
    second = np.linalg.norm(data["cut"][:, :3], axis=1)
    assert ((abs(second - 1) < 1e-5) | (second == 0)).all(), "cut: no unit normals"
    untouched = data["crack"] == 0
    row = {tuple(place): k for k, place in enumerate(data["source"])}
    of_source = np.array([row[tuple(place)] for place in data["coords"][untouched]])
    own = data["plane"][untouched]
    print(f"planes: {len(own)} voxels of the surface, {np.count_nonzero(second)} with a second plane")
    # A copy keeps the object's surface as its first plane.
    assert np.array_equal(own, data["source_plane"][of_source]), "a voxel's first plane is not the object's surface"
    if (data["surface"] != 0).any() or len(data["surface"]) != 1:
        return
    # The bisector of the own seed s and another one t: normal along t - s, through the middle between them.
    cracks = ~untouched & (second == 0)
    seeds = data["seeds"]
    worst = 0.0
    for place, cell, (*normal, offset) in zip(data["coords"][cracks], data["cell"][cracks], data["plane"][cracks]):
        kept = np.flatnonzero(data["seed_object"] == cell)
        if len(kept) > 1:
            continue
        others = np.flatnonzero(data["seed_object"] != cell)
        along = seeds[others] - seeds[cell]
        length = np.linalg.norm(along, axis=1)
        length[length == 0] = np.inf
        along = along / length[:, None]
        middle = 0.5 * (seeds[others] + seeds[cell]) - (place + 0.5)
        at = (middle * along).sum(axis=1)
        # Distances are kept in steps of 1/64 voxel up to one voxel.
        worst = max(worst, np.min(np.linalg.norm(along - normal, axis=1) + abs(np.clip(at, -1, 1) - offset)))
    assert worst < 0.02, f"a crack voxel's plane is no bisector: off by {worst}"
    print(f"planes: {np.count_nonzero(cracks)} crack voxels on bisectors, to {worst:.4f}")


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


def load(path):
    """The arrays of a file or of the folder that it lies in."""
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = Path(sys.argv[1])
    path = path / "voxels.npz" if path.is_dir() else path
    data = load(path)
    beside = path.with_name("report.json")
    report = json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else None
    if len(data["surface"]) != 1 or data["island_level"][0] != data["level"]:
        sys.exit("only a single break with islands told apart at the leaves can be checked")
    side = 1 << int(data["level"])
    unit = np.linalg.norm(data["normal"], axis=1)
    assert np.allclose(unit, 1, atol=1e-5), "normals are not unit vectors"
    check_objects(data)
    if data["surface"][0] == 0:
        check_f1(data, side)
    else:
        check_crack_places(data, side)
    check_f2(data, side, report)
    check_planes(data)
    check_f4(data, side)


if __name__ == "__main__":
    main()
