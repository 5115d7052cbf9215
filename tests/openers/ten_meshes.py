#!/usr/bin/env python3
"""Breaks ten closed meshes in every way and checks every piece: the table that says whether exports hold.

    python3 tests/openers/ten_meshes.py target/release/kintsugi out/ten --meshes /folder/of/meshes

Ten solids (those in the folder that trimesh finds watertight once points are merged and that do not pass
through themselves, then built-in shapes until there are ten; without a folder the built-in shapes alone) x planar, rough, dusty x original,
smooth; level 8, 60 seeds. Each is written as GLB and checked by check_meshes.py; sums of volumes to 1e-4
(original) and 0.2 % (smooth), the smooth outside at most one voxel from the input. What is done stays done:
each result lies in its folder as result.json, and only what is missing, or was made by another program, is
run again. Writes table.md and table.json into OUT; ends with 1 if anything fails.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import trimesh

sys.path.insert(0, str(Path(__file__).parent))
import check_meshes
import facing

BUILTIN = ("statue", "vase", "column", "cavity", "shell", "sphere", "box")
ENDINGS = (".obj", ".ply", ".stl", ".off", ".glb")
SUMS = {"original": 1e-4, "smooth": 2e-3, "voxels": 2e-3}


def why_not(path):
    """Why a file bounds no solid; None where it does: closed once points that coincide are one, and nowhere passing
    through itself, where its own triangles face inward."""
    mesh = trimesh.load(path, force="mesh", process=False)
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    if not mesh.is_watertight:
        return "open"
    inward, _ = facing.inward(np.asarray(mesh.vertices), np.asarray(mesh.faces), 1 << 40)
    return f"{inward} of its own triangles face inward, as it passes through itself" if inward else None


def ten(folder, log):
    """(name, what the program is given, file or None) of the meshes."""
    found = []
    for path in sorted(Path(folder).iterdir()) if folder else []:
        if path.suffix.lower() in ENDINGS:
            why = why_not(path)
            log(f"{path.name}: {why + '; left out' if why else 'closed'}")
            if not why:
                found.append((path.stem, str(path), path))
    names = {f[0] for f in found}
    shapes = [(f"builtin-{n}", f"builtin:{n}", None) for n in BUILTIN if n not in names]
    return (found + shapes)[:10]


def run(options, name, given, source, surface, kind, folder):
    """One break with its check; {"failed": why} where the program failed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [
        options.kintsugi,
        "fracture",
        given,
        "--level",
        str(options.level),
        "--seeds",
        str(options.seeds),
        "--surface",
        surface,
        "--format",
        "glb",
        "--out",
        str(folder),
        *options.more,
    ]
    if kind != "today":
        command += ["--mesh", kind]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if done.returncode:
        return {"failed": done.stderr.strip()[-600:], "command": command, "seconds": took}
    options.sum = SUMS.get(kind, 2e-3)
    options.hausdorff = 1.0 if kind == "smooth" else 0.0
    options.input = str(source) if source else None
    out = check_meshes.check_folder(folder, options)[0]
    report = json.loads((folder / "report.json").read_text())
    out.update(command=command, seconds=took, timings_ms=report["timings_ms"])
    if not options.keep:
        for path in folder.iterdir():
            if path.name not in ("report.json", "result.json"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    return out


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kintsugi")
    parser.add_argument("out", type=Path)
    parser.add_argument("--meshes", help="folder of meshes")
    parser.add_argument("--only", nargs="*", help="meshes by name")
    parser.add_argument("--surface", nargs="*", default=["planar", "rough", "dusty"])
    parser.add_argument(
        "--kind",
        nargs="*",
        default=["original", "smooth"],
        help="--mesh of the program; 'today' leaves the option out [original smooth]",
    )
    parser.add_argument("--level", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--keep", action="store_true", help="keep meshes and arrays")
    parser.add_argument("--again", action="store_true", help="run everything again")
    parser.add_argument("--more", nargs="*", default=[], help="options for the program, after all others")
    check_meshes.arguments(parser)
    options = parser.parse_args()
    options.format = ["glb"]
    program = hashlib.sha256(Path(options.kintsugi).read_bytes()).hexdigest()[:16]
    log = lambda text: print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)
    chosen = [m for m in ten(options.meshes, log) if not options.only or m[0] in options.only]
    options.out.mkdir(parents=True, exist_ok=True)
    results, todo = [], [(m, s, k) for m in chosen for s in options.surface for k in options.kind]
    for i, ((name, given, source), surface, kind) in enumerate(todo):
        folder = options.out / f"{name}-{surface}-{kind}"
        kept, key = folder / "result.json", [program, options.level, options.seeds, options.more]
        result = json.loads(kept.read_text()) if kept.exists() and not options.again else {}
        if result.get("key") != key:
            result = run(options, name, given, source, surface, kind, folder)
            result.update(key=key, name=name, surface=surface, kind=kind)
            kept.write_text(json.dumps(result))
            state = (
                "failed: " + result["failed"][:100]
                if "failed" in result
                else "holds"
                if result["ok"]
                else "FAILS"
            )
            log(
                f"{i + 1}/{len(todo)} {folder.name}: {state} ({result['seconds']:.1f} s, load {os.getloadavg()[0]:.1f})"
            )
            for line in check_meshes.complaints(result, 3) if "failed" not in result else []:
                log("    " + line)
        results.append(result)
    good = [r for r in results if "failed" not in r]
    text = check_meshes.table(
        good, ("mesh", "surface", "kind"), lambda r: (r["name"], r["surface"], r["kind"])
    )
    for r in results:
        if "failed" in r:
            text += f"\n\n{r['name']} {r['surface']} {r['kind']}: the program failed: {r['failed']}"
    holds = sum(r.get("ok", False) for r in results)
    text += f"\n\n{holds} of {len(results)} hold; level {options.level}, {options.seeds} seeds.\n"
    (options.out / "table.md").write_text(text)
    (options.out / "table.json").write_text(
        json.dumps([{k: v for k, v in r.items() if k != "rows"} for r in results], indent=1)
    )
    print(text)
    sys.exit(0 if holds == len(results) else 1)


if __name__ == "__main__":
    main()
