#!/usr/bin/env python3
"""Tells apart why a cantilever of Voronoi cells does not snap at sigma = M c / I (docs/lab/structures.md, "Beams").

    pip install numpy scipy
    python3 tools/cells_bend.py [--cells 120] [--patterns 24]
    python3 tools/cells_bend.py --self-test

The beam of P27, 1 x 0.1 x 0.1 m under its own weight, in exact Voronoi cells about random seeds. The cells are rigid and hang on
springs as docs/physics.md ("Bonds") has them; those that begin before 15 mm are held. Of each pattern: the stress at which the
first bond fails, over M c / I at the centre of that bond.

    springs   as the program has it
    flat      the same where the beam is held at its flat end face, without the bonds of that face
    theory    without springs: the stress of a bending beam on the faces of the cells, which is n_x^2 of it
"""

import argparse
import sys

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from scipy.spatial import ConvexHull, Voronoi

SIZE = np.array([1.0, 0.1, 0.1])
WEIGHT = 2400.0 * 9.81
HELD = 0.015
LEAST_AREA = 1e-3


def bending(x):
    """M c / I at x m from the anchor, Pa."""
    return 3.0 * WEIGHT * (SIZE[0] - x) ** 2 / SIZE[1]


def turned(r):
    """The matrix of the cross product r x."""
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def section(points, normal):
    """Area, centre, second moments and corners of a convex polygon."""
    middle = points.mean(0)
    across = points[0] - middle
    across = across - normal * (across @ normal)
    around = np.arctan2((points - middle) @ np.cross(normal, across), (points - middle) @ across * np.linalg.norm(normal))
    points = points[np.argsort(around)]
    ring = list(zip(points, np.roll(points, -1, 0), strict=True))
    areas = [0.5 * abs(np.cross(p - middle, q - middle) @ normal) for p, q in ring]
    area = sum(areas)
    if area <= 0.0:
        return None
    centre = sum(a * (middle + p + q) / 3.0 for a, (p, q) in zip(areas, ring, strict=True)) / area
    moments = np.zeros((3, 3))
    for a, (p, q) in zip(areas, ring, strict=True):
        corners = np.array([middle, p, q]) - centre
        whole = corners.sum(0)
        moments += a / 12.0 * (np.outer(whole, whole) + corners.T @ corners)
    return area, centre, moments, points


def cells(seeds, is_flat):
    """Nodes, volumes, centres, which nodes are held, and bonds. The beam's sides are walls between a seed and its mirror image."""
    count, every = len(seeds), [seeds]
    for axis in range(3):
        for wall in (0.0, SIZE[axis]):
            image = seeds.copy()
            image[:, axis] = 2.0 * wall - image[:, axis]
            every.append(image)
    diagram = Voronoi(np.vstack(every))
    volumes, centres, low = np.zeros(count), np.zeros((count, 3)), np.zeros(count)
    for cell in range(count):
        corners = diagram.vertices[diagram.regions[diagram.point_region[cell]]]
        middle = corners.mean(0)
        sides = corners[ConvexHull(corners).simplices]
        parts = np.abs(np.einsum("ij,ij->i", sides[:, 0] - middle, np.cross(sides[:, 1] - middle, sides[:, 2] - middle))) / 6.0
        volumes[cell], low[cell] = parts.sum(), corners[:, 0].min()
        centres[cell] = (parts[:, None] * (sides.sum(1) + middle) / 4.0).sum(0) / parts.sum()
    nodes, held, bonds = list(seeds), [bool(x < HELD) and not is_flat for x in low], []
    for ends, face in zip(diagram.ridge_points, diagram.ridge_vertices, strict=True):
        a, b = sorted(ends)
        # The images at x = 0 come first.
        if -1 in face or a >= count or b >= (2 * count if is_flat else count):
            continue
        if b >= count:
            nodes.append(diagram.points[b])
            held.append(True)
            b = len(nodes) - 1
        between = nodes[b] - nodes[a]
        normal = between / np.linalg.norm(between)
        of = section(diagram.vertices[face], normal)
        if of:
            bonds.append((a, b, normal, max(np.linalg.norm(between), 0.1 * np.sqrt(of[0])), *of))
    mean = np.mean([bond[4] for bond in bonds])
    more = len(nodes) - count
    volumes, centres = np.append(volumes, np.zeros(more)), np.vstack([centres, np.zeros((more, 3))])
    return np.array(nodes), volumes, centres, np.array(held), [bond for bond in bonds if bond[4] > LEAST_AREA * mean]


