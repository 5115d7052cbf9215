#!/usr/bin/env python3
"""Times Kintsugi beside Blender's Cell Fracture: the same mesh, the same seeds, in turn, in one run.

    python3 tests/openers/beside_cell_fracture.py target/release/kintsugi --script blender_cell_fracture.py \\
        --mesh bunny.obj --seeds seeds90.txt --runs 7 --level 8

The script is one that Blender runs in the background and that prints a JSON line with `total.median_s` (its
operator alone, of a mesh that is in memory) and `per_run` (pieces, closed); it finds the mesh as NAME.obj in
$PEERS_MESHES and the seeds in $PEERS_SEEDS, and takes the words scale, mode, runs and NAME. Of Kintsugi the
stages of report.json's `timings_ms` count that lie between the mesh in memory and the pieces' meshes in
memory: everything but reading, opening an adapter, checking and writing files; `gpu: ...`, `cpu: ...` are parts of
others. A program without a stage for meshes makes them while it writes, so there `write glb` counts. What a
run of the program takes from start to end is printed beside it. The pieces of the last run are checked by
check_meshes.py.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_meshes

#: Stages that Blender's operator has no part in.
APART = ("read", "check", "open ", "write", "gpu:", "cpu:")


def counted(stages):
    """Milliseconds from the mesh in memory to the pieces' meshes in memory."""
    apart = sum(v for k, v in stages.items() if not k.startswith(APART))
    return apart if any("mesh" in k for k in stages) else apart + stages["write glb"]


def blender(options, environment):
    """One operator call: seconds, and what it says of the pieces."""
    command = [
        options.blender,
        "-b",
        "--factory-startup",
        "--python",
        str(options.script),
        "--",
        "4",
        "clean",
        "1",
        options.mesh.stem,
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = [x for x in done.stdout.splitlines() if x.startswith("{")]
    if not lines:
        raise SystemExit(f"Blender's script printed no JSON:\n{done.stdout[-800:]}{done.stderr[-800:]}")
    found = json.loads(lines[-1])
    return found["total"]["median_s"], found["per_run"][0]


def kintsugi(options, folder):
    """One run: milliseconds by stage, and seconds from start to end."""
    command = [
        str(options.kintsugi),
        "fracture",
        str(options.mesh),
        "--seeds-file",
        str(options.seeds),
        "--level",
        str(options.level),
        "--surface",
        "planar",
        "--format",
        "glb",
        "--out",
        str(folder),
        *options.more,
    ]
    if options.kind != "today":
        command += ["--mesh", options.kind]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    whole = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads((folder / "report.json").read_text())["timings_ms"], whole


def figures(values):
    """Median, least and greatest."""
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kintsugi", type=Path)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--mesh", type=Path, required=True)
    parser.add_argument("--seeds", type=Path, required=True)
    parser.add_argument("--blender", default="blender")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--level", type=int, default=8)
    parser.add_argument(
        "--kind", default="original", help="--mesh of the program; 'today' leaves the option out"
    )
    parser.add_argument("--more", nargs="*", default=[], help="options for the program")
    parser.add_argument("--json")
    check_meshes.arguments(parser)
    options = parser.parse_args()
    environment = {
        **os.environ,
        "PEERS_MESHES": str(options.mesh.parent.resolve()),
        "PEERS_SEEDS": str(options.seeds.resolve()),
    }
    theirs, closed, ours, wholes = [], [], {}, []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "out"
        for run in range(options.runs):
            for who in ("them", "us") if run % 2 == 0 else ("us", "them"):
                if who == "them":
                    seconds, said = blender(options, environment)
                    theirs.append(seconds * 1000)
                    closed.append((said["pieces"], said["closed"], said["volume_ratio"]))
                else:
                    stages, whole = kintsugi(options, folder)
                    wholes.append(whole * 1000)
                    stages["all that count"] = counted(stages)
                    for key, value in stages.items():
                        ours.setdefault(key, []).append(value)
            print(
                f"run {run + 1}: Cell Fracture {theirs[-1]:.0f} ms, Kintsugi {ours['all that count'][-1]:.0f} ms "
                f"(whole program {wholes[-1]:.0f} ms), load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
        options.format, options.input = ["glb"], str(options.mesh)
        options.sum = 1e-4 if options.kind == "original" else options.sum
        checked = check_meshes.check_folder(folder, options)[0]
    result = {
        "blender_ms": figures(theirs),
        "blender_pieces_closed_volume": closed,
        "kintsugi_ms": {k: figures(v) for k, v in ours.items()},
        "kintsugi_whole_ms": figures(wholes),
        "level": options.level,
        "kind": options.kind,
        "load": os.getloadavg()[0],
        "pieces": {k: v for k, v in checked.items() if k != "rows"},
    }
    print("\n| | median, ms | least | most |\n|---|---|---|---|")
    for name, f in (
        ("Blender's Cell Fracture, operator", result["blender_ms"]),
        *((f"Kintsugi: {k}", v) for k, v in result["kintsugi_ms"].items()),
        ("Kintsugi, the whole program", result["kintsugi_whole_ms"]),
    ):
        print(f"| {name} | {f['median']:.1f} | {f['least']:.1f} | {f['most']:.1f} |")
    print("\n" + check_meshes.table([checked], ("kind",), lambda r: (options.kind,)))
    for line in check_meshes.complaints(checked):
        print(line, file=sys.stderr)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1))
    faster = result["kintsugi_ms"]["all that count"]["median"] < result["blender_ms"]["median"]
    print(
        f"\n{'faster' if faster else 'SLOWER'} than Cell Fracture; {'every piece holds' if checked['ok'] else 'pieces FAIL'}"
    )
    sys.exit(0 if faster and checked["ok"] else 1)


if __name__ == "__main__":
    main()
