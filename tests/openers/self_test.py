#!/usr/bin/env python3
"""Whether the checks see what they are for: sound bodies pass, and each planted fault is found.

python3 tests/openers/self_test.py
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import trimesh

sys.path.insert(0, str(Path(__file__).parent))
import check_meshes
import facing
import readers

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
    print("all found")


if __name__ == "__main__":
    main()
