"""The figures of docs/meshes.md."""

import math

from .svg import BLUE, CELLS, GREEN, GREY, INK, ORANGE, PAPER, RED, VIOLET, Page, clipped, mix, square

SITES = [(0.47, 0.5), (0.66, 0.62), (0.30, 0.66), (0.42, 0.24), (0.72, 0.30), (0.20, 0.36), (0.60, 0.95), (0.95, 0.56)]


def halves(site, other):
    """The half-plane of points nearer to the site: normal and height."""
    normal = (other[0] - site[0], other[1] - site[1])
    return normal, (math.hypot(*other) ** 2 - math.hypot(*site) ** 2) / 2


def cell():
    """A cell cut out of a box, neighbour by neighbour, and the rule that ends it."""
    page = Page(800, 300, "Box cutting: a cell is cut by the planes half way to its neighbours, nearest first")
    site = SITES[0]
    others = sorted(SITES[1:], key=lambda other: math.dist(site, other))
    side = 176
    for panel, count in enumerate((1, 3, 5, 7)):
        ox, oy = 18 + panel * 196, 44
        at = lambda p: (ox + p[0] * side, oy + p[1] * side)
        shape = square(0, 0, 1)
        for k in range(count):
            shape = clipped(shape, *halves(site, others[k]))
        farthest = max(math.dist(site, p) for p in shape)
        done = count < len(others) and math.dist(site, others[count]) > 2 * farthest
        name = ("the nearest neighbour", "three neighbours", "five", "all seven")[panel]
        page.text((ox, 26), name, 13, bold=True)
        page.rect(ox, oy, side, side, stroke=GREY, width=1)
        page.polygon([at(p) for p in shape], fill=CELLS[0], stroke=BLUE, width=2)
        for k, other in enumerate(others):
            used = k < count
            page.dot(at(other), 4 if used else 3, ORANGE if used else GREY)
            if used:
                page.text((at(other)[0] + 6, at(other)[1] - 5), str(k + 1), 12, ORANGE)
        page.dot(at(site), 4.5, INK)
        if count == 5:
            page.circle(at(site), farthest * side, stroke=GREEN, width=1.2, dash="3 3")
            page.arc(at(site), 2 * farthest * side, -68, 48, stroke=RED, width=1.2, dash="6 4")
        words = {1: "two corners are cut off", 3: "each edge is dropped, kept or split", 7: "nothing is cut any more"}
        page.text(
            (ox, oy + side + 20), words.get(count, "done: the next neighbour is" if done else "not done"), 11, GREY
        )
        if count == 5:
            page.text((ox, oy + side + 35), "beyond the red circle", 11, GREY)
    page.text(
        (18, 288),
        "green: the farthest vertex; red: twice as far. A plane lies half way, so only there a neighbour cannot cut.",
        12,
        GREY,
    )
    return page


def caps():
    """What closes a piece: loops of cuts on a facet between two cells."""
    page = Page(800, 280, "Splitting: triangles clipped by a facet, loops on it, caps on both sides")
    page.text((30, 28), "1. a facet cuts triangles", 13, bold=True)
    outer = [(60 + 92 * math.cos(k * math.pi / 6), 150 + 78 * math.sin(k * math.pi / 6)) for k in range(12)]
    outer = [(x + 60, y) for x, y in outer]
    inner = [(120 + 36 * math.cos(k * math.pi / 4), 150 + 32 * math.sin(k * math.pi / 4)) for k in range(8)]
    cut = 132
    for ring, color in ((outer, CELLS[1]), (inner, PAPER)):
        page.polygon(ring, fill=color, stroke=INK, width=1.5)
    page.line((cut, 56), (cut, 244), stroke=RED, width=2, dash="6 4")
    page.text((cut + 6, 60), "facet between two cells", 12, RED)
    for ring in (outer, inner):
        for k in range(len(ring)):
            a, b = ring[k - 1], ring[k]
            if (a[0] - cut) * (b[0] - cut) < 0:
                t = (cut - a[0]) / (b[0] - a[0])
                page.dot((cut, a[1] + t * (b[1] - a[1])), 4.5, VIOLET)
    page.text((30, 268), "violet: crossings of edges and facet", 12, GREY)
    page.text((310, 28), "2. on the facet: loops, with holes", 13, bold=True)
    mx, my = 400, 150
    ring = [(mx + 78 * math.cos(k * math.pi / 7), my + 80 * math.sin(k * math.pi / 7)) for k in range(14)]
    hole = [(mx + 30 * math.cos(k * math.pi / 4), my + 32 * math.sin(k * math.pi / 4)) for k in range(8)]
    page.polygon(ring, fill=mix(CELLS[3], PAPER, 0.3), stroke=VIOLET, width=2)
    page.polygon(hole, fill=PAPER, stroke=VIOLET, width=2)
    for p in ring + hole:
        page.dot(p, 3.2, VIOLET)
    page.text((310, 268), "the part of the facet in the solid", 12, GREY)
    page.text((560, 28), "3. one cap, once for each side", 13, bold=True)
    for dx, color, edge in ((0, CELLS[0], BLUE), (112, CELLS[2], GREEN)):
        ox = 600 + dx
        half = [(ox + (0 if dx == 0 else 0), 72), (ox, 228)]
        sign = -1 if dx == 0 else 1
        outline = [
            (ox, 72),
            *[(ox + sign * 52 * math.sin(k * math.pi / 8), 150 - 78 * math.cos(k * math.pi / 8)) for k in range(1, 8)],
            (ox, 228),
        ]
        page.polygon(outline, fill=color, stroke=INK, width=1.2)
        page.line(*half, stroke=RED, width=3)
        page.arrow((ox, 150), (ox - sign * 32, 150), edge, 2)
    page.text((560, 268), "the same triangles, facing opposite ways", 12, GREY)
    return page


FIGURES = {"meshes-cell": cell, "meshes-caps": caps}


def example():
    """No numbers."""
    return []
