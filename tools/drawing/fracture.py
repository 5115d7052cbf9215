"""The figures of docs/fracture.md, and the numbers of its worked example."""

import math
import random

from . import cracks
from .svg import (
    BLUE,
    CELLS,
    FAINT,
    GOLD,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PAPER,
    RED,
    VIOLET,
    Page,
    cell,
    clipped,
    mix,
    nearest,
    square,
)

SEEDS = [(0.42, 0.30), (0.62, 0.36), (0.50, 0.52), (0.30, 0.52), (0.72, 0.58), (0.44, 0.76), (0.18, 0.72), (0.80, 0.84)]


def inside(p):
    """A bowl in the plane, the object of the figures: within a disc and outside of a smaller one at its top."""
    x, y = p
    return math.hypot(x - 0.5, y - 0.5) < 0.44 and math.hypot(x - 0.5, y - 0.08) > 0.26


def quadtree(levels):
    """Nodes of the bowl's quadtree by level: (x, y, size, kind), kind "boundary" or "internal"."""

    def kind(x, y, size):
        n = 9
        hits = sum(inside((x + size * (i + 0.5) / n, y + size * (j + 0.5) / n)) for i in range(n) for j in range(n))
        return "internal" if hits == n * n else "boundary" if hits else None

    rows, level = [], [(0.0, 0.0, 1.0, "boundary")]
    for _ in range(levels + 1):
        rows.append(level)
        halves = [
            (x + i * s / 2, y + j * s / 2, s / 2)
            for x, y, s, k in level
            if k == "boundary"
            for i in (0, 1)
            for j in (0, 1)
        ]
        level = [(x, y, s, k) for x, y, s in halves if (k := kind(x, y, s))]
    return rows


def ends(tree):
    """The nodes at which a quadtree ends: internal ones of any size, and all of the last level."""
    return [node for row in tree[:-1] for node in row if node[3] == "internal"] + tree[-1]


def owners(x, y, size):
    """The cells of the corners of a box."""
    return sorted({nearest(SEEDS, (x + i * size, y + j * size)) for i in (0, 1) for j in (0, 1)})


def steps():
    """One break step by step: the octree, the seeds, the boundary set, the pieces."""
    page = Page(880, 270, "A bowl as a quadtree; seeds and cells; the fracture boundary set with copies; the pieces")
    side, top = 196, 34
    tree = quadtree(5)
    nodes = ends(tree)
    names = ["the octree", "the pattern", "the fracture boundary set", "the pieces"]
    for panel in range(4):
        ox, oy = 18 + panel * 216, top
        at = lambda p: (ox + p[0] * side, oy + p[1] * side)
        page.text((ox, 22), f"{panel + 1}. {names[panel]}", 13, bold=True)
        if panel == 1:
            for k in range(len(SEEDS)):
                page.polygon(
                    [at(p) for p in cell(SEEDS, k, square(0, 0, 1))],
                    fill=mix(CELLS[k], PAPER, 0.45),
                    stroke=GREY,
                    width=1,
                )
        for x, y, size, kind in nodes:
            box = (ox + x * side, oy + y * side, size * side, size * side)
            cells = owners(x, y, size)
            shown = nearest(SEEDS, (x + size / 2, y + size / 2))
            if panel == 0:
                page.tile(*box, fill="#cfe3ff" if kind == "internal" else "#f4c27a", stroke=PAPER, width=0.8)
            elif panel == 1:
                page.tile(*box, fill=INK, stroke="none", opacity=0.16)
            elif panel == 2:
                if kind == "internal" and len(cells) > 1:
                    leaves = round(size * 32)
                    for i in range(leaves):
                        for j in range(leaves):
                            lx, ly, ls = x + i / 32, y + j / 32, 1 / 32
                            of = owners(lx, ly, ls)
                            color = CELLS[of[0]] if len(of) == 1 else {2: GOLD, 3: RED}.get(len(of), VIOLET)
                            fill = color if len(of) > 1 else mix(color, PAPER, 0.55)
                            page.tile(
                                ox + lx * side, oy + ly * side, ls * side, ls * side, fill=fill, stroke=PAPER, width=0.4
                            )
                elif kind == "internal":
                    page.tile(*box, fill=mix(CELLS[shown], PAPER, 0.55), stroke=PAPER, width=0.8)
                else:
                    fill = CELLS[shown] if len(cells) == 1 else GOLD if len(cells) == 2 else RED
                    page.tile(*box, fill=fill, stroke=PAPER, width=0.8)
            else:
                leaves = max(1, round(size * 32))
                for i in range(leaves):
                    for j in range(leaves):
                        lx, ly = x + i / 32, y + j / 32
                        for k in owners(lx, ly, 1 / 32):
                            dx, dy = (SEEDS[k][0] - 0.5) * 0.3, (SEEDS[k][1] - 0.5) * 0.3
                            s = side * 0.82
                            px, py = ox + (lx + dx + 0.11) * s, oy + (ly + dy + 0.11) * s
                            page.tile(px, py, s / 32, s / 32, fill=CELLS[k], stroke=CELLS[k], width=0.3)
        page.lay()
        if panel in (1, 2):
            for s in SEEDS:
                page.dot(at(s), 3)
    legend = [
        ["boundary leaves, and internal nodes", "of any size"],
        ["each seed owns the points that", "are nearest to it"],
        ["gold: a voxel that two cells share,", "red: three; each cell gets a copy"],
        ["one octree for each connected", "part of a cell"],
    ]
    for panel, words in enumerate(legend):
        page.lines((18 + panel * 216, 246), words, 11, GREY)
    return page


