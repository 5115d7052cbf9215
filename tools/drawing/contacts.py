"""Figures of docs/physics.md about near pairs of bodies, and about how their contacts are found."""

import math

from .svg import BLUE, CELLS, FAINT, GREY, INK, ORANGE, PAPER, RED, VIOLET, Page, clipped, mix, square


def near_pairs():
    """Three filters of pairs: boxes, turned boxes, outlines."""
    page = Page(800, 276, "Which pairs may meet: boxes, turned boxes, outlines")
    shapes = [
        [(0, 40), (70, 0), (128, 16), (60, 62)],
        [(0, 0), (20, -14), (112, 66), (86, 84)],
    ]
    names = ["1. boxes along the axes meet", "2. turned boxes meet", "3. outlines are apart: left out"]
    for panel, name in enumerate(names):
        ox, oy = 30 + panel * 258, 70
        page.text((ox, 34), name, 13, bold=True)
        bodies = [[(x + ox + 6, y + oy) for x, y in shapes[0]], [(x + ox + 62, y + oy + 84) for x, y in shapes[1]]]
        for k, body in enumerate(bodies):
            color = (BLUE, ORANGE)[k]
            if panel == 0:
                xs, ys = [p[0] for p in body], [p[1] for p in body]
                page.rect(
                    min(xs) - 5,
                    min(ys) - 5,
                    max(xs) - min(xs) + 10,
                    max(ys) - min(ys) + 10,
                    stroke=color,
                    width=2,
                    dash="6 4",
                )
            if panel == 1:
                a = math.atan2(*((-34, 93), (62, 78))[k])
                c, s = math.cos(a), math.sin(a)
                u = [p[0] * c + p[1] * s for p in body]
                v = [-p[0] * s + p[1] * c for p in body]
                box = square(min(u) - 5, min(v) - 5, max(u) - min(u) + 10, max(v) - min(v) + 10)
                page.polygon(
                    [(p[0] * c - p[1] * s, p[0] * s + p[1] * c) for p in box], stroke=color, width=2, dash="6 4"
                )
            page.polygon(body, fill=CELLS[k], stroke=color, width=2.5 if panel == 2 else 1.2)
        if panel == 2:
            a, b = _closest(*bodies)
            page.line(a, b, stroke=RED, width=2)
            page.dot(a, 3.5, RED)
            page.dot(b, 3.5, RED)
            page.text((max(a[0], b[0]) + 8, (a[1] + b[1]) / 2 + 4), "distance (GJK)", 12, RED)
    page.text(
        (30, 264),
        "Each filter is dearer than the one before and sees fewer pairs. Boxes grow by half a cell and by the motion of a step.",
        12,
        GREY,
    )
    return page


def _closest(a, b):
    """The nearest points of two polygons."""

    def on_side(p, s, t):
        d = (t[0] - s[0], t[1] - s[1])
        k = max(0.0, min(1.0, ((p[0] - s[0]) * d[0] + (p[1] - s[1]) * d[1]) / (d[0] ** 2 + d[1] ** 2)))
        return (s[0] + k * d[0], s[1] + k * d[1])

    pairs = [(p, on_side(p, b[k - 1], b[k])) for p in a for k in range(len(b))]
    pairs += [(on_side(p, a[k - 1], a[k]), p) for p in b for k in range(len(a))]
    return min(pairs, key=lambda pair: math.dist(*pair))


def surfels():
    """The surface of one body sampled at three physics levels."""
    page = Page(800, 300, "Surfels of one shape at three physics levels")
    for panel, n in enumerate((16, 8, 4)):
        ox, oy, side = 30 + panel * 258, 48, 200
        page.text((ox, 30), ("leaf level", "one level above (the default)", "two levels above")[panel], 13, bold=True)
        middle, r = (0.5, 0.5), 0.42
        page.circle((ox + side / 2, oy + side / 2), r * side, fill="#eaf2ff", stroke=FAINT, width=1)
        count = 0
        for i in range(n):
            for j in range(n):
                inner = [(i + a, j + b) for a in (0, 1) for b in (0, 1)]
                far = [math.hypot(x / n - middle[0], y / n - middle[1]) for x, y in inner]
                if min(far) < r < max(far):
                    count += 1
                    page.rect(ox + i * side / n, oy + j * side / n, side / n, side / n, stroke=GREY, width=0.8)
                    angles = [2 * math.pi * k / 720 for k in range(720)]
                    arc = [(middle[0] + r * math.cos(a), middle[1] + r * math.sin(a)) for a in angles]
                    arc = [p for p in arc if i / n <= p[0] < (i + 1) / n and j / n <= p[1] < (j + 1) / n]
                    if not arc:
                        continue
                    p = (sum(q[0] for q in arc) / len(arc), sum(q[1] for q in arc) / len(arc))
                    d = math.hypot(p[0] - 0.5, p[1] - 0.5)
                    u = ((p[0] - 0.5) / d, (p[1] - 0.5) / d)
                    at = (ox + p[0] * side, oy + p[1] * side)
                    half = len(arc) * 2 * math.pi * r / 720 / 2 * side
                    page.line(
                        (at[0] - u[1] * half, at[1] + u[0] * half),
                        (at[0] + u[1] * half, at[1] - u[0] * half),
                        stroke=BLUE,
                        width=2.5,
                    )
                    page.arrow(at, (at[0] + u[0] * 15, at[1] + u[1] * 15), RED, 1)
        page.text((ox, oy + side + 22), f"{count} boundary cells, a surfel each", 12, GREY)
    page.text((30, 290), "A surfel is a point, a normal (red), and the area that it stands for (blue).", 12, GREY)
    return page


