#!/usr/bin/env python3
"""Measures how time and memory grow with the octree level, the seeds, the bodies and the sites, and draws it.

    python3 examples/plot_growth.py target/release/kintsugi stanford-bunny.obj growth.svg --levels 6-10

Runs `kintsugi bench` once a point, the least costly first, and writes the figures as CSV beside the plot (growth.csv).
`--sweeps` measures some of levels, seeds, bodies and sites only (without it the first three) and keeps what the CSV
file has of the others. With `--again FILE.csv` nothing is run: the plot is drawn from an earlier file. The number at
each curve's end is the exponent b of value = a n^b, a least squares fit of logarithms over the upper half of the curve;
n is the number of voxels along the longest side, of seeds, of pieces, or of sites. Memory is the most that the whole
program held, import included. Needs nothing but Python, on Linux or macOS.
"""

import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

# Of a panel's frame; beside it room for numbers and for the names of the curves.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, GAP = 300, 210, 62, 190, 44, 72
COLOURS = ["#1f5f99", "#c8791b", "#3b8b4b", "#a03a5a", "#6b5b95", "#5b5b5b"]
FIELDS = ["sweep", "n", "curve", "value", "unit"]


def run(program, mesh, *options):
    """Figures of one bench, and the most memory that it held, in MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.json")
        command = [program, "bench", mesh, "--json", path, *map(str, options)]
        print(" ".join(command), file=sys.stderr)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"bench failed: {said.strip().splitlines()[-1] if said.strip() else process.returncode}")
        with open(path, encoding="utf-8") as file:
            figures = json.load(file)
    # Linux counts in kilobytes, macOS in bytes.
    figures["memory"] = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return figures


def stage(args, figures, name):
    return next((s[f"{args.take}_ms"] for s in figures["stages"] if s["stage"] == name), None)


LEVELS, SEEDS, BODIES = "voxels along a side", "seeds, level 8", "pieces that touch, physics level 5"
SITES = "sites, cells alone"


def bench(args, *options):
    return run(args.kintsugi, args.mesh, "--compute", args.compute, *options)


def by_level(args, add):
    first, last = (int(part) for part in args.levels.split("-"))
    for level in range(first, last + 1):
        repeat = 5 if level < 9 else 3 if level < 11 else 1
        for surface in ("planar", "rough", "dusty"):
            if surface != "planar" and level > 10:
                continue
            figures = bench(args, "--level", level, "--surface", surface, "--only", "fracture", "--repeat", repeat)
            add(2**level, f"{surface} fracture", stage(args, figures, "fracture, wall clock"), "ms")
            if surface == "planar":
                add(2**level, "voxelise", stage(args, figures, "voxelise (CPU)"), "ms")
                add(2**level, "islands", stage(args, figures, "fracture: islands"), "ms")
            add(2**level, f"{surface} fracture", figures["memory"], "MB")


def by_seeds(args, add):
    for seeds in args.seeds:
        for surface in ("planar", "rough"):
            figures = bench(args, "--level", 8, "--seeds", seeds, "--surface", surface, "--only", "fracture",
                            "--repeat", 5)
            add(seeds, f"{surface} fracture", stage(args, figures, "fracture, wall clock"), "ms")
            add(seeds, f"{surface} fracture", figures["memory"], "MB")


def by_bodies(args, add):
    for seeds in args.bodies:
        figures = bench(args, "--level", 7, "--seeds", seeds, "--only", "physics", "--repeat", 3 if seeds < 500 else 1)
        pieces = figures["counts"]["pieces"]
        add(pieces, "step", stage(args, figures, "physics step at level 5, wall clock"), "ms")
        for name in ("broad phase", "narrow phase", "manifolds", "solver"):
            add(pieces, name, stage(args, figures, f"physics at level 5: {name}"), "ms")
        add(pieces, "whole program", figures["memory"], "MB")


def by_sites(args, add):
    figures = bench(args, "--level", 4, "--seeds", 4, "--only", "neighbours", "--repeat", 9)
    for row in figures["stages"]:
        if found := re.fullmatch(r"cells of (\d+) sites, (.+) \(CPU\)", row["stage"]):
            add(int(found[1]), found[2], row[f"{args.take}_ms"], "ms")


def measure(args, rows):
    """Replaces what was known of the sweeps that are asked for."""
    sweeps = {"levels": (LEVELS, by_level), "seeds": (SEEDS, by_seeds), "bodies": (BODIES, by_bodies),
              "sites": (SITES, by_sites)}
    for name in args.sweeps:
        sweep, work = sweeps[name]
        rows = [row for row in rows if row["sweep"] != sweep]

        def add(n, curve, value, unit):
            if value is not None:
                rows.append({"sweep": sweep, "n": n, "curve": curve, "value": value, "unit": unit})

        work(args, add)
    order = [sweep for sweep, _ in sweeps.values()]
    return sorted(rows, key=lambda row: order.index(row["sweep"]))


def exponent(points):
    """Slope of the logarithms over the upper half of a curve."""
    points = [p for p in points if p[1] > 0][-max(2, (len(points) + 1) // 2):]
    if len(points) < 2:
        return None
    xs, ys = [math.log(n) for n, _ in points], [math.log(v) for _, v in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mx) ** 2 for x in xs)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / spread if spread else None


def ticks(low, high):
    """Powers of ten round the values, with 2 and 5 between them where they span little."""
    steps = (1, 2, 5) if high / low < 50 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = [step * 10.0**e for e in powers for step in steps]
    first = max([i for i, mark in enumerate(marks) if mark <= low], default=0)
    last = min([i for i, mark in enumerate(marks) if mark >= high], default=len(marks) - 1)
    return marks[first:max(last, first + 1) + 1]


def panel(left, top, title, rows, colours):
    curves = {}
    for row in rows:
        curves.setdefault(row["curve"], []).append((row["n"], max(row["value"], 1e-3)))
    ns = sorted({row["n"] for row in rows})
    marks = ticks(min(v for c in curves.values() for _, v in c), max(v for c in curves.values() for _, v in c))
    span = math.log(ns[-1] / ns[0]) or 1.0
    x = lambda n: left + WIDTH * math.log(n / ns[0]) / span
    y = lambda v: top + HEIGHT * (1 - math.log(v / marks[0]) / math.log(marks[-1] / marks[0]))
    parts = [f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
             f'<text x="{left}" y="{top - 10}" font-weight="bold">{escape(title)}</text>']
    for mark in marks:
        parts.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{y(mark):.1f}" y2="{y(mark):.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark:,g}</text>')
    end = -math.inf
    for n in ns:
        # Numbers that would touch are left out.
        if x(n) - end > 6 + 7 * len(str(n)):
            parts.append(f'<text x="{x(n):.1f}" y="{top + HEIGHT + 16}" text-anchor="middle">{n}</text>')
            end = x(n)
    labels = []
    for name, points in curves.items():
        points.sort()
        colour = colours[name]
        line = " ".join(f"{x(n):.1f},{y(v):.1f}" for n, v in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts += [f'<circle cx="{x(n):.1f}" cy="{y(v):.1f}" r="2.4" fill="{colour}"/>' for n, v in points]
        b = exponent(points)
        labels.append([y(points[-1][1]), name + (f", n^{b:.2f}" if b is not None else ""), colour])
    # Names stand beside the ends of their curves, moved apart where they would meet.
    labels.sort(key=lambda label: label[0])
    for i in range(1, len(labels)):
        labels[i][0] = max(labels[i][0], labels[i - 1][0] + 15)
    for height, text, colour in labels:
        parts.append(f'<text x="{left + WIDTH + 8}" y="{height + 4:.1f}" fill="{colour}">{escape(text)}</text>')
    return parts


UNITS = {"ms": "milliseconds", "MB": "most memory held, MB"}


def draw(rows, path):
    """A row of panels a sweep: times, then memory."""
    sweeps = list(dict.fromkeys(row["sweep"] for row in rows))
    units = [unit for unit in UNITS if any(row["unit"] == unit for row in rows)]
    width, height = len(units) * (LEFT + WIDTH + RIGHT), TOP + len(sweeps) * (HEIGHT + GAP) - 30
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for i, sweep in enumerate(sweeps):
        names = dict.fromkeys(row["curve"] for row in rows if row["sweep"] == sweep)
        colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(names)}
        for j, unit in enumerate(units):
            own = [row for row in rows if row["sweep"] == sweep and row["unit"] == unit]
            if own:
                left = LEFT + j * (LEFT + WIDTH + RIGHT)
                parts += panel(left, TOP + i * (HEIGHT + GAP), f"{UNITS[unit]}, by {sweep}", own, colours)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n</svg>\n")


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [{**row, "n": int(row["n"]), "value": float(row["value"])} for row in csv.DictReader(file)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kintsugi", help="the program")
    parser.add_argument("mesh", help="mesh file, or builtin:NAME")
    parser.add_argument("plot", help="SVG file to write")
    parser.add_argument("--levels", default="6-10")
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 30, 100, 300, 1000, 4000])
    parser.add_argument("--bodies", type=int, nargs="+", default=[10, 30, 100, 300, 1000, 2000],
                        help="seeds, about one a piece")
    parser.add_argument("--compute", default="cpu")
    names = ["levels", "seeds", "bodies"]
    parser.add_argument("--sweeps", nargs="+", choices=[*names, "sites"], default=names,
                        help="sites: Voronoi cells of a mesh by linear scan and by sphere tree")
    parser.add_argument("--take", choices=["median", "least"], default="median",
                        help="which of a point's runs; least where others use the machine")
    parser.add_argument("--again", help="draw this CSV file instead of measuring")
    args = parser.parse_args()
    table = os.path.splitext(args.plot)[0] + ".csv"
    if args.again:
        rows = read(args.again)
    else:
        rows = measure(args, read(table) if os.path.exists(table) else [])
        with open(table, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows({**row, "value": f"{row['value']:.4g}"} for row in rows)
    draw(rows, args.plot)
    by_curve = {}
    for row in rows:
        by_curve.setdefault((row["sweep"], row["curve"], row["unit"]), []).append((row["n"], max(row["value"], 1e-3)))
    for (sweep, curve, unit), points in by_curve.items():
        b = exponent(sorted(points))
        print(f"{sweep}: {curve} ({unit}): " + ", ".join(f"{n} {v:.3g}" for n, v in sorted(points))
              + (f"; exponent {b:.2f}" if b is not None else ""))


if __name__ == "__main__":
    main()
