#!/usr/bin/env python3
"""Compares a MagicaVoxel file with the arrays beside it: the same voxels in the same pieces, however they are split.

    python3 tests/openers/vox_check.py DIR...

Each folder holds pieces.vox and voxels.npz. The file is read here chunk by chunk, by the format's description. Every
model must fit into 256 voxels a side, lie in a shape under a transform of its own, and name its piece; no two
models may share a voxel; and each piece's voxels must be the arrays': `coords` of its leaves with the cubes of
`piece_inside`, turned to z up, at one offset for all. Ends with 1 where anything differs.
"""

import struct
import sys
from pathlib import Path

import numpy as np

LIMIT = 256


def chunks(data, at, end):
    """(name, contents) of the chunks in a row."""
    while at < end:
        name, own, children = data[at : at + 4].decode(), *struct.unpack_from("<II", data, at + 4)
        yield name, data[at + 12 : at + 12 + own]
        at += 12 + own + children


def text(data, at):
    count = struct.unpack_from("<I", data, at)[0]
    return data[at + 4 : at + 4 + count].decode(), at + 4 + count


def pairs(data, at):
    count, at, out = struct.unpack_from("<I", data, at)[0], at + 4, {}
    for _ in range(count):
        key, at = text(data, at)
        out[key], at = text(data, at)
    return out, at


def models_of(path):
    """(name, size, voxels as (n, 3) in the file's space) of every placed model."""
    data = path.read_bytes()
    if data[:4] != b"VOX " or data[8:12] != b"MAIN":
        raise ValueError("no MagicaVoxel file")
    own, children = struct.unpack_from("<II", data, 12)
    sizes, voxels, transforms, shapes = [], [], {}, {}
    for name, body in chunks(data, 20 + own, 20 + own + children):
        if name == "SIZE":
            sizes.append(struct.unpack("<III", body))
        elif name == "XYZI":
            count = struct.unpack_from("<I", body)[0]
            voxels.append(np.frombuffer(body, np.uint8, 4 * count, 4).reshape(-1, 4)[:, :3].astype(np.int64))
        elif name == "nTRN":
            node = struct.unpack_from("<i", body)[0]
            attributes, at = pairs(body, 4)
            child, _, _, frames = struct.unpack_from("<iiii", body, at)
            frame, _ = pairs(body, at + 16)
            if frames != 1 or "_r" in frame:
                raise ValueError(f"node {node} is turned or moves")
            transforms[node] = (attributes, child, frame)
        elif name == "nSHP":
            node = struct.unpack_from("<i", body)[0]
            _, at = pairs(body, 4)
            count, model = struct.unpack_from("<ii", body, at)
            if count != 1:
                raise ValueError(f"shape {node} has {count} models")
            shapes[node] = model
    for attributes, child, frame in transforms.values():
        if child in shapes:
            model = shapes[child]
            size = np.array(sizes[model])
            place = np.array([int(v) for v in frame.get("_t", "0 0 0").split()])
            yield attributes.get("_name", ""), size, voxels[model] - size // 2 + place


def cubes(inside):
    """Voxels of the cubes (x, y, z, edge)."""
    out = [np.zeros((0, 3), np.int64)]
    for edge in np.unique(inside[:, 3]):
        low = inside[inside[:, 3] == edge, :3].astype(np.int64)
        steps = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing="ij"), -1).reshape(-1, 3)
        out.append((low[:, None] + steps[None]).reshape(-1, 3))
    return np.concatenate(out)


def keys(voxels):
    return np.sort((voxels[:, 0] << 40) + (voxels[:, 1] << 20) + voxels[:, 2])


def check(folder):
    """What is wrong, in words; prints what was compared."""
    found, largest, wrong = {}, 0, []
    for name, size, voxels in models_of(folder / "pieces.vox"):
        largest = max(largest, int(size.max()))
        if size.max() > LIMIT or (voxels.size and len(np.unique(voxels, axis=0)) != len(voxels)):
            wrong.append(f"{name}: sides {size.tolist()}, or voxels twice")
        found.setdefault(int(name.split("_")[1]), []).append(voxels)
    with np.load(folder / "voxels.npz") as arrays:
        coords, piece, inside = arrays["coords"].astype(np.int64), arrays["piece"], arrays["piece_inside"]
    if set(found) != set(np.unique(piece).tolist()):
        wrong.append(f"{len(found)} pieces in the file, {len(np.unique(piece))} in the arrays")
    total, split, offsets = 0, 0, set()
    for number in sorted(found):
        own = np.concatenate(found[number])
        expected = np.concatenate([coords[piece == number], cubes(inside[inside[:, 4] == number])])
        expected = np.stack([expected[:, 0], -expected[:, 2], expected[:, 1]], 1)
        total, split = total + len(own), split + (len(found[number]) > 1)
        if not len(own):
            wrong.append(f"piece {number}: no voxels")
            continue
        offset = own.min(0) - expected.min(0)
        offsets.add(tuple(offset.tolist()))
        low = own.min(0)
        if len(own) != len(expected) or (keys(own - low) != keys(expected + offset - low)).any():
            wrong.append(f"piece {number}: {len(own)} voxels of {len(expected)}, or others")
    if len(offsets) > 1:
        wrong.append(f"pieces are shifted against each other: {sorted(offsets)[:3]}")
    print(f"{folder}: {len(found)} pieces, {split} of them in several models, widest {largest}, {total} voxels")
    return wrong


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    failed = False
    for folder in map(Path, sys.argv[1:]):
        for line in check(folder):
            failed = True
            print(f"    {line}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
