#!/usr/bin/env python3
"""Computes again, with NumPy alone, what `kintsugi probe` prints, and compares.

    kintsugi fracture builtin:vase --level 6 --surface rough --format npz --out out/ \\
        --overlays transition,triangles,points,labels
    kintsugi probe builtin:vase --level 6 --surface rough --out probes.json \\
        $(python3 tools/probe_check.py --choose 200 out/)
    python3 tools/probe_check.py probes.json out/

Both commands need the same options of the break. `--choose N FOLDER` prints N places as options, drawn by the random
seed `--rng`: half of them boundary voxels of the pieces, half of these crack voxels, the rest inside, anywhere in the
grid, and dust where there is any.

place       Level and Morton code follow from the coordinates, the centre from `grid_to_mesh`.
seeds       Of all seeds the nearest two, and the nearest of another object, with squared distances in whole numbers of
            1/2^14 of the grid's side; of equally near ones the lowest. Distances from the seed and from the bisector.
corners     The nearest seed of each of the eight corners, in the same whole numbers.
pieces      From `coords` and `piece_inside`: the pieces that have the voxel, its own one (the largest of those that
            have the object of its centre, else the largest of all), that one's cell, generation and break; `in_source`
            from `source`.
planes      Coverage and planes of the own copy and of all copies, in every bit.
node        The largest octant of one kind round the voxel.
labels      With `labels` in the overlays: the labels after every iteration; one island for each piece.
stress      Where the probes have one (`--stress-load`): which fields are there, and that nothing outside of the source has any.
            With `--stress FOLDER`, that of `kintsugi stress` for the same mesh, level, load and what is held, with `--cells 5
            --density 2000`: both figures of the cell that holds the voxel, to a thousandth of the greatest one.
transition  With `transition`, `points` and `triangles` in the overlays: the transition voxel, its objects, the number
            of its points, and those of its triangles that meet the closed voxel, by clipping them in fractions.

The script prints how many of each it compared, and every difference as a line on stderr, up to 20 of them. It exits
with 1 where there is one.
"""

import argparse
import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

UNITS = 1 << 14
MOST_LINES = 20
STRESS_FIELDS = ("stress_pa", "von_mises_pa", "stress_load", "stress_newtons")


def inside(rows, voxel):
    """Which rows (low corner, edge) of nodes hold a voxel."""
    low, edge = rows[:, :3], rows[:, 3:4]
    return ((low <= voxel) & (voxel < low + edge)).all(axis=1)


def meets(triangle, voxel):
    """Whether a triangle (three corners of fractions) and the closed cube of a voxel have a point in common."""
    polygon = triangle
    for axis in range(3):
        for sign, limit in ((1, voxel[axis] + 1), (-1, -voxel[axis])):
            heights = [sign * point[axis] - limit for point in polygon]
            kept = []
            for k, (point, height) in enumerate(zip(polygon, heights)):
                after, then = polygon[(k + 1) % len(polygon)], heights[(k + 1) % len(polygon)]
                if height <= 0:
                    kept.append(point)
                if height * then < 0:
                    share = height / (height - then)
                    kept.append([a + (b - a) * share for a, b in zip(point, after)])
            polygon = kept
            if not polygon:
                return False
    return True


