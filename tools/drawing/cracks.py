"""Figures of docs/fracture.md about crack surfaces: regions inside a transition voxel, the cases of dusty surfaces, and where
cracks end."""

import math
import random

from .svg import BLUE, CELLS, FAINT, GOLD, GREY, INK, ORANGE, PAPER, RED, VIOLET, Page, cell, mix, nearest, square


def _toward(a, b, share):
    return tuple(x + (y - x) * share for x, y in zip(a, b))


def _meets(a, b, c, d):
    """Where the line through a and b meets the line through c and d."""
    ux, uy, vx, vy = b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]
    t = ((c[0] - a[0]) * vy - (c[1] - a[1]) * vx) / (ux * vy - uy * vx)
    return (a[0] + ux * t, a[1] + uy * t)


def _sectors(page, at, middle, cuts, corners, colors):
    """The parts of a square between the lines from `middle` to the points `cuts` (edge: point) on its edges, each with the
    corners of one object; edge k runs from corner k to corner k + 1."""
    order = sorted(cuts)
    for here, following in zip(order, order[1:] + [order[0] + 4]):
        shape = [middle, cuts[here], *[corners[(k + 1) % 4] for k in range(here, following)], cuts[following % 4]]
        page.polygon([at(p) for p in shape], fill=colors[(here + 1) % 4], stroke="none")


def cones():
    """A transition voxel from its voxel point, and one wall from its face point."""
    page = Page(800, 372, "The regions of objects in a transition voxel are cones; three steps find the corner of a point")
    a, b, c = CELLS[0], CELLS[1], CELLS[2]
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
    side, oy = 236, 58

    ox = 44
    at = lambda p: (ox + p[0] * side, oy + p[1] * side)
    page.text((30, 30), "in the plane: cones from the voxel point V", 13, bold=True)
    middle = (0.47, 0.56)
    cuts = {0: (0.4, 0), 1: (1, 0.62), 3: (0, 0.36)}
    _sectors(page, at, middle, cuts, corners, [a, b, c, c])
    page.rect(ox, oy, side, side, width=2)
    for p in cuts.values():
        page.line(at(middle), at(p), stroke=RED, width=2.5)
    p, q = (0.79, 0.33), _meets(middle, (0.79, 0.33), (1, 0), (1, 1))
    page.arrow(at(middle), at(q), INK, 1.4, dash="5 4")
    page.dot(at(middle), 5, GOLD)
    for point in cuts.values():
        page.dot(at(point), 4.5, BLUE)
    page.dot(at(p), 4)
    page.dot(at(q), 4)
    for corner, color in zip(corners, [a, b, c, c]):
        page.circle(at(corner), 6, fill=color, stroke=INK, width=1.2)
    page.text((at(middle)[0] - 20, at(middle)[1] + 16), "V", 14, bold=True)
    page.text((at(p)[0] - 14, at(p)[1] - 6), "p", 14, italic=True)
    page.text((at(q)[0] + 8, at(q)[1] + 4), "q", 14, italic=True)
    page.text(at((0.12, 0.18)), "object A", 12)
    page.text(at((0.58, 0.14)), "object B", 12)
    page.text(at((0.3, 0.86)), "object C", 12)
    page.lines(
        (30, oy + side + 26),
        ["Along a ray from V the object does not change. 1: the ray", "through p leaves the voxel through the wall that it meets first."],
        12,
        GREY,
    )

    ox = 470
    at = lambda p: (ox + p[0] * side, oy + p[1] * side)
    page.text((ox - 30, 30), "a wall in space: sectors round its face point F", 13, bold=True)
    middle = (0.55, 0.44)
    cuts = {0: (0.62, 0), 2: (0.45, 1), 3: (0, 0.52)}
    _sectors(page, at, middle, cuts, corners, [a, b, b, c])
    page.rect(ox, oy, side, side, width=2)
    for p in cuts.values():
        page.line(at(middle), at(p), stroke=RED, width=2.5)
    q = (0.46, 0.24)
    r = _meets(middle, q, (0, 0), (1, 0))
    page.arrow(at(middle), at(r), INK, 1.4, dash="5 4")
    page.dot(at(middle), 5, VIOLET)
    for point in cuts.values():
        page.dot(at(point), 4.5, BLUE)
    page.dot(at(q), 4)
    page.dot(at(r), 4)
    for corner, color in zip(corners, [a, b, b, c]):
        page.circle(at(corner), 6, fill=color, stroke=INK, width=1.2)
    page.text((at(middle)[0] + 10, at(middle)[1] + 6), "F", 14, bold=True)
    page.text((at(q)[0] - 14, at(q)[1] + 2), "q", 14, italic=True)
    page.text((at(r)[0] - 4, at(r)[1] - 9), "r", 14, italic=True)
    page.text((at(cuts[0])[0] - 2, at(cuts[0])[1] - 9), "E", 14, bold=True)
    page.text((at((0, 0))[0] - 12, at((0, 0))[1] - 10), "low end", 11, anchor="middle")
    page.text((at((1, 0))[0], at((1, 0))[1] - 10), "high end", 11, anchor="middle")
    page.text(at((0.1, 0.3)), "object A", 12)
    page.text(at((0.72, 0.6)), "object B", 12)
    page.text(at((0.08, 0.84)), "object C", 12)
    page.lines(
        (ox - 30, oy + side + 26),
        ["2: the ray from F through q meets an edge of the wall in r.", "3: r lies before E, so p belongs to the object of the low end, A."],
        12,
        GREY,
    )
    for row, (color, word) in enumerate(((GOLD, "voxel point"), (VIOLET, "face point"), (BLUE, "edge points"))):
        page.dot((324, 78 + row * 20), 4.5, color)
        page.text((334, 82 + row * 20), word, 12)
    page.line((318, 138), (330, 138), stroke=RED, width=2.5)
    page.text((334, 142), "crack", 12)
    return page


