#!/usr/bin/env python3
"""Measures at how many pictures a second a wall that comes down plays: the steps of `kintsugi simulate` on the shipped wall.

    python3 tools/collapse.py --program target/release/kintsugi [--seeds 1000] [--seconds 2] [--keep FOLDER]
    python3 tools/collapse.py --read FOLDER            # an earlier run's FOLDER/steps.csv and report.json
    python3 tools/collapse.py --self-test

The wall is that of docs/lab/structures.md: assets/scenes/wall.toml with more seeds, mortar of 10 kPa and 1 J/m^2, and a ball of
0.7 m. The script prints medians of the steps in which more than half of the bricks are loose: of the whole step, and of each
stage that takes a twentieth of it or more. A step is the sum of its columns `ms STAGE`; what `simulate` does between steps
(steps that are taken again after a blow, shapes of what is left) has no column, so the time of the whole run is printed, too.
Bricks are the parts of the report's first break. Loose are the bodies that a step has more than the wall and what was thrown at
it: fewer than the bricks that fell off, where several stay together. Nothing but Python and the program is needed.
"""

import argparse
import csv
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = 20.0
LEAST_SHARE = 0.05


def scene_of(seeds):
    """The text of the wall's scene with so many seeds, weak mortar and a large ball."""
    text = (ROOT / "assets" / "scenes" / "wall.toml").read_text(encoding="utf-8")
    weak = 'material = "masonry"\ntension = 1e4\nshear = 1e4\ntoughness = 1.0'
    for old, new in ((r"seeds = \d+", f"seeds = {seeds}"), ('material = "masonry"', weak), (r"size = 0\.36", "size = 0.7")):
        text, count = re.subn(f"(?m)^{old}$", new, text)
        if count != 1:
            sys.exit(f"assets/scenes/wall.toml has {count} lines {old!r} and not one; say here what the scene has instead")
    return text


def read(folder):
    """The steps of a run, the bricks of its first break, and the bodies that are no bricks."""
    try:
        with open(folder / "steps.csv", newline="", encoding="utf-8") as file:
            steps = [{key: float(value or "nan") for key, value in row.items()} for row in csv.DictReader(file)]
        breaks = json.loads((folder / "report.json").read_text(encoding="utf-8"))["breaks"]
        bricks = breaks[0]["parts"]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as problem:
        sys.exit(f"{folder} has no run in which something was cracked: {problem!r}; give the --out of kintsugi simulate")
    if not steps:
        sys.exit(f"{folder}/steps.csv has no steps")
    return steps, bricks


def median_step(steps, bricks, others=2):
    """How many steps count, and the median of the step and of each stage in them, ms."""
    stages = [key for key in steps[0] if key.startswith("ms ") and key != "ms intersection volume"]
    loose = [step for step in steps if 2 * (step["bodies"] - others) > bricks]
    if not loose:
        return 0, 0.0, {}

    def number(value):
        """A stage that came later is empty in the steps before."""
        return 0.0 if math.isnan(value) else value

    whole = statistics.median(sum(number(step[stage]) for stage in stages) for step in loose)
    each = {stage[3:]: statistics.median(number(step[stage]) for step in loose) for stage in stages}
    return len(loose), whole, each


def tell(folder, seconds=None):
    steps, bricks = read(folder)
    count, whole, each = median_step(steps, bricks)
    if count == 0:
        most = max(step["bodies"] for step in steps)
        sys.exit(f"never more than half of the {bricks} bricks were loose ({most:.0f} bodies at most); simulate longer")
    print(f"{bricks} bricks; more than half are loose in {count} of {len(steps)} steps")
    # A picture a step.
    length = (steps[-1]["time"] - steps[0]["time"]) / max(1, len(steps) - 1)
    rate = 1e3 / whole
    print(f"step of {1e3 * length:.4g} ms: {whole:.1f} ms in the median, {rate:.1f} pictures a second of a step each", end="")
    print(f" ({TARGET:.0f} wanted: {'met' if rate >= TARGET else 'missed'})")
    for stage, ms in sorted(each.items(), key=lambda pair: -pair[1]):
        if ms >= LEAST_SHARE * whole:
            print(f"  {stage}: {ms:.1f} ms")
    if seconds is not None:
        print(f"the whole run: {seconds:.1f} s for {steps[-1]['time']:.2f} s")


def measure(program, seeds, seconds, out):
    with tempfile.TemporaryDirectory() as folder:
        # Meshes are found beside their scene.
        scene, mesh = Path(folder) / "wall.toml", Path(folder) / "wall.obj"
        scene.write_text(scene_of(seeds), encoding="utf-8")
        mesh.write_bytes((ROOT / "assets" / "scenes" / "wall.obj").read_bytes())
        out = out or Path(folder) / "run"
        if (out / "steps.csv").exists():
            sys.exit(f"{out} has a run already; give another folder, or read it with --read")
        command = [program, "simulate", scene, "--seconds", str(seconds), "--volume-every", "0", "--out", out]
        began = time.perf_counter()
        try:
            run = subprocess.run([str(part) for part in command], check=False)
        except OSError as problem:
            sys.exit(f"{program} does not start: {problem}; build it with cargo build --release, or give --program")
        if run.returncode != 0:
            sys.exit(f"kintsugi simulate ended with {run.returncode}")
        tell(out, time.perf_counter() - began)


def self_test():
    """Counts a table made here, and makes the scene."""
    stages = {"ms solver": 3.0, "ms sleep and report": 1.0, "ms intersection volume": 90.0}

    def step(bodies, more):
        return {"time": 0.0, "bodies": float(bodies), **{key: value * more for key, value in stages.items()}}

    # Of ten bricks more than half are loose from eight bodies on, of which the wall and the ball are none.
    steps = [step(2, 100.0), step(7, 100.0), step(8, 1.0), step(9, 2.0), step(12, 3.0)]
    steps[4]["ms sleep and report"] = float("nan")
    assert median_step(steps, 10) == (3, 8.0, {"solver": 6.0, "sleep and report": 1.0}), median_step(steps, 10)
    assert median_step(steps[:2], 10) == (0, 0.0, {})
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder)
        text = "time,bodies,ms solver\n0.01,2,1.5\n0.02,9,2.5\n0.03,9,\n"
        (run / "steps.csv").write_text(text, encoding="utf-8")
        (run / "report.json").write_text('{"breaks": [{"parts": 10}, {"parts": 3}]}', encoding="utf-8")
        steps, bricks = read(run)
        assert (len(steps), bricks, median_step(steps, bricks)) == (3, 10, (2, 1.25, {"solver": 1.25}))
    scene = scene_of(1000)
    assert "\nseeds = 1000\n" in scene and "\nsize = 0.7\n" in scene and "\ntension = 1e4\n" in scene


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target" / "release" / "kintsugi"), help="the built program")
    parser.add_argument("--seeds", type=int, default=1000, help="seeds of the wall; edges make fewer bricks of them")
    parser.add_argument("--seconds", type=float, default=2.0, help="simulated time")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the run's files stay")
    parser.add_argument("--read", type=Path, metavar="FOLDER", help="tell an earlier run instead")
    parser.add_argument("--self-test", action="store_true", help="check the script itself")
    args = parser.parse_args()
    if args.seeds < 2 or not 0.0 < args.seconds <= 3600.0:
        parser.error("--seeds must be 2 or more, --seconds above 0 and at most 3600")
    if args.self_test:
        self_test()
    elif args.read:
        tell(args.read)
    else:
        measure(args.program, args.seeds, args.seconds, args.keep)


if __name__ == "__main__":
    main()
