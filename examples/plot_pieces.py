#!/usr/bin/env python3
"""Pieces of a data set on one sheet: above, meshes with cracks in red; below, points by the piece beyond them.

    pip install numpy matplotlib
    kintsugi dataset examples/dataset.toml --out set/
    python3 examples/plot_pieces.py set/ pieces.png vase/fractured_0 statue/fractured_3 --each 5

Each break is named as in the column `path` of the table, without the category. Points outside are grey, points on a
crack have one colour for each piece beyond, and are black where none is. The set has to have points, and meshes as OBJ.
"""

import argparse
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # noqa: E402

OUTSIDE, CRACK = np.array([0.72, 0.72, 0.74]), np.array([0.78, 0.36, 0.24])
#: Towards the light, and angles of the eye (degrees).
LIGHT = np.array([0.1, 0.75, 0.65])
UP, AROUND = 18.0, 30.0


def mesh_of(path):
    """Corners (t, 3, 3) of an OBJ file's triangles, and whether each is a crack's."""
    points, triangles, crack, is_crack = [], [], [], False
    for line in path.read_text().splitlines():
        kind, *rest = line.split() or [""]
        if kind == "v":
            points.append([float(x) for x in rest[:3]])
        elif kind == "g":
            is_crack = rest == ["crack"]
        elif kind == "f":
            triangles.append([int(corner.split("/")[0]) - 1 for corner in rest])
            crack.append(is_crack)
    return np.array(points)[np.array(triangles)], np.array(crack)


def turned(points):
    """Matplotlib has z up."""
    return points[..., [0, 2, 1]] * [1, -1, 1]


def face_the_eye(normals):
    """Which normals (n, 3) do. What faces away would show through, since Matplotlib sorts triangles by their middles."""
    up, around = np.radians([UP, AROUND])
    return normals @ [np.sin(around) * np.cos(up), np.sin(up), np.cos(around) * np.cos(up)] > 0


def seen(corners, crack):
    """Triangles that face the eye, and their colours."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    lit = 0.4 + 0.6 * np.clip(normals @ (LIGHT / np.linalg.norm(LIGHT)), 0, 1)
    there = face_the_eye(normals)
    return corners[there], (np.where(crack[:, None], CRACK, OUTSIDE) * lit[:, None])[there]


def frame(axes, low, high):
    """Looks at a box of three equal sides from the front, a little from above."""
    middle, half = turned((low + high) / 2), (high - low).max() / 2
    for limit, at in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), middle):
        limit(at - half, at + half)
    axes.set_box_aspect((1, 1, 1), zoom=1.45)
    axes.view_init(elev=UP, azim=AROUND - 90)
    axes.set_axis_off()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("set", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("breaks", nargs="+", help="OBJECT/fractured_N")
    parser.add_argument("--each", type=int, default=5, help="pieces of a break, the largest first")
    args = parser.parse_args()
    [category] = [folder.name for folder in (args.set / "arrays").iterdir() if folder.is_dir()]
    shown = [(name, piece) for name in args.breaks for piece in range(args.each)]
    figure = pyplot.figure(figsize=(1.5 * len(shown), 3.3), dpi=100)
    for column, (name, piece) in enumerate(shown):
        arrays = np.load(args.set / "arrays" / category / name / "pieces.npz")
        if piece >= len(arrays["piece"]):
            raise SystemExit(f"{name} has {len(arrays['piece'])} pieces; choose a smaller --each")
        corners, crack = mesh_of(args.set / category / name / f"piece_{piece}.obj")
        places = (column + 1, column + 1 + len(shown))
        above, below = (figure.add_subplot(2, len(shown), place, projection="3d") for place in places)
        facing, colours = seen(corners, crack)
        above.add_collection3d(Poly3DCollection(turned(facing), facecolors=colours, edgecolors=colours, linewidths=0.2))
        above.set_title(f"{name.replace('/fractured_', ' ')}, {piece}", fontsize=8)
        own = slice(*arrays["point_start"][piece : piece + 2])
        there = face_the_eye(arrays["normals"][own])
        points, beyond = arrays["points"][own][there], arrays["beyond"][own][there]
        colours = pyplot.get_cmap("tab20")(np.maximum(beyond, 0) % 20)[:, :3]
        colours[beyond == -1], colours[beyond == -2] = OUTSIDE, 0
        below.scatter(*turned(points).T, c=colours, s=2, depthshade=False, linewidths=0)
        for axes in (above, below):
            frame(axes, corners.min((0, 1)), corners.max((0, 1)))
    figure.subplots_adjust(0, 0, 1, 0.93, 0, 0)
    figure.savefig(args.out)


if __name__ == "__main__":
    main()
