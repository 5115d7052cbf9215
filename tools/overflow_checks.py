#!/usr/bin/env python3
"""Measures what `overflow-checks` in release costs, for docs/lab/performance.md.

`overflow_checks.py [ROUNDS]` builds the program as it is and with the checks, each into a folder of its own below
target/, and runs `kintsugi bench`, `simulate` and `fracture` on the cores with both in turn: five rounds of each case,
or ROUNDS. `simulate` plays a shipped scene of 91 bodies for 200 steps, and `fracture` reads a mesh file of a quarter of a
million triangles that the script writes; their stages are those of their reports. In: nothing. Out: a table of all stages, the geometric mean of all ratios, and whether it is below 3 %. The machine must do nothing
else meanwhile. The profile in Cargo.toml stays as it is. `--self-test` shows that the comparison finds a planted cost.
"""

import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTING = "CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS"
MESH = "MESH.obj"
CASES = [
    ["bench", "builtin:statue", "--level", "8"],
    ["bench", "builtin:statue", "--level", "7", "--surface", "rough", "--only", "fracture"],
    ["bench", "builtin:statue", "--level", "7", "--surface", "dusty", "--only", "fracture"],
    ["simulate", "assets/scenes/p12-pile.toml", "--seconds", "2", "--volume-every", "0"],
    ["fracture", MESH, "--level", "8", "--format", "obj,glb"],
]
# Rings of the mesh, and corners of each.
SIDE = 350
# Stages that take less are mostly the clock's own noise, ms.
LEAST_MS = 0.5
# Most that the checks may cost, so that they are switched on.
MOST = 1.03


def built(checks: bool) -> Path:
    """The program with or without the checks."""
    folder = ROOT / "target" / ("overflow-on" if checks else "overflow-off")
    environment = {**os.environ, SETTING: str(checks).lower(), "CARGO_TARGET_DIR": str(folder)}
    subprocess.run(["cargo", "build", "--release", "--bin", "kintsugi"], cwd=ROOT, env=environment, check=True)
    return folder / "release" / "kintsugi"


def mesh() -> str:
    """A ring with bumps as OBJ, with two triangles for each of its corners."""
    lines = []
    for a, b in ((a, b) for a in range(SIDE) for b in range(SIDE)):
        around, across = (math.tau * k / SIDE for k in (a, b))
        radius = 1 + 0.1 * math.sin(9 * around) * math.sin(7 * across)
        out = 3 + radius * math.cos(across)
        lines.append(f"v {out * math.cos(around):.6f} {radius * math.sin(across):.6f} {-out * math.sin(around):.6f}")
    for a, b in ((a, b) for a in range(SIDE) for b in range(SIDE)):
        at = lambda a, b: 1 + a % SIDE * SIDE + b % SIDE
        p, q, r, s = at(a, b), at(a + 1, b), at(a + 1, b + 1), at(a, b + 1)
        lines += [f"f {p} {q} {r}", f"f {p} {r} {s}"]
    return "\n".join(lines) + "\n"


def measured(program: Path, case: list[str]) -> dict[str, float]:
    """The time of each stage, ms; of `bench` the least of its repetitions, in which what else the machine does counts
    least."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder)
        words = [str(own / MESH) if word == MESH else word for word in case]
        if MESH in case:
            (own / MESH).write_text(mesh(), encoding="utf-8")
        out = ["--csv", str(own / "times.csv")] if case[0] == "bench" else ["--out", str(own / "out")]
        words = [str(program), *words, "--compute", "cpu", *out]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        if case[0] != "bench":
            report = json.loads((own / "out" / "report.json").read_text(encoding="utf-8"))
            return {stage: float(ms) for stage, ms in report["timings_ms"].items()}
        with (own / "times.csv").open(newline="", encoding="utf-8") as file:
            return {row["stage"]: float(row["least_ms"]) for row in csv.DictReader(file)}


def compared(without: list[dict[str, float]], checked: list[dict[str, float]]) -> dict[str, tuple[float, float]]:
    """For each stage the medians of the rounds without and with the checks, ms."""
    stages = [stage for stage in without[0] if all(stage in times for times in [*without, *checked])]
    medians = {s: tuple(statistics.median(r[s] for r in rounds) for rounds in (without, checked)) for s in stages}
    return {stage: pair for stage, pair in medians.items() if min(pair) >= LEAST_MS}


def mean_ratio(pairs: list[tuple[float, float]]) -> float:
    return math.exp(statistics.fmean(math.log(checked / without) for without, checked in pairs))


def self_test() -> None:
    rounds = [{"a": 10.0 + noise, "b": 4.0 - noise, "short": 0.1} for noise in (0.0, 0.2, -0.1)]
    slower = [{stage: 1.05 * ms for stage, ms in times.items()} for times in rounds]
    pairs = compared(rounds, slower)
    assert set(pairs) == {"a", "b"}, pairs
    assert abs(mean_ratio(list(pairs.values())) - 1.05) < 1e-9
    assert mean_ratio(list(compared(rounds, rounds).values())) == 1.0
    text = mesh()
    assert (text.count("v "), text.count("f ")) == (SIDE**2, 2 * SIDE**2)
    print("the comparison finds a planted cost of 5 %")


def main() -> None:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    without, checked = built(False), built(True)
    all_pairs = []
    print("| Case, stage | without, ms | with, ms | ratio |\n|---|---|---|---|")
    for case in CASES:
        times: tuple[list, list] = ([], [])
        for number in range(rounds):
            # Each goes first in every second round.
            order = [(without, times[0]), (checked, times[1])]
            for program, found in order[:: 1 if number % 2 == 0 else -1]:
                found.append(measured(program, case))
        for stage, pair in compared(*times).items():
            all_pairs.append(pair)
            print(f"| {' '.join(case)}: {stage} | {pair[0]:.2f} | {pair[1]:.2f} | {pair[1] / pair[0]:.3f} |")
    ratio = mean_ratio(all_pairs)
    verdict = "switch them on" if ratio < MOST else "leave them off"
    print(f"\n{len(all_pairs)} stages, {rounds} rounds: {100 * (ratio - 1):+.1f} % in the geometric mean; {verdict}")


if __name__ == "__main__":
    main()
