#!/usr/bin/env python3
"""Checks overlays.npz of `kintsugi fracture --overlays`, and overlays_001.npz and so on of later breaks, against
voxels.npz beside them, with NumPy and SciPy alone.

    pip install numpy scipy
    kintsugi fracture builtin:vase --level 6 --surface rough --out out/ \\
        --overlays transition,triangles,points,faces,labels,flood
    python3 examples/check_overlays.py out/

transition  The voxels are exactly those places of the transition level whose eight corners lie in several objects and that
            hold something of the source; every corner's object is found anew from the seeds, in whole numbers.
points      Rough: every edge of such a voxel whose ends have different objects has one point, strictly inside it; every face
            whose corners differ has one in it, and every voxel one inside.
triangles   Each lies in its voxel, between two objects that own corners of it, and its first two points are separation points.
            Rough: the crack voxels of voxels.npz and their copies are exactly the voxels inside the source that triangles of
            their transition voxel touch, once for every object beside one of these. Dusty: every crack voxel is touched by
            the border of its own cell. Boxes and triangles are told apart by separating axes; all numbers are multiples of
            1/512 of a transition voxel, so that is exact.
faces       Every corner of a face is as far from its two seeds, and no seed is nearer.
labels      Every iteration of the published labelling, and of the flood, is computed anew from the one before it. The last
            labels, and the union-find's, are the components that scipy.ndimage.label finds in each cell.
source      Where pieces broke again: crack voxels come from inside what broke, and with `labels` its solid is what came
            of it, but for dust.

What was not asked for is left out.
"""

import sys
from pathlib import Path

import numpy as np
from scipy import ndimage

from check_voxels import fill, in_order, load, objects_of_corners

CORNERS = np.array([[c & 1, c >> 1 & 1, c >> 2] for c in range(8)])
EDGES = np.array([[a, a | 1 << axis] for axis in range(3) for a in range(8) if not a >> axis & 1])
FACES = [[c for c in range(8) if (c >> axis & 1) == side] for axis in range(3) for side in (0, 1)]


def check_transition(voxels, over):
    level, leaf = int(voxels["transition_level"][0]), int(voxels["level"])
    edge = 1 << (leaf - level)
    corner = objects_of_corners(voxels, level)
    solid = np.zeros((1 << leaf,) * 3, dtype=bool)
    fill(solid, voxels["source_inside"])
    solid[tuple(voxels["source"].T)] = True
    coarse = solid.reshape(1 << level, edge, 1 << level, edge, 1 << level, edge).any(axis=(1, 3, 5))
    own = np.stack([corner[tuple(slice(d, d + (1 << level)) for d in c)] for c in CORNERS], axis=-1)
    wanted = np.argwhere(coarse & (own != own[..., :1]).any(axis=-1))
    given = over["transition_voxels"]
    assert (given[:, 3] == edge).all() and (given[:, :3] % edge == 0).all(), "transition: wrong edges"
    places = given[:, :3] // edge
    assert np.array_equal(in_order(places), in_order(wanted)), "transition: not the crossed voxels"
    assert np.array_equal(over["transition_objects"], own[tuple(places.T)]), "transition: wrong objects of corners"
    print(f"transition holds: {len(given)} voxels of level {level}")


def local(over, name, points):
    """Points in their transition voxels, 0 to 1."""
    box = over["transition_voxels"][over[name]]
    shape = (len(box),) + (1,) * (points.ndim - 2) + (3,)
    return (points - box[:, :3].reshape(shape)) / box[:, 3].reshape(shape[:-1] + (1,))