def patterns():
    """The nine seed patterns."""
    page = Page(760, 804, "Seeds and cells of the nine patterns; the arrow is the blow")
    rng = random.Random(5)
    hit = (0.0, 0.5)

    def ring(middle, radius, count, wobble=0.0):
        angles = [2 * math.pi * (k + rng.uniform(-wobble, wobble)) / count for k in range(count)]
        return [(middle[0] + radius * math.cos(a), middle[1] + radius * math.sin(a)) for a in angles]

    def spheres():
        return [
            p
            for r, n in ((0.16, 9), (0.40, 16), (0.75, 24))
            for p in ring(hit, r, n, 0.35)
            if 0 <= p[0] <= 1 and 0 <= p[1] <= 1
        ]

    def clustered():
        middles = [hit, (0.62, 0.24), (0.66, 0.80)]
        out = []
        for k in range(40):
            m, a, d = middles[k % 3], rng.uniform(0, 2 * math.pi), rng.uniform(0, 0.34)
            p = (m[0] + d * math.cos(a), m[1] + d * math.sin(a))
            out += [p] if 0 <= p[0] <= 1 and 0 <= p[1] <= 1 else []
        return out

    def inward():
        out = []
        for _ in range(26):
            places = []
            for _ in range(8):
                t, side = rng.random(), rng.randrange(4)
                edge = [(t, 0), (1, t), (t, 1), (0, t)][side]
                share = rng.random()
                places.append((edge[0] + (0.5 - edge[0]) * share, edge[1] + (0.5 - edge[1]) * share))
            near = min(places, key=lambda p: math.dist(p, hit))
            out.append(near if rng.random() < 0.6 else places[0])
        return out

    middle = (0.5, 0.5)
    drawings = [
        ("spheres", "on spheres round the impact", spheres()),
        ("uniform", "anywhere", [(rng.random(), rng.random()) for _ in range(26)]),
        ("clustered", "round the impact and other middles", clustered()),
        (
            "radial",
            "on rings across the blow (seen along it)",
            [p for r in (0.1, 0.25, 0.42) for p in ring(middle, r, 9, 0.06)],
        ),
        (
            "grain",
            "in layers, the grain upright",
            [
                ((i + rng.uniform(0.15, 0.85)) / 11, (j + 0.5) / 3 + rng.uniform(-0.02, 0.02))
                for j in range(3)
                for i in range(11)
            ],
        ),
        ("inward", "between surface and middle, near the blow", inward()),
        (
            "bricks",
            "two seeds a brick, every second course shifted",
            [((i + 0.5) / 8, (j + 0.5) / 6) for j in range(6) for i in range(8)],
        ),
        (
            "hexagons",
            "columns (seen along the axis)",
            [
                ((i + 0.25 + 0.5 * (j % 2)) / 5, 0.5 + (j - 2.5) * math.sqrt(0.75) / 5)
                for j in range(-1, 7)
                for i in range(-1, 6)
            ],
        ),
        ("slabs", "evenly along an axis", [(0.5, (j + 0.5) / 7) for j in range(7)]),
    ]

    def body(name, k):
        """The seed that names the body of seed k."""
        course, half = k // 8, k % 8
        is_second = name == "bricks" and half > 0 and (half + course) % 2 == 1
        return k - 1 if is_second else k

    for number, (name, about, seeds) in enumerate(drawings):
        ox, oy, side = 40 + number % 3 * 245, 40 + number // 3 * 264, 190
        at = lambda p: (ox + p[0] * side, oy + p[1] * side)
        page.text((ox, oy - 10), name, 14, bold=True)
        for k in range(len(seeds)):
            shape = cell(seeds, k, square(0, 0, 1))
            if len(shape) > 2:
                of = body(name, k)
                color = mix(CELLS[(of * 7 if name == "bricks" else of) % 10], PAPER, 0.35)
                joins = of != k or name == "bricks" and k + 1 < len(seeds) and body(name, k + 1) == k
                page.polygon([at(p) for p in shape], fill=color, stroke=color if joins else INK, width=0.8)
                if joins:
                    (x, y), half, up = at(seeds[of]), side / 16, side / 12
                    page.polygon(
                        [(x - half, y - up), (x + 3 * half, y - up), (x + 3 * half, y + up), (x - half, y + up)],
                        fill="none",
                        stroke=INK,
                        width=0.8,
                    )
        for s in seeds:
            if 0 <= s[0] <= 1 and 0 <= s[1] <= 1:
                page.dot(at(s), 2)
        if name in ("spheres", "clustered", "inward"):
            page.arrow((ox - 30, oy + side / 2), (ox - 2, oy + side / 2), RED, 2.5)
        if name == "radial":
            page.circle(at(middle), 5, stroke=RED, width=2)
            page.dot(at(middle), 2, RED)
        if name == "spheres":
            for r in (0.16, 0.40, 0.75):
                a = 90 if r < 0.5 else math.degrees(math.asin(0.5 / r))
                page.arc(at(hit), r * side, -a, a, stroke=BLUE, width=1.2, dash="4 3")
        page.text((ox, oy + side + 17), about, 11, GREY)
    return page


