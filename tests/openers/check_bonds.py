#!/usr/bin/env python3
"""Opens what `fracture --bonds` wrote for other programs: do the bonds arrive, do they hold, do they break?

    pip install usd-core numpy
    python3 tests/openers/check_bonds.py out/ [--picture broken.png]
    blender -b --factory-startup --python tests/openers/check_bonds.py -- out/ [--picture broken.png]
    BPY/bin/python tests/openers/check_bonds.py out/ [--picture broken.png]      # PyPI's bpy in place of Blender

The first line reads every table that is in the folder: `bonds.usda` with Pixar's library (its validators, masses, that
the two frames of each joint coincide in the world, break forces against the areas and strengths in `bonds.csv`),
`bonds_houdini.geo` (counts, names, anchors) and `bonds_unreal.json` (levels, names, units). Where `blender` is on the
path, it then runs the second line, which runs `bonds_blender.py`: the script must make all bodies and constraints; the
pieces must stand on a floor as one; with thresholds a millionth as large they must come apart when they fall half a
metre. Whether they break by that fall with the thresholds as they are is said. It also measures what Blender's
threshold is, on a block that hangs and one that sticks out. Ends with 1 if anything fails.

Tried with usd-core 26.11, with Blender 3.4.1 of Debian 12, and with bpy 4.2.0.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

try:
    import bpy
except ImportError:
    bpy = None


def rows_of(folder):
    """Rows of bonds.csv as numbers."""
    with open(folder / "bonds.csv") as table:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(table)]


def name(piece):
    return f"piece_{int(piece):03}"


def close(a, b, share=1e-4):
    return abs(a - b) <= share * max(abs(a), abs(b))


def check_usd(folder, wrong):
    """The stage with its joints."""
    import usd_check
    from pxr import Gf, Usd, UsdGeom, UsdPhysics

    path = folder / "bonds.usda"
    stage = Usd.Stage.Open(str(path))
    for how, found in (("ComplianceChecker", usd_check.compliance(path)), ("UsdValidation", usd_check.validation(stage))):
        if found is not None:
            wrong += [f"{how}: {text}" for text in found[0] + found[1]]
    metres, kilograms = UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage)
    force, torque = 1.0 / (kilograms * metres), 1.0 / (kilograms * metres * metres)
    cache = UsdGeom.XformCache()
    known = {(name(row["a"]), name(row["b"])): row for row in rows_of(folder)}
    joints = [UsdPhysics.FixedJoint(prim) for prim in stage.Traverse() if prim.IsA(UsdPhysics.FixedJoint)]
    worst = 0.0
    for joint in joints:
        bodies, frames = [], []
        for body, at, turn in (
            (joint.GetBody0Rel(), joint.GetLocalPos0Attr(), joint.GetLocalRot0Attr()),
            (joint.GetBody1Rel(), joint.GetLocalPos1Attr(), joint.GetLocalRot1Attr()),
        ):
            prim = stage.GetPrimAtPath(body.GetTargets()[0])
            if not prim.HasAPI(UsdPhysics.RigidBodyAPI):
                wrong.append(f"{prim.GetPath()} is no rigid body")
            local = Gf.Matrix4d().SetRotate(turn.Get()) * Gf.Matrix4d().SetTranslate(Gf.Vec3d(at.Get()))
            frames.append(np.array(local * cache.GetLocalToWorldTransform(prim)))
            bodies.append(prim.GetName())
        worst = max(worst, float(np.abs(frames[0] - frames[1]).max()) * metres)
        row = known[tuple(bodies)]
        least = min(row["pull"], row["press"], row["slide"]), min(row["bend"], row["twist"])
        if not close(joint.GetBreakForceAttr().Get(), least[0] * force):
            wrong.append(f"{joint.GetPath()}: force {joint.GetBreakForceAttr().Get()}, {least[0] * force} is right")
        if not close(joint.GetBreakTorqueAttr().Get(), least[1] * torque):
            wrong.append(f"{joint.GetPath()}: torque {joint.GetBreakTorqueAttr().Get()}, {least[1] * torque} is right")
    if worst > 1e-5:
        wrong.append(f"frames of a joint are {worst} m apart")
    bodies = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI)]
    colliders = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.MeshCollisionAPI)]
    hulls = sum(UsdPhysics.MeshCollisionAPI(prim).GetApproximationAttr().Get() == "convexHull" for prim in colliders)
    kilo = sum(UsdPhysics.MassAPI(prim).GetMassAttr().Get() for prim in bodies) * kilograms
    scenes = sum(prim.IsA(UsdPhysics.Scene) for prim in stage.Traverse())
    if scenes != 1 or hulls < len(bodies):
        wrong.append(f"{scenes} physics scenes, {hulls} convex hulls of {len(bodies)} bodies")
    return f"{len(bodies)} bodies of {kilo:.6g} kg, {len(joints)} joints, frames {worst:.2g} m apart"


def pairs(values):
    """A list of keys and values as a dictionary."""
    return dict(zip(values[::2], values[1::2]))


def check_houdini(folder, wrong):
    """The network, read by the rules of Houdini's JSON geometry."""
    geo = pairs(json.loads((folder / "bonds_houdini.geo").read_text()))
    indices = pairs(pairs(geo["topology"])["pointref"])["indices"]
    runs = [(pairs(kind)["type"], pairs(data)) for kind, data in geo["primitives"]]
    counts = [run["nvertices_rle"] for _, run in runs]
    lines = sum(n for run in counts for n in run[1::2])
    if any(kind != "PolygonCurve_run" for kind, _ in runs) or any(n != 2 for run in counts for n in run[::2]):
        wrong.append("lines of the network are no open polylines of two points")
    if not geo["pointcount"] == geo["vertexcount"] == len(indices) == 2 * lines or geo["primitivecount"] != lines:
        wrong.append(f"{geo['pointcount']} points, {geo['vertexcount']} vertices, {lines} lines")

    def attribute(owner, wanted):
        for head, body in pairs(geo["attributes"])[owner]:
            if pairs(head)["name"] == wanted:
                body = pairs(body)
                if "strings" in body:
                    return [body["strings"][i] for i in pairs(body["indices"])["arrays"][0]]
                values = pairs(body["values"])
                return values["tuples"] if "tuples" in values else values["arrays"][0]
        wrong.append(f"{wanted} is missing")
        return []

    owners, places = attribute("pointattributes", "name"), attribute("pointattributes", "P")
    force, strength = (attribute("primitiveattributes", key) for key in ("break_force", "strength"))
    kinds = {*attribute("primitiveattributes", "constraint_name"), *attribute("primitiveattributes", "constraint_type")}
    known = {(name(row["a"]), name(row["b"])): row for row in rows_of(folder)}
    for line in range(lines):
        row = known[owners[2 * line], owners[2 * line + 1]]
        centre = [row["centre_x"], row["centre_y"], row["centre_z"]]
        if not np.allclose(places[2 * line : 2 * line + 2], centre, atol=1e-5):
            wrong.append(f"line {line} is not where the crack is")
        if not close(force[line], min(row["pull"], row["press"], row["slide"])) or not close(strength[line] * 24, force[line]):
            wrong.append(f"line {line}: force {force[line]}, strength {strength[line]}")
    if kinds != {"Glue", "all"}:
        wrong.append(f"constraints are {kinds}")
    return f"{lines} constraints between {len(set(owners))} pieces"