def _runs(own):
    """Runs of own corners on the border of a wall; each is cut off by one segment from edge to edge. Edge k runs from corner
    k to corner k + 1."""
    starts = [k for k in range(4) if own[k] and not own[k - 1]]
    for start in starts:
        end = start
        while own[(end + 1) % 4]:
            end += 1
        yield (start - 1) % 4, end % 4, [(start + i) % 4 for i in range(end - start + 1)]


def dusty_cases():
    """The six cases of a wall, and three of the 256 cases of a voxel."""
    page = Page(800, 372, "Dusty surfaces: which segments cut off an object's corners on a wall, and the loops in a voxel")
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
    page.text((30, 30), "a wall: one segment cuts off each run of corners that the object owns", 13, bold=True)
    cases = [
        ((0, 0, 0, 0), "none"),
        ((1, 0, 0, 0), "one"),
        ((1, 1, 0, 0), "two in a run"),
        ((1, 0, 1, 0), "two runs"),
        ((1, 1, 1, 0), "three"),
        ((1, 1, 1, 1), "all"),
    ]
    side = 82
    for k, (own, name) in enumerate(cases):
        ox, oy = 36 + k * 126, 52
        at = lambda p: (ox + p[0] * side, oy + p[1] * side)
        middle = lambda edge: _toward(corners[edge], corners[(edge + 1) % 4], 0.5)
        if all(own):
            page.polygon([at(p) for p in corners], fill=CELLS[0], stroke="none")
        for first, last, run in _runs(own) if not all(own) else ():
            shape = [middle(first), *[corners[c] for c in run], middle(last)]
            page.polygon([at(p) for p in shape], fill=CELLS[0], stroke="none")
        page.rect(ox, oy, side, side, stroke=GREY, width=1.5)
        for first, last, _ in _runs(own) if not all(own) else ():
            page.line(at(middle(first)), at(middle(last)), stroke=BLUE, width=3)
            page.dot(at(middle(first)), 3.5, BLUE)
            page.dot(at(middle(last)), 3.5, BLUE)
        for corner, mine in zip(corners, own):
            page.circle(at(corner), 5, fill=BLUE if mine else PAPER, stroke=INK, width=1.2)
        page.text((ox + side / 2, oy + side + 24), name, 12, anchor="middle")

    page.text((30, 196), "a voxel: the segments of its walls close to loops, and a fan fills each loop", 13, bold=True)
    texts = [
        ["one corner:", "a loop of three", "points, a fan of", "three triangles"],
        ["two corners at", "the ends of a", "diagonal: two", "loops, two fans"],
        ["four corners", "in a ring: one", "loop of four", "points"],
    ]
    voxels = [[(0, 0, 0)], [(0, 0, 0), (1, 1, 0)], [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]]
    loops = [
        [[(0.5, 0, 0), (0, 0.5, 0), (0, 0, 0.5)]],
        [[(0.5, 0, 0), (0, 0.5, 0), (0, 0, 0.5)], [(0.5, 1, 0), (1, 0.5, 0), (1, 1, 0.5)]],
        [[(0, 0, 0.5), (1, 0, 0.5), (1, 1, 0.5), (0, 1, 0.5)]],
    ]
    space = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    for panel in range(3):
        ox = 40 + panel * 258
        view = lambda p: (ox + p[0] * 88 + p[1] * 36, 350 - p[2] * 88 - p[1] * 36)
        seen = [(1, 1, 1), (1, 0, 1), (1, 0, 0), (0, 0, 0), (0, 0, 1), (1, 0, 1)]
        page.polyline([view(p) for p in seen], stroke=GREY, width=1.2)
        page.polyline([view(p) for p in ((0, 0, 1), (0, 1, 1), (1, 1, 1), (1, 1, 0), (1, 0, 0))], stroke=GREY, width=1.2)
        page.polyline([view(p) for p in ((0, 1, 1), (0, 1, 0), (1, 1, 0))], stroke=GREY, width=1.2, dash="4 4")
        page.line(view((0, 1, 0)), view((0, 0, 0)), stroke=GREY, width=1.2, dash="4 4")
        for loop in loops[panel]:
            centre = tuple(sum(p[k] for p in loop) / len(loop) for k in range(3))
            page.polygon([view(p) for p in loop], fill=mix(ORANGE, PAPER, 0.6), stroke=BLUE, width=2.5, opacity=0.9)
            for p in loop:
                page.line(view(p), view(centre), stroke=ORANGE)
            page.dot(view(centre), 3.5, ORANGE)
        for corner in space:
            page.circle(view(corner), 5, fill=BLUE if corner in voxels[panel] else PAPER, stroke=INK, width=1.2)
        page.lines((ox + 142, 274), texts[panel], 12, GREY)
    return page


