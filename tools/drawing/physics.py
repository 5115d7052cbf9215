"""The figures of docs/physics.md, and the numbers of its worked example."""

import math
import random

from . import contacts, front
from .svg import BLUE, CELLS, FAINT, GREEN, GREY, INK, ORANGE, PAPER, RED, VIOLET, Page, mix

GRAVITY, STEP, SUBSTEPS = 9.81, 0.01, 8
HERTZ, DAMPING, PUSH_OUT = 40.0, 3.0, 3.0
H = STEP / SUBSTEPS


def step():
    """One step: its stages and substeps."""
    page = Page(860, 270, "One step of 10 ms: stages, searches and substeps")
    x0 = 30
    stages = [
        ("broad phase", "near pairs", 90, CELLS[0]),
        ("search", "surfels that meet", 120, CELLS[1]),
        ("manifolds", "few points a pair", 110, CELLS[2]),
        ("response: eight substeps", "impulses, then motion", 380, CELLS[4]),
        ("sleep", "", 70, CELLS[9]),
    ]
    x = x0
    page.text((x0, 28), "one step, dt = 10 ms", 14, bold=True)
    for name, about, w, color in stages:
        page.rect(x, 46, w, 64, fill=color, stroke=INK, width=1.2)
        page.text((x + w / 2, 70), name, 13, anchor="middle", bold=True)
        page.text((x + w / 2, 90), about, 11, anchor="middle")
        x += w + 6
    page.text((x0, 142), "the response, one box a substep of h = 1.25 ms", 13, bold=True)
    w = 94
    for k in range(8):
        left = x0 + k * (w + 6)
        page.rect(left, 154, w, 50, fill=mix(CELLS[4], PAPER, 0.4), stroke=INK, width=1)
        page.text((left + w / 2, 174), "gravity, press", 11, anchor="middle")
        page.text((left + w / 2, 192), "move, relax", 11, anchor="middle")
    page.arrow((x0, 222), (x0, 207), RED, 2)
    page.arrow((x0 + 4 * (w + 6) - 3, 222), (x0 + 4 * (w + 6) - 3, 207), ORANGE, 2)
    page.text((x0 - 4, 238), "contacts are searched once a step,", 12, RED)
    page.text((x0 + 4 * (w + 6) - 10, 238), "and again (two or four times) where bodies would come closer", 12, ORANGE)
    page.text((x0 + 4 * (w + 6) - 10, 255), "by more than half a cell in between", 12, ORANGE)
    return page


def spring(separation, seconds, push_out=PUSH_OUT, apart=False):
    """A box of any mass on four points, substep by substep as the soft response has it: separations, m.

    One point stands for all four: each carries a quarter of the weight, and its spring is made for the whole mass."""
    omega = 2 * math.pi * min(HERTZ, 1 / (4 * H))
    a1 = 2 * DAMPING + H * omega
    mass, points = 1.0, 4
    c = 1 / (mass * H * omega * a1)
    found, v, total = [separation], 0.0, 0.0
    for _ in range(round(seconds / H)):
        v -= GRAVITY * H
        v += points * total / mass
        for soft in (True, False):
            for _ in range(60):
                if separation > 0:
                    aim, give = separation / H, 0.0
                elif soft:
                    aim, give = max(omega / a1 * separation, -push_out), c
                else:
                    aim, give = 0.0, 0.0
                effective = mass / points
                change = -(v + aim + give * total) * effective / (1 + give * effective)
                change = max(total + change, 0) - total
                total += change
                v += points * change / mass
            if soft:
                separation += H * v
        found.append(separation)
    return found


def soft_spring():
    """Depth over time under the soft constraint."""
    page = Page(800, 300, "A box set down on four points, and one that begins 1 mm deep: separation over time")
    rest = -GRAVITY / (4 * (2 * math.pi * HERTZ) ** 2) * 1e6
    plots = [
        (60, "set down without overlap", spring(0.0, 0.3), 0.3, (-50, 10), 10, "µm", 1e6),
        (460, "1 mm deep at the beginning", spring(-0.001, 0.3), 0.3, (-1.1, 0.1), 0.2, "mm", 1e3),
    ]
    for ox, name, values, seconds, (low, high), tick, unit, factor in plots:
        oy, w, h = 54, 300, 180
        x = lambda t: ox + t / seconds * w
        y = lambda v: oy + (high - v) / (high - low) * h
        page.text((ox - 30, 30), name, 13, bold=True)
        v = math.ceil(low / tick) * tick
        while v <= high + 1e-9:
            page.line((ox, y(v)), (ox + w, y(v)), stroke=FAINT, width=0.8)
            page.text((ox - 6, y(v) + 4), f"{v:.1f}".removesuffix(".0").replace("-0.0", "0"), 11, GREY, "end")
            v = round(v + tick, 6)
        for k in range(4):
            page.text((x(k * 0.1), oy + h + 16), f"{k * 100}", 11, GREY, "middle")
        page.text((ox + w / 2, oy + h + 34), "ms", 11, GREY, "middle")
        page.text((ox - 30, oy - 6), unit, 11, GREY)
        page.rect(ox, oy, w, h, stroke=GREY, width=1)
        line = rest / 1e6 * factor
        page.line((ox, y(line)), (ox + w, y(line)), stroke=RED, width=1.2, dash="6 4")
        page.polyline([(x(k * H), y(s * factor)) for k, s in enumerate(values)], stroke=BLUE, width=2.2)
        page.text((ox + w - 6, y(line) - 6), f"at rest: {rest:.1f} µm", 12, RED, "end")
    page.text(
        (30, 290),
        "Computed in substeps of 1.25 ms. The depth at rest is g / (4 w²), whatever the box weighs.",
        12,
        GREY,
    )
    return page