def separation():
    """The separation of a hit."""
    page = Page(800, 300, "The separation of a surfel from the plane that it meets")
    for panel, deep in enumerate((False, True)):
        ox = 40 + panel * 390
        page.text((ox, 30), ("outside: separation above zero", "inside: separation below zero")[panel], 13, bold=True)
        n = (-0.26, -0.966)
        c = (ox + 150, 200)
        t = (-n[1], n[0])
        box = square(ox, 50, 330, 215)
        height = n[0] * c[0] + n[1] * c[1]
        page.polygon(clipped(box, n, height), fill=CELLS[0], stroke="none")
        page.line((c[0] - t[0] * 150, c[1] - t[1] * 150), (c[0] + t[0] * 172, c[1] + t[1] * 172), stroke=BLUE, width=2)
        s = -42 if deep else 40
        foot = (c[0] + t[0] * 90, c[1] + t[1] * 90)
        p = (foot[0] + n[0] * s, foot[1] + n[1] * s)
        other = [(p[0], p[1]), (p[0] + 76, p[1] - 62), (p[0] - 20, p[1] - 84)]
        if deep:
            other = [(p[0], p[1]), (p[0] + 78, p[1] - 110), (p[0] - 40, p[1] - 126)]
        page.polygon(other, fill=CELLS[1], stroke=ORANGE, width=1.5, opacity=0.75)
        page.arrow(c, (c[0] + n[0] * 62, c[1] + n[1] * 62), BLUE, 2)
        page.dot(c, 4, BLUE)
        page.text((c[0] - 22, c[1] + 18), "c", 15, BLUE, bold=True, italic=True)
        page.text((c[0] + n[0] * 62 - 16, c[1] + n[1] * 62 + 4), "n", 15, BLUE, bold=True, italic=True)
        page.arrow(foot, p, RED, 2)
        page.dot(p, 4, ORANGE)
        page.text((p[0] + 10, p[1] + 12), "p", 15, ORANGE, bold=True, italic=True)
        page.text((foot[0] + 10, foot[1] + (26 if not deep else -2)), "(p - c) . n", 13, RED)
        page.line(c, p, stroke=GREY, width=1, dash="4 4")
    page.text(
        (40, 288),
        "p: a surfel of the upper body; c, n: point and normal of the surface of the lower body that faces it",
        12,
        GREY,
    )
    return page


def birth():
    """The gap at birth."""
    page = Page(
        800, 290, "Two siblings overlap in their common crack voxels; the overlap is the zero of their contacts"
    )
    for panel in range(3):
        ox, oy, s = 30 + panel * 258, 54, 28
        page.text(
            (ox, 32),
            ("at birth", "0.6 cells apart: the zero holds", "two cells apart: no zero left")[panel],
            13,
            bold=True,
        )
        shift = (0, 0.6, 2)[panel] * s
        for k, (color, edge) in enumerate(((CELLS[0], BLUE), (CELLS[1], ORANGE))):
            dx = -shift / 2 if k == 0 else shift / 2
            for j in range(6):
                last = 3 + (1 if j in (1, 2, 4) else 0)
                first = 3 if j not in (1, 2, 4) else 4
                for i in range(0, last + 1) if k == 0 else range(first, 8):
                    shared = (k == 0 and i == last) or (k == 1 and i == first)
                    fill = mix(color, edge, 0.35) if shared else color
                    page.rect(
                        ox + 6 + i * s * 0.86 + dx,
                        oy + 10 + j * s,
                        s * 0.86,
                        s,
                        fill=fill,
                        stroke=PAPER,
                        width=1,
                        opacity=0.8,
                    )
        gap = ("zero: one cell deep", "zero: one cell deep", "zero: just touching")[panel]
        page.text((ox, oy + 6 * s + 36), gap, 13, RED, bold=True)
    page.text(
        (30, 278),
        "dark: crack voxels, which both pieces have. The zero holds in place, fades from one cell on, and is gone at two.",
        12,
        GREY,
    )
    return page