def rough():
    """Separation points: in the plane, and in one transition voxel."""
    page = Page(800, 350, "Separation points in transition voxels, and the triangles between them")
    rng = random.Random(11)
    ox, oy, s, n = 30, 52, 62, 4
    page.text((ox, 30), "in the plane: points on edges, joined through each voxel", 13, bold=True)
    seeds = [(1.0, 1.3), (2.9, 2.7)]
    owner = lambda i, j: nearest(seeds, (i, j))
    at = lambda p: (ox + p[0] * s, oy + p[1] * s)
    edge = {}
    for i in range(n + 1):
        for j in range(n + 1):
            for a, b in (((i, j), (i + 1, j)), ((i, j), (i, j + 1))):
                if max(b) <= n and owner(*a) != owner(*b):
                    t = min(0.92, max(0.08, 0.5 + rng.uniform(-0.42, 0.42)))
                    edge[a, b] = (a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t)
    for i in range(n):
        for j in range(n):
            sides = [
                ((i, j), (i + 1, j)),
                ((i, j + 1), (i + 1, j + 1)),
                ((i, j), (i, j + 1)),
                ((i + 1, j), (i + 1, j + 1)),
            ]
            found = [edge[e] for e in sides if e in edge]
            page.rect(*at((i, j)), s, s, fill="#fff4d6" if found else "#f9fafb", stroke=GREY, width=1)
    for i in range(n):
        for j in range(n):
            sides = [
                ((i, j), (i + 1, j)),
                ((i, j + 1), (i + 1, j + 1)),
                ((i, j), (i, j + 1)),
                ((i + 1, j), (i + 1, j + 1)),
            ]
            found = [edge[e] for e in sides if e in edge]
            if found:
                x, y = sum(p[0] for p in found) / len(found), sum(p[1] for p in found) / len(found)
                middle = (x + rng.uniform(-0.18, 0.18), y + rng.uniform(-0.18, 0.18))
                for p in found:
                    page.line(at(p), at(middle), stroke=RED, width=2.5)
                page.dot(at(middle), 4.5, GOLD)
    for p in edge.values():
        page.dot(at(p), 4.5, BLUE)
    for i in range(n + 1):
        for j in range(n + 1):
            page.circle(at((i, j)), 3.5, fill=CELLS[owner(i, j)], stroke=INK, width=1)
    line = cell(seeds, 0, square(0, 0, n))
    mid = [p for p in line if abs(math.dist(p, seeds[0]) - math.dist(p, seeds[1])) < 1e-6]
    page.line(at(mid[0]), at(mid[-1]), stroke=GREY, width=1.2, dash="5 4")
    page.lines((ox, oy + n * s + 22), ["dashed: the plane half way; red: the rough crack"], 12, GREY)

    page.text((430, 30), "in space: one transition voxel, three cells", 13, bold=True)

    def view(p):
        x, y, z = p
        return (560 + (x - y) * 128 * 0.866, 322 - z * 128 - (x + y) * 128 * 0.4)

    colour = {0: CELLS[0], 1: CELLS[1], 2: CELLS[2]}
    own = {(i, j, k): (2 if k else 0 if i == 0 else 1) for i in (0, 1) for j in (0, 1) for k in (0, 1)}
    edges = [(a, b) for a in own for b in own if sum(abs(p - q) for p, q in zip(a, b)) == 1 and a < b]
    point = {}
    for a, b in edges:
        if own[a] != own[b]:
            t = 0.5 + rng.uniform(-0.2, 0.2)
            point[a, b] = tuple(p + (q - p) * t for p, q in zip(a, b))
    faces = [(axis, side) for axis in range(3) for side in (0, 1)]
    face_point, on_face = {}, {}
    for axis, side in faces:
        found = [e for e in point if all(end[axis] == side for end in e)]
        if found:
            on_face[axis, side] = found
            face_point[axis, side] = tuple(sum(point[e][k] for e in found) / len(found) for k in range(3))
    middle = tuple(sum(p[k] for p in face_point.values()) / len(face_point) for k in range(3))
    triangles = [(point[e], face_point[f], middle) for f in on_face for e in on_face[f]]
    for t in sorted(triangles, key=lambda t: -sum(p[0] + p[1] for p in t)):
        page.polygon([view(p) for p in t], fill=mix(RED, PAPER, 0.72), stroke=RED, width=1, opacity=0.85)
    for a, b in edges:
        hidden = (1, 1, 0) in (a, b)
        page.line(view(a), view(b), stroke=GREY if hidden else INK, width=1.5, dash="4 4" if hidden else None)
    for p in point.values():
        page.dot(view(p), 4.5, BLUE)
    for p in face_point.values():
        page.dot(view(p), 4.5, VIOLET)
    page.dot(view(middle), 5, GOLD)
    for corner, k in own.items():
        page.circle(view(corner), 6, fill=colour[k], stroke=INK, width=1)
    for row, (color, word) in enumerate(((BLUE, "edge points"), (VIOLET, "face points"), (GOLD, "voxel point"))):
        page.dot((704, 60 + row * 20), 4.5, color)
        page.text((714, 64 + row * 20), word, 12)
    return page