def check_unreal(folder, wrong):
    """The table: each bone has a parent above it, each connection two bones."""
    table = json.loads((folder / "bonds_unreal.json").read_text())
    bones = {bone["name"]: bone for bone in table["bones"]}
    for bone in bones.values():
        above = bones[bone["parent"]]["level"] if bone["parent"] else -1
        if bone["level"] != above + 1:
            wrong.append(f"{bone['name']} is at level {bone['level']}, its parent at {above}")
    known = {(name(row["a"]), name(row["b"])): row for row in rows_of(folder)}
    for line in table["connections"]:
        row = known[line["a"], line["b"]]
        if not close(line["force"], 100 * min(row["pull"], row["press"], row["slide"])):
            wrong.append(f"{line['a']}, {line['b']}: force {line['force']}")
        if line["a"] not in bones or line["b"] not in bones:
            wrong.append(f"{line['a']}, {line['b']} are no bones")
    levels = 1 + max(bone["level"] for bone in bones.values())
    return f"{len(bones)} bones in {levels} levels, {len(table['connections'])} connections"


def run_script(folder, drop):
    """Runs bonds_blender.py in an empty scene, and puts a floor `drop` metres below the pieces."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    path = folder / "bonds_blender.py"
    exec(compile(path.read_text(), path, "exec"), {"__name__": "__main__", "__file__": str(path.resolve())})
    pieces = [thing for thing in bpy.data.objects if thing.rigid_body]
    bonds = [thing.rigid_body_constraint for thing in bpy.data.objects if thing.rigid_body_constraint]
    low = min((p.matrix_world @ v.co).z for p in pieces for v in p.data.vertices)
    bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, low - drop - 0.5))
    floor = bpy.context.object
    floor.scale = (40, 40, 1)
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    floor.rigid_body.collision_shape = "BOX"
    return pieces, bonds


def play(frames):
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)


def places(pieces):
    return np.array([piece.matrix_world.translation for piece in pieces])


def apart(before, after):
    """The largest change of a distance between two pieces, m."""
    distances = lambda p: np.linalg.norm(p[:, None] - p[None], axis=-1)
    return float(np.abs(distances(before) - distances(after)).max())


def hangs(share, arm):
    """Whether a block of 50 kg stays, on a bond with `share` of its weight as threshold: below it, or `arm` m beside it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    bpy.ops.rigidbody.world_add()
    scene.rigidbody_world.substeps_per_frame, scene.rigidbody_world.solver_iterations = 20, 100
    blocks = []
    for kind, at in (("PASSIVE", (0, 0, 2)), ("ACTIVE", (0.5 + arm, 0, 2) if arm else (0, 0, 1))):
        bpy.ops.mesh.primitive_cube_add(size=1, location=at)
        bpy.ops.rigidbody.object_add(type=kind)
        blocks.append(bpy.context.object)
        blocks[-1].rigid_body.mass = 50
    empty = bpy.data.objects.new("bond", None)
    empty.location = (0.5, 0, 2) if arm else (0, 0, 1.5)
    scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add(type="FIXED")
    bond = empty.rigid_body_constraint
    bond.object1, bond.object2 = blocks
    bond.use_breaking = bond.disable_collisions = True
    bond.breaking_threshold = share * 50 * 9.81 / (scene.render.fps * 20)
    before = blocks[1].matrix_world.translation.z
    play(24)
    return blocks[1].matrix_world.translation.z > before - 0.1


