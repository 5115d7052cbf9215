#!/usr/bin/env python3
"""Draws files as Blender draws them, as Blender draws the pieces that Kintsugi breaks them into, and as Kintsugi does.

    python3 tests/openers/pictures_beside_blender.py KINTSUGI OUT FILE... --bpy PYTHON [--size 480x400]

For each glTF file: `kintsugi fracture` writes pieces.glb, and Cycles draws the file and pieces.glb from the same eye
under the same light, each scaled so that its longest side is 1; `kintsugi render` draws the file unbroken from that eye.
The first two pictures are compared by number, since they differ only by what Kintsugi did: the share of pixels of the
object that differ by more than 24 of 255 in a channel. The third is for the eye alone, as light and tone curve are
Kintsugi's own. Writes OUT/NAME.png (the three in a row) and OUT/table.md, into a new folder OUT; ends with 1 where more
than --share of a file's pixels differ, or a file is not broken.

`--bpy` is a Python with PyPI's `bpy` 4.2; this Python needs numpy and pillow.
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import readers

#: Kintsugi's camera: place that it looks at, distance, angles (rad).
CAMERA = {"target": [0.0, 0.0, 0.0], "distance": 2.6, "yaw": 0.6, "pitch": 0.35, "fov_y": 0.6}
#: Largest difference of a channel, of 255, at which two pixels count as alike: noise of 24 samples stays below.
ALIKE = 24
#: Samples of Cycles per pixel.
SAMPLES = 24


def draw_in_blender(source, target, width, height):
    """Runs inside `bpy`: draws one file by Cycles on the processor, on a transparent ground."""
    import bpy
    from mathutils import Matrix, Vector

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=source)
    scene = bpy.context.scene
    for thing in [o for o in bpy.data.objects if o.type in ("LIGHT", "CAMERA")]:
        bpy.data.objects.remove(thing)
    for thing in bpy.data.objects:
        thing.animation_data_clear()
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    points = []
    for thing in bpy.data.objects:
        if thing.type == "MESH" and thing.visible_get():
            mesh = thing.evaluated_get(graph)
            points += [mesh.matrix_world @ v.co for v in mesh.data.vertices]
    low = Vector(min(p[k] for p in points) for k in range(3))
    high = Vector(max(p[k] for p in points) for k in range(3))
    scale = 1.0 / max(high - low)
    place = Matrix.Scale(scale, 4) @ Matrix.Translation(-(low + high) / 2.0)
    for thing in bpy.data.objects:
        if thing.parent is None:
            thing.matrix_world = place @ thing.matrix_world

    eye = bpy.data.cameras.new("eye")
    eye.sensor_fit, eye.angle = "VERTICAL", CAMERA["fov_y"]
    holder = bpy.data.objects.new("eye", eye)
    yaw, pitch = CAMERA["yaw"], CAMERA["pitch"]
    away = Vector((math.sin(yaw) * math.cos(pitch), -math.cos(yaw) * math.cos(pitch), math.sin(pitch)))
    holder.location = away * CAMERA["distance"]
    holder.rotation_euler = away.to_track_quat("Z", "Y").to_euler()
    scene.collection.objects.link(holder)
    scene.camera = holder

    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.data.angle = 3.0, 0.2
    sun.rotation_euler = Vector((0.5, -0.35, 0.8)).to_track_quat("Z", "Y").to_euler()
    scene.collection.objects.link(sun)
    world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.75, 0.8, 0.9, 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.7
    scene.world = world

    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.seed = SAMPLES, False, 1
    scene.render.film_transparent = True
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = width, height
    scene.render.image_settings.file_format, scene.render.image_settings.color_mode = "PNG", "RGBA"
    scene.render.filepath = target
    bpy.ops.render.render(write_still=True)


def difference(one, other):
    """Share of the pixels that either picture covers in which the two differ, with a pixel of slack for edges."""

    def parts(path):
        from PIL import Image

        pixels = np.asarray(Image.open(path).convert("RGBA"), float)
        return pixels[..., :3] * (pixels[..., 3:] / 255.0), pixels[..., 3] > 127

    (a, covers_a), (b, covers_b) = parts(one), parts(other)
    # Cracks are hairlines and edges shift by less than a pixel: the nearest value within a pixel counts.
    least = np.full(a.shape[:2], np.inf)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            least = np.minimum(least, np.abs(a - np.roll(b, (dy, dx), (0, 1))).max(-1))
    covered = covers_a | covers_b
    return float((least[covered] > ALIKE).mean()) if covered.any() else 1.0


def in_a_row(paths, target):
    from PIL import Image

    pictures = [Image.open(path).convert("RGBA") for path in paths]
    row = Image.new("RGB", (sum(p.width for p in pictures), max(p.height for p in pictures)), (90, 94, 100))
    x = 0
    for picture in pictures:
        row.paste(picture, (x, 0), picture)
        x += picture.width
    row.save(target)


def run(command, log):
    with open(log, "ab") as out:
        return subprocess.run([str(part) for part in command], stdout=out, stderr=out).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kintsugi", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--bpy", required=True, help="a Python that has bpy")
    parser.add_argument("--size", default="480x400")
    parser.add_argument("--level", default="8")
    parser.add_argument("--seeds", default="20")
    parser.add_argument("--share", type=float, default=0.03, help="of an object's pixels that may differ")
    args = parser.parse_args()
    width, height = (int(side) for side in args.size.split("x"))
    if args.out.exists():
        parser.error(f"{args.out} is there already; name a new folder")
    args.out.mkdir(parents=True)
    rows, failed = [], False
    for path in args.files:
        name = path.stem
        folder = args.out / name
        if folder.exists():
            parser.error(f"two of the files are called {name}; name one of them otherwise")
        folder.mkdir()
        log = folder / "log.txt"
        broken = [args.kintsugi, "fracture", path, "--level", args.level, "--seeds", args.seeds, "--format", "glb"]
        if run(broken + ["--objects", "together", "--out", folder / "pieces"], log) != 0:
            rows.append((name, "not broken: " + log.read_text().strip().splitlines()[-1], ""))
            failed = True
            continue
        for source, target in ((path, "blender.png"), (folder / "pieces" / "pieces.glb", "pieces.png")):
            run([args.bpy, __file__, "--inside", source, (folder / target).resolve(), width, height], log)
        camera = dict(CAMERA, target=[0.0, middle(folder / "pieces" / "pieces.glb"), 0.0])
        drawn = [args.kintsugi, "render", path, "--level", "9", "--seeds", "1", "--camera", json.dumps(camera)]
        run(drawn + ["--size", args.size, "--out", folder / "kintsugi.png"], log)
        if not all((folder / picture).exists() for picture in ("blender.png", "pieces.png")):
            rows.append((name, "not drawn by Blender", ""))
            failed = True
            continue
        share = difference(folder / "blender.png", folder / "pieces.png")
        three = [folder / picture for picture in ("blender.png", "pieces.png", "kintsugi.png")]
        in_a_row([picture for picture in three if picture.exists()], args.out / f"{name}.png")
        report = json.loads((folder / "pieces" / "report.json").read_text())
        notes = report["input"]["warnings"] + report["health"]["notes"]
        rows.append((name, f"{100 * share:.2f} %", " ".join(notes)))
        failed |= share > args.share
    lines = ["| File | Pixels that differ | Warnings |", "|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    (args.out / "table.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    return 1 if failed else 0


def middle(glb):
    """Height of the middle of the object as Kintsugi stands it on the ground, its longest side 1 m."""
    points = np.concatenate([piece.placed for piece in readers.read("glb", glb)])
    sides = points.max(0) - points.min(0)
    return float(0.5 * sides[1] / sides.max())


if __name__ == "__main__":
    if "--inside" in sys.argv:
        source, target, width, height = sys.argv[sys.argv.index("--inside") + 1 :]
        draw_in_blender(source, target, int(width), int(height))
    else:
        sys.exit(main())