def stresses(nodes, volumes, centres, held, bonds):
    """The greatest pull of each bond, Pa."""
    rows, columns, values, openings = [], [], [], []
    for a, b, _, length, area, centre, moments, _ in bonds:
        opening = np.zeros((6, 12))
        opening[:3] = np.hstack([-np.eye(3), turned(centre - nodes[a]), np.eye(3), -turned(centre - nodes[b])])
        opening[3:, 3:6], opening[3:, 9:] = -np.eye(3), np.eye(3)
        spring = np.zeros((6, 6))
        spring[:3, :3] = area / length * np.eye(3)
        spring[3:, 3:] = (np.trace(moments) * np.eye(3) - moments) / length
        place = np.r_[6 * a : 6 * a + 6, 6 * b : 6 * b + 6]
        rows.append(np.repeat(place, 12))
        columns.append(np.tile(place, 12))
        values.append((opening.T @ spring @ opening).ravel())
        openings.append((place, opening / length))
    loads = np.zeros((len(nodes), 6))
    loads[:, 1] = -WEIGHT * volumes
    loads[:, 3:] = np.cross(centres - nodes, loads[:, :3])
    free = np.repeat(~held, 6)
    at = (np.concatenate(rows), np.concatenate(columns))
    matrix = scipy.sparse.csr_matrix((np.concatenate(values), at), shape=(free.size, free.size))
    motion = np.zeros(free.size)
    motion[free] = scipy.sparse.linalg.spsolve(matrix[free][:, free].tocsc(), loads.ravel()[free])
    found = []
    for (place, opening), (_, _, normal, _, area, _, moments, _) in zip(openings, bonds, strict=True):
        moved = opening @ motion[place]
        bent = np.cross(normal, moved[3:])
        found.append(moved[:3] @ normal + np.sqrt(max(0.0, 3.0 / area * (bent @ moments @ bent))))
    return np.array(found)


def first(pulls, bonds):
    """Where the greatest pull is, over M c / I at the centre of that bond."""
    worst = int(np.argmax(pulls))
    return pulls[worst] / bending(bonds[worst][5][0])


def of_pattern(seeds):
    """The three ratios."""
    nodes, volumes, centres, held, bonds = cells(seeds, False)
    springs = first(stresses(nodes, volumes, centres, held, bonds), bonds)
    high = [max(bending(p[0]) * (2.0 * p[1] / SIZE[1] - 1.0) for p in bond[7]) * bond[2][0] ** 2 for bond in bonds]
    theory = first([0.0 if held[bond[0]] and held[bond[1]] else pull for pull, bond in zip(high, bonds, strict=True)], bonds)
    nodes, volumes, centres, held, bonds = cells(seeds, True)
    pulls = stresses(nodes, volumes, centres, held, bonds)
    return springs, first([0.0 if held[bond[1]] else pull for pull, bond in zip(pulls, bonds, strict=True)], bonds), theory


def self_test():
    """Ten blocks bear M c / I, and a ratio of another beam's would not pass."""
    seeds = np.array([[0.05 + 0.1 * k, 0.05, 0.05] for k in range(10)])
    found = of_pattern(seeds)
    right = np.allclose(found, 1.0, atol=1e-6) and not np.isclose(bending(0.1), bending(0.2), rtol=0.1)
    print("self-test:", "passed" if right else f"failed, {found}")
    return 0 if right else 1


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cells", type=int, default=120)
    arguments.add_argument("--patterns", type=int, default=24)
    arguments.add_argument("--self-test", action="store_true")
    asked = arguments.parse_args()
    if asked.self_test:
        return self_test()
    if asked.cells < 10 or asked.patterns < 1:
        arguments.error("--cells must be at least 10 and --patterns at least 1")
    every = [of_pattern(np.random.default_rng(1 + k).random((asked.cells, 3)) * SIZE) for k in range(asked.patterns)]
    for name, ratios in zip(("springs", "flat", "theory"), np.array(every).T, strict=True):
        near = int((np.abs(ratios - 1.0) < 0.1).sum())
        told = f"median {np.median(ratios):.3f}, {ratios.min():.3f} to {ratios.max():.3f}"
        print(f"{name}: {told}, within 10 %: {near} of {len(ratios)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
