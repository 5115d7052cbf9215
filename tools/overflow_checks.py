#!/usr/bin/env python3
"""Measures what `overflow-checks` in release costs, for docs/lab/performance.md.

`overflow_checks.py [ROUNDS]` builds the program as it is and with the checks, each into a folder of its own below
target/, and runs `kintsugi bench` on the cores with both in turn: five rounds of each case, or ROUNDS. In: nothing.
Out: a table of all stages, the geometric mean of all ratios, and whether it is below 3 %. The machine must do nothing
else meanwhile. The profile in Cargo.toml stays as it is. `--self-test` shows that the comparison finds a planted cost.
"""

import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTING = "CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS"
CASES = [
    ["builtin:statue", "--level", "8"],
    ["builtin:statue", "--level", "7", "--surface", "rough", "--only", "fracture"],
    ["builtin:statue", "--level", "7", "--surface", "dusty", "--only", "fracture"],
]
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


def bench(program: Path, case: list[str]) -> dict[str, float]:
    """The least time of each stage, ms: what else the machine does counts least in it."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "times.csv"
        words = [str(program), "bench", *case, "--compute", "cpu", "--csv", str(table)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        with table.open(newline="", encoding="utf-8") as file:
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
                found.append(bench(program, case))
        for stage, pair in compared(*times).items():
            all_pairs.append(pair)
            print(f"| {' '.join(case)}: {stage} | {pair[0]:.2f} | {pair[1]:.2f} | {pair[1] / pair[0]:.3f} |")
    ratio = mean_ratio(all_pairs)
    verdict = "switch them on" if ratio < MOST else "leave them off"
    print(f"\n{len(all_pairs)} stages, {rounds} rounds: {100 * (ratio - 1):+.1f} % in the geometric mean; {verdict}")


if __name__ == "__main__":
    main()
