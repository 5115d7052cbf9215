#!/usr/bin/env python3
"""Hashes of everything that the commands write, to compare two builds on one machine. Needs Python 3.9 and nothing else.

    python3 tests/golden/record.py target/release/kintsugi before.json
    ... change something, build ...
    python3 tests/golden/record.py target/release/kintsugi after.json
    python3 tests/golden/record.py --compare before.json after.json

A file of hashes holds one entry a command: its arguments, and SHA-256 of
  - every array of voxels.npz and trajectory.npz (type, shape and bytes, not the archive round them);
  - every mesh file, byte for byte; the files of ply/ together;
  - report.json without its times, the adapter and the version, so that it depends on nothing but the input;
  - steps.csv without the columns of times;
  - the pixels of every picture.
--only TEXT records the commands whose name contains TEXT. All of it takes some four minutes on two cores.

Comparing and recording end with code 1 where something differs or a command fails. Pictures and files of two graphics drivers need not
be the same: a driver may round floats otherwise. On the processor's cores they are: systems.py compares them between systems, and what
is small and must be the same everywhere is a test (tests/cli/golden.rs).
"""

import argparse
import csv
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from pathlib import Path

SCENES = Path(__file__).resolve().parents[2] / "assets" / "scenes"
FORMATS = ["--format", "glb,obj,ply,vox,npz"]


def commands():
    """Name -> arguments; {out} stands for the folder to write to."""
    all_ = {}

    def fracture(name, shape, *more):
        base = ["fracture", f"builtin:{shape}", "--level", "7", "--rng", "7", *FORMATS, "--out", "{out}"]
        all_[f"fracture/{shape}/{name}"] = [*base, *more]

    for shape in ["vase", "statue", "cavity"]:
        for surface in ["planar", "rough", "dusty"]:
            fracture(surface, shape, "--surface", surface)
        fracture("local", shape, "--local", "0.35")
        fracture("generations", shape, "--generations", "3", "--seeds", "16")
    fracture("rough-generations", "vase", "--surface", "rough", "--generations", "3", "--seeds", "16")
    fracture("dusty-generations", "cavity", "--surface", "dusty", "--generations", "3", "--seeds", "16")
    fracture("keep", "statue", "--seeds", "20", "--keep", "1,5,7")
    fracture("pieces", "statue", "--pieces", "20")
    fracture("merged", "vase", "--smallest", "150", "--seeds", "60")
    fracture("dropped", "vase", "--smallest", "0.3%,drop", "--surface", "rough")
    fracture("islands", "vase", "--island-level", "5", "--labelling", "iterative")
    fracture("grain-wood", "cavity", "--pattern", "grain", "--interior", "wood")

    def simulate(scene, seconds, *more):
        path = str(SCENES / f"{scene}.toml")
        all_[f"simulate/{scene}"] = ["simulate", path, "--seconds", seconds, "--out", "{out}", *more]

    simulate("p09-collide", "1.0", "--frames", "10", "--size", "160x120")
    simulate("p12-pile", "1.3")
    simulate("vase", "0.8")
    simulate("bite", "0.3")

    def render(name, *more, file="builtin:vase"):
        level = ["--level", "6"] if file.startswith("builtin:") else []
        base = ["render", file, *level, "--size", "320x240", "--out", "{out}/picture.png"]
        all_[f"render/{name}"] = [*base, *more]

    rough = ["--surface", "rough", "--transition-level", "4"]
    for show in ["transition", "triangles", "points", "seeds", "faces", "fbs", "labels", "labels:0", "flood:1", "wireframe:4"]:
        render(f"show {show}", "--show", show, *rough)
    render("show faces, alone", "--show", "faces", "--only")
    render("show fbs, exploded", "--show", "fbs", "--explode", "0.3")
    render("plain")
    render("back", "--view", "back")
    render("transparent", "--transparent", "--view", "top")
    render("exploded", "--explode", "0.4")
    render("exploded, dusty, marble", "--explode", "0.4", "--surface", "dusty", "--interior", "marble")
    render("seams", "--seams")
    render("local seams", "--seams", "--local", "0.35")
    for colour in ["piece", "crack", "normal"]:
        render(f"colours {colour}", "--explode", "0.4", "--color-by", colour)
    render("scene", file=str(SCENES / "materials.toml"))
    return all_


def sha(data):
    return hashlib.sha256(data).hexdigest()


def arrays(path):
    """Of each array of a .npz: its header (type, shape) and its bytes."""
    with zipfile.ZipFile(path) as archive:
        return {f"{path.name}:{name}": sha(archive.read(name)) for name in sorted(archive.namelist())}