class Broken:
    """What `kintsugi fracture` wrote."""

    def __init__(self, folder):
        with np.load(folder / "voxels.npz") as arrays:
            self.arrays = {name: arrays[name] for name in arrays.files}
        self.report = json.loads((folder / "report.json").read_text())
        self.folder = folder
        self.level = int(self.arrays["level"])
        self.side = 1 << self.level
        seeds = self.arrays["seeds"] * (UNITS / self.side)
        self.seeds = np.rint(seeds).astype(np.int64)
        assert np.array_equal(self.seeds, seeds), "seeds are no whole numbers of units"
        self.objects = self.arrays["seed_object"].astype(np.int64)
        self.first = self.arrays["first_seed"].astype(np.int64)
        self.pieces = self.report["pieces"]
        self.by_id = {piece["id"]: piece for piece in self.pieces + self.report["broken_again"]}
        # Rows of boundary voxels by place.
        self.rows = {}
        for row, place in enumerate(map(tuple, self.arrays["coords"].tolist())):
            self.rows.setdefault(place, []).append(row)
        self.source = set(map(tuple, self.arrays["source"].tolist()))
        self.solid = np.zeros((self.side,) * 3, dtype=bool)
        self.solid[tuple(self.arrays["source"].T)] = True
        for x, y, z, edge in self.arrays["source_inside"].tolist():
            self.solid[x : x + edge, y : y + edge, z : z + edge] = True
        self.overlays = {}

    def break_of(self, cell):
        return int(np.searchsorted(self.first, cell, side="right")) - 1

    def overlay(self, number):
        """The arrays of overlays of a break; empty where there are none."""
        if number not in self.overlays:
            path = self.folder / ("overlays.npz" if number == 0 else f"overlays_{number:03}.npz")
            arrays = {}
            if path.is_file():
                with np.load(path) as archive:
                    arrays = {name: archive[name] for name in archive.files}
            self.overlays[number] = arrays
        return self.overlays[number]

    def nearest(self, number, point):
        """Seeds of a break, the nearest to a point (units) first, and all squared distances."""
        first, end = self.first[number], [*self.first[1:], len(self.seeds)][number]
        apart = self.seeds[first:end] - point
        squares = (apart * apart).sum(axis=1)
        # A stable sort leaves the lowest of equally near ones before the others.
        order = np.argsort(squares, kind="stable")
        return order + first, squares[order]

    def centre(self, voxel):
        """The centre of a voxel, units."""
        return (2 * np.array(voxel, dtype=np.int64) + 1) * (UNITS // self.side // 2)

    def has_centre(self, piece, voxel):
        """Whether the object of the voxel's centre is the piece's, in its own break and in those before."""
        order, _ = self.nearest(self.break_of(piece["cell"]), self.centre(voxel))
        own = int(self.objects[order[0]]) == piece["cell"]
        return own and (piece["parent"] is None or self.has_centre(self.by_id[piece["parent"]], voxel))

    def copies(self, voxel):
        """(piece, row of the boundary voxel or None, node or None) of the pieces that have a voxel, by piece."""
        of_leaves = [(int(self.arrays["piece"][row]), row, None) for row in self.rows.get(tuple(voxel), [])]
        nodes = self.arrays["piece_inside"]
        of_nodes = [(int(node[4]), None, node[:4].tolist()) for node in nodes[inside(nodes, voxel)]]
        return sorted(of_leaves + of_nodes, key=lambda copy: copy[0])

    def empty_node(self, voxel):
        """The largest octant round a voxel in which the source has nothing."""
        size, corner = 1, list(voxel)
        while 2 * size <= self.side:
            larger = [v // (2 * size) * 2 * size for v in voxel]
            if self.solid[tuple(slice(v, v + 2 * size) for v in larger)].any():
                break
            size, corner = 2 * size, larger
        return corner, size

    def source_kind(self, voxel):
        if tuple(voxel) in self.source:
            return "boundary"
        return "inside" if self.solid[tuple(voxel)] else "outside"


class Stress:
    """What `kintsugi stress` wrote: both figures of each cell, by its place."""

    def __init__(self, folder):
        report = json.loads((folder / "report.json").read_text())
        with np.load(folder / "stress.npz") as arrays:
            tension = np.maximum(arrays["principal"][:, 0], 0.0)
            figures = np.stack([tension, arrays["von_mises"]], axis=1)
            self.of = dict(zip(map(tuple, arrays["cell"].tolist()), figures.tolist()))
        self.below = report["level"] - report["cells_level"]
        self.allowed = 0.001 * figures.max(axis=0)

    def at(self, voxel):
        return self.of.get(tuple(v >> self.below for v in voxel))


class Checker:
    """Compares probes with what was computed, and counts."""

    def __init__(self, broken, stress=None):
        self.broken, self.arrays, self.stress = broken, broken.arrays, stress
        self.counts, self.wrong = {}, 0
        self.islands = {}

    def count(self, what, number=1):
        self.counts[what] = self.counts.get(what, 0) + number

    def complain(self, probe, field, given, wanted):
        self.wrong += 1
        if self.wrong <= MOST_LINES:
            print(f"voxel {probe['voxel']}: {field} is {given}, should be {wanted}", file=sys.stderr)

    def same(self, probe, field, given, wanted):
        if given != wanted:
            self.complain(probe, field, given, wanted)

    def close(self, probe, field, given, wanted):
        is_number = isinstance(given, (int, float))
        if not is_number or abs(given - wanted) > 1e-9 * max(1.0, abs(wanted)):
            self.complain(probe, field, given, wanted)

    def check(self, probe):
        voxel = probe["voxel"]
        self.check_place(probe, voxel)
        number = self.check_pieces(probe, voxel)
        self.check_seeds(probe, voxel, number)
        self.check_labels(probe, voxel, number)
        self.check_transition(probe, voxel, number)
        self.check_stress(probe, voxel)

    def check_stress(self, probe, voxel):
        """Compares the stress of the object before it broke."""
        given = {name: probe[name] for name in STRESS_FIELDS if name in probe}
        if self.stress is not None:
            wanted = self.stress.at(voxel) if self.broken.source_kind(voxel) != "outside" else None
            self.same(probe, "stress_pa is there", "stress_pa" in given, wanted is not None)
            for name, figure, allowed in zip(STRESS_FIELDS, wanted or (), self.stress.allowed):
                if abs(given.get(name, np.inf) - figure) > allowed:
                    self.complain(probe, name, given.get(name), figure)
        if not given:
            return
        self.count("stress")
        if self.broken.source_kind(voxel) == "outside":
            self.same(probe, "stress fields", sorted(given), [])
            return
        load = given.get("stress_load")
        names = STRESS_FIELDS[: 3 if load == "weight" else 4]
        self.same(probe, "stress fields", sorted(given), sorted(names))
        self.same(probe, "stress_load", load in ("weight", "newton", "blow"), True)
        if load != "weight":
            self.same(probe, "stress_newtons", given.get("stress_newtons") == 1, load == "newton")
        for name in STRESS_FIELDS[:2]:
            self.same(probe, f"{name} is below 0", given.get(name, 0) < 0, False)

    def check_place(self, probe, voxel):
        level = self.broken.level
        bits = ((voxel[axis] >> bit & 1) << (3 * bit + axis) for axis in range(3) for bit in range(level))
        self.same(probe, "morton", probe.get("morton"), sum(bits))
        self.same(probe, "level", probe.get("level"), level)
        centre = self.arrays["grid_to_mesh"] @ np.array([*(v + 0.5 for v in voxel), 1.0])
        for given, wanted in zip(probe.get("centre_in_mesh", [None] * 3), centre[:3]):
            self.close(probe, "centre_in_mesh", given, float(wanted))
        self.count("place")

    def check_seeds(self, probe, voxel, number):
        broken = self.broken
        unit, centre = UNITS // broken.side, broken.centre(voxel)
        order, squares = broken.nearest(number, centre)

        def as_json(at):
            seed = int(order[at])
            return {
                "seed": seed,
                "object": int(broken.objects[seed]),
                "position": broken.seeds[seed].tolist(),
                "squared_distance": int(squares[at]),
            }

        self.same(probe, "seeds", probe.get("seeds"), [as_json(at) for at in range(min(2, len(order)))])
        of_others = np.flatnonzero(broken.objects[order] != broken.objects[order[0]])
        beyond = as_json(of_others[0]) if len(of_others) else None
        self.same(probe, "beyond", probe.get("beyond"), beyond)
        self.same(probe, "object", probe.get("object"), int(broken.objects[order[0]]))
        self.close(probe, "distance_to_seed", probe.get("distance_to_seed"), float(np.sqrt(squares[0])) / unit)
        if beyond:
            near, far = broken.seeds[order[0]], broken.seeds[beyond["seed"]]
            normal = (far - near).astype(float)
            length = float(np.sqrt(normal @ normal))
            if length > 0:
                height = float(((near + far) / 2 - centre) @ normal) / length / unit
                self.close(probe, "distance_to_crack", probe.get("distance_to_crack"), height)
        owners = []
        for corner in range(8):
            at = [(v + (corner >> axis & 1)) * unit for axis, v in enumerate(voxel)]
            owners.append(int(broken.nearest(number, np.array(at))[0][0]))
        self.same(probe, "corners", probe.get("corners"), owners)
        self.count("seeds")
        self.count("corners", 8)

    def check_pieces(self, probe, voxel):
        """Compares pieces, planes and nodes, and gives the number of the break that made the voxel's piece."""
        broken = self.broken
        copies = broken.copies(voxel)
        self.same(probe, "in_source", probe.get("in_source"), broken.source_kind(voxel))
        ids = [piece for piece, _, _ in copies]
        self.count("pieces")
        if not copies:
            absent = ("piece", "generation", "break", "copies", "coverage", "surface", "cut", "label")
            for field in absent:
                self.same(probe, field, probe.get(field), None)
            self.same(probe, "kind", probe.get("kind"), "outside")
            order, _ = broken.nearest(0, broken.centre(voxel))
            self.same(probe, "cell", probe.get("cell"), int(broken.objects[order[0]]))
            if not broken.solid[tuple(voxel)]:
                self.check_node(probe, *broken.empty_node(voxel))
            self.count("outside")
            return 0
        of_centre = [piece for piece in ids if broken.has_centre(broken.by_id[piece], voxel)]
        own = (of_centre or ids)[0]
        if broken.report["counts"]["merged"] and probe.get("piece") in ids:
            # The report does not say which cells a piece has that small ones joined.
            own = probe["piece"]
        self.same(probe, "piece", probe.get("piece"), own)
        _, row, node = copies[ids.index(own)]
        piece = broken.by_id[own]
        number = broken.break_of(piece["cell"])
        kind = self.kind(row)
        self.same(probe, "kind", probe.get("kind"), kind)
        self.count(kind)
        self.same(probe, "cell", probe.get("cell"), piece["cell"])
        self.same(probe, "generation", probe.get("generation"), piece["generation"])
        made_by = probe.get("break", {})
        self.same(probe, "break.number", made_by.get("number"), number)
        if number == 0:
            parameters = broken.report["parameters"]
            if not broken.report.get("solved"):
                self.same(probe, "break.rng", made_by.get("rng"), parameters["rng"])
            matrix = self.arrays["grid_to_mesh"]
            impact = np.linalg.solve(matrix, np.array([*parameters["impact"]["point"], 1.0]))[:3]
            for given, wanted in zip(made_by.get("impact", [None] * 3), impact):
                self.close(probe, "break.impact", given, float(wanted))
        self.check_node(probe, *((voxel, 1) if row is not None else (node[:3], node[3])))
        self.check_planes(probe, "", probe, row)
        given = probe.get("copies", [])
        self.same(probe, "copies", [copy.get("piece") for copy in given], ids if len(ids) > 1 else [])
        for copy, (at, of_copy, _) in zip(given, copies):
            self.same(probe, "copies.cell", copy.get("cell"), broken.by_id[at]["cell"])
            self.same(probe, "copies.kind", copy.get("kind"), self.kind(of_copy))
            self.check_planes(probe, "copies.", copy, of_copy)
        self.count("copies", len(given))
        return number

    def kind(self, row):
        if row is None:
            return "inside"
        return "crack" if self.arrays["crack"][row] else "boundary"

    def check_node(self, probe, corner, size):
        wanted = {"corner": list(corner), "size": size, "level": self.broken.level - size.bit_length() + 1}
        self.same(probe, "node", probe.get("node"), wanted)
        self.count("node")

    def check_planes(self, probe, prefix, copy, row):
        def as_json(numbers):
            return {"normal": [np.float32(v) for v in numbers[:3]], "offset": np.float32(numbers[3])}

        def as_read(plane):
            return plane and as_json([*plane["normal"], plane["offset"]])

        coverage = surface = cut = None
        if row is not None:
            coverage = np.float32(self.arrays["coverage"][row])
            surface = as_json(self.arrays["plane"][row])
            numbers = self.arrays["cut"][row]
            cut = as_json(numbers) if numbers.any() else None
            self.count("planes")
        given = copy.get("coverage")
        self.same(probe, prefix + "coverage", None if given is None else np.float32(given), coverage)
        self.same(probe, prefix + "surface", as_read(copy.get("surface")), surface)
        self.same(probe, prefix + "cut", as_read(copy.get("cut")), cut)

    def check_labels(self, probe, voxel, number):
        label, piece = probe.get("label"), probe.get("piece")
        if label is None:
            return
        # Islands are the octrees of a break, one for each piece.
        for key, value in (((number, "piece", piece), label["island"]), ((number, "island", label["island"]), piece)):
            self.same(probe, "label.island", value, self.islands.setdefault(key, value))
        over = self.broken.overlay(number)
        if "labels" not in over:
            return
        holds = inside(over["label_voxels"], voxel) & (over["label_piece"] == piece)
        rows = np.flatnonzero(holds)
        wanted = over["labels"][:, rows[0]].tolist() if len(rows) == 1 else None
        self.same(probe, "label.iterations", label.get("iterations"), wanted)
        self.count("labels")

    def check_transition(self, probe, voxel, number):
        given, arrays = probe.get("transition"), self.arrays
        is_kept = arrays["surface"][number] and arrays["transition_level"][number] < self.broken.level
        if not is_kept:
            self.same(probe, "transition", given, None)
            return
        over = self.broken.overlay(number)
        if "transition_voxels" not in over:
            return
        self.count("transition")
        rows = np.flatnonzero(inside(over["transition_voxels"], voxel))
        if len(rows) == 0 or given is None:
            self.same(probe, "transition", given is not None, len(rows) > 0)
            return
        row = rows[0]
        self.count("crossed")
        self.same(probe, "transition.voxel", given.get("voxel"), over["transition_voxels"][row].tolist())
        self.same(probe, "transition.objects", given.get("objects"), over["transition_objects"][row].tolist())
        if "point_voxel" in over:
            points = int((over["point_voxel"] == row).sum())
            self.same(probe, "transition.points", given.get("points"), points)
        if "triangles" in over:
            wanted = []
            for at in np.flatnonzero(over["triangle_voxel"] == row):
                corners = over["triangles"][at].tolist()
                if meets([[Fraction(v) for v in corner] for corner in corners], voxel):
                    wanted.append({"points": corners, "cells": over["triangle_cells"][at].tolist()})
            self.same(probe, "transition.triangles", given.get("triangles"), wanted)
            self.count("triangles", len(wanted))

    def tell(self, probes):
        for name in ("place", "seeds", "corners", "pieces", "node", "planes"):
            print(f"{name} compared: {self.counts.get(name, 0)}")
        kinds = ", ".join(f"{self.counts.get(kind, 0)} {kind}" for kind in ("boundary", "crack", "inside", "outside"))
        print(f"kinds: {kinds}; copies: {self.counts.get('copies', 0)}")
        print(f"stress compared: {self.counts.get('stress', 'not in the probes')}")
        for name in ("labels", "transition", "crossed", "triangles"):
            print(f"{name} compared: {self.counts.get(name, 'not in the overlays')}")
        if self.wrong:
            print(f"{self.wrong} differences in {len(probes)} probes")
        else:
            print(f"{len(probes)} probes hold")


def choose(folder, number, rng):
    """Places to probe, as options."""
    with np.load(folder / "voxels.npz") as arrays:
        coords, nodes, dust = (arrays[name] for name in ("coords", "piece_inside", "dust"))
        cracks = coords[arrays["crack"] == 1]
        side = 1 << int(arrays["level"])
    random = np.random.default_rng(rng)
    for k in range(number):
        if k % 4 == 0 and len(cracks):
            place = cracks[random.integers(len(cracks))]
        elif k % 2 == 0 and len(coords):
            place = coords[random.integers(len(coords))]
        elif k % 8 == 1 and len(dust):
            place = dust[random.integers(len(dust))]
        elif k % 4 == 1 and len(nodes):
            node = nodes[random.integers(len(nodes))]
            place = node[:3] + random.integers(node[3], size=3)
        else:
            place = random.integers(side, size=3)
        print("--voxel", ",".join(map(str, place.tolist())))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probes", type=Path, help="JSON of `kintsugi probe`; with --choose the number of places")
    parser.add_argument("folder", type=Path, help="folder of `kintsugi fracture`")
    parser.add_argument("--choose", action="store_true", help="print that many places as options")
    parser.add_argument("--stress", type=Path, help="folder of `kintsugi stress` for the load of the probes")
    parser.add_argument("--rng", type=int, default=1, help="random seed of the places")
    given = parser.parse_args()
    if given.choose:
        choose(given.folder, int(str(given.probes)), given.rng)
        return 0
    probes = json.loads(given.probes.read_text())
    checker = Checker(Broken(given.folder), given.stress and Stress(given.stress))
    for probe in probes:
        checker.check(probe)
    checker.tell(probes)
    return 1 if checker.wrong or not probes else 0


if __name__ == "__main__":
    sys.exit(main())
