#!/usr/bin/env python3
"""Whether the checks see what they are for: sound bodies pass, and each planted fault is found.

python3 tests/openers/self_test.py
"""

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import trimesh

sys.path.insert(0, str(Path(__file__).parent))
import check_meshes
import facing
import readers
import round_trip_blender

LIMITS = SimpleNamespace(volume=1e-3)


def judged(points, triangles, volume=None):
    """Faults of a mesh, in words; its volume as reported is its own unless given."""
    p, t = readers.merged(points, triangles)
    own = check_meshes.volume(p, t)
    reported = {"id": 0, "voxels": 100, "volume": own if volume is None else volume}
    return check_meshes.faults(
        check_meshes.check_piece(readers.Piece("piece_000", p, t), reported, 0.01, 10000), LIMITS
    )


def expect(what, faults, words):
    """Every word is in a fault, and no fault comes where none is expected."""
    text = "; ".join(faults)
    if (not words and faults) or any(w not in text for w in words):
        raise SystemExit(f"{what}: wanted {words or 'nothing'}, found: {text or 'nothing'}")
    print(f"{what}: {text or 'sound'}")


def round_trip_sees_what_is_lost():
    """Every fact of a material, and places, coordinates and areas, by planted losses of each."""
    carries = round_trip_blender.CARRIES["glb"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wall.glb"
        round_trip_blender.write_input(path)
        sound = round_trip_blender.materials_of(path)
        other = {"alpha": "OPAQUE", "sides": False, "base": [0, 0, 0], "emissive": [0, 0, 0]}
        for name, material in sound.items():
            for key, value in material.items():
                if key.startswith("map "):
                    changed = None if value is not None else np.zeros((1, 1, 1), np.uint8)
                else:
                    changed = other.get(key, 0.125)
                if np.array_equal(changed, value) or (key == "cutoff" and material["alpha"] != "MASK"):
                    continue
                faults = []
                lost = sound | {name: material | {key: changed}}
                round_trip_blender.compare_materials(sound, lost, carries, faults)
                expect(f"{name} without its {key}", faults, [key])
        areas, size = round_trip_blender.expected_areas(), round_trip_blender.SIZE
        for scale, words in ((1.0, []), (1.01, ["the box is", "covers"])):
            round_trip_blender.SIZE = tuple(np.array(size) * scale)
            round_trip_blender.write_input(path)
            round_trip_blender.SIZE = size
            faults = []
            round_trip_blender.compare_corners(path, sound, areas, carries, faults)
            expect(f"a wall {scale} times as large", faults, words)
        round_trip_blender.write_input(path)
        round_trip_blender.COORDINATES[0, 3] += 0.01
        faults = []
        round_trip_blender.compare_corners(path, sound, areas, carries, faults)
        round_trip_blender.COORDINATES[0, 3] -= 0.01
        expect("coordinates that moved", faults, ["Brick: texture coordinates", "Mortar: texture coordinates"])


def main():
    ball = trimesh.creation.icosphere(3)
    points, triangles = np.array(ball.vertices), np.array(ball.faces)
    knot = trimesh.creation.torus(1, 0.3, 64, 32)
    expect("ball", judged(points, triangles), [])
    expect("torus", judged(knot.vertices, np.array(knot.faces)), [])
    expect(
        "ball as a soup",
        judged(points[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3)),
        [],
    )
    hollow = (
        np.concatenate([points, points * 0.5]),
        np.concatenate([triangles, triangles[:, ::-1] + len(points)]),
    )
    expect("hollow ball", judged(*hollow), [])

    expect("a hole", judged(points, triangles[1:]), ["not watertight", "3 open edges"])
    turned = triangles.copy()
    turned[7] = turned[7, ::-1]
    expect("a triangle turned", judged(points, turned), ["winding", "1 of the asked face inward"])
    expect(
        "inside out",
        judged(points, triangles[:, ::-1], 4.0),
        ["no volume", f"{len(triangles)} of the asked face inward"],
    )
    bad = hollow[0], np.concatenate([triangles, triangles + len(points)])
    expect("a cavity that faces its air", judged(*bad), [f"{len(triangles)} of the asked face inward"])
    box = trimesh.creation.box()
    two = np.concatenate([box.vertices, box.vertices + [1, 1, 0]]), np.concatenate([box.faces, box.faces + 8])
    expect("two boxes at an edge", judged(*two), ["1 edges of more than two faces"])
    expect("a wrong volume", judged(points, triangles, 4.2), ["volume 4."])
    moved = points.copy()
    moved[triangles[0, 0]] = moved[triangles[0, 1]]
    expect("an edge of no length", judged(moved, triangles), ["triangles with a corner twice"])
    fold = points.copy()
    fold[0] = -9 * fold[0]  # a spike through the whole ball and out of it
    if facing.inward(fold, triangles, 10000)[0] == 0:
        raise SystemExit("a spike through the ball was not seen")
    print("a spike through the ball: seen")

    source = trimesh.creation.icosphere(4)
    far = np.concatenate([points * 1.01]), triangles
    off = check_meshes.distances(far[0], (np.array(source.vertices), np.array(source.faces))).max()
    if not 0.0095 < off < 0.0125:
        raise SystemExit(f"a ball 0.01 larger lies {off} off")
    print(f"a ball 0.01 larger: {off:.4f} off")

    source = trimesh.creation.box(bounds=[[-1, -1, -1], [1, 1, 1]])
    halves = [trimesh.creation.box(bounds=[[-1, -1, low], [1, 1, low + 1]]) for low in (0, -1)]
    pieces = [readers.Piece(f"piece_{i:03}", np.array(h.vertices), np.array(h.faces)) for i, h in enumerate(halves)]
    sound = check_meshes.by_booleans(pieces, source)
    if max(map(abs, sound.values())) > 1e-9:
        raise SystemExit(f"two halves make a box, but: {sound}")
    pieces[0].points += [0, 0, -0.01]
    moved = check_meshes.by_booleans(pieces, source)
    if not all(v > 1e-3 for v in (moved["twice"], moved["rest"])):
        raise SystemExit(f"a half that was pushed into the other was not seen: {moved}")
    print(f"a half pushed into the other: {moved}")
    pieces[0].points += [0, 0, 0.02]
    if not check_meshes.by_booleans(pieces, source)["beyond"] > 1e-3:
        raise SystemExit("a half that sticks out was not seen")
    print("a half that sticks out: seen")
    round_trip_sees_what_is_lost()
    print("all found")


if __name__ == "__main__":
    main()
