"""The figures of docs/glossary.md."""

import math

from .svg import BLUE, CELLS, GREY, PAPER, RED, Page, clipped, square

LEVEL = 5


def leaves_and_insides():
    """Where the quadtree of a bowl ends: (x, y, size, whether it holds surface). The bowl is a disc without a smaller one."""

    def reach(x, y, size, middle):
        """The least and the greatest distance of a box from a point."""
        near = [max(low - m, 0, m - low - size) for low, m in zip((x, y), middle)]
        far = [max(abs(low - m), abs(low + size - m)) for low, m in zip((x, y), middle)]
        return math.hypot(*near), math.hypot(*far)

    found, stack = [], [(0.0, 0.0, 1.0)]
    while stack:
        x, y, size = stack.pop()
        disc, hollow = reach(x, y, size, (0.5, 0.5)), reach(x, y, size, (0.5, 0.08))
        if disc[0] >= 0.44 or hollow[1] <= 0.26:
            continue
        is_inside = disc[1] <= 0.44 and hollow[0] >= 0.26
        if is_inside or size * 2**LEVEL == 1:
            found.append((x, y, size, not is_inside))
        else:
            stack += [(x + i * size / 2, y + j * size / 2, size / 2) for i in (0, 1) for j in (0, 1)]
    return found


def nodes():
    """Words of an octree: kinds of nodes on a grid, and what one boundary leaf holds."""
    page = Page(800, 346, "Words of an octree: nodes on a grid, and a boundary leaf with plane, coverage and cut")
    page.text((30, 30), f"a shape on a grid of level {LEVEL} (in the plane: a quadtree)", 13, bold=True)
    ox, oy, side = 30, 46, 264
    at = lambda p: (ox + p[0] * side, oy + p[1] * side)
    page.rect(ox, oy, side, side, fill="#f4f6f8", stroke="none")
    ends = leaves_and_insides()
    for x, y, size, has_surface in ends:
        fill = "#f4c27a" if has_surface else "#cfe3ff"
        page.tile(*at((x, y)), size * side, size * side, fill=fill, stroke=PAPER, width=0.8)
    page.lay()
    page.rect(ox, oy, side, side, width=1.5)
    _, x, y, size = min((abs(y - 0.36) - x, x, y, size) for x, y, size, has_surface in ends if has_surface)
    words = [
        ((0.97, 0.05), 84, "empty node: outside,", "so nothing is stored for it"),
        ((x + size / 2, y + size / 2), 160, "boundary node: it holds surface", "(at the leaf level: leaf, boundary voxel)"),
        ((0.7, 0.66), 236, "internal node: inside, without surface;", "of any size, as it is not divided further"),
    ]
    for place, y, first, second in words:
        page.dot(at(place), 3)
        page.line(at(place), (330, y - 4), stroke=GREY, width=1)
        page.text((336, y), first, 12, bold=True)
        page.text((336, y + 16), second, 12, GREY)
    page.text((30, 334), "Level L divides the grid into 2^L cells a side; the pieces of a break lie on the same grid.", 12, GREY)

    ox, oy, side = 610, 66, 150
    page.text((ox - 14, 30), "one boundary leaf", 13, bold=True)
    box = square(ox, oy, side)
    plane, cut = (-0.42, -0.9), (0.96, -0.28)
    heights = [n[0] * p[0] + n[1] * p[1] for n, p in ((plane, (ox + 80, oy + 56)), (cut, (ox + 112, oy + 90)))]
    solid = clipped(box, plane, heights[0])
    page.polygon(clipped(solid, cut, heights[1]), fill=CELLS[0], stroke="none")
    page.rect(ox, oy, side, side, width=2)
    for normal, place, color, reach in ((plane, (ox + 60, oy + 65.3), BLUE, 66), (cut, (ox + 116, oy + 103.7), RED, 62)):
        t = (-normal[1], normal[0])
        a = (place[0] - t[0] * reach, place[1] - t[1] * reach)
        b = (place[0] + t[0] * reach, place[1] + t[1] * reach)
        page.line(a, b, stroke=color, width=2.5)
        page.arrow(place, (place[0] + normal[0] * 34, place[1] + normal[1] * 34), color, 1.6)
    page.dot((ox + side / 2, oy + side / 2), 4)
    page.text((ox + side / 2 - 14, oy + side / 2 + 20), "centre", 12)
    page.text((ox + 8, oy + 142), "solid: coverage", 12)
    page.lines(
        (ox - 14, oy + side + 28),
        ["blue: its plane, by normal and", "offset from the centre;", "red: a cut, where a crack", "takes a part of it away"],
        12,
        GREY,
    )
    return page


FIGURES = {"glossary-nodes": nodes}


def example():
    """There is no worked example."""
    return []
