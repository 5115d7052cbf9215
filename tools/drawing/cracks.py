"""Figures of docs/fracture.md about crack surfaces: regions inside a transition voxel, and the cases of dusty surfaces."""

from .svg import BLUE, CELLS, GOLD, GREY, INK, ORANGE, PAPER, RED, VIOLET, Page, mix, square


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


FIGURES = {"fracture-cones": cones, "fracture-dusty-cases": dusty_cases}
