#!/usr/bin/env python3
"""Draws deepest penetration, energy and bodies awake over time from the steps.csv of `kintsugi simulate`.

    kintsugi simulate assets/scenes/p12-pile.toml --seconds 10 --out run
    python3 examples/plot_steps.py plot.svg "90 pieces=run/steps.csv" ...

Each further argument is a name and a file. Needs nothing but Python. Energy is kinetic plus potential above the lowest
value of the run, J.
"""

import csv
import math
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, GAP = 720, 190, 70, 48
COLOURS = ["#1f5f99", "#c8791b", "#3b8b4b", "#a03a5a"]
MOST_POINTS = 500


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        # What was not measured is empty.
        rows = [{k: float(v or "nan") for k, v in row.items()} for row in csv.DictReader(file)]
    if not rows:
        sys.exit(f"{path} has no steps")
    total = [row["kinetic_energy"] + row["potential_energy"] for row in rows]
    floor = min(total)
    return {
        "time": [row["time"] for row in rows],
        "deepest penetration, mm": [1e3 * row["deepest_penetration"] for row in rows],
        "energy, J": [value - floor for value in total],
        "bodies awake": [row["awake"] for row in rows],
    }


def thin(times, values):
    """The highest value of each of at most MOST_POINTS spans, so that no spike is lost."""
    span = max(1, -(-len(times) // MOST_POINTS))
    starts = range(0, len(times), span)
    return [(times[i], max(values[i : i + span])) for i in starts]


def ticks(high, most):
    """Round values from 0 to `high`, at most `most` steps of 1, 2 or 5 times a power of ten apart, with their texts."""
    power = 10.0 ** math.floor(math.log10(high / most))
    step = next(power * digit for digit in (1, 2, 5, 10, 20) if power * digit * most >= high * (1 - 1e-9))
    return [(step * i, f"{step * i:.6g}") for i in range(int(high / step * (1 + 1e-9)) + 1)]


def panel(top, title, runs, last):
    # What was not measured is no number, and no run may have a highest value above 0.
    high = max((v for _, run in runs for v in run[title] if v > 0), default=1.0)
    width = WIDTH - LEFT - 20
    x = lambda t: LEFT + width * t / last
    y = lambda v: top + HEIGHT * (1 - v / high)
    parts = [f'<rect x="{LEFT}" y="{top}" width="{width}" height="{HEIGHT}" fill="none" stroke="#999"/>']
    parts.append(f'<text x="{LEFT}" y="{top - 8}">{escape(title)}</text>')
    for value, text in ticks(high, 4):
        parts.append(f'<path d="M{LEFT - 4} {y(value):.1f}h4" stroke="#999"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(value) + 4:.0f}" text-anchor="end">{text}</text>')
    for value, text in ticks(last, 10):
        parts.append(f'<path d="M{x(value):.1f} {top + HEIGHT}v4" stroke="#999"/>')
        parts.append(f'<text x="{x(value):.0f}" y="{top + HEIGHT + 17}" text-anchor="middle">{text} s</text>')
    for (_, run), colour in zip(runs, COLOURS):
        points = " ".join(f"{x(t):.1f},{y(v):.1f}" for t, v in thin(run["time"], run[title]))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.3"/>')
    return parts


def main():
    if len(sys.argv) < 3 or len(sys.argv) > 2 + len(COLOURS) or not all("=" in a for a in sys.argv[2:]):
        sys.exit(__doc__)
    runs = [(name, read(path)) for name, path in (a.split("=", 1) for a in sys.argv[2:])]
    last = max(run["time"][-1] for _, run in runs) or 1.0
    titles = [title for title in runs[0][1] if title != "time"]
    height = 40 + len(titles) * (HEIGHT + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">']
    out.append(f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>')
    for i, ((name, _), colour) in enumerate(zip(runs, COLOURS)):
        out.append(f'<text x="{LEFT + 150 * i}" y="18" fill="{colour}">{escape(name)}</text>')
    for i, title in enumerate(titles):
        out += panel(50 + i * (HEIGHT + GAP), title, runs, last)
    out.append("</svg>")
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