def check_points(over, dusty):
    at = local(over, "point_voxel", over["points"])
    kind, row = over["point_kind"], over["point_voxel"]
    assert ((at >= 0) & (at <= 1)).all(), "points: outside their voxels"
    on_wall = ((at == 0) | (at == 1)).sum(axis=1)
    assert (on_wall[kind == 0] == 2).all(), "points: not on edges"
    if dusty:
        print(f"points hold: {np.count_nonzero(kind == 0)} on edges, {np.count_nonzero(kind == 2)} middles of fans")
        return
    assert (on_wall[kind == 1] == 1).all() and (on_wall[kind == 2] == 0).all(), "points: not in faces or voxels"
    objects = over["transition_objects"]
    count = lambda k: np.bincount(row[kind == k], minlength=len(objects))
    crossed = (objects[:, EDGES[:, 0]] != objects[:, EDGES[:, 1]]).sum(axis=1)
    mixed = sum((objects[:, face] != objects[:, face[:1]]).any(axis=1).astype(int) for face in FACES)
    assert np.array_equal(count(0), crossed), "points: not one an edge that is crossed"
    assert np.array_equal(count(1), mixed), "points: not one a face that is crossed"
    assert (count(2) == 1).all(), "points: not one a voxel"
    print(f"points hold: {[int(np.count_nonzero(kind == k)) for k in range(3)]} on edges, in faces, in voxels")


def meets(low, high, triangles):
    """Which boxes share something with which triangles, row by row: thirteen separating axes (Akenine-Moller 2001)."""
    centre, half = (low + high) / 2, (high - low) / 2
    t = triangles - centre[:, None]
    apart = (t.min(axis=1) > half).any(axis=1) | (t.max(axis=1) < -half).any(axis=1)
    sides = np.roll(t, -1, axis=1) - t
    axes = [np.cross(sides[:, 0], sides[:, 1])]
    axes += [np.cross(np.eye(3)[axis], sides[:, k]) for axis in range(3) for k in range(3)]
    for axis in axes:
        along = np.einsum("nka,na->nk", t, axis)
        reach = (abs(axis) * half).sum(axis=1)
        apart |= (along.min(axis=1) > reach) | (along.max(axis=1) < -reach)
    return ~apart