def dusty():
    """Split points: a gap between two borders, and what becomes of leaves in it."""
    page = Page(800, 300, "Each edge point becomes two; between the borders lies dust")
    rng = random.Random(3)
    ox, oy, s = 30, 52, 80
    page.text((ox, 30), "split points in transition voxels", 13, bold=True)
    middle = [0.95 + rng.uniform(-0.2, 0.2) for _ in range(8)]
    half = [0.18 + rng.uniform(-0.1, 0.06) for _ in range(8)]
    at = lambda p: (ox + p[0] * s, oy + p[1] * s)
    upper = [(i, middle[i] - half[i]) for i in range(5)]
    lower = [(i, middle[i] + half[i]) for i in range(5)]
    page.polygon([at(p) for p in [(0, 0), (4, 0), *upper[::-1]]], fill=CELLS[0], stroke="none")
    page.polygon([at(p) for p in [(0, 2), (4, 2), *lower[::-1]]], fill=CELLS[1], stroke="none")
    for i in range(5):
        page.line(at((i, 0)), at((i, 2)), stroke=GREY, width=1)
    for j in range(3):
        page.line(at((0, j)), at((4, j)), stroke=GREY, width=1)
    page.polyline([at(p) for p in upper], stroke=BLUE, width=2.5)
    page.polyline([at(p) for p in lower], stroke=ORANGE, width=2.5)
    for i in range(5):
        page.dot(at((i, middle[i])), 3, GREY)
        page.arrow(at((i, middle[i])), at(upper[i]), BLUE, 1.5)
        page.arrow(at((i, middle[i])), at(lower[i]), ORANGE, 1.5)
    page.text(at((2.5, 0.93)), "dust", 14, GREY, "middle")
    page.text(at((0.12, 0.25)), "piece A", 13)
    page.text(at((0.12, 1.85)), "piece B", 13)
    page.lines(
        (ox, oy + 2 * s + 24),
        [
            "grey: where the edge would be crossed without a gap.",
            "Each point moves by half the width times",
            "(1 - irregularity x noise) towards its own corner.",
        ],
        12,
        GREY,
    )

    ox2, cells = 420, 22
    page.text((ox2, 30), "the leaves of that crack", 13, bold=True)
    size = 340 / cells
    height = lambda row, x: row[int(x)][1] + (row[int(x) + 1][1] - row[int(x)][1]) * (x - int(x))
    for i in range(cells):
        for j in range(11):
            xs = [min(3.999, (i + k / 4) / cells * 4) for k in range(5)]
            ys = [(j + k / 4) / 11 * 2 for k in range(5)]
            state = {(y < height(upper, x), y > height(lower, x)) for x in xs for y in ys}
            a, b, dust = (True, False) in state, (False, True) in state, (False, False) in state
            if a and dust:
                fill = mix(BLUE, PAPER, 0.35)
            elif b and dust:
                fill = mix(ORANGE, PAPER, 0.35)
            else:
                fill = CELLS[0] if a else CELLS[1] if b else "#f4f6f8"
            page.rect(
                ox2 + i * size,
                oy + j * size,
                size,
                size,
                fill=fill,
                stroke=PAPER if fill != "#f4f6f8" else FAINT,
                width=0.8,
            )
    page.lines(
        (ox2, oy + 11 * size + 20),
        ["dark: a leaf at one border: half is the piece's, half dust;", "light grey: all dust"],
        12,
        GREY,
    )
    return page