def in_blender(folder, picture, wrong):
    """The script, what its bonds hold, and what Blender's threshold means."""
    if "bool" not in np.__dict__:
        np.bool = bool  # Debian 12: Blender 3.4's glTF importer asks for a name that NumPy 1.24 has no longer
    wanted = len((folder / "bonds_blender.py").read_text().split("BONDS = [\n")[1].split("\n]")[0].splitlines())
    pieces, bonds = run_script(folder, 0.0)
    if len(bonds) != wanted or not all(bond.use_breaking and bond.object1 and bond.object2 for bond in bonds):
        wrong.append(f"{len(bonds)} constraints of {wanted}")
    kilo = sum(piece.rigid_body.mass for piece in pieces)
    before = places(pieces)
    size = float(np.linalg.norm(np.ptp(before, axis=0)))
    play(60)
    held = apart(before, places(pieces))
    print(f"{len(pieces)} bodies of {kilo:.6g} kg, {len(bonds)} constraints; after 60 frames on the floor {held:.2g} m apart")
    if held > 0.01 * size:
        wrong.append("the pieces do not stay one")
    for share in (1.0, 1e-6):
        pieces, bonds = run_script(folder, 0.5)
        for bond in bonds:
            bond.breaking_threshold *= share
        play(60)
        broken = apart(before, places(pieces))
        print(f"after a fall of 0.5 m, thresholds x {share:g}: {broken:.2g} m apart")
    if broken < 0.1 * size:
        wrong.append("weak bonds hold")
    if picture:
        draw(pieces, picture)

    at = {arm: [share for share in (0.5, 0.9, 1.1, 2.0, 2.4, 2.6) if hangs(share, arm)][0] for arm in (0.0, 2.5)}
    print(f"a block stays from {at[0.0]} of its weight x step on; one 2.5 m beside its bond from {at[2.5]}")
    if at != {0.0: 1.1, 2.5: 2.6}:
        wrong.append(f"Blender's threshold is no impulse of a step: {at}")


def draw(pieces, picture):
    """The scene as it is, by the workbench engine."""
    scene = bpy.context.scene
    centre = places(pieces).mean(axis=0)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    from mathutils import Vector

    span = float(np.ptp(places(pieces), axis=0).max()) + 1.0
    camera.location = Vector(centre) + Vector((1.4, -2.0, 1.1)) * span * 0.8
    camera.rotation_euler = (Vector(centre) - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.camera = camera
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.display.shading.color_type = "RANDOM"
    scene.render.resolution_x, scene.render.resolution_y = 960, 720
    scene.render.filepath = str(Path(picture).resolve())
    bpy.ops.render.render(write_still=True)


def main():
    own = sys.argv[sys.argv.index("--") + 1 :] if bpy and "--" in sys.argv else sys.argv[1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--picture", help="what Blender shows after weak bonds broke, as PNG")
    args = parser.parse_args(own)
    wrong = []
    if not (args.folder / "bonds.csv").exists():
        wrong.append(f"{args.folder} has no bonds.csv")
    elif bpy:
        in_blender(args.folder, args.picture, wrong)
    else:
        for file, check in (("bonds.usda", check_usd), ("bonds_houdini.geo", check_houdini), ("bonds_unreal.json", check_unreal)):
            if (args.folder / file).exists():
                print(f"{file}: {check(args.folder, wrong)}")
        if (args.folder / "bonds_blender.py").exists():
            if shutil.which("blender"):
                own = ["--", str(args.folder)] + (["--picture", args.picture] if args.picture else [])
                line = ["blender", "-b", "--factory-startup", "--python-exit-code", "1", "--python", __file__]
                if subprocess.run(line + own).returncode:
                    wrong.append("bonds_blender.py: see above")
            else:
                print("bonds_blender.py: SKIPPED, there is no Blender")
    for text in wrong:
        print(f"WRONG {text}")
    sys.stdout.flush()
    # bpy may crash while Python takes it down, and the status would be the crash's.
    (os._exit if bpy else sys.exit)(1 if wrong else 0)


main()