def hulls():
    """Contact of two hulls: the axis, the clipped face."""
    page = Page(800, 310, "Two convex hulls: the axis of least overlap, and the clipped face")
    a = [(x + 10, y + 50) for x, y in [(20, 150), (24, 70), (104, 62), (170, 100), (150, 166)]]
    b = [(x + 10, y + 40) for x, y in [(158, 92), (196, 34), (280, 40), (292, 120), (214, 168)]]
    page.text((30, 30), "1. projected on an axis, hulls are apart or overlap", 13, bold=True)
    n = (0.9, 0.436)
    page.polygon(a, fill=CELLS[0], stroke=BLUE, width=1.8)
    page.polygon(b, fill=CELLS[1], stroke=ORANGE, width=1.8, opacity=0.8)
    along = lambda p: p[0] * n[0] + p[1] * n[1]
    base = (20, 250)
    place = lambda t, off: (base[0] + (t - 60) * n[0] + 6, base[1] + off)
    for body, color, off in ((a, BLUE, 0), (b, ORANGE, 12)):
        low, high = min(map(along, body)), max(map(along, body))
        page.line(place(low, off), place(high, off), stroke=color, width=5)
    low, high = min(map(along, b)), max(map(along, a))
    page.line(place(low, -8), place(low, 22), stroke=RED, width=1)
    page.line(place(high, -8), place(high, 22), stroke=RED, width=1)
    page.text((place((low + high) / 2, 0)[0], 288), "overlap", 12, RED, "middle")
    page.text((310, 262), "along the axis", 12, GREY)
    page.arrow((150, 60), (150 + 56 * n[0], 60 + 56 * n[1]), VIOLET, 2)
    page.text((156, 56), "axis", 12, VIOLET)
    ox = 430
    page.text((ox, 30), "2. one face, clipped by the sides of the other", 13, bold=True)
    low_box = square(ox, 170, 230, 90)
    page.polygon(low_box, fill=CELLS[0], stroke=BLUE, width=1.8)
    upper = [(ox + 90, 166), (ox + 118, 60), (ox + 330, 70), (ox + 318, 182)]
    page.polygon(upper, fill=CELLS[1], stroke=ORANGE, width=1.8, opacity=0.8)
    for x in (ox, ox + 230):
        page.line((x, 52), (x, 270), stroke=GREY, width=1, dash="5 4")
    y_at = lambda x: 166 + (x - ox - 90) * 16 / 228
    page.line((ox + 90, y_at(ox + 90)), (ox + 230, y_at(ox + 230)), stroke=RED, width=4)
    for x in (ox + 90, ox + 230):
        page.dot((x, y_at(x)), 5.5, RED)
        page.arrow((x, 170), (x, 134), VIOLET, 2)
    page.lines((ox, 286), ["red: the contact points, named by faces, edges and corners"], 12, GREY)
    return page


def advancement():
    """Conservative advancement."""
    page = Page(800, 250, "Conservative advancement: a fast ball moves on by no more than the gap, until it touches")
    page.text((30, 30), "a ball of 6 cm and a wall: each move is no longer than the gap allows", 13, bold=True)
    wall = [(620, 52), (664, 52), (664, 210), (620, 210)]
    page.polygon(wall, fill="#dde3ea", stroke=INK, width=1.5)
    v = (0.94, 0.34)
    p, r, k, balls = (70.0, 76.0), 26, 0, []
    while True:
        gap = 620 - p[0] - r
        last = gap < 3
        balls.append(p)
        if last:
            break
        move = gap * 0.72 if k < 2 else gap
        q = (p[0] + move * v[0] / v[0], p[1] + move * v[1] / v[0] * 0.55)
        if k == 0:
            page.measure((p[0] + r, p[1]), (620, p[1]), BLUE)
            page.text((p[0] + 300, p[1] - 7), "gap along the axis", 12, BLUE)
        page.line(p, q, stroke=GREY, width=1, dash="4 4")
        p, k = q, k + 1
    for k, ball in enumerate(balls):
        last = k == len(balls) - 1
        fill, stroke = (mix(RED, PAPER, 0.5), RED) if last else (CELLS[1], ORANGE)
        page.circle(ball, r, fill=fill, stroke=stroke, width=1.5)
        page.text((ball[0], ball[1] + 5), str(k), 13, anchor="middle")
    page.dot((620, p[1]), 5, RED)
    page.text(
        (30, 236), "Contacts are made where the bodies then lie, so nothing passes a wall within a step.", 12, GREY
    )
    return page


FIGURES = {
    "physics-near-pairs": near_pairs,
    "physics-surfels": surfels,
    "physics-separation": separation,
    "physics-birth": birth,
    "physics-hulls": hulls,
    "physics-advancement": advancement,
}