S, R, TREE_SIDE = (5000, 6000, 8000), (11000, 9000, 8000), 1 << 14
BOXES = [((2048, 2048), "A"), ((10240, 10240), "B"), ((6144, 6144), "C")]


def judged(corner, edge):
    """d and m of the test of two seeds against a box whose low corner and edge are given (z from 6144)."""
    centre = (corner[0] + edge // 2, corner[1] + edge // 2, 6144 + edge // 2)
    far2 = lambda seed: sum((c - x) ** 2 for c, x in zip(centre, seed))
    d = far2(R) - far2(S)
    m = edge * sum(abs(a - b) for a, b in zip(S, R))
    return centre, d, m


def two_seeds():
    """Two seeds and three boxes: one of either seed, and one that both reach."""
    page = Page(760, 400, "The exact test of two seeds against three boxes")
    scale, ox, oy = 340 / TREE_SIDE, 30, 370
    at = lambda p: (ox + p[0] * scale, oy - p[1] * scale)
    box = square(0, 0, TREE_SIDE)
    for seed, other, color in ((S, R, CELLS[0]), (R, S, CELLS[1])):
        page.polygon(
            [at(p) for p in cell([seed[:2], other[:2]], 0, box)], fill=mix(color, PAPER, 0.4), stroke=INK, width=1.2
        )
    for k in range(1, 8):
        page.line(at((k * 2048, 0)), at((k * 2048, TREE_SIDE)), stroke=FAINT, width=0.7)
        page.line(at((0, k * 2048)), at((TREE_SIDE, k * 2048)), stroke=FAINT, width=0.7)
    edge = 4096
    words = {"A": "s owns it", "B": "r owns it", "C": "contested"}
    colors = {"A": BLUE, "B": ORANGE, "C": RED}
    for corner, name in BOXES:
        page.polygon([at(p) for p in square(*corner, edge)], stroke=colors[name], width=2.5)
        page.text(at((corner[0] + edge - 1000, corner[1] + edge - 900)), name, 15, colors[name], bold=True)
        page.dot(at((corner[0] + edge / 2, corner[1] + edge / 2)), 2.5, colors[name])
    for seed, name in ((S, "s"), (R, "r")):
        page.dot(at(seed), 5)
        page.text((at(seed)[0] + 8, at(seed)[1] - 6), name, 16, bold=True, italic=True)
    x = 400
    page.lines(
        (x, 50),
        [
            "The difference of squared distances",
            "|x - r|² - |x - s|² is linear in x.",
            "At the corners of a box it lies between",
            "d - m and d + m:",
        ],
        13,
    )
    for row, (corner, name) in enumerate(BOXES):
        _, d, m = judged(corner, edge)
        y = 150 + row * 84
        page.text((x, y), f"{name}: {words[name]}", 13, colors[name], bold=True)
        low, high = d - m, d + m
        scale_x = lambda v: x + 165 + v / 2.2e8 * 165
        page.line((scale_x(-2.2e8), y + 22), (scale_x(2.2e8), y + 22), stroke=GREY, width=1)
        page.line((scale_x(0), y + 10), (scale_x(0), y + 34), stroke=INK, width=1)
        page.line((scale_x(low), y + 22), (scale_x(high), y + 22), stroke=colors[name], width=7)
        page.text((scale_x(0), y + 46), "0", 11, GREY, "middle")
        page.text((scale_x(low), y + 12), f"{low / 1e6:.0f}", 11, colors[name], "middle")
        page.text((scale_x(high), y + 12), f"{high / 1e6:.0f}", 11, colors[name], "middle")
    page.text((x, 388), "in millions of squared units (2^14 units a side of the grid)", 11, GREY)
    return page


def descent():
    """The number of candidates of each node, level by level."""
    page = Page(800, 276, "The descent: nodes of each level with the number of their candidates")
    tree = quadtree(4)

    def contested(x, y, size):
        """Seeds that may own a point of a box, by the test against the seed nearest to its centre."""
        centre = (x + size / 2, y + size / 2)
        judge = SEEDS[nearest(SEEDS, centre)]
        left = []
        for k, s in enumerate(SEEDS):
            d = math.dist(centre, s) ** 2 - math.dist(centre, judge) ** 2
            if d <= size * (abs(s[0] - judge[0]) + abs(s[1] - judge[1])):
                left.append(k)
        return left

    colors = {1: "#eef2f6", 2: "#ffe08a", 3: "#ffb46b", 4: "#ff8a80"}
    pairs = [(0.0, 0.0, 1.0, "boundary")]
    for level in range(5):
        ox, oy, side = 14 + level * 157, 40, 144
        page.text((ox, 24), f"level {level}", 13, bold=True)
        total = 0
        for x, y, size, kind in pairs:
            n = len(contested(x, y, size)) if level else len(SEEDS)
            total += n
            page.rect(
                ox + x * side,
                oy + y * side,
                size * side,
                size * side,
                fill=colors.get(n, "#e06666"),
                stroke=INK if level < 4 else GREY,
                width=0.8,
            )
            if level < 4:
                page.text(
                    (ox + (x + size / 2) * side, oy + (y + size / 2) * side + 4),
                    str(n),
                    13 if level < 3 else 10,
                    anchor="middle",
                )
        nodes = f"{len(pairs)} nodes" if level else "1 node"
        page.text((ox, oy + side + 18), f"{nodes}, {total} candidates", 11, GREY)
        deeper = [n for n in pairs if len(contested(*n[:3])) > 1 or n[3] == "boundary"]
        halves = [(x + i * s / 2, y + j * s / 2, s / 2, k) for x, y, s, k in deeper for i in (0, 1) for j in (0, 1)]
        known = {(x, y, s): k for row in tree for x, y, s, k in row}
        pairs = [
            (x, y, s, known.get((x, y, s), "internal"))
            for x, y, s, k in halves
            if k == "internal" or (x, y, s) in known
        ]
    for k, (n, word) in enumerate(((1, "1: wholly in one cell"), (2, "2"), (3, "3"), (4, "4"), (5, "more"))):
        x = 14 + (0, 180, 240, 300, 360)[k]
        page.rect(x, 226, 18, 14, fill=colors.get(n, "#e06666"), stroke=GREY, width=0.8)
        page.text((x + 24, 238), word, 12)
    page.text((785, 238), "seeds that can own a point of the node", 11, GREY, "end")
    page.text((14, 262), "Nodes inside the object end where one seed is left, so they leave gaps on level 4.", 11, GREY)
    return page


def shares():
    """What a leaf at a crack stores: its share, its plane, its cut, and the chamfer."""
    page = Page(800, 300, "One voxel in three cells: shares of its coverage, planes, cut and chamfer")
    side, top = 190, 56
    seeds = [(-0.1, 0.3), (1.18, -0.24), (0.98, 1.58)]
    for panel, name in enumerate(("a voxel that three cells share", "the copy of cell 1", "three cracks in one leaf")):
        ox = 30 + panel * 260
        at = lambda p: (ox + p[0] * side, top + p[1] * side)
        box = square(0, 0, 1)
        page.text((ox, 32), name, 13, bold=True)
        if panel == 0:
            for k in range(3):
                shape = cell(seeds, k, box)
                page.polygon([at(p) for p in shape], fill=CELLS[k], stroke=INK, width=1.2)
                middle = (sum(p[0] for p in shape) / len(shape), sum(p[1] for p in shape) / len(shape))
                page.text((at(middle)[0], at(middle)[1] - 3), f"cell {k + 1}", 13, anchor="middle", bold=True)
                page.text((at(middle)[0], at(middle)[1] + 14), "1/3", 13, anchor="middle")
            page.text((ox, top + side + 22), "coverage 1, so each copy has 1/3", 12, GREY)
        elif panel == 1:
            page.polygon([at(p) for p in box], fill="#f4f6f8", stroke=GREY, width=1)
            page.polygon([at(p) for p in cell(seeds, 0, box)], fill=CELLS[0], stroke="none")
            for other, word, color in ((1, "plane", BLUE), (2, "cut", GREEN)):
                s, r = seeds[0], seeds[other]
                n = (r[0] - s[0], r[1] - s[1])
                length = math.hypot(*n)
                n = (n[0] / length, n[1] / length)
                m = ((s[0] + r[0]) / 2, (s[1] + r[1]) / 2)
                h = n[0] * m[0] + n[1] * m[1]
                line = [p for p in clipped(box, n, h) if abs(n[0] * p[0] + n[1] * p[1] - h) < 1e-6]
                page.line(at(line[0]), at(line[-1]), stroke=color, width=2.5)
                off = h - n[0] * 0.5 - n[1] * 0.5
                foot = (0.5 + n[0] * off, 0.5 + n[1] * off)
                page.line(at((0.5, 0.5)), at(foot), stroke=color, width=1.2, dash="3 3")
                page.arrow(at(foot), at((foot[0] + n[0] * 0.22, foot[1] + n[1] * 0.22)), color, 2)
                page.text(
                    at((foot[0] + n[0] * 0.24 + 0.02, foot[1] + n[1] * 0.24 + 0.02)) if other == 1 else at((0.6, 0.95)),
                    word,
                    13,
                    color,
                )
            page.dot(at((0.5, 0.5)), 3)
            page.lines(
                (ox, top + side + 22),
                ["dashed: the offsets from the leaf's centre;", "the other copies store the opposite planes"],
                12,
                GREY,
            )
        else:
            shape = clipped(box, (-0.25, 1), 0.62)
            cuts = [((1, -0.1), 0.66), ((0.62, 0.8), 0.79)]
            exact = shape
            for n, h in cuts:
                exact = clipped(exact, n, h)
            page.polygon([at(p) for p in box], fill="#f4f6f8", stroke=GREY, width=1)
            page.polygon([at(p) for p in clipped(shape, *cuts[0])], fill=mix(RED, PAPER, 0.65), stroke="none")
            page.polygon([at(p) for p in exact], fill=CELLS[0], stroke=INK, width=1)
            for n, h in cuts:
                line = [p for p in clipped(box, n, h) if abs(n[0] * p[0] + n[1] * p[1] - h) < 1e-6]
                page.line(at(line[0]), at(line[-1]), stroke=GREEN, width=1.5)
            n = (cuts[0][0][0] + 0.6 * cuts[1][0][0], cuts[0][0][1] + 0.6 * cuts[1][0][1])
            best = min((abs(_area(clipped(shape, n, h / 200)) - _area(exact)), h / 200) for h in range(100, 360))[1]
            line = [p for p in clipped(box, n, best) if abs(n[0] * p[0] + n[1] * p[1] - best) < 1e-6]
            page.line(at(line[0]), at(line[-1]), stroke=VIOLET, width=2.5, dash="7 4")
            page.lines(
                (ox, top + side + 22),
                ["with one cut alone the red splinter stays;", "the chamfer (violet) keeps the right volume"],
                12,
                GREY,
            )
    return page


def _area(p):
    return abs(sum(p[k - 1][0] * p[k][1] - p[k][0] * p[k - 1][1] for k in range(len(p)))) / 2


def islands():
    """A cell of two parts, and labels on bricks."""
    page = Page(800, 310, "A Voronoi cell that holds two handles of a vase; a brick and its parts")
    ox, oy, s = 50, 44, 250
    page.text((30, 30), "one cell, two islands", 13, bold=True)
    cut = 0.3
    for x, y, size, _ in ends(quadtree(5)):
        leaves = max(1, round(size * 32))
        for i in range(leaves):
            for j in range(leaves):
                lx, ly = x + i / 32, y + j / 32
                upper = ly + 1 / 64 < cut
                fill = "#e7ebef" if not upper else CELLS[0] if lx < 0.5 else CELLS[1]
                page.tile(ox + lx * s, oy + ly * s - 18, s / 32, s / 32, fill=fill, stroke=PAPER, width=0.6)
    page.lay()
    page.line((ox - 10, oy + cut * s - 18), (ox + s + 10, oy + cut * s - 18), stroke=RED, width=1.5, dash="5 4")
    page.text((ox + s + 14, oy + cut * s - 14), "crack", 12, RED)
    page.dot((ox + 0.5 * s, oy + 0.16 * s - 18), 3.5)
    page.text((ox + 0.5 * s, oy + 0.1 * s - 18), "seed", 12, anchor="middle")
    page.text((30, oy + s + 4), "The upper cell holds two parts that do not touch: two pieces.", 12, GREY)
    bx, by, b = 500, 70, 44
    page.text((bx - 60, 30), "a brick: a node's 4 x 4 (x 4) cells as bits", 13, bold=True)
    solid = ["1100", "1000", "0011", "0001"]
    parts = {(0, 0): 0, (1, 0): 0, (0, 1): 0, (2, 2): 1, (3, 2): 1, (3, 3): 1}
    for j in range(4):
        for i in range(4):
            on = solid[j][i] == "1"
            fill = CELLS[parts[i, j]] if on else "#f4f6f8"
            page.rect(bx + i * b, by + j * b, b, b, fill=fill, stroke=GREY, width=1)
            page.text((bx + (i + 0.5) * b, by + (j + 0.5) * b + 5), solid[j][i], 14, INK if on else GREY, "middle")
    page.rect(bx, by, 4 * b, 4 * b, width=2.5)
    page.line((bx + 2 * b, by), (bx + 2 * b, by + 4 * b), width=2)
    page.line((bx, by + 2 * b), (bx + 4 * b, by + 2 * b), width=2)
    page.lines((bx + 4 * b + 12, by + 40), ["its octants do not", "touch: two parts,", "two labels"], 12, GREY)
    page.lines(
        (bx - 60, by + 4 * b + 26),
        [
            "The bits of an octant say whether it touches its neighbours;",
            "the bits on their walls say whether two bricks touch.",
        ],
        11,
        GREY,
    )
    return page


FIGURES = {
    "fracture-steps": steps,
    "fracture-patterns": patterns,
    "fracture-two-seeds": two_seeds,
    "fracture-descent": descent,
    "fracture-shares": shares,
    "fracture-islands": islands,
    **cracks.FIGURES,
}


def example():
    """The worked example, line by line."""
    edge, lines = 4096, []
    lines.append(f"s = {S}, r = {R}, boxes of level 2: e = {edge}")
    difference = [b - a for a, b in zip(S, R)]
    lines.append(f"|s - r|_1 = {' + '.join(str(abs(v)) for v in difference)} = {sum(map(abs, difference)):,}")
    verdicts = {
        "A": "d - m >= b: s owns every corner",
        "B": "d + m < b: r owns every corner",
        "C": "both may own a point",
    }
    for corner, name in BOXES:
        centre, d, m = judged(corner, edge)
        b = 0
        assert {"A": d - m >= b, "B": d + m < b, "C": d + m >= b > d - m}[name]
        lines.append(f"{name}: c = {centre}, d = {d:,}, m = {m:,}; {verdicts[name]}")
    largest = max(map(abs, difference))
    shift = 0
    while largest << (shift + 1) <= 1 << 15:
        shift += 1
    normal = [v << shift for v in difference]
    square_length = sum(v * v for v in normal)
    length = round(math.sqrt(square_length))
    centre = (7680, 7680, 7680)
    height = sum((c - x) ** 2 for c, x in zip(centre, R)) - sum((c - x) ** 2 for c, x in zip(centre, S))
    voxel = 512
    # In whole numbers, as `Plane::through`: 12 bits of the offset, less one more than those of the voxel, and the shift.
    bits = 12 - voxel.bit_length() + shift
    offset = ((height << bits) + length // 2) // length
    lines.append(f"normal: {tuple(difference)} shifted by {shift} = {tuple(normal)}, length {length:,}")
    lines.append(f"leaf of level 5: edge {voxel}, centre {centre}: offset {offset} / 4096 = {offset / 4096:.3f} voxels")
    lines.append(
        f"coverage 0.75 in 3 cells: {0.75 / 3:.2f} each, mass of a copy {0.75 / 3 * 2200 * 0.01**3 * 1e3:.2f} g at 2,200 kg/m3 and 1 cm"
    )
    return lines