def friction():
    """The cone of friction, and a slope."""
    page = Page(800, 280, "Coulomb's cone: an impulse within it sticks, one at its border slides")
    page.text((30, 30), "the cone", 13, bold=True)
    o = (190, 226)
    mu = 0.5
    page.polygon(
        [o, (o[0] - 160 * mu, o[1] - 160), (o[0] + 160 * mu, o[1] - 160)],
        fill=mix(CELLS[2], PAPER, 0.4),
        stroke=GREEN,
        width=1.5,
    )
    page.line((40, 226), (340, 226), stroke=INK, width=2)
    page.arrow(o, (o[0] + 36, o[1] - 130), BLUE, 2.5)
    page.text((o[0] + 10, o[1] - 138), "sticks", 13, BLUE)
    page.arrow(o, (o[0] - 60, o[1] - 120), RED, 2.5)
    page.text((o[0] - 128, o[1] - 122), "slides", 13, RED)
    page.text((o[0] + 86, o[1] - 148), "|f| = mu f_n", 13, GREEN)
    page.text((348, 230), "f", 14, italic=True)
    page.arrow(o, (o[0], o[1] - 176), INK, 1.2)
    page.text((o[0] + 6, o[1] - 166), "f_n", 14, italic=True)
    page.text((430, 30), "a slope: mu = 0.5 holds up to 26.6 degrees", 13, bold=True)
    for k, degrees in enumerate((24.6, 28.6)):
        ox, oy = 440 + k * 180, 230
        a = math.radians(degrees)
        length = 160
        end = (ox + length * math.cos(a), oy - length * math.sin(a))
        page.polygon([(ox, oy), (ox + length * math.cos(a), oy), end], fill="#e7ebef", stroke=INK, width=1.2)
        s = 44
        m = (ox + 84 * math.cos(a), oy - 84 * math.sin(a))
        u, w = (math.cos(a), -math.sin(a)), (-math.sin(a), -math.cos(a))
        box = [
            m,
            (m[0] + u[0] * s, m[1] + u[1] * s),
            (m[0] + (u[0] + w[0]) * s, m[1] + (u[1] + w[1]) * s),
            (m[0] + w[0] * s, m[1] + w[1] * s),
        ]
        page.polygon(box, fill=CELLS[0] if k == 0 else CELLS[3], stroke=BLUE if k == 0 else RED, width=1.5)
        if k == 1:
            start = (m[0] + w[0] * 22 - u[0] * 4, m[1] + w[1] * 22 - u[1] * 4)
            page.arrow(start, (start[0] - u[0] * 44, start[1] - u[1] * 44), RED, 2.5)
        page.text((ox + 30, oy + 22), f"{degrees} degrees: {'holds' if k == 0 else 'slides'}", 12, GREY)
    return page


