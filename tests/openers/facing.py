"""Which triangles of a closed surface show their back to the outside: found by rays, whatever their order
says."""

import numpy as np


def crossings(corners, origins, axes):
    """How often a line from each origin along axes[2] meets the triangles: (k, 2), behind and before the origin.

    `corners` (m, 3, 3), `origins` (k, 3), `axes` (3, 3) orthonormal rows. A triangle through the origin itself,
    within 1e-9 of the surface's size, counts on neither side. Boxes across the line choose the triangles.
    """
    flat, depth = corners @ axes[:2].T, corners @ axes[2]
    at, height = origins @ axes[:2].T, origins @ axes[2]
    low, high = flat.min(1), flat.max(1)
    scale = max(float(np.ptp(depth)), 1e-300)
    out = np.zeros((len(origins), 2), np.int64)
    order = np.argsort(low[:, 0], kind="stable")
    first, widest = low[order, 0], float((high - low)[:, 0].max(initial=0.0))
    for i in range(len(origins)):
        x, y = at[i]
        near = order[np.searchsorted(first, x - widest) : np.searchsorted(first, x, "right")]
        near = near[(high[near, 0] >= x) & (low[near, 1] <= y) & (high[near, 1] >= y)]
        a, b, c = (flat[near, j] - at[i] for j in range(3))
        u, v, w = (p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0] for p, q in ((b, c), (c, a), (a, b)))
        inside = ((u > 0) & (v > 0) & (w > 0)) | ((u < 0) & (v < 0) & (w < 0))
        near, u, v, w = near[inside], u[inside], v[inside], w[inside]
        z = (depth[near] * np.stack([u, v, w], 1)).sum(1) / (u + v + w) - height[i]
        out[i] = (z < -1e-9 * scale).sum(), (z > 1e-9 * scale).sum()
    return out


def inward(points, triangles, samples, seed=0):
    """How many of `samples` triangles (all, where there are fewer) face inward, and how many were asked.

    A ray leaves a triangle at a random place; in front of it stands an even number of surfaces. Asked along
    three directions, the majority answers. Triangles of no area are not drawn.
    """
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    sound = np.flatnonzero(lengths > 1e-12 * np.square(np.ptp(points, axis=0).max()))
    rng = np.random.default_rng(seed)
    asked = sound if len(sound) <= samples else np.sort(rng.choice(sound, samples, replace=False))
    shares = rng.dirichlet((1, 1, 1), len(asked))
    places = (corners[asked] * shares[:, :, None]).sum(1)
    votes = np.zeros(len(asked), np.int64)
    for _ in range(3):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0].T
        counts = crossings(corners, places, axes)
        front = np.where(normals[asked] @ axes[2] > 0, counts[:, 1], counts[:, 0])
        votes += front % 2
    return int((votes >= 2).sum()), len(asked)
