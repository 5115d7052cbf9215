#!/usr/bin/env python3
"""Writes closed meshes of a hundred different objects, on which docs/lab/dataset.md measures `kintsugi dataset`.

`hundred_meshes.py FOLDER [COUNT]` writes FOLDER/vessel_000.obj and so on: vessels with a wall (profiles turned about an
axis), superquadrics, tubes along torus knots, and gears. NumPy is the only requirement. The same call writes the same bytes.
"""

import sys
from pathlib import Path

import numpy as np


def grid(rows: int, columns: int, first: int = 0, close_rows: bool = False) -> np.ndarray:
    """Triangles (T, 3) of a grid of vertices whose columns are closed to a ring, and whose rows are if `close_rows`."""
    row = np.arange(rows if close_rows else rows - 1)[:, None]
    column = np.arange(columns)[None, :]
    below, right = (row + 1) % rows, (column + 1) % columns
    a, b = row * columns + column, row * columns + right
    c, d = below * columns + column, below * columns + right
    triangles = np.stack([np.stack([a, c, b], -1), np.stack([b, c, d], -1)], axis=2)
    return triangles.reshape(-1, 3) + first


def turned(profile: np.ndarray, around: int) -> tuple[np.ndarray, np.ndarray]:
    """The solid of a closed profile (N, 2) of radius and height, which does not touch the axis."""
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    radius, height = profile[:, 0][:, None], profile[:, 1][:, None]
    points = np.stack([radius * np.cos(angle), np.broadcast_to(height, (len(profile), around)), radius * np.sin(angle)], -1)
    return points.reshape(-1, 3), grid(len(profile), around, close_rows=True)


def vessel(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A jar, bowl or vase with a wall and a bottom; a thin hole on the axis of the bottom keeps the profile off the axis."""
    heights = np.linspace(0.0, 1.0, 24)
    knots = rng.uniform(0.18, 0.5, 6)
    outer = np.interp(heights, np.linspace(0.0, 1.0, 6), knots)
    outer = np.convolve(np.pad(outer, 3, mode="edge"), np.ones(7) / 7.0, mode="valid")
    wall = rng.uniform(0.05, 0.09)
    inner = outer - wall
    above = heights >= wall
    hole = 0.01
    profile = np.concatenate(
        [
            [[hole, 0.0]],
            np.stack([outer, heights], -1),
            np.stack([inner[above], heights[above]], -1)[::-1],
            [[hole, heights[above][0]]],
        ]
    )
    return turned(profile[::-1], 64)


def superquadric(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Between a box, a ball and a spindle."""
    e1, e2 = rng.uniform(0.3, 1.6, 2)
    size = rng.uniform(0.4, 1.0, 3)
    rows, columns = 33, 64
    v = np.linspace(-0.5 * np.pi, 0.5 * np.pi, rows)[1:-1, None]
    u = np.linspace(-np.pi, np.pi, columns, endpoint=False)[None, :]

    def power(x: np.ndarray, e: float) -> np.ndarray:
        return np.sign(x) * np.abs(x) ** e

    x = size[0] * power(np.cos(v), e1) * power(np.cos(u), e2)
    z = size[2] * power(np.cos(v), e1) * power(np.sin(u), e2)
    y = np.broadcast_to(size[1] * power(np.sin(v), e1), x.shape)
    points = np.stack([x, y, z], -1).reshape(-1, 3)
    bottom, top = len(points), len(points) + 1
    points = np.concatenate([points, [[0.0, -size[1], 0.0], [0.0, size[1], 0.0]]])
    ring = np.arange(columns)
    after = (ring + 1) % columns
    last = (rows - 3) * columns
    caps = [
        np.stack([np.full(columns, bottom), ring, after], -1),
        np.stack([np.full(columns, top), last + after, last + ring], -1),
    ]
    return points, np.concatenate([grid(rows - 2, columns), *caps])


def knot(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A tube along a torus knot."""
    p, q = [(2, 3), (3, 2), (1, 4), (2, 5), (1, 0)][rng.integers(5)]
    thick = rng.uniform(0.10, 0.16)
    along, around = 240, 20
    t = np.linspace(0.0, 2.0 * np.pi, along, endpoint=False)

    def curve(t: np.ndarray) -> np.ndarray:
        radius = 1.0 + 0.4 * np.cos(q * t)
        return np.stack([radius * np.cos(p * t), 0.4 * np.sin(q * t), radius * np.sin(p * t)], -1)

    centre, step = curve(t), 1e-4
    tangent = curve(t + step) - curve(t - step)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    outward = centre * [1.0, 0.0, 1.0]
    outward -= tangent * np.sum(outward * tangent, axis=1, keepdims=True)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    side = np.cross(tangent, outward)
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)[None, :, None]
    points = centre[:, None] + thick * (np.cos(angle) * outward[:, None] + np.sin(angle) * side[:, None])
    return points.reshape(-1, 3), grid(along, around, close_rows=True)


def gear(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A gear with a bore."""
    teeth = int(rng.integers(8, 20))
    thick, bore = rng.uniform(0.2, 0.6), rng.uniform(0.2, 0.5)
    around = teeth * 8
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    outer = np.where((np.arange(around) % 8) < 4, 1.0, 0.82)
    rings = [(outer, 0.0), (outer, thick), (np.full(around, bore), thick), (np.full(around, bore), 0.0)]
    points = [np.stack([radius * np.cos(angle), np.full(around, height), radius * np.sin(angle)], -1) for radius, height in rings]
    return np.concatenate(points), grid(4, around, close_rows=True)


KINDS = [("vessel", vessel), ("superquadric", superquadric), ("knot", knot), ("gear", gear)]


def outward(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The triangles wound so that the volume is positive."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum()
    return triangles if volume > 0 else triangles[:, ::-1]


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        name, make = KINDS[number % len(KINDS)]
        points, triangles = make(np.random.default_rng(number))
        triangles = outward(points, triangles)
        lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in points]
        lines += [f"f {a} {b} {c}" for a, b, c in triangles + 1]
        (folder / f"{name}_{number:03d}.obj").write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("give the folder to write to, as in: hundred_meshes.py meshes/ 100")
    main()