def parts():
    """A heap halved, and four pairs at once."""
    page = Page(800, 310, "A heap is halved into parts; a batch is up to four pairs that share no moving body")
    rng = random.Random(4)
    page.text((30, 30), "a heap of more than 2,048 points is halved", 13, bold=True)
    bodies = []
    for row in range(7):
        for k in range(12 - row):
            bodies.append((50 + (k + row / 2) * 28 + rng.uniform(-3, 3), 226 - row * 25 + rng.uniform(-3, 3)))
    middle = 50 + 5.5 * 28
    quarter = [sorted(b[0] for b in bodies if (b[0] < middle) == left) for left in (True, False)]
    cuts = [q[len(q) // 2] - 6 for q in quarter]

    def part(b):
        return (0 if b[0] < cuts[0] else 1) if b[0] < middle else (2 if b[0] < cuts[1] else 3)

    for i, a in enumerate(bodies):
        for b in bodies[:i]:
            if math.dist(a, b) < 33:
                cross = part(a) != part(b)
                page.line(a, b, stroke=RED if cross else GREY, width=2.4 if cross else 1)
    for b in bodies:
        page.circle(b, 9, fill=CELLS[part(b)], stroke=INK, width=1)
    page.lines(
        (30, 258),
        [
            "Parts share no body that moves, so each has a thread;",
            "contacts that cross (red) come after both halves.",
            "Cuts follow from the heap alone: same bytes on any number of threads.",
        ],
        12,
        GREY,
    )
    ox = 500
    page.text((ox - 30, 30), "four pairs in one batch, a lane each", 13, bold=True)
    spots = [
        (ox + 10, 90),
        (ox + 90, 90),
        (ox + 170, 90),
        (ox + 250, 90),
        (ox + 10, 170),
        (ox + 90, 170),
        (ox + 170, 170),
        (ox + 250, 170),
    ]
    batch = [(0, 4), (1, 5), (2, 6), (3, 7)]
    others = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)]
    for a, b in others:
        page.line(spots[a], spots[b], stroke=FAINT, width=2)
    for k, (a, b) in enumerate(batch):
        page.line(spots[a], spots[b], stroke=VIOLET, width=4)
        page.text((spots[a][0] - 18, 134), f"{k + 1}", 13, VIOLET, "middle", True)
    for s in spots:
        page.circle(s, 12, fill=CELLS[1], stroke=INK, width=1)
    page.lines(
        (ox - 30, 220),
        ["Vertical pairs share no body: solved together.", "Horizontal ones share bodies with them: another batch."],
        12,
        GREY,
    )
    return page


def sleep():
    """Awake, still, asleep."""
    page = Page(800, 250, "How a body falls asleep and wakes")
    boxes = [(30, "awake", CELLS[1]), (310, "still", CELLS[5]), (590, "asleep", CELLS[0])]
    for x, name, color in boxes:
        page.rect(x, 86, 150, 60, fill=color, stroke=INK, width=1.5)
        page.text((x + 75, 122), name, 16, anchor="middle", bold=True)
    page.arrow((182, 106), (306, 106), INK, 1.8)
    page.lines((244, 56), ["no point has moved", "10 mm or 8 % of the radius"], 11, INK, "middle")
    page.arrow((306, 128), (182, 128), RED, 1.8)
    page.text((244, 148), "moves farther", 11, RED, "middle")
    page.arrow((462, 106), (586, 106), INK, 1.8)
    page.lines((524, 56), ["0.5 s, with all that it touches;", "1 s by itself"], 11, INK, "middle")
    page.polyline([(665, 148), (665, 196), (105, 196), (105, 152)], stroke=RED, width=1.8)
    page.arrow((105, 160), (105, 148), RED, 1.8)
    page.lines(
        (385, 214),
        [
            "struck so that it would move faster than 0.075 m/s; or what carries it leaves",
            "by more than 0.05 m/s; or what it leaned on leaves",
        ],
        11,
        RED,
        "middle",
    )
    page.text((30, 30), "a body's way to rest (lengths and speeds of an object of a metre)", 13, bold=True)
    return page


def columns():
    """Collision points and columns of the paper's response."""
    page = Page(800, 320, "The paper's response: collision points, and columns from entry to exit")
    ox, oy, s, n = 40, 50, 24, 10
    page.text((ox, 30), "two discs on the lattice of the first", 13, bold=True)
    c1, c2, r1, r2 = (4.0, 6.4), (6.2, 3.0), 3.5, 3.1
    at = lambda p: (ox + p[0] * s, oy + p[1] * s)
    for k in range(n + 1):
        page.line(at((k, 0)), at((k, n)), stroke=FAINT, width=0.8)
        page.line(at((0, k)), at((n, k)), stroke=FAINT, width=0.8)
    page.circle(at(c1), r1 * s, fill=CELLS[0], stroke=BLUE, width=1.8, opacity=0.7)
    page.circle(at(c2), r2 * s, fill=CELLS[1], stroke=ORANGE, width=1.8, opacity=0.7)
    total = 0.0
    for i in range(n):
        x = i + 0.5
        if abs(x - c1[0]) < r1 and abs(x - c2[0]) < r2:
            top = c1[1] - math.sqrt(r1**2 - (x - c1[0]) ** 2)
            bottom = c2[1] + math.sqrt(r2**2 - (x - c2[0]) ** 2)
            if bottom > top:
                total += bottom - top
                page.line(at((x, top)), at((x, bottom)), stroke=GREEN, width=4)
                page.dot(at((x, top)), 4, BLUE)
                page.dot(at((x, bottom)), 4, ORANGE)
    page.text((ox, oy + n * s + 22), f"columns along y (green): {total:.2f} cells of area together", 12, GREY)
    tx = 350
    page.lines(
        (tx, 70),
        [
            "Where a column meets the surface of one body looking",
            "against it (entry) and that of the other looking along it",
            "(exit), the two bodies share what lies between.",
            "",
            "The shared volume V is the sum of all columns of the axis",
            "with the most of them; its gradient says how V grows as",
            "a body moves. Each column pushes both bodies apart",
            "along its own line, by k V times its area.",
        ],
        13,
    )
    for row, (color, word) in enumerate(((BLUE, "entry, on the first body"), (ORANGE, "exit, on the second body"))):
        page.dot((tx + 6, 232 + row * 22), 4.5, color)
        page.text((tx + 18, 236 + row * 22), word, 13)
    return page


