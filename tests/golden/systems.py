#!/usr/bin/env python3
"""Compares what the commands write on several systems, byte for byte. Needs Python 3.9 and nothing else.

    python3 tests/golden/systems.py target/release/kintsugi \\
        "qemu-aarch64 -L /usr/aarch64-linux-gnu target/aarch64-unknown-linux-gnu/release/kintsugi" \\
        "wine target/x86_64-pc-windows-gnu/release/kintsugi.exe"

Each argument is one program, with what runs it before it; all are compared with the first. Every command computes on the
processor's cores (`--compute cpu`): what a graphics driver rounds is not Kintsugi's to promise. Compared are
  - every file but reports and steps.csv, byte for byte, archives and pictures as they lie on the disk;
  - the arrays and pixels in them, so that a difference says whether it is in the results or only in their packing;
  - report.json without its times, the adapter and the version; steps.csv without its times.
--record FILE keeps the hashes; --only TEXT runs the commands whose name contains TEXT.

Ends with code 1 where something differs, a command fails, or nothing was compared. docs/systems.md says how to build the programs.
"""

import argparse
import json
import os
import shlex
import sys
from pathlib import Path

import record

SCENES = record.SCENES


def commands():
    """Name -> arguments: small, since an emulator takes twenty times as long."""
    every = ["--rng", "7", *record.FORMATS, "--out", "{out}"]
    surfaces = {
        "planar": ["builtin:vase", "--level", "7"],
        "rough": ["builtin:vase", "--level", "6", "--surface", "rough", "--interior", "stone"],
        "dusty": ["builtin:statue", "--level", "6", "--surface", "dusty", "--interior", "clay"],
        "local": ["builtin:statue", "--level", "6", "--local", "0.35", "--interior", "wood"],
        "generations": ["builtin:cavity", "--level", "5", "--generations", "3", "--seeds", "12", "--interior", "marble"],
        "radial": ["builtin:column", "--level", "6", "--pattern", "radial", "--smallest", "40"],
        "file": [str(SCENES / "slab.obj"), "--level", "6", "--seeds", "20", "--labelling", "iterative"],
    }
    all_ = {f"fracture/{name}": ["fracture", *words, *every] for name, words in surfaces.items()}

    def simulate(scene, seconds, *more):
        path = str(SCENES / f"{scene}.toml")
        all_[f"simulate/{scene}"] = ["simulate", path, "--seconds", seconds, "--out", "{out}", *more]

    simulate("p09-collide", "1.0", "--frames", "4", "--size", "160x120")
    simulate("p05-stack", "0.3")
    simulate("vase", "0.4", "--coarser", "2")

    def render(name, shape, *more):
        words = ["render", f"builtin:{shape}", "--level", "6", "--size", "160x120", "--out", "{out}/picture.png"]
        all_[f"render/{name}"] = [*words, *more]

    render("plain", "statue")
    render("exploded", "vase", "--explode", "0.4", "--surface", "rough", "--interior", "wood")
    render("seams", "vase", "--seams")
    render("inside", "vase", "--show", "triangles,points", "--surface", "rough", "--transition-level", "4")
    return {name: [*words, "--compute", "cpu"] for name, words in all_.items()}


def hashes(folder):
    """Of what was written, as record.py takes them, and of whole files."""
    found = record.hashes(folder)
    for path in sorted(p for p in folder.rglob("*") if p.suffix in [".npz", ".png"]):
        found[f"{path.relative_to(folder).as_posix()} as a file"] = record.sha(path.read_bytes())
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="run the commands whose name contains this")
    parser.add_argument("--record", metavar="FILE", help="keep the hashes of every program")
    parser.add_argument("programs", nargs="+", help="each with what runs it, as one argument")
    given = parser.parse_args()
    # Paths in the arguments, and with them in the results, are the same on every system then.
    os.chdir(SCENES.parents[1])
    chosen = {name: words for name, words in commands().items() if given.only in name}
    chosen = {name: [word.replace(f"{SCENES}/", "assets/scenes/") for word in words] for name, words in chosen.items()}
    all_, bad = {}, 0
    for program in given.programs:
        print(f"== {program}", flush=True)
        all_[program], failed = record.record(shlex.split(program), chosen, hashes)
        bad += failed
    if given.record:
        Path(given.record).write_text(json.dumps(all_, indent=1) + "\n")
    first, *others = given.programs
    for program in others:
        print(f"== {first} and {program}")
        bad += record.compare(all_[first], all_[program])
    sys.exit(1 if bad or not chosen else 0)


if __name__ == "__main__":
    main()
