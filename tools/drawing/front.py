"""The figure of docs/physics.md about the front that carries distances into a fragment after a break."""

import math

from .svg import BLUE, CELLS, FAINT, GOLD, GREEN, GREY, INK, ORANGE, PAPER, RED, VIOLET, Page, clipped, mix, square

# The object in cells of the lattice, and the crack: a line through a point with a normal out of the right fragment.
LOW, HIGH = (0.45, 0.4), (12.55, 7.6)
CRACK, OUT = (2.8, 4.0), (-math.cos(0.3), math.sin(0.3))
STEPS = [GOLD, RED, ORANGE, GREEN, BLUE, VIOLET]


def _outside(p):
    """Distance and direction to the nearest side of the object."""
    sides = [
        (p[0] - LOW[0], (-1, 0)),
        (HIGH[0] - p[0], (1, 0)),
        (p[1] - LOW[1], (0, -1)),
        (HIGH[1] - p[1], (0, 1)),
    ]
    return min(sides)


def _height(p):
    """How far a point lies from the crack, positive in the right fragment."""
    return (CRACK[0] - p[0]) * OUT[0] + (CRACK[1] - p[1]) * OUT[1]


def spread():
    """The nodes of the right fragment: distance, direction, and the step that gave it; None where nothing changed."""
    places = [(i, j) for i in range(1, 13) for j in range(1, 8) if _height((i, j)) > 0]
    nodes = {p: (*_outside(p), None) for p in places}

    def is_cut(cell):
        heights = [_height((cell[0] + a, cell[1] + b)) for a in (0, 1) for b in (0, 1)]
        return min(heights) < 0 < max(heights)

    front = set()
    for p in places:
        cells = [(p[0] - a, p[1] - b) for a in (0, 1) for b in (0, 1)]
        if any(is_cut(c) for c in cells) and _height(p) < nodes[p][0]:
            nodes[p] = (_height(p), OUT, 0)
            front.add(p)
    step = 0
    while front:
        step += 1
        found = {}
        for p in places:
            near = [q for q in front if q != p and max(abs(q[0] - p[0]), abs(q[1] - p[1])) == 1]
            weights = [1 / ((q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2) for q in near]
            if not near:
                continue
            ahead = [nodes[q][0] + sum(n * (a - b) for n, a, b in zip(nodes[q][1], q, p)) for q in near]
            d = sum(w * v for w, v in zip(weights, ahead)) / sum(weights)
            n = [sum(w * nodes[q][1][k] for w, q in zip(weights, near)) for k in (0, 1)]
            if d < nodes[p][0] - 1e-6:
                found[p] = (d, (n[0] / math.hypot(*n), n[1] / math.hypot(*n)), step)
        nodes.update(found)
        front = set(found)
    return nodes


def front():
    """Nodes by the step that reached them, and eq. 1 at one node."""
    page = Page(800, 372, "A front carries the distance of a crack from node to node into a fragment; equation 1 at one node")
    page.text((30, 30), "after the break: nodes of the right fragment by the step that reached them", 13, bold=True)
    ox, oy, s = 24, 54, 36
    at = lambda p: (ox + p[0] * s, oy + p[1] * s)
    object_box = [at(p) for p in ((LOW[0], LOW[1]), (HIGH[0], LOW[1]), (HIGH[0], HIGH[1]), (LOW[0], HIGH[1]))]
    height = OUT[0] * at(CRACK)[0] + OUT[1] * at(CRACK)[1]
    page.polygon(object_box, fill="#eef1f4", stroke="none")
    right = clipped(object_box, OUT, height)
    page.polygon(right, fill=mix(CELLS[0], PAPER, 0.45), stroke="none")
    for i in range(14):
        page.line(at((i, 0)), at((i, 8)), stroke=FAINT, width=0.8)
    for j in range(9):
        page.line(at((0, j)), at((13, j)), stroke=FAINT, width=0.8)
    page.polygon(object_box, stroke=INK, width=1.5)
    ends = sorted(right, key=lambda p: abs(OUT[0] * p[0] + OUT[1] * p[1] - height))[:2]
    page.line(*ends, stroke=RED, width=2.5)
    nodes = spread()
    last = 0
    for p, (d, n, step) in nodes.items():
        color = GREY if step is None else STEPS[step]
        if step is not None:
            last = max(last, step)
            reach = min(d, 0.62)
            page.line(at(p), at((p[0] + n[0] * reach, p[1] + n[1] * reach)), stroke=color, width=1.4)
        page.circle(at(p), 2.5 if step is None else 4.5, fill=color if step is not None else PAPER, stroke=color, width=1)
    page.text((ends[0][0] + 8, min(e[1] for e in ends) - 8), "crack", 12, RED)
    words = ["exact: cells that the crack cuts", *[f"step {k}" for k in range(1, last + 1)], "as before"]
    places = [(40, 352), *[(268 + 66 * k, 352) for k in range(last + 1)]]
    for word, place, color in zip(words, places, [*STEPS[: last + 1], GREY]):
        page.circle((place[0] - 10, place[1] - 4), 4.5, fill=PAPER if color == GREY else color, stroke=color, width=1)
        page.text(place, word, 12)

    page.text((540, 30), "eq. 1 at a node p", 13, bold=True)
    p = (700, 236)
    surface = [(526, 92), (550, 118), (562, 160), (564, 210), (556, 262), (544, 300)]
    page.polyline(surface, stroke=RED, width=2.5)
    page.text((522, 82), "surface", 12, RED)
    for q, foot, name in (((622, 158), (561, 158), "1"), ((622, 236), (563, 228), "2")):
        n = (foot[0] - q[0], foot[1] - q[1])
        length = math.hypot(*n)
        n = (n[0] / length, n[1] / length)
        t = (-n[1], n[0])
        page.line(
            (foot[0] - t[0] * 46, foot[1] - t[1] * 46), (foot[0] + t[0] * 46, foot[1] + t[1] * 46), stroke=GREY, dash="5 4"
        )
        page.arrow(q, foot, GOLD, 1.6)
        page.text(((q[0] + foot[0]) / 2, (q[1] + foot[1]) / 2 - 7), f"d{name}", 12, anchor="middle", italic=True)
        page.line(p, q, stroke=FAINT, width=1.2)
        page.dot(q, 5, GOLD)
        page.text((q[0] + 8, q[1] - 8), f"p{name}", 13, italic=True)
    page.dot(p, 6, RED)
    page.text((p[0] + 10, p[1] + 5), "p", 14, italic=True)
    page.measure((563, 322), (700, 322), INK)
    page.line(p, (700, 322), stroke=FAINT, width=1.2)
    page.line((563, 228), (563, 322), stroke=FAINT, width=1.2)
    page.text((632, 316), "d2 + n2 · (p2 - p)", 12, anchor="middle")
    page.text((540, 352), "d is the weighted mean over 1 and 2.", 12, GREY)
    return page


FIGURES = {"physics-front": front}
