"""A closed box of two materials as GLB: Brick has a map of every role, Mortar factors alone."""

import json
import struct
import zlib

import numpy as np

#: u, v of GLB as a function of (x, y, z, 1).
COORDINATES = np.array([[0.31, 0.07, 0.11, 0.5], [0.05, -0.27, 0.13, 0.45]])
SIZE = (2.0, 1.2, 0.8)


def png(pixels):
    """(h, w, 3) uint8 as the bytes of a PNG."""
    height, width, _ = pixels.shape
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def maps():
    """A picture of each role, no two the same."""
    y, x = np.mgrid[0:32, 0:32]

    def picture(*channels):
        return png(np.stack([np.broadcast_to(c, x.shape) for c in channels], -1).astype(np.uint8))

    return {
        "brick": picture(120 + x * 4, 40 + y * 3, (x // 4 + y // 4) % 2 * 90),
        "brick_normal": picture(128 + x - 16, 128 + y - 16, 250),
        "brick_orm": picture(255 - y * 3, 90 + x * 4, 20 + (x + y) * 3),
        "brick_glow": picture((x // 8) % 2 * 200, y * 2, 30),
    }


def box():
    """Corners (n, 3), normals, and triangles by material: the lower half Mortar, the upper Brick."""
    points, normals, parts = [], [], {"Brick": [], "Mortar": []}
    for axis in range(3):
        for sign in (-1, 1):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            cuts = [np.linspace(-0.5, 0.5, 5), np.linspace(-0.5, 0.5, 5)]
            for i in range(4):
                for j in range(4):
                    start = len(points)
                    for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                        p = np.zeros(3)
                        p[axis], p[u], p[v] = sign * 0.5, cuts[0][a], cuts[1][b]
                        points.append(p * SIZE)
                        normals.append(np.eye(3)[axis] * sign)
                    quad = list(range(start, start + 4))[::sign]
                    middle = np.mean(points[start:], axis=0)[1]
                    upper = middle > 1e-9 or (abs(middle) <= 1e-9 and sign > 0)
                    parts["Brick" if upper else "Mortar"] += [
                        [quad[0], quad[1], quad[2]],
                        [quad[0], quad[2], quad[3]],
                    ]
    return np.array(points), np.array(normals), parts


def coordinates(points):
    """(n, 2) texture coordinates of places."""
    return points @ COORDINATES[:, :3].T + COORDINATES[:, 3]


def write_input(path):
    """The GLB that is broken."""
    points, normals, parts = box()
    binary, views, accessors = b"", [], []

    def view(data):
        nonlocal binary
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(data)})
        binary += data + b"\0" * (-len(data) % 4)
        return len(views) - 1

    def accessor(array, kind, code):
        entry = {"bufferView": view(array.tobytes()), "componentType": code, "count": len(array), "type": kind}
        if kind == "VEC3":
            entry |= {"min": array.min(0).tolist(), "max": array.max(0).tolist()}
        accessors.append(entry)
        return len(accessors) - 1

    attributes = {
        "POSITION": accessor(points.astype("<f4"), "VEC3", 5126),
        "NORMAL": accessor(normals.astype("<f4"), "VEC3", 5126),
        "TEXCOORD_0": accessor(coordinates(points).astype("<f4"), "VEC2", 5126),
    }
    primitives = [
        {
            "attributes": attributes,
            "indices": accessor(np.array(parts[name], "<u4").reshape(-1), "SCALAR", 5125),
            "material": number,
        }
        for number, name in enumerate(("Brick", "Mortar"))
    ]
    pictures = maps()
    images = [{"name": n, "mimeType": "image/png", "bufferView": view(data)} for n, data in pictures.items()]
    texture = {name: {"index": number} for number, name in enumerate(pictures)}
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "Wall", "mesh": 0}],
        "meshes": [{"name": "Wall", "primitives": primitives}],
        "materials": [
            {
                "name": "Brick",
                "pbrMetallicRoughness": {
                    "baseColorTexture": texture["brick"],
                    "metallicRoughnessTexture": texture["brick_orm"],
                },
                "normalTexture": texture["brick_normal"] | {"scale": 0.75},
                "occlusionTexture": texture["brick_orm"] | {"strength": 0.5},
                "emissiveTexture": texture["brick_glow"],
                "emissiveFactor": [1, 1, 1],
            },
            {
                "name": "Mortar",
                "pbrMetallicRoughness": {
                    "baseColorFactor": [0.25, 0.5, 0.75, 1.0],
                    "metallicFactor": 0.25,
                    "roughnessFactor": 0.375,
                },
                "alphaMode": "MASK",
                "alphaCutoff": 0.25,
                "doubleSided": True,
            },
        ],
        "samplers": [{"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497}],
        "textures": [{"source": i, "sampler": 0} for i in range(len(images))],
        "images": images,
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(binary)}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + len(binary)
    path.write_bytes(
        struct.pack("<4sII", b"glTF", 2, total)
        + struct.pack("<I4s", len(text), b"JSON")
        + text
        + struct.pack("<I4s", len(binary), b"BIN\0")
        + binary
    )
