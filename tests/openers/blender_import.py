"""Opens in Blender what Kintsugi wrote, and says whether everything arrived.

    blender -b --factory-startup --python tests/openers/blender_import.py -- out/ [--trajectory sim/trajectory.npz]
    blender -b --factory-startup --python tests/openers/blender_import.py -- out/ --picture rough.png --piece piece_003

Imports the folder's GLB and its USD with Blender's own importers. Checked of each: as many objects with a
mesh as the file has; `--materials` material slots an object (two: outside and inside; a piece wholly inside
or outside may have one); every object's corners where the file says, once y up became z up, so axes and units
are kept; custom attributes, listed; with `--trajectory` the pose at the last key against the last state of
the simulation. Ends with 1 if anything differs. `--picture` draws one piece instead, flat shaded by the
triangles' own normals, grey, by Cycles on the processor.

Tried with Blender 3.4.1 of Debian 12, which was built without USD (its GLB alone is imported then, and that
is said), and with Blender 4.2 as a Python module, `pip install bpy==4.2.0`, which has it:

    python3 tests/openers/blender_import.py out/

A GLB's boxes are compared with the file's own points; a USD's with those of the GLB of the same name beside it, or
with the report's, to four voxels, since a mesh ends before its voxels do in thin points.
"""

import argparse
import json
import math
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

sys.path.insert(0, str(Path(__file__).parent))
import readers

if "bool" not in np.__dict__:
    np.bool = bool  # Debian 12: Blender 3.4's glTF importer asks for a name that NumPy 1.24 has no longer

#: From y up to z up.
Z_UP = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])


def import_file(path):
    """The objects with a mesh that came of a file, in an empty scene."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.suffix == ".glb":
        bpy.ops.import_scene.gltf(filepath=str(path))
    else:
        bpy.ops.wm.usd_import(filepath=str(path), set_frame_range=True, read_mesh_colors=True)
    bpy.context.scene.frame_set(0)  # the first key; a factory scene stands at 1
    bpy.context.view_layer.update()
    return [o for o in bpy.data.objects if o.type == "MESH"]


def piece_name(thing):
    """A piece's name: the object's, or of a mesh prim below a transform its parent's."""
    while thing is not None:
        if readers.number_of(thing.name.split(".")[0]) is not None:
            return thing.name
        thing = thing.parent
    return ""


def box_of(thing, matrix=None):
    """(2, 3) low and high corner of an object's points in the scene, or under `matrix`."""
    flat = np.empty(len(thing.data.vertices) * 3, np.float32)
    thing.data.vertices.foreach_get("co", flat)
    matrix = np.array(thing.matrix_world if matrix is None else matrix)
    points = flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    return np.stack([points.min(0), points.max(0)])


def turned_box(box):
    """A box, y up, as z up."""
    low, high = np.asarray(box, float)
    return np.array([[low[0], -high[2], low[1]], [high[0], -low[2], high[1]]])


def expected_boxes(folder, path, moves):
    """Box of each piece in Blender's axes, and how near: a GLB's points, the same GLB's beside a USD, or the report's,
    to four voxels. Of what moves, in the piece's own space."""
    report = folder / "report.json"
    beside = path.with_suffix(".glb")
    if beside.exists():
        points = {p.name: p.points if moves else p.placed for p in readers.read_glb(beside)}
        return {name: turned_box([p.min(0), p.max(0)]) for name, p in points.items()}, 1e-5
    if not report.exists():
        return None, 0.0
    pieces = json.loads(report.read_text())["pieces"]
    with np.load(folder / "voxels.npz") as arrays:
        voxel = float(np.linalg.norm(arrays["grid_to_mesh"][:3, 0]))
    return {p["id"]: turned_box(p["bounds"]) for p in pieces}, 4 * voxel