def breaking():
    """The share of a kick that a breaking body passes on."""
    page = Page(800, 260, "A body that breaks keeps only the kick that breaks it")
    ox, oy, w, h = 60, 50, 320, 160
    page.text((30, 30), "what a body of threshold 3.5 m/s keeps of a kick", 13, bold=True)
    x = lambda v: ox + v / 12 * w
    y = lambda v: oy + h - v / 12 * h
    for v in (0, 3.5, 7, 10):
        page.text((x(v), oy + h + 16), f"{v:g}", 11, GREY, "middle")
        page.text((ox - 6, y(v) + 4), f"{v:g}", 11, GREY, "end")
        page.line((ox, y(v)), (ox + w, y(v)), stroke=FAINT, width=0.8)
    page.rect(ox, oy, w, h, stroke=GREY, width=1)
    page.line((x(0), y(0)), (x(12), y(12)), stroke=GREY, width=1.2, dash="5 4")
    page.polyline([(x(0), y(0)), (x(3.5), y(3.5)), (x(12), y(3.5))], stroke=BLUE, width=2.5)
    page.measure((x(10), y(10)), (x(10), y(3.5)), RED)
    page.text((x(10) - 6, y(4.5)), "given back: 6.5", 12, RED, "end")
    page.text((x(3.5) + 6, y(3.5) + 18), "kept: 3.5", 12, BLUE)
    page.text((ox + w / 2, oy + h + 34), "kick, m/s", 11, GREY, "middle")
    page.lines(
        (430, 70),
        [
            "A column is struck with 10 m/s and breaks at 3.5 m/s.",
            "Its pieces keep 3.5 m/s. The share 1 - 3.5 / 10 = 0.65",
            "goes back to what struck it, as an impulse at the",
            "contacts, so the ball flies on through the column.",
            "",
            "What the floor gave is only taken back: what is",
            "dropped shatters as its pieces meet the floor.",
        ],
        13,
    )
    return page


FIGURES = {
    "physics-step": step,
    "physics-soft-spring": soft_spring,
    "physics-friction": friction,
    "physics-parts": parts,
    "physics-sleep": sleep,
    "physics-breaking": breaking,
    "physics-columns": columns,
    **contacts.FIGURES,
    **front.FIGURES,
}


def example():
    """The worked example, line by line."""
    lines = []
    n = 400
    h = 1 / n
    lines.append(
        f"fall: {n} substeps of {h * 1e3:.1f} ms: g h^2 n (n + 1) / 2 = {GRAVITY * h * h * n * (n + 1) / 2:.3f} m, speed {GRAVITY:.2f} m/s"
    )
    omega = 2 * math.pi * min(HERTZ, 1 / (4 * H))
    a1 = 2 * DAMPING + H * omega
    mass = 1000.0
    c = 1 / (mass * H * omega * a1)
    carried = mass * GRAVITY * H / 4
    depth = c * carried * a1 / omega
    lines.append(f"spring: h = {H * 1e3:.2f} ms, w = 2 pi 40 Hz = {omega:.1f} / s, a1 = {a1:.3f}, c = {c:.3e} / kg")
    lines.append(f"weight: {mass * GRAVITY:,.0f} N; each of four points carries {carried:.3f} N s a substep")
    lines.append(f"depth: c f a1 / w = g / (4 w^2) = {depth * 1e6:.1f} micrometres")
    assert abs(spring(0.0, 3.0)[-1] + depth) < 1e-8
    mu = 0.5
    lines.append(
        f"slide: mu = {mu}, 20 m/s for 1 s: 20 - mu g / 2 = {20 - mu * GRAVITY / 2:.3f} m; holds up to atan(mu) = {math.degrees(math.atan(mu)):.1f} degrees"
    )
    lines.append(
        f"rolling: 10 degrees for 2 s: 5/7 g sin a t^2 / 2 = {5 / 7 * GRAVITY * math.sin(math.radians(10)) * 2:.3f} m"
    )
    lines.append(f"breaking: a kick of 10 m/s at a threshold of 3.5 m/s: 1 - 3.5 / 10 = {1 - 3.5 / 10:.2f} goes back")
    return lines
