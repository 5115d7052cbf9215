"""Makes rigid bodies of the pieces of a break, and joins them by constraints that break as the material does.

Written by kintsugi VERSION. Run it in Blender 3.3 or later: in the Scripting workspace, or from a shell with
`blender --python bonds_blender.py`. Pieces that the scene lacks are imported from pieces.glb, or pieces.obj, beside this
script. Nothing else in the scene is changed but the settings below.

Blender breaks a constraint once the impulse on it in one step of the solver reaches its threshold (Bullet's
`m_breakingImpulseThreshold`). A force that breaks the bond gives, in a step, force * seconds of the step; so run the script
again after the scene's frame rate or the steps were changed. Blender compares torques with the same number; the torque that
breaks each bond, N m, is kept as the property `break_torque` of its empty.
"""

import os

import bmesh
import bpy
from mathutils import Matrix, Vector

# Steps of the solver in a frame, and its iterations in a step: stiff bonds between heavy pieces need more than the usual.
STEPS = 20
ITERATIONS = 100
# Above this volume of a piece's convex hull, as a multiple of the piece's own, the hulls of neighbours overlap.
CONVEX = 1.02
# Where the empties go.
COLLECTION = "kintsugi bonds"


def folder():
    """The folder of this script, which Blender's text editor knows by the text block only."""
    text = getattr(bpy.context.space_data, "text", None)
    path = bpy.path.abspath(text.filepath) if text and text.filepath else os.path.abspath(__file__)
    return os.path.dirname(path)


def import_pieces(names):
    """Imports the pieces that the scene lacks."""
    if all(name in bpy.data.objects for name in names):
        return
    glb, obj = (os.path.join(folder(), file) for file in ("pieces.glb", "pieces.obj"))
    if os.path.exists(glb):
        bpy.ops.import_scene.gltf(filepath=glb)
    elif os.path.exists(obj):
        bpy.ops.wm.obj_import(filepath=obj)
    bpy.context.view_layer.update()
    missing = [name for name in names if name not in bpy.data.objects]
    if missing:
        raise RuntimeError(f"{missing[0]} is missing: put pieces.glb or pieces.obj into {folder()}, or import it first")


def make_body(piece, mass, centre):
    """Makes a piece's origin, which is Blender's centre of mass, lie at `centre`; returns whether the piece is convex."""
    place = piece.matrix_world.copy()
    piece.parent = None
    shift = place.inverted() @ Vector(centre)
    piece.data.transform(Matrix.Translation(-shift))
    piece.matrix_world = place @ Matrix.Translation(shift)
    body = piece.rigid_body
    body.mass = mass
    body.collision_shape = "CONVEX_HULL"
    body.use_margin = True
    body.collision_margin = 0.0
    own, hull = bmesh.new(), bmesh.new()
    own.from_mesh(piece.data)
    for vertex in piece.data.vertices:
        hull.verts.new(vertex.co)
    bmesh.ops.convex_hull(hull, input=hull.verts)
    is_convex = hull.calc_volume() <= CONVEX * own.calc_volume()
    own.free()
    hull.free()
    return is_convex


def join(first, second, centre, force, torque, seconds, collide, collection):
    """An empty with a constraint that breaks under `force` (N), with steps of so many `seconds`.

    Blender lets pieces whose collisions a constraint disables pass through each other even after it broke, so it
    disables those of overlapping hulls only.
    """
    empty = bpy.data.objects.new(f"{first}_{second}", None)
    empty.location = centre
    empty.empty_display_size = 0.02
    empty["break_force"] = force
    empty["break_torque"] = torque
    collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add(type="FIXED")
    bond = empty.rigid_body_constraint
    bond.object1 = bpy.data.objects[first]
    bond.object2 = bpy.data.objects[second]
    bond.disable_collisions = not collide
    bond.use_breaking = True
    bond.breaking_threshold = force * seconds


def build(pieces, bonds):
    """Rigid bodies of all pieces, and a collection with an empty for each bond in place of an earlier run's."""
    scene = bpy.context.scene
    import_pieces([name for name, _, _ in pieces])
    old = bpy.data.collections.get(COLLECTION)
    for empty in [o for o in old.objects if "break_force" in o] if old else []:
        bpy.data.objects.remove(empty)
    if scene.rigidbody_world is None:
        bpy.ops.rigidbody.world_add()
    world = scene.rigidbody_world
    world.substeps_per_frame = STEPS
    world.solver_iterations = ITERATIONS
    seconds = world.time_scale * scene.render.fps_base / (scene.render.fps * STEPS)

    bpy.ops.object.select_all(action="DESELECT")
    for name, _, _ in pieces:
        bpy.data.objects[name].select_set(True)
    bpy.context.view_layer.objects.active = bpy.data.objects[pieces[0][0]]
    bpy.ops.rigidbody.objects_add(type="ACTIVE")
    convex = {name: make_body(bpy.data.objects[name], mass, centre) for name, mass, centre in pieces}

    collection = old or bpy.data.collections.new(COLLECTION)
    if old is None:
        scene.collection.children.link(collection)
    for first, second, centre, force, torque in bonds:
        join(first, second, centre, force, torque, seconds, convex[first] and convex[second], collection)
    print(f"kintsugi: {len(pieces)} pieces, {len(bonds)} bonds, steps of {seconds:.6f} s")


# Name, mass (kg), centre of mass (m).
PIECES = []
# Names of two pieces, middle of their crack (m), force (N) and torque (N m) that break the bond.
BONDS = []

build(PIECES, BONDS)