def near(triangles, side):
    """(voxel, triangle) of all voxels whose boxes overlap the triangles' boxes."""
    low = np.clip(np.floor(triangles.min(axis=1) - 1e-6), 0, side - 1).astype(int)
    high = np.clip(np.floor(triangles.max(axis=1) + 1e-6), 0, side - 1).astype(int)
    spans = high - low + 1
    counts = spans.prod(axis=1)
    which = np.repeat(np.arange(len(triangles)), counts)
    n = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
    span = spans[which]
    place = np.stack([n % span[:, 0], n // span[:, 0] % span[:, 1], n // (span[:, 0] * span[:, 1])], axis=1)
    return low[which] + place, which


def check_triangles(voxels, over, dusty):
    triangles, cells = over["triangles"], over["triangle_cells"]
    at = local(over, "triangle_voxel", triangles)
    assert (at >= -1e-9).all() and (at <= 1 + 1e-9).all(), "triangles: outside their voxels"
    assert (cells[:, 0] != cells[:, 1]).all(), "triangles: both sides are one object"
    corner_objects = over["transition_objects"][over["triangle_voxel"]]
    owned = (corner_objects[:, :, None] == cells[:, None, :]).any(axis=1)
    assert owned.all(), "triangles: an object owns no corner of the voxel"
    if not dusty:
        # The normal points from the first object to the second: from its nearest corner of the voxel to the other's.
        normal = np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])
        distance = np.linalg.norm(CORNERS - at[:, None, 0], axis=2)
        ends = [np.where(corner_objects == cells[:, k : k + 1], distance, np.inf).argmin(axis=1) for k in (0, 1)]
        # The crossed edge's ends: the point on it is nearest to both.
        along = (CORNERS[ends[1]] - CORNERS[ends[0]]) * normal
        on_edge = (CORNERS[ends[1]] != CORNERS[ends[0]]).sum(axis=1) == 1
        area = np.linalg.norm(normal, axis=1)
        wrong = on_edge & (area > 1e-12) & (along.sum(axis=1) < 0)
        assert on_edge.mean() > 0.9 and not wrong.any(), "triangles: the normal points to the first object"

    side = 1 << int(voxels["level"])
    place, which = near(triangles, side)
    box = over["transition_voxels"][over["triangle_voxel"][which]]
    own = (place // box[:, 3:] * box[:, 3:] == box[:, :3]).all(axis=1)
    place, which = place[own], which[own]
    inside = np.zeros((side,) * 3, dtype=bool)
    fill(inside, voxels["source_inside"])
    own = inside[tuple(place.T)]
    place, which = place[own], which[own]
    touched = meets(place, place + 1, triangles[which])
    place, which = place[touched], which[touched]

    name = lambda p, cell: ((p[:, 0] * side + p[:, 1]) * side + p[:, 2]) * (1 << 14) + cell
    copies = name(voxels["crack_voxels"].astype(np.int64), voxels["crack_cells"])
    met = np.unique(np.concatenate([name(place, cells[which, k]) for k in ((0,) if dusty else (0, 1))]))
    lonely = np.count_nonzero(~np.isin(copies, met))
    assert lonely == 0, f"triangles: {lonely} of {len(copies)} crack voxels are touched by none of their cell"
    missing = np.count_nonzero(~np.isin(met, copies))
    assert dusty or missing == 0, f"triangles: {missing} voxels are touched, and no crack voxels"
    print(f"triangles hold: {len(triangles)}, which touch {len(copies)} crack voxels with copies")


def check_faces(voxels, over):
    seeds, starts, corners = voxels["seeds"], over["face_start"], over["face_corners"]
    assert starts[0] == 0 and starts[-1] == len(corners) and (np.diff(starts) >= 3).all(), "faces: wrong starts"
    face = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    own = over["face_seeds"][face]
    distance = np.linalg.norm(corners[:, None] - seeds[None], axis=2)
    to_own = np.take_along_axis(distance, own, axis=1)
    assert np.allclose(to_own[:, 0], to_own[:, 1], atol=1e-6), "faces: a corner is nearer to one of its seeds"
    assert (to_own[:, 0] <= distance.min(axis=1) + 1e-6).all(), "faces: another seed is nearer"
    objects = voxels["seed_object"][over["face_seeds"]]
    assert (objects[:, 0] != objects[:, 1]).all(), "faces: a face within one object"
    print(f"faces hold: {len(starts) - 1} with {len(corners)} corners")


def neighbours_of(over, side):
    """Pairs (looking, looked at) of the published labelling, from a grid for every cell: the thirteen neighbours before a
    voxel that are at least as large, and the six at its faces that are larger."""
    rows, cells = over["label_voxels"], over["label_cell"]
    looking, seen = [], []
    grid = np.empty((side + 2,) * 3, dtype=np.int32)
    for cell in np.unique(cells):
        own = np.flatnonzero(cells == cell)
        grid[...] = -1
        fill(grid[1:-1, 1:-1, 1:-1], rows[own], own)
        for n in range(27):
            d = np.array([n % 3, n // 3 % 3, n // 9]) - 1
            before = d[2] == -1 or (d[2] == 0 and d[1] == 1) or (d[2] == 0 and d[1] == 0 and d[0] == -1)
            at = rows[own, :3] + d * rows[own, 3:] + 1
            within = ((at >= 0) & (at < side + 2)).all(axis=1)
            other = np.where(within, grid[tuple(np.clip(at, 0, side + 1).T)], -1)
            larger = rows[other, 3] - rows[own, 3]
            take = (other >= 0) & ((before & (larger >= 0)) | ((abs(d).sum() == 1) & (larger > 0)))
            looking.append(own[take])
            seen.append(other[take])
    return np.concatenate(looking), np.concatenate(seen)


def check_labels(over, side):
    rows, cells = over["label_voxels"], over["label_cell"]
    looking, seen = neighbours_of(over, side)
    for name in ("labels", "flood"):
        if name not in over:
            continue
        labels, changes = over[name], over[f"{name}_changes"]
        assert np.array_equal(labels[0], np.arange(len(rows))), f"{name}: it does not begin with numbers"
        for at, (before, after) in enumerate(zip(labels, labels[1:]), 1):
            largest = before.copy()
            np.maximum.at(largest, looking, before[seen])
            following = largest.copy()
            np.maximum.at(following, seen, largest[looking])
            while name == "labels" and not np.array_equal(following[following], following):
                following = following[following]
            wrong = np.count_nonzero(following != after)
            assert wrong == 0, f"{name}: {wrong} labels differ after iteration {at}"
            assert changes[at - 1] == np.count_nonzero(after != before), f"{name}: changes of iteration {at}"
        if len(changes) < 400:
            assert changes[-1] == 0, f"{name}: it ended early"
        print(f"{name} hold: {len(changes)} iterations of {len(rows)} voxels")

    # The union-find's pieces, and the last labels, are the components of each cell.
    found = {name: over[name][-1] for name in ("labels", "flood") if name in over and len(over[f"{name}_changes"]) < 400}
    found["label_piece"] = over["label_piece"]
    solid = np.zeros((side,) * 3, dtype=bool)
    components = 0
    for cell in np.unique(cells):
        own = cells == cell
        solid[...] = False
        fill(solid, rows[own])
        component, count = ndimage.label(solid, structure=np.ones((3, 3, 3)))
        mine = component[tuple(rows[own, :3].T)]
        for name, labels in found.items():
            pairs = np.unique(np.stack([mine, labels[own]], axis=1), axis=0)
            assert len(pairs) == count == len(np.unique(pairs[:, 1])), f"{name}: cell {cell} is labelled wrongly"
        components += count
    for name, labels in found.items():
        assert len(np.unique(labels)) == components, f"{name}: two cells share a label"
    print(f"islands hold: {', '.join(found)} are the components of {len(np.unique(cells))} cells")


def of_break(voxels, over):
    """What a break is checked against, and its overlays with its own objects and seeds numbered from 0."""
    number = int(over.get("break", 0))
    starts = voxels["first_seed"]
    first, end = int(starts[number]), [*starts, len(voxels["seeds"])][number + 1]
    assert "first_seed" not in over or over["first_seed"] == first, "first_seed: another than in voxels.npz"
    over = dict(over)
    for name in ("transition_objects", "triangle_cells", "face_seeds", "label_cell"):
        if name in over:
            over[name] = over[name] - first
            assert (over[name] >= 0).all() and (over[name] < end - first).all(), f"{name}: of another break"
    own = {
        "level": voxels["level"],
        "seeds": voxels["seeds"][first:end],
        "seed_object": voxels["seed_object"][first:end] - first,
        "transition_level": voxels["transition_level"][number : number + 1],
        "surface": voxels["surface"][number],
        "source": over.get("source", voxels["source"]),
        "source_inside": over.get("source_inside", voxels["source_inside"]),
    }
    if len(starts) == 1:
        is_crack = voxels["crack"] == 1
        own["crack_voxels"], own["crack_cells"] = voxels["coords"][is_crack], voxels["cell"][is_crack]
    else:
        own["crack_voxels"], own["crack_cells"] = over["crack_voxels"], over["crack_cells"] - first
    return own, over


def check_source(own, over, side):
    """That crack voxels come from inside what broke."""
    inside = np.zeros((side,) * 3, dtype=bool)
    fill(inside, own["source_inside"])
    assert not inside[tuple(own["source"].T)].any(), "source: a boundary voxel of what broke is inside it too"
    assert inside[tuple(own["crack_voxels"].T)].all(), "crack_voxels: not from inside what broke"
    if "label_voxels" in over:
        # What came of it, but for dust.
        made = np.zeros((side,) * 3, dtype=bool)
        fill(made, over["label_voxels"])
        inside[tuple(own["source"].T)] = True
        assert not (made & ~inside).any(), "source: something came of it that it had not"
        lost = np.count_nonzero(inside & ~made)
        assert own["surface"] == 2 or lost == 0, f"source: {lost} of its voxels came into no piece"
    print(f"source holds: piece {over['broken_piece']}, {len(own['crack_voxels'])} crack voxels with copies")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    voxels = load(folder / "voxels.npz")
    files = [folder / "overlays.npz", *sorted(folder.glob("overlays_*.npz"))]
    for file in files:
        if len(files) > 1:
            print(f"{file.name}:")
        own, over = of_break(voxels, load(file))
        dusty = own["surface"] == 2
        if "break" in over:
            check_source(own, over, 1 << int(voxels["level"]))
        if "transition_voxels" in over:
            check_transition(own, over)
        if "points" in over:
            check_points(over, dusty)
        if "triangles" in over:
            check_triangles(own, over, dusty)
        if "face_corners" in over:
            check_faces(own, over)
        if "label_voxels" in over:
            check_labels(over, 1 << int(voxels["level"]))


if __name__ == "__main__":
    main()