def check_import(folder, path, materials, trajectory):
    """Figures and faults of one file."""
    things, wrong = import_file(path), []
    boxes, near = expected_boxes(folder, path, trajectory is not None)
    slots = {}
    for thing in things:
        used = {p.material_index for p in thing.data.polygons} if thing.data.materials else set()
        slots.setdefault(len(thing.data.materials), []).append(thing.name)
        if thing.data.materials and max(used) >= len(thing.data.materials):
            wrong.append(f"{thing.name}: faces of a material that it has not")
    if boxes is not None and len(boxes) != len(things):
        wrong.append(f"{len(things)} objects for {len(boxes)} pieces")
    if materials and set(slots) - {materials}:
        few = {n: len(names) for n, names in sorted(slots.items())}
        if max(slots, default=0) != materials:
            wrong.append(f"objects by number of materials: {few}, wanted {materials}")
    farthest = 0.0
    for thing in things if boxes is not None else []:
        name = piece_name(thing)
        box = boxes.get(name, boxes.get(readers.number_of(name)))
        if box is None:
            wrong.append(f"{thing.name} is no piece")
            continue
        size = max(1.0, float(np.ptp(box, axis=0).max()))
        # What moves is hidden by a size of 0 before it appears.
        found = box_of(thing, np.eye(4) if trajectory else None)
        if trajectory and path.suffix != ".glb":
            found = turned_box(found)
        off = float(np.abs(found - box).max())
        farthest = max(farthest, off)
        if off > near * size:
            wrong.append(
                f"{thing.name} lies {off:.3g} from where it should (box {found.round(4).tolist()}, "
                f"should be {box.round(4).tolist()})"
            )
    result = {
        "file": str(path),
        "blender": bpy.app.version_string,
        "objects": len(things),
        "materials": {str(n): len(names) for n, names in sorted(slots.items())},
        "material_names": sorted(m.name for m in bpy.data.materials),
        "attributes": sorted({a.name for t in things for a in t.data.attributes}),
        "uv": sorted({u.name for t in things for u in t.data.uv_layers}),
        "properties": sorted({k for t in things for x in (t, t.parent) if x is not None for k in x.keys()}),
        "box_off": farthest,
    }
    if trajectory:
        result["motion"], faults = check_motion(path, things, trajectory)
        wrong += faults
    result["faults"] = wrong
    result["ok"] = not wrong
    return result


def last_time():
    """The last key of anything, in frames; the scene's last frame where a file drives the motion (USD)."""
    keys = [
        c.keyframe_points[-1].co[0] for a in bpy.data.actions for c in a.fcurves if len(c.keyframe_points)
    ]
    return max(keys) if keys else float(bpy.context.scene.frame_end)


def check_motion(path, things, trajectory):
    """Poses at the last key against the last state in which each body lives."""
    with np.load(trajectory) as arrays:
        position, rotation = arrays["position"], arrays["rotation"]
    at, wrong, shift, turn, compared = last_time(), [], 0.0, 0.0, 0
    bpy.context.scene.frame_set(int(math.floor(at)), subframe=at - math.floor(at))
    moved = bpy.context.evaluated_depsgraph_get()
    for thing in things:
        body = readers.number_of(piece_name(thing))
        if body is None or body >= position.shape[1]:
            wrong.append(f"{thing.name} is no body of the trajectory")
            continue
        alive = np.flatnonzero(np.isfinite(position[:, body, 0]))
        if len(alive) == 0 or alive[-1] != len(position) - 1:
            continue  # it broke before the end; where it is then nobody sees
        want = np.eye(4)
        want[:3, :3] = readers.quaternion_matrix(rotation[-1, body])
        want[:3, 3] = position[-1, body]
        want = Z_UP @ want @ (Z_UP.T if path.suffix == ".glb" else np.eye(4))
        have = np.array(thing.evaluated_get(moved).matrix_world)
        scale = np.cbrt(np.linalg.det(have[:3, :3]))
        between = (
            Matrix((have[:3, :3] / scale).tolist())
            .to_quaternion()
            .rotation_difference(Matrix(want[:3, :3].tolist()).to_quaternion())
        )
        angle = abs(between.angle) if between.angle <= math.pi else 2 * math.pi - between.angle
        off = float(np.abs(have[:3, 3] - want[:3, 3]).max())
        shift, turn, compared = max(shift, off), max(turn, angle), compared + 1
        if off > 1e-4 or angle > 1e-3:
            wrong.append(f"{thing.name} ends {off:.3g} m and {math.degrees(angle):.3g} degrees off")
    if compared == 0:
        wrong.append("no body of the trajectory's end was found")
    fps = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    return {"compared": compared, "metres": shift, "radians": turn, "last_frame": at, "fps": fps}, wrong