def local():
    """A local fracture: cells beyond a radius stay one body."""
    page = Page(800, 300, "A local fracture: what is far from the blow stays one body")
    rng = random.Random(8)
    hit, radius = (0.0, 0.45), 0.42
    seeds = [(rng.random() * 1.5, rng.random()) for _ in range(34)]
    for panel, name in enumerate(("all cells break", "within the radius only")):
        ox, oy, side = 40 + panel * 385, 44, 220
        at = lambda p: (ox + p[0] * side, oy + p[1] * side)
        page.text((ox, 28), name, 13, bold=True)
        box = square(0, 0, 1.5, 1)
        for k, s in enumerate(seeds):
            keep = panel == 1 and math.dist(s, hit) > radius
            shape = [at(p) for p in cell(seeds, k, box)]
            fill = "#dde3ea" if keep else mix(CELLS[k % 9], PAPER, 0.15)
            page.polygon(shape, fill=fill, stroke=fill if keep else INK, width=1)
        if panel == 1:
            for k, s in enumerate(seeds):
                if math.dist(s, hit) <= radius:
                    page.polygon([at(p) for p in cell(seeds, k, box)], stroke=INK, width=1)
            angle = math.degrees(math.asin(hit[1] / radius)) if radius > hit[1] else 90
            page.arc(at(hit), radius * side, -angle, angle, stroke=BLUE, width=1.5, dash="5 4")
            page.measure(at(hit), at((hit[0] + radius, hit[1])), BLUE)
            page.text((at((radius * 0.8, hit[1]))[0], at(hit)[1] - 8), "R", 14, BLUE, "middle", True)
            page.text(at((1.0, 0.52)), "one object", 13, GREY, "middle")
        for s in seeds:
            page.dot(at(s), 2.2)
        page.polygon([at(p) for p in box], stroke=INK, width=1.5)
        page.arrow((ox - 32, at(hit)[1]), (ox - 2, at(hit)[1]), RED, 3)
    page.text(
        (40, 288),
        "A seed farther from the impact than R gives its cell to the kept body; faces within it are never made.",
        12,
        GREY,
    )
    return page


FIGURES = {
    "fracture-rough": rough,
    "fracture-dusty": dusty,
    "fracture-local": local,
    "fracture-cones": cones,
    "fracture-dusty-cases": dusty_cases,
}
