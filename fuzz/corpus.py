"""Writes the small sound files of fuzz/corpus anew: python3 fuzz/corpus.py. Files whose names begin with "bad" are
what once went wrong, and are left alone."""

import base64
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).parent / "corpus"

POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def write(kind, name, content):
    folder = HERE / kind
    folder.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)


def lines(rows, form="{} {} {}"):
    return "".join(form.format(*row) + "\n" for row in rows)


def obj():
    faces = lines([[i + 1 for i in f] for f in FACES], "f {} {} {}")
    write("obj", "plain", lines(POINTS, "v {} {} {}") + faces)
    colours = "".join(f"v {x} {y} {z} 0.5 {x} {y}\n" for x, y, z in POINTS)
    rest = "vt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\nmtllib a.mtl\nusemtl red\n"
    write("obj", "all", "# odd\n" + colours + rest + "f 1/1/1 2/2/1 -1/3/1 \\\n3//1\ng x\nf 1 3 2\n" + faces)


def ply():
    head = "ply\nformat {} 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    head += "property uchar red\nproperty uchar green\nproperty uchar blue\n"
    head += "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    body = lines(POINTS, "{} {} {} 9 8 7") + lines(FACES, "3 {} {} {}")
    write("ply", "text", head.format("ascii") + body)
    for name, order in (("binary_little_endian", "<"), ("binary_big_endian", ">")):
        vertices = b"".join(struct.pack(order + "3f3B", *p, 9, 8, 7) for p in POINTS)
        faces = b"".join(struct.pack(order + "B3i", 3, *f) for f in FACES)
        write("ply", name, head.format(name).encode() + vertices + faces)


def stl():
    facet = "facet normal 0 0 1\nouter loop\n{}endloop\nendfacet\n"
    loops = [lines([POINTS[i] for i in f], "vertex {} {} {}") for f in FACES]
    write("stl", "text", "solid x\n" + "".join(facet.format(loop) for loop in loops) + "endsolid x\n")
    record = lambda f: struct.pack("<12fH", 0, 0, 1, *(x for i in f for x in POINTS[i]), 0)
    write("stl", "binary", b"\0" * 80 + struct.pack("<I", len(FACES)) + b"".join(map(record, FACES)))


def off():
    write("off", "plain", "OFF\n4 4 0\n" + lines(POINTS) + lines(FACES, "3 {} {} {}"))
    coloured = "COFF\n# colours\n4 4 6\n" + lines(POINTS, "{} {} {} 255 128 0 255")
    write("off", "coloured", coloured + lines(FACES, "3 {} {} {} 0.5 0.25 1"))


def gltf():
    positions = b"".join(struct.pack("<3f", *p) for p in POINTS)
    indices = b"".join(struct.pack("<3H", *f) for f in FACES)
    data = positions + indices
    root = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "children": [1], "scale": [1, 2, 1]}, {"mesh": 0, "translation": [2, 0, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0, 1]}}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(positions)},
            {"buffer": 0, "byteOffset": len(positions), "byteLength": len(indices)},
        ],
        "buffers": [{"byteLength": len(data)}],
    }
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    write("glb", "scene", struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    root["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    write("gltf", "embedded", json.dumps(root))


def vox():
    voxels = [(0, 0, 0, 1), (1, 0, 0, 2), (1, 1, 0, 1), (1, 1, 1, 3)]
    chunk = lambda name, content: struct.pack("<4sII", name, len(content), 0) + content
    size = chunk(b"SIZE", struct.pack("<3I", 2, 2, 2))
    cells = chunk(b"XYZI", struct.pack("<I", len(voxels)) + bytes(b for v in voxels for b in v))
    children = size + cells
    write("vox", "model", b"VOX " + struct.pack("<I4sII", 150, b"MAIN", 0, len(children)) + children)


def scene():
    write("scene", "short", '[[body]]\nfile = "builtin:vase"\n')
    body = """name = "x"
gravity = [0.0, -9.81, 0.0]
dt = 0.01
[camera]
target = [0.0, 0.5, 0.0]
distance = 3.0
yaw = 0.1
pitch = 0.2
fov_y = 0.8
[walls]
low = [-2.0, 0.0, -2.0]
high = [2.0, 4.0, 2.0]
[[body]]
name = "a"
file = "builtin:box"
level = 5
size = 1.0
on_floor = true
break_threshold = 2.0
rolling_resistance = 0.1
[body.fracture]
seeds = 12
preset = "clustered"
surface = "rough"
[body.fracture.crack]
transition_level = 4
[[body]]
name = "b"
file = "builtin:sphere"
position = [0.0, 2.0, 0.0]
rotation = [0.0, 0.0, 0.0, 1.0]
[[pair]]
bodies = ["a", "b"]
physics_level = 4
[[event]]
kind = "impact"
time = 0.5
point = [0.0, 0.5, 0.4]
direction = [0.0, 0.0, -1.0]
speed = 2.0
"""
    write("scene", "long", body)


def seeds():
    write("seeds", "text", "# x y z\n1 2 3\n-1.5, 0, 2e1  # the last\n0 0 0\n")
    for name, kind, form in (("float64", "<f8", "<9d"), ("float32", "<f4", "<9f")):
        head = "{'descr': '%s', 'fortran_order': False, 'shape': (3, 3), }" % kind
        head += " " * (-(len(head) + 11) % 64) + "\n"
        data = struct.pack(form, 1, 2, 3, -1.5, 0, 20, 0, 0, 0)
        write("npy", name, b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data)


for make in (obj, ply, stl, off, gltf, vox, scene, seeds):
    make()