def draw(path, name, out, size, samples, aim=None):
    """One piece, flat and grey, seen from before and above unless `aim` says where from."""
    things = import_file(path)
    chosen = [t for t in things if piece_name(t).split(".")[0] == name]
    if not chosen:
        raise SystemExit(f"{path} has no {name}; it has {', '.join(sorted(map(piece_name, things))[:5])} ...")
    thing = chosen[0]
    for other in things:
        other.hide_render = other is not thing
    mesh = thing.data
    if hasattr(mesh, "use_auto_smooth"):  # until 4.0
        mesh.use_auto_smooth = False  # the file's normals would round what is flat
    mesh.polygons.foreach_set("use_smooth", [False] * len(mesh.polygons))
    low, high = box_of(thing)
    middle, radius = Vector((low + high) / 2), float(np.linalg.norm(high - low)) / 2
    grey = bpy.data.materials.new("grey")
    grey.use_nodes = True
    grey.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.6, 0.56, 0.5, 1)
    grey.node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.8
    bpy.context.view_layer.material_override = grey
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", samples, False
    scene.render.resolution_x, scene.render.resolution_y = size
    toward = Vector(aim or (0.75, -1.0, 0.55)).normalized()
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.lens_unit, camera.data.angle = "FOV", math.radians(30)
    camera.location = middle + toward * radius / math.sin(math.radians(15)) * 0.95
    camera.rotation_euler = toward.to_track_quat("Z", "Y").to_euler()
    camera.data.clip_start, camera.data.clip_end = radius * 0.01, radius * 100
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.data.angle = 2.0, math.radians(2)
    side = toward.cross(Vector((0, 0, 1))).normalized()
    sun.rotation_euler = (toward * 0.3 - side + Vector((0, 0, 0.9))).to_track_quat("Z", "Y").to_euler()
    for extra in (camera, sun):
        scene.collection.objects.link(extra)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("world")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.35, 0.38, 0.42, 1)
    scene.view_settings.view_transform = "Standard"
    scene.render.filepath = str(Path(out).resolve())
    bpy.ops.render.render(write_still=True)


def main():
    parser = argparse.ArgumentParser(
        prog="blender_import.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trajectory", type=Path)
    parser.add_argument("--materials", type=int, default=2, help="material slots wanted, 0: any [2]")
    parser.add_argument("--picture", help="draw a piece of the GLB into this PNG and check nothing")
    parser.add_argument("--piece", default="piece_000")
    parser.add_argument(
        "--aim", type=lambda t: [float(x) for x in t.split(",")], help="seen from this direction, z up"
    )
    parser.add_argument("--samples", type=int, default=48)
    parser.add_argument("--size", type=lambda t: [int(x) for x in t.split("x")], default=[900, 700])
    parser.add_argument("--json")
    options = parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
    files = [f for kind, f in readers.find(options.folder).items() if kind in ("glb", "usd")]
    if not files:
        raise SystemExit(f"{options.folder} has neither GLB nor USD")
    if options.picture:
        draw(files[0], options.piece, options.picture, options.size, options.samples, options.aim)
        return 0
    if not bpy.app.build_options.usd and any(f.suffix != ".glb" for f in files):
        print(
            f"Blender {bpy.app.version_string} was built without USD: only GLB is imported", file=sys.stderr
        )
        files = [f for f in files if f.suffix == ".glb"]
        if not files:
            return 2
    results = [check_import(options.folder, f, options.materials, options.trajectory) for f in files]
    for result in results:
        print(json.dumps({k: v for k, v in result.items() if k != "faults"}))
        for fault in result["faults"]:
            print(f"{result['file']}: {fault}", file=sys.stderr)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 0 if all(r["ok"] for r in results) else 1


if __name__ == "__main__":
    # Blender prints what a script throws and ends with 0; an error has to be a status.
    try:
        status = main()
    except SystemExit as leaving:
        print(leaving.code if isinstance(leaving.code, str) else "", file=sys.stderr)
        status = leaving.code if isinstance(leaving.code, int) else 2
    except Exception:  # noqa: BLE001: whatever it is, it is printed
        import traceback

        traceback.print_exc()
        status = 2
    sys.stdout.flush()
    sys.stderr.flush()
    import os

    os._exit(status or 0)