def report(path):
    """report.json as text, without what differs from run to run and from machine to machine."""
    content = json.loads(path.read_text())
    for name in ["version", "provenance", "compute", "adapter", "timings_ms"]:
        content.pop(name, None)
    return json.dumps(content, indent=1).encode()


def steps(path):
    rows = list(csv.reader(path.open(newline="")))
    kept = [i for i, name in enumerate(rows[0]) if not name.startswith("ms ")]
    return "\n".join(",".join(row[i] for i in kept) for row in rows).encode()


def pixels(path):
    """Width, height and bytes of a PNG of 8 bits a channel."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    assert depth == 8 and not interlaced, f"{path}: an unexpected kind of PNG"
    n = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    raw, stride = zlib.decompress(packed), width * n
    above, out = bytearray(stride), bytearray()
    for y in range(height):
        start = y * (stride + 1)
        rule, row = raw[start], bytearray(raw[start + 1 : start + 1 + stride])
        for i in range(stride):
            a, b, c = (row[i - n] if i >= n else 0), above[i], (above[i - n] if i >= n else 0)
            if rule == 1:
                row[i] = row[i] + a & 255
            elif rule == 2:
                row[i] = row[i] + b & 255
            elif rule == 3:
                row[i] = row[i] + (a + b) // 2 & 255
            elif rule == 4:
                da, db, dc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
                row[i] = row[i] + (a if da <= db and da <= dc else b if db <= dc else c) & 255
        out += row
        above = row
    return struct.pack("<IIB", width, height, n) + bytes(out)


def hashes(folder):
    """Of everything in a folder of results."""
    found, ply = {}, hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".npz":
            found.update(arrays(path))
        elif name == "report.json":
            found[name] = sha(report(path))
        elif name == "steps.csv":
            found[name] = sha(steps(path))
        elif path.suffix == ".png":
            found[name] = sha(pixels(path))
        elif path.suffix == ".ply":
            ply.update(name.encode() + b"\0" + path.read_bytes())
            found["ply"] = ply.hexdigest()
        else:
            found[name] = sha(path.read_bytes())
    return found


def record(program, chosen, hashes_of=hashes):
    """Runs the chosen commands (name -> arguments) by a program, given as the words before the arguments: hashes by command, and
    whether one failed."""
    results, failed = {}, False
    env = {**os.environ, "XDG_RUNTIME_DIR": os.environ.get("XDG_RUNTIME_DIR", "/tmp")}
    for name, arguments in chosen.items():
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as out:
            words = [*program, *(word.replace("{out}", out) for word in arguments)]
            done = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
            if done.returncode:
                print(f"{name}: ended with {done.returncode}: {done.stderr.strip()}", file=sys.stderr)
                failed = True
                continue
            shown = [word.replace(str(SCENES), "assets/scenes") for word in arguments]
            results[name] = {"command": " ".join(shown), "sha256": hashes_of(Path(out))}
        print(f"{name}: {len(results[name]['sha256'])} hashes, {time.monotonic() - start:.1f} s", flush=True)
    return results, failed


def compare(before, after):
    """Prints every difference; how many there are."""
    differences, same = [], 0
    for name in sorted(before.keys() | after.keys()):
        a, b = (of.get(name, {}).get("sha256") for of in (before, after))
        if a is None or b is None:
            differences.append(f"{name}: only in the {'second' if a is None else 'first'}")
            continue
        if before[name]["command"] != after[name]["command"]:
            differences.append(f"{name}: two commands")
        for part in sorted(a.keys() | b.keys()):
            if a.get(part) == b.get(part):
                same += 1
            else:
                what = "differs" if part in a and part in b else "only in one"
                differences.append(f"{name}: {part} {what}")
    print("\n".join([*differences, f"{same} hashes are the same, {len(differences)} differences"]))
    return len(differences) + (same == 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true", help="compare two files of hashes")
    parser.add_argument("--only", default="", help="record the commands whose name contains this")
    parser.add_argument("first", help="the program, or with --compare a file of hashes")
    parser.add_argument("second", help="the file of hashes to write, or with --compare to compare with")
    given = parser.parse_args()
    if given.compare:
        before, after = (json.loads(Path(path).read_text()) for path in (given.first, given.second))
        sys.exit(1 if compare(before, after) else 0)
    chosen = {name: words for name, words in commands().items() if given.only in name}
    results, failed = record([os.path.abspath(given.first)], chosen)
    Path(given.second).write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(1 if failed or not results else 0)


if __name__ == "__main__":
    main()
