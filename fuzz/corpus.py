"""Writes the small files of fuzz/corpus anew: python3 fuzz/corpus.py. Sound ones, and under names that begin with "bad"
those that are refused; fuzz/draco.mjs writes those that Draco packs. What fuzzing found lies beside them as "bad-found-..."
or "found-..." and is left alone."""

import base64
import hashlib
import io
import json
import pathlib
import struct
import zipfile
import zlib

HERE = pathlib.Path(__file__).parent / "corpus"

POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def write(kind, name, content):
    folder = HERE / kind
    folder.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)


def every(kind, files):
    """Writes files by name; what is empty is a mistake of this script's."""
    for name, content in files.items():
        write(kind, name, content)


def bundle(*files):
    """Several files as one: the first is the one that is opened."""
    parts = [(name, data.encode() if isinstance(data, str) else data) for name, data in files]
    return b"\n".join(b"--- " + name.encode() + b"\n" + data for name, data in parts)


def lines(rows, form="{} {} {}"):
    return "".join(form.format(*row) + "\n" for row in rows)


def grid(n):
    """A heightfield of n x n cells, as points and quads."""
    points = [(x / n, ((x * 7 + z * 3) % 5) / 20, z / n) for z in range(n + 1) for x in range(n + 1)]
    at = lambda x, z: z * (n + 1) + x
    quads = [(at(x, z), at(x, z + 1), at(x + 1, z + 1), at(x + 1, z)) for z in range(n) for x in range(n)]
    return points, quads


OBJ_POINTS = lines(POINTS, "v {} {} {}")
OBJ_FACES = lines([[i + 1 for i in f] for f in FACES], "f {} {} {}")
OBJ = OBJ_POINTS + OBJ_FACES


def obj():
    colours = "".join(f"v {x} {y} {z} 0.5 {x} {y}\n" for x, y, z in POINTS)
    rest = "vt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\nmtllib a.mtl\nusemtl red\n"
    points, quads = grid(6)
    quads = [[i + 1 for i in quad] for quad in quads]
    flat = lambda rows: lines(rows, "f {} {} {} {}")
    every("obj", {
        "plain": OBJ,
        "all": "# odd\n" + colours + rest + "f 1/1/1 2/2/1 -1/3/1 \\\n3//1\ng x\nf 1 3 2\n" + OBJ_FACES,
        "crlf": OBJ.replace("\n", "\r\n"),
        "carriage-returns-in-comments": "# a\rb\n" + OBJ,
        "byte-order-mark": b"\xef\xbb\xbf" + OBJ.encode(),
        "no-last-newline": OBJ.rstrip(),
        "quads": lines(points, "v {} {} {}") + flat(quads),
        "concave": "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 0\nf 1 2 3 4 5\n",
        "polygon-of-many": lines([(k % 9, k // 9, 0) for k in range(60)], "v {} {} {}")
        + "f " + " ".join(str(k + 1) for k in range(60)) + "\n",
        "polygon-twice-through-a-corner": OBJ_POINTS + "f 1 2 1 3 1 4\n" + OBJ_FACES,
        "negative-indices": OBJ_POINTS + "f -4 -2 -3\nf -4 -3 -1\nf -4 -1 -2\nf -3 -2 -1\n",
        "index-out-of-range": OBJ + "f 1 2 900\nf 0 1 2\nf -9 1 2\n",
        "index-too-large": OBJ + "f 1 2 99999999999999999999\nf 4294967296 1 2\nf 4294967295 1 2\n",
        "nothing-in-faces": OBJ + "f\nf 1\nf 1 2\nf / / /\nf 1/ 2/ 3/\nf a b c\n",
        "exponents": OBJ.replace("1 0 0", "1e0 0.0E-3 -0").replace("0 1 0", "+0 .1e1 0."),
        "huge-and-small": "v 1e38 0 0\nv 0 1e-38 0\nv 0 0 1e38\nv -1e38 0 0\nf 1 2 3\nf 1 2 4\n",
        "points-not-finite": OBJ + "v nan 0 0\nv inf 0 0\nv 1e400 0 0\nf 1 2 5\nf 1 6 7\n",
        "some-colours": "v 0 0 0 1 0 0\n" + lines(POINTS[1:], "v {} {} {}") + OBJ_FACES,
        "colours-above-one": lines(POINTS, "v {} {} {} 255 -1 nan") + OBJ_FACES,
        "weights": lines(POINTS, "v {} {} {} 1.0") + OBJ_FACES,
        "continued": OBJ_POINTS + "f 1 \\\n3 \\\n2\nf \\\n\\\n1 2 4\nf 1 4 3\nf 2 3 4 \\",
        "groups": OBJ_POINTS + "o a\ng b c\ns 1\n" + OBJ_FACES + "s off\ng\no\n",
        "normals-of-zero": OBJ_POINTS + "vn 0 0 0\nvn nan 0 1\nf 1//1 2//2 3//1\nf 1//2 3//2 4//9\n",
        "uvs-not-finite": OBJ_POINTS + "vt nan 1e39\nvt inf\nvt\nf 1/1 2/2 3/3\nf 1/1 2/2 4/-1\n",
        "bad-points-at-one-place": "v 0 0 0\n" * 6 + "f 1 2 3\nf 4 5 6\n" + OBJ,
        "nearly-welded": lines([(x + 5e-7, y, z) for x, y, z in POINTS], "v {} {} {}") + OBJ,
        "far-away": lines([(x + 1e7, y, z) for x, y, z in POINTS], "v {} {} {}") + OBJ_FACES,
        "a-crumb-far-off": OBJ + "v 300 0 0\nv 300.001 0 0\nv 300 0.001 0\nf 5 6 7\n",
        "materials-that-are-nowhere": "mtllib\nmtllib a b c\nmtllib ../x.mtl\nusemtl\n" + OBJ + "usemtl a # b\n" + OBJ_FACES,
        "other-statements": "vp 1 2\ncstype bezier\ncurv 0 1\np 1 2\nl 1 2 3\n" + OBJ,
        "not-utf-8": b"# \xff\xfe\no \x80\n" + OBJ.encode() + b"usemtl \xff\nf 1 2 3\n",
        "zero-bytes": OBJ.encode().replace(b" ", b"\0", 1) + OBJ.encode(),
        "tabs": OBJ.replace(" ", "\t"),
        "bad-empty": "",
        "bad-blank": " \n\t\n\r\n",
        "bad-no-faces": OBJ_POINTS,
        "bad-no-points": OBJ_FACES,
        "bad-point-of-two": "v 1 2\n" + OBJ_FACES,
        "bad-words": "v one two three\n",
        "bad-all-not-finite": lines([("nan", "nan", "inf")] * 4, "v {} {} {}") + OBJ_FACES,
        "bad-all-out-of-range": OBJ_POINTS + "f 7 8 9\n",
        "bad-no-area": "v 0 0 0\n" * 3 + "f 1 1 1\n",
        "bad-only-comment": "# v 0 0 0\n" * 20,
    })


def ply():
    head = "ply\nformat {} 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    head += "property uchar red\nproperty uchar green\nproperty uchar blue\n"
    head += "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    points, faces = lines(POINTS, "{} {} {} 9 8 7"), lines(FACES, "3 {} {} {}")
    text = head.format("ascii") + points + faces
    files = {"text": text, "text-crlf": text.replace("\n", "\r\n")}
    for name, order in (("little", "<"), ("big", ">")):
        vertices = b"".join(struct.pack(order + "3f3B", *p, 9, 8, 7) for p in POINTS)
        bodies = b"".join(struct.pack(order + "B3i", 3, *f) for f in FACES)
        whole = head.format(f"binary_{name}_endian").encode() + vertices + bodies
        files[f"binary_{name}_endian"] = whole
        files[f"bad-binary-{name}-cut-in-a-point"] = whole[: len(head) + 40]
        files[f"bad-binary-{name}-without-end"] = whole.replace(b"end_header\n", b"")
    types = "char uchar short ushort int uint float double int8 uint8 int16 uint16 int32 uint32 float32 float64".split()
    for index in types:
        for count in ("uchar", "int", "float32") if index in ("int", "short") else ("uchar",):
            changed = head.format("ascii").replace("list uchar int", f"list {count} {index}")
            whole = changed + points + faces
            files[f"list-{count}-{index}"] = whole
    for kind in ("double", "float64", "short", "uchar"):
        files[f"points-{kind}"] = text.replace("property float ", f"property {kind} ")
    face = "property uchar red\nproperty uchar green\nproperty uchar blue\nend_header"
    files |= {
        "face-colours": head.format("ascii").replace("end_header", face) + points + lines(FACES, "3 {} {} {} 1 2 3"),
        "strips": text.replace("property list uchar int vertex_indices", "property list uchar int vertex_index"),
        "another-element": text.replace("element face", "element edge 1\nproperty int a\nelement face").replace(
            "3 0 2 1", "5\n3 0 2 1"),
        "more-properties": text.replace("property uchar red", "property float nx\nproperty float s\nproperty uchar red")
        .replace(" 9 8 7", " 0 1 9 8 7"),
        "object-info": text.replace("comment x", "obj_info a b\ncomment"),
        "points-not-finite": text.replace("1 0 0 9", "nan inf 1e39 9"),
        "index-out-of-range": text.replace("3 1 2 3", "3 1 2 77"),
        "index-negative": text.replace("3 1 2 3", "3 1 2 -1"),
        "quads": text.replace("3 1 2 3", "4 1 2 3 0"),
        "polygon-of-none": text.replace("3 1 2 3", "0"),
        "bad-empty": "ply\n",
        "bad-format": text.replace("ascii", "morse"),
        "bad-version": "ply\nformat ascii\nend_header\n",
        "bad-no-faces": text.replace("element face 4", "element face 0"),
        "bad-no-points": text.replace("element vertex 4", "element vertex 0"),
        "bad-count-of-points": text.replace("element vertex 4", "element vertex 4294967295"),
        "bad-count-of-faces": text.replace("element face 4", "element face 99999999999999999999"),
        "bad-count-negative": text.replace("element vertex 4", "element vertex -4"),
        "bad-list-longer-than-the-file": text.replace("3 1 2 3", "4000000000 1 2 3"),
        "bad-type": text.replace("property float x", "property quaternion x"),
        "bad-x-missing": text.replace("property float x\n", ""),
        "bad-words-for-numbers": text.replace("0 0 0 9", "zero zero zero 9"),
    }
    every("ply", files)


def stl():
    facet = "facet normal 0 0 1\nouter loop\n{}endloop\nendfacet\n"
    loops = [lines([POINTS[i] for i in f], "vertex {} {} {}") for f in FACES]
    text = "solid x\n" + "".join(facet.format(loop) for loop in loops) + "endsolid x\n"
    record = lambda f, attribute=0: struct.pack("<12fH", 0, 0, 1, *(x for i in f for x in POINTS[i]), attribute)
    binary = lambda count, head=b"\0" * 80: head + struct.pack("<I", count) + b"".join(map(record, FACES))
    spoilt = struct.pack("<12fH", *[float("nan")] * 12, 0xFFFF)
    every("stl", {
        "text": text,
        "text-crlf": text.replace("\n", "\r\n"),
        "text-capitals": text.upper(),
        "text-two-solids": text + text,
        "text-without-end": text[: text.index("endsolid")],
        "text-not-finite": text.replace("vertex 1 0 0", "vertex nan 1e39 -inf", 1),
        "bad-text-on-one-line": text.replace("\n", " ") + "\n",
        "text-no-name": text.replace("solid x", "solid", 1),
        "text-exponents": text.replace("1 0 0", "1.0e+00 0.0e-00 0"),
        "binary": binary(4),
        "binary-that-begins-with-solid": binary(4, b"solid of another program".ljust(80)),
        "binary-colours": b"COLOR=\x01\x02\x03\x04".ljust(80, b"\0") + struct.pack("<I", 4)
        + b"".join(record(f, 0x8000 | 31 << k) for k, f in enumerate(FACES)),
        "binary-bytes-after": binary(4) + b"tail" * 5,
        "binary-not-finite": b"\0" * 80 + struct.pack("<I", 5) + b"".join(map(record, FACES)) + spoilt,
        "binary-many": b"\0" * 80 + struct.pack("<I", 80) + b"".join(map(record, FACES * 20)),
        "bad-empty": "solid x\nendsolid x\n",
        "bad-binary-empty": binary(0)[:84],
        "bad-binary-no-area": b"\0" * 80 + struct.pack("<I", 2) + record((0, 0, 0)) + record((1, 1, 2)),
        "bad-binary-cut-head": binary(4)[:82],
        "bad-binary-all-not-finite": b"\0" * 80 + struct.pack("<I", 1) + spoilt,
        "bad-text-words": "solid x\nfacet normal a b c\nouter loop\nvertex a b c\nendloop\nendfacet\n",
    })


def off():
    faces = lines(FACES, "3 {} {} {}")
    plain = "OFF\n4 4 0\n" + lines(POINTS) + faces
    every("off", {
        "plain": plain,
        "coloured": "COFF\n# colours\n4 4 6\n" + lines(POINTS, "{} {} {} 255 128 0 255") + lines(FACES, "3 {} {} {} 0.5 0.25 1"),
        "counts-in-the-first-line": plain.replace("OFF\n", "OFF "),
        "normals": "NOFF\n4 4 0\n" + lines(POINTS, "{} {} {} 0 0 1") + faces,
        "colours-as-shares": "COFF\n4 4 0\n" + lines(POINTS, "{} {} {} 0.1 0.2 0.3 1") + faces,
        "texture-coordinates": "STOFF\n4 4 0\n" + lines(POINTS, "{} {} {} 0 1") + faces,
        "crlf": plain.replace("\n", "\r\n"),
        "blank-lines": plain.replace("\n", "\n\n# x\n"),
        "no-edges": plain.replace("4 4 0", "4 4"),
        "quads": plain.replace("3 1 2 3", "4 1 2 3 0"),
        "face-colours": plain.replace("3 1 2 3", "3 1 2 3 255 0 0"),
        "index-out-of-range": plain.replace("3 1 2 3", "3 1 2 99"),
        "index-negative": plain.replace("3 1 2 3", "3 1 2 -3"),
        "points-not-finite": plain.replace("1 0 0\n", "nan 1e39 inf\n", 1) + faces,
        "face-of-one": plain.replace("3 1 2 3", "1 0"),
        "bad-empty": "OFF\n",
        "bad-no-counts": "OFF\nx\n",
        "bad-count-of-points": plain.replace("4 4 0", "4294967296 4 0"),
        "bad-count-of-faces": plain.replace("4 4 0", "4 18446744073709551616 0"),
        "bad-count-negative": plain.replace("4 4 0", "-4 4 0"),
        "bad-binary": b"OFF BINARY\n" + struct.pack(">3i", 4, 4, 0) + b"".join(struct.pack(">3f", *p) for p in POINTS),
        "bad-four-coordinates": plain.replace("OFF", "4OFF"),
        "bad-no-faces": plain.replace("4 4 0", "4 0 0"),
    })


def pack(*parts):
    """Bytes of a buffer, and its views."""
    data, views = b"", []
    for part in parts:
        data += b"\0" * (-len(data) % 4)
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(part)})
        data += part
    return data, views


def gltf_root():
    positions = b"".join(struct.pack("<3f", *p) for p in POINTS)
    indices = b"".join(struct.pack("<3H", *f) for f in FACES)
    uvs = b"".join(struct.pack("<2f", *uv) for uv in [(0, 0), (1, 0), (0, 1), (9, -9)])
    colours = bytes([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 1, 2, 3, 4])
    data, views = pack(positions, indices, uvs, colours)
    root = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "children": [1], "scale": [1, 2, 1]}, {"mesh": 0, "translation": [2, 0, 0]}],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0, "TEXCOORD_0": 2, "COLOR_0": 3}, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0, 1]}}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
            {"bufferView": 2, "componentType": 5126, "count": 4, "type": "VEC2"},
            {"bufferView": 3, "componentType": 5121, "count": 4, "type": "VEC4", "normalized": True},
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": len(data)}],
    }
    return root, data


def binary(root, data, version=2):
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", version, 12 + len(chunks)) + chunks


def embedded(data):
    return "data:application/octet-stream;base64," + base64.b64encode(data).decode()


def changed(root, path, value):
    """A copy of `root` with another value at a path; None takes it away."""
    root = json.loads(json.dumps(root))
    at = root
    for step in path[:-1]:
        at = at[step]
    if value is None:
        del at[path[-1]]
    elif isinstance(at, list) and path[-1] == len(at):
        at.append(value)
    else:
        at[path[-1]] = value
    return root


GLTF_CHANGES = {
    "no-scene": (["scene"], None),
    "no-scenes": (["scenes"], None),
    "matrix": (["nodes", 0], {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 5, 6, 7, 1]}),
    "rotation": (["nodes", 1, "rotation"], [0.5, 0.5, 0.5, 0.5]),
    "bad-scale-of-nothing": (["nodes", 0, "scale"], [0, 0, 0]),
    "scale-huge": (["nodes", 1, "scale"], [1e30, 1e30, 1e30]),
    "no-indices": (["meshes", 0, "primitives", 0, "indices"], None),
    "strip": (["meshes", 0, "primitives", 0, "mode"], 5),
    "fan": (["meshes", 0, "primitives", 0, "mode"], 6),
    "a-part-of-lines": (["meshes", 0, "primitives", 1], {"attributes": {"POSITION": 0}, "mode": 1}),
    "a-part-of-nothing": (["meshes", 0, "primitives", 1], {"attributes": {}}),
    "bad-bytes-as-indices": (["accessors", 1], {"bufferView": 0, "componentType": 5121, "count": 12, "type": "SCALAR"}),
    "stride": (["bufferViews", 0, "byteStride"], 12),
    "sparse": (["accessors", 0, "sparse"], {"count": 1, "indices": {"bufferView": 1, "componentType": 5123},
                                             "values": {"bufferView": 2}}),
    "names": (["nodes", 0, "name"], "a\u0000/../ü"),
    "extras": (["extras"], {"a": [1, {"b": None}]}),
    "extension-used": (["extensionsUsed"], ["KHR_materials_unlit", "X"]),
    "vertex-colour-as-floats": (["accessors", 3, "componentType"], 5123),
    "two-sided": (["materials", 0, "doubleSided"], True),
    "roughness": (["materials", 0, "pbrMetallicRoughness"], {"roughnessFactor": 2, "metallicFactor": -1}),
    "skin": (["skins"], [{"joints": [0, 1]}]),
    "camera": (["cameras"], [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]),
    "same-node-twice": (["scenes", 0, "nodes"], [0, 0]),
    "child-of-its-own": (["nodes", 1, "children"], [0]),
    "bad-no-asset": (["asset"], None),
    "bad-version": (["asset", "version"], "1.0"),
    "bad-extension-required": (["extensionsRequired"], ["KHR_texture_basisu"]),
    "bad-view-out-of-range": (["accessors", 0, "bufferView"], 99),
    "bad-count": (["accessors", 0, "count"], 4000000000),
    "bad-offset": (["bufferViews", 0, "byteOffset"], 4000000000),
    "length": (["buffers", 0, "byteLength"], 4000000000),
    "bad-positions-of-bytes": (["accessors", 0, "componentType"], 5121),
    "mesh-out-of-range": (["nodes", 0, "mesh"], 7),
    "bad-mode": (["meshes", 0, "primitives", 0, "mode"], 99),
    "bad-nothing-in-the-scene": (["scenes", 0, "nodes"], []),
    "bad-node-not-finite": (["nodes", 0, "scale"], "big"),
    "bad-meshes-is-a-number": (["meshes"], 3),
}


def packed_attributes(rows):
    """Rows of equal length as EXT_meshopt_compression packs them: bytes as differences, in groups of 16 whole bytes."""
    out, before = b"\xa0", bytes(len(rows[0]))
    for at in range(len(rows[0])):
        lane = [(row[at] - last[at] + 128) % 256 - 128 for row, last in zip(rows, [before] + rows)]
        out += b"\x03" + bytes(2 * d if d >= 0 else -2 * d - 1 for d in lane + [0] * (16 - len(lane)))
    return out + bytes(max(32 - len(before), 0)) + before


def packed_triangles(faces):
    """Triangles with all corners in full."""
    last, data = 0, b""
    for face in faces:
        data += b"\xff"
        for corner in face:
            by, last = corner - last, corner
            data += bytes([2 * by if by >= 0 else -2 * by - 1])
    return b"\xe1" + b"\xff" * len(faces) + data + bytes(16)


def packed():
    """The scene with packed positions and indices, and damaged ones."""
    root, _ = gltf_root()
    streams = [packed_attributes([struct.pack("<3f", *p) for p in POINTS]), packed_triangles(FACES)]
    data, views = pack(*streams)
    root["meshes"] = [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}]
    root["accessors"] = root["accessors"][:2]
    root["extensionsUsed"] = root["extensionsRequired"] = ["EXT_meshopt_compression"]
    for view, (mode, count, stride) in zip(views, [("ATTRIBUTES", 4, 12), ("TRIANGLES", 12, 2)]):
        own = dict(view, mode=mode, count=count, byteStride=stride)
        view.update(buffer=1, byteOffset=0, byteLength=count * stride, extensions={"EXT_meshopt_compression": own})
    root["bufferViews"] = views
    root["buffers"] = [{"byteLength": len(data)}, {
        "byteLength": 96, "extensions": {"EXT_meshopt_compression": {"fallback": True}}}]
    write("glb", "packed", binary(root, data))
    for name, (view, key, value) in {
        "bad-packed-cut": (0, "byteLength", 40),
        "bad-packed-count": (0, "count", 1 << 40),
        "bad-packed-stride": (0, "byteStride", 0),
        "bad-packed-mode": (1, "mode", "LINES"),
        "bad-packed-as-another": (1, "mode", "ATTRIBUTES"),
        "bad-packed-nowhere": (0, "byteOffset", 1 << 30),
        "packed-no-filter": (0, "filter", "NONE"),
        "bad-packed-filter": (0, "filter", "QUATERNION"),
    }.items():
        path = ["bufferViews", view, "extensions", "EXT_meshopt_compression", key]
        write("glb", name, binary(changed(root, path, value), data))


def gltf():
    packed()
    root, data = gltf_root()
    write("glb", "scene", binary(root, data))
    with_data = lambda root: json.dumps(changed(root, ["buffers", 0, "uri"], embedded(data)))
    write("gltf", "embedded", with_data(root))
    for name, (path, value) in GLTF_CHANGES.items():
        new = changed(root, path, value)
        write("glb", name, binary(new, data))
        write("gltf", name, with_data(new) if new.get("buffers") else json.dumps(new))
    picture = lambda mime, bytes: (
        changed(changed(changed(root, ["images"], [{"mimeType": mime, "uri": f"data:{mime};base64,"
            + base64.b64encode(bytes).decode()}]), ["textures"], [{"source": 0}]),
            ["materials", 0, "pbrMetallicRoughness", "baseColorTexture"], {"index": 0}))
    for name, (mime, bytes) in {
        "png": ("image/png", png(4, 4)), "jpeg": ("image/jpeg", JPEG), "webp": ("image/webp", b"RIFF\x10\0\0\0WEBPVP8 "),
        "png-cut": ("image/png", png(4, 4)[:60]), "png-huge": ("image/png", png_head(30000, 30000)),
    }.items():
        write("gltf", f"picture-{name}", with_data(picture(mime, bytes)))
    whole = binary(root, data)
    every("glb", {
        "header-length": whole[:8] + struct.pack("<I", 0xFFFFFFFF) + whole[12:],
        "bad-chunk-length": whole[:12] + struct.pack("<I", 0xFFFFFFF0) + whole[16:],
        "version-1": binary(root, data, 1),
        "bad-cut": whole[:-40],
        "bad-head-only": whole[:12],
        "bad-chunk-of-another-kind": whole[:16] + b"NOSJ" + whole[20:],
        "bad-deep": binary(None, b"")[:20] + b"[" * 4000,
    })
    deep = {"nodes": [{"children": [k + 1]} for k in range(300)] + [{"mesh": 0}]}
    many = {"nodes": [{"mesh": 0, "translation": [k, 0, 0]} for k in range(150)], "scenes": [{"nodes": list(range(150))}]}
    every("gltf", {
        "bad-deep": "[" * 4000,
        "bad-deep-objects": '{"a":' * 4000,
        "nodes-below-nodes": with_data(root | deep),
        "many-nodes": with_data(root | many),
        "bad-many-nodes-of-nothing": json.dumps({"asset": {"version": "2.0"}, "nodes": [{}] * 3000}),
        "bad-not-base64": json.dumps(changed(root, ["buffers", 0, "uri"], "data:;base64,@@@@")),
        "bad-no-such-file": json.dumps(changed(root, ["buffers", 0, "uri"], "a.bin")),
        "bad-null": "null",
        "bad-empty-object": "{}",
        "bad-twice-the-key": '{"asset":{"version":"2.0"},"asset":{"version":"2.0"}}',
    })


def vox():
    voxels = [(0, 0, 0, 1), (1, 0, 0, 2), (1, 1, 0, 1), (1, 1, 1, 3)]
    words = lambda *all: struct.pack(f"<{len(all)}I", *[word & 0xFFFFFFFF for word in all])
    chunk = lambda name, content: struct.pack("<4sII", name, len(content), 0) + content
    main = lambda children, version=150: b"VOX " + struct.pack("<I4sII", version, b"MAIN", 0, len(children)) + children
    size = lambda x, y, z: chunk(b"SIZE", words(x, y, z))
    cells = lambda list, count=None: chunk(b"XYZI", words(len(list) if count is None else count)
                                           + bytes(b for v in list for b in v))
    model = size(2, 2, 2) + cells(voxels)
    palette = chunk(b"RGBA", bytes(k % 256 for k in range(1024)))
    word = lambda text: words(len(text)) + text.encode()
    table = lambda **all: words(len(all)) + b"".join(word(k) + word(v) for k, v in all.items())
    node = lambda id, child, **frame: chunk(b"nTRN", words(id) + table() + words(child, -1, 0, 1) + table(**frame))
    group = lambda id, *children: chunk(b"nGRP", words(id) + table() + words(len(children), *children))
    shape = lambda id, *models: chunk(b"nSHP", words(id) + table() + words(len(models))
                                      + b"".join(words(m) + table() for m in models))
    placed = lambda *frames: b"".join(
        [node(0, 1), group(1, *(2 + 2 * k for k in range(len(frames))))]
        + [node(2 + 2 * k, 3 + 2 * k, **frame) + shape(3 + 2 * k, 0) for k, frame in enumerate(frames)])
    board = [(x, y, z, 1) for x in range(8) for y in range(8) for z in range(8) if (x + y + z) % 2]
    every("vox", {
        "model": main(model),
        "palette": main(model + palette),
        "version-200": main(model, 200),
        "two-models": main(model + model),
        "counted": main(chunk(b"PACK", words(2)) + model + model),
        "placed": main(model + placed({"_t": "5 0 -3"})),
        "turned": main(model + placed({"_t": "0 0 0", "_r": "17"}, {"_r": "40", "_t": "9 9 9"})),
        "turned-oddly": main(model + placed({"_r": "0"}, {"_r": "255"}, {"_r": "x"}, {"_t": "1 2"})),
        "bad-placed-far-apart": main(model + placed({"_t": "2147483647 0 0"}, {"_t": "-2147483648 0 0"})),
        "placed-over-each-other": main(model + placed({}, {}, {})),
        "materials": main(model + chunk(b"MATL", words(1) + table(_type="_glass", _alpha="0.5"))),
        "layers": main(model + chunk(b"LAYR", words(0) + table(_hidden="1") + words(-1))),
        "chunk-of-another-kind": main(chunk(b"ABCD", b"1234") + model),
        "checkerboard": main(size(8, 8, 8) + cells(board)),
        "checkerboard-placed": main(size(8, 8, 8) + cells(board) + placed(*[{"_t": f"{9 * k} 0 0"} for k in range(12)])),
        "voxel-outside": main(size(2, 2, 2) + cells(voxels + [(9, 9, 9, 1)])),
        "voxel-of-nothing": main(size(2, 2, 2) + cells(voxels + [(0, 1, 0, 0)])),
        "voxel-twice": main(size(2, 2, 2) + cells(voxels + voxels)),
        "bytes-after": main(model) + b"more",
        "bad-no-voxels": main(size(2, 2, 2) + cells([])),
        "bad-no-model": main(palette),
        "bad-empty": b"VOX ",
        "bad-count-of-voxels": main(size(2, 2, 2) + cells(voxels, 0x40000000)),
        "bad-size-huge": main(size(0xFFFFFFFF, 0xFFFFFFFF, 2)),
        "bad-chunk-longer-than-the-file": main(model)[:24] + words(0xFFFFFFFF) + main(model)[28:],
        "bad-cut": main(model)[:60],
    })


def usda():
    head = "#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n"
    points = "point3f[] points = [" + ", ".join(map(str, POINTS)) + "]\n"
    corners = [i for face in FACES for i in face]
    faces = f"int[] faceVertexCounts = {[3] * len(FACES)}\nint[] faceVertexIndices = {corners}\n"
    none = "uniform token subdivisionScheme = \"none\"\n"
    mesh = lambda more="", name="m": f"def Mesh \"{name}\" {{\n{none}{points}{faces}{more}}}\n"
    places = "double3 xformOp:translate = (1, 2, 3)\nfloat3 xformOp:rotateXYZ = (10, 20, 30)\n"
    order = "uniform token[] xformOpOrder = [\"xformOp:translate\", \"!invert!xformOp:rotateXYZ\"]\n"
    shader = "def Shader \"s\" {\nuniform token info:id = \"UsdPreviewSurface\"\ncolor3f inputs:diffuseColor = (1, 0, 0)\n}\n"
    red = f"def Material \"Red\" {{\ntoken outputs:surface.connect = </Red/s.outputs:surface>\n{shader}}}\n"
    indices = f"int[] primvars:st:indices = {[i % 2 for i in corners]}\n"
    every("usda", {
        "plain": head + mesh(),
        "placed": head + f"def Xform \"a\" {{\n{places}{order}{mesh()}}}\n",
        "material": head + mesh("rel material:binding = </Red>\n") + red,
        "coordinates": head + mesh("texCoord2f[] primvars:st = [(0, 0), (1, 1)] (\ninterpolation = \"faceVarying\"\n)\n" + indices),
        "colours": head + mesh("color3f[] primvars:displayColor = [(1, 0.5, 0)]\n"),
        "normals": head + mesh("normal3f[] normals = [(0, 1, 0)] (\ninterpolation = \"constant\"\n)\n"),
        "variants": head + "def Xform \"a\" {\nvariantSet \"v\" = {\n\"x\" {\n}\n}\n" + mesh() + "}\n",
        "hidden-and-shown": head + mesh("token visibility = \"invisible\"\n") + mesh(name="n"),
        "samples": head + mesh().replace("points =", "points.timeSamples = { 0:").replace(")]\n", ")], 1: []}\n", 1),
        "no-unit": "#usda 1.0\n" + mesh(),
        "index-out-of-range": head + mesh().replace("[0, 2, 1,", "[0, 2, 9,"),
        "bad-empty": "",
        "bad-no-mesh": head,
        "bad-cut": (head + mesh())[:-40],
        "bad-binary": b"PXR-USDC\0\x03\0\0\0\0\0\0",
        "bad-archive": b"PK\x03\x04\x0a\0\0\0\0\0",
        "bad-deep": head + "def \"a\" {" * 300,
        "bad-brackets": head + mesh().replace("[3", "]3"),
    })


LIST, INSIDE, PACKED = 1 << 63, 1 << 62, 1 << 61


def block(data):
    """Bytes as one LZ4 block of literals, behind its length."""
    count = len(data)
    if count < 15:
        length = bytes([count << 4])
    else:
        length = b"\xf0" + b"\xff" * ((count - 15) // 255) + bytes([(count - 15) % 255])
    data = b"\0" + length + data
    return struct.pack("<Q", len(data)) + data


def integers(all):
    """Whole numbers as binary USD packs them, each difference in four bytes."""
    differences = [b - a for a, b in zip([0, *all], all)]
    return block(bytes(4) + b"\xff" * ((len(all) + 3) // 4) + struct.pack(f"<{len(all)}i", *differences))


class Crate:
    """A binary layer, made of paths with fields. A value is a word, or bytes that a word of this kind points to."""

    def __init__(self, version=8):
        self.out = bytearray(b"PXR-USDC" + bytes([0, version]) + bytes(78))
        self.tokens = [";-)"]
        self.strings, self.fields, self.sets, self.paths = [], [], [], []

    def token(self, name):
        if name not in self.tokens:
            self.tokens.append(name)
        return self.tokens.index(name)

    def text(self, name):
        self.strings.append(self.token(name))
        return INSIDE | 10 << 48 | len(self.strings) - 1

    def name(self, name):
        return INSIDE | 11 << 48 | self.token(name)

    def at(self, kind, data, more=0):
        self.out += data
        return more | kind << 48 | len(self.out) - len(data)

    def floats(self, kind, all):
        flat = [x for row in all for x in (row if isinstance(row, tuple) else (row,))]
        return self.at(kind, struct.pack(f"<Q{len(flat)}f", len(all), *flat), LIST)

    def ints(self, all, packed=False):
        count = struct.pack("<Q", len(all))
        if packed:
            return self.at(3, count + integers(all), LIST | PACKED)
        return self.at(3, count + struct.pack(f"<{len(all)}i", *all), LIST)

    def names(self, all):
        return self.at(41, struct.pack(f"<Q{len(all)}I", len(all), *map(self.token, all)))

    def linked(self, *paths):
        """A list of paths, by the order in which they are added."""
        return self.at(34, struct.pack(f"<BQ{len(paths)}I", 3, len(paths), *paths))

    def add(self, kind, parent, name, **fields):
        """A path below another, which is added before it; fields by name."""
        start = len(self.sets)
        for field, word in fields.items():
            self.sets.append(len(self.fields))
            self.fields.append((self.token(field), word))
        self.sets.append(-1)
        step = self.token(name) if name else 0
        self.paths.append((parent, step if kind in (6, 7) else -step, kind, start))
        return len(self.paths) - 1

    def prim(self, parent, name, kind, **fields):
        return self.add(6, parent, name, specifier=INSIDE | 42 << 48, typeName=self.name(kind), **fields)

    def attribute(self, parent, name, kind, **fields):
        return self.add(1, parent, name, typeName=self.name(kind), **fields)

    def bytes(self, **other):
        """The file; `other` are numbers of tables in place of the right ones."""
        children = lambda parent: [i for i, path in enumerate(self.paths) if path[0] == parent]
        places, jumps = [], []

        def walk(i, is_last):
            place, below = len(places), children(i)
            places.append(i)
            jumps.append(0 if not is_last else -2)
            for k, child in enumerate(below):
                walk(child, k + 1 == len(below))
            if below:
                jumps[place] = -1 if is_last else len(places) - place

        walk(0, True)
        jumps = other.get("jumps", jumps)
        count = lambda all: struct.pack("<Q", len(all))
        text = b"".join(token.encode() + b"\0" for token in self.tokens)
        of = lambda k: [path[k] for path in self.paths]
        steps = [self.paths[i][1] for i in places]
        tables = {
            "TOKENS": count(self.tokens) + count(text) + block(text),
            "STRINGS": count(self.strings) + struct.pack(f"<{len(self.strings)}I", *self.strings),
            "FIELDS": count(self.fields) + integers([f[0] for f in self.fields])
            + block(struct.pack(f"<{len(self.fields)}Q", *(f[1] for f in self.fields))),
            "FIELDSETS": count(self.sets) + integers(self.sets),
            "PATHS": 2 * count(self.paths) + integers(other.get("places", places)) + integers(steps) + integers(jumps),
            "SPECS": count(self.paths) + integers(list(range(len(self.paths)))) + integers(of(3)) + integers(of(2)),
        }
        contents = count(tables)
        out = bytearray(self.out)
        for name, table in tables.items():
            contents += struct.pack("<16sQQ", name.encode(), len(out), len(table))
            out += table
        out[16:24] = struct.pack("<Q", len(out))
        return bytes(out + contents)


def crate(change=None, version=8, layer=lambda c: {}, children=("m",), **other):
    """A tetrahedron in metres; `change` gets the crate with the number of the mesh, `layer` gives more fields of it."""
    c = Crate(version)
    metre = struct.unpack("<I", struct.pack("<f", 1))[0]
    c.add(7, None, "", metersPerUnit=INSIDE | 9 << 48 | metre, primChildren=c.names(children), **layer(c))
    corners = [i for face in FACES for i in face]
    mesh = c.prim(0, "m", "Mesh")
    c.attribute(mesh, "points", "point3f[]", default=c.floats(24, POINTS))
    c.attribute(mesh, "faceVertexCounts", "int[]", default=c.ints([3] * len(FACES)))
    c.attribute(mesh, "faceVertexIndices", "int[]", default=c.ints(corners))
    c.attribute(mesh, "subdivisionScheme", "token", default=c.name("none"))
    if change:
        change(c, mesh)
    return c.bytes(**other)


def usdc():
    corners = [i for face in FACES for i in face]

    def replace(name, make):
        """Another word for the default of an attribute."""

        def change(c, mesh):
            path = next(path for path in c.paths if path[0] == mesh and c.tokens[-path[1]] == name)
            field = next(f for f in c.sets[path[3]:] if c.tokens[c.fields[f][0]] == "default")
            c.fields[field] = (c.fields[field][0], make(c))

        return change

    def coordinates(c, mesh):
        c.attribute(mesh, "primvars:st", "texCoord2f[]", interpolation=c.name("faceVarying"), default=c.floats(20, [(0, 0), (1, 1)]))
        c.attribute(mesh, "primvars:st:indices", "int[]", default=c.ints([i % 2 for i in corners]))

    def red(c, mesh):
        output = len(c.paths) + 5
        material = c.prim(0, "Red", "Material", primChildren=c.names(["s"]), displayName=c.text("Red one"))
        c.attribute(material, "outputs:surface", "token", connectionPaths=c.linked(output))
        shader = c.prim(material, "s", "Shader")
        c.attribute(shader, "info:id", "token", default=c.name("UsdPreviewSurface"))
        c.attribute(shader, "inputs:diffuseColor", "color3f", default=INSIDE | 24 << 48 | 0x000001)
        c.attribute(shader, "outputs:surface", "token")
        c.add(8, mesh, "material:binding", targetPaths=c.linked(material))

    def samples(c):
        times = c.at(48, struct.pack("<Q2d", 2, 1, 2))
        word = c.floats(24, POINTS)
        start = len(c.out)
        c.out += struct.pack("<qQqQQQ", 8, times, 8, 2, word, word)
        return 46 << 48 | start

    def moving(c, mesh):
        path = next(path for path in c.paths if path[0] == mesh and c.tokens[-path[1]] == "points")
        c.fields[c.sets[path[3] + 1]] = (c.token("timeSamples"), samples(c))

    def shared(c, mesh):
        # A million times 7 more: 250,000 bytes of 0 as one match.
        run = b"\0\x5f" + struct.pack("<ixH", 7, 1) + b"\xff" * 980 + b"\x4b\x50" + bytes(5)
        word = c.at(3, struct.pack("<QQ", 1000000, len(run)) + run, LIST | PACKED)
        for k in range(4):
            c.attribute(mesh, f"a{k}", "int[]", default=word)

    table = b"t" + struct.pack("<I2f", 2, 0, 1) + integers([0] * 24)
    whole = crate()
    every("usdc", {
        "plain": whole,
        "old": crate(lambda c, mesh: [replace(*of)(c, mesh) for of in (
            ("points", lambda c: c.at(24, struct.pack("<II12f", 1, 4, *[x for p in POINTS for x in p]), LIST)),
            ("faceVertexCounts", lambda c: c.at(3, struct.pack("<II4i", 1, 4, 3, 3, 3, 3), LIST)),
            ("faceVertexIndices", lambda c: c.at(3, struct.pack("<II12i", 1, 12, *corners), LIST)),
        )], version=4),
        "packed": crate(replace("faceVertexIndices", lambda c: c.ints(corners * 2, True))),
        "table": crate(lambda c, mesh: c.attribute(mesh, "t", "float[]", default=c.at(8, struct.pack("<Q", 24) + table, LIST | PACKED))),
        "coordinates": crate(coordinates),
        "material": crate(red, children=("m", "Red")),
        "samples": crate(moving),
        "up": crate(layer=lambda c: {"upAxis": c.name("Z")}),
        "unknown-kind": crate(lambda c, mesh: c.attribute(mesh, "u", "u", default=LIST | 99 << 48 | 88)),
        "index-out-of-range": crate(replace("faceVertexIndices", lambda c: c.ints([9, *corners[1:]]))),
        "bad-version": crate(version=3),
        "bad-later-version": crate(version=99),
        "bad-cut": whole[:-40],
        "bad-start": whole[:60],
        "bad-shared": crate(shared),
        "bad-count": crate(replace("points", lambda c: c.at(24, struct.pack("<Q", 1 << 60), LIST))),
        "bad-packed-count": crate(replace("points", lambda c: c.at(8, struct.pack("<Q", 1 << 60), LIST | PACKED))),
        "bad-place": crate(replace("points", lambda c: LIST | 24 << 48 | 1 << 40)),
        "bad-round": crate(places=[0, 1, 1, 2, 3, 4]),
        "bad-jump": crate(jumps=[-1, 2000, 0, 0, 0, -2]),
        "bad-name": crate(replace("subdivisionScheme", lambda c: INSIDE | 11 << 48 | 4000)),
    })


def usdz():
    text = (HERE / "usda" / "plain").read_bytes()
    picture = png(2, 2)

    def packed(*files, method=zipfile.ZIP_STORED):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            for name, data in files:
                archive.writestr(zipfile.ZipInfo(name), data, method)
        return out.getvalue()

    def drawn(file):
        texture = f"def Shader \"t\" {{\nuniform token info:id = \"UsdUVTexture\"\nasset inputs:file = @{file}@\n}}\n"
        red = (HERE / "usda" / "material").read_text()
        color = "inputs:diffuseColor = (1, 0, 0)"
        assert color in red
        return red.replace(color, "inputs:diffuseColor.connect = </Red/t.outputs:rgb>")[:-2] + texture + "}\n"

    whole = packed(("a.usda", text))
    every("usdz", {
        "plain": whole,
        "binary": packed(("a.usdc", crate())),
        "binary-usd": packed(("a.usd", crate())),
        "picture": packed(("a.usda", drawn("./a.png")), ("a.png", picture)),
        "picture-in-a-folder": packed(("in/a.usda", drawn("maps/a.png")), ("in/maps/a.png", picture)),
        "picture-missing": packed(("a.usda", drawn("a.png"))),
        "picture-above": packed(("in/a.usda", drawn("../../../a.png")), ("a.png", picture)),
        "others-first": packed(("a.txt", b"a"), ("a.usda", text), ("b.usda", b"")),
        "bad-no-layer": packed(("a.obj", OBJ)),
        "bad-no-file": packed(),
        "bad-packed": packed(("a.usda", text), method=zipfile.ZIP_DEFLATED),
        "bad-cut": whole[:-30],
        "bad-list": whole[:-6] + b"\xff\xff\xff\x7f\0\0",
        "bad-layer": packed(("a.usda", b"#usda 1.0\n)")),
        "bad-in-itself": packed(("a.usd", whole)),
    })


def fbx():
    """Text only, made of the parts of one scene; the sample in crates/core/src/mesh/fbx.rs has more."""
    head = "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n    FBXHeaderVersion: 1003\n    FBXVersion: 7400\n}\n"
    numbers = lambda name, all: f"        {name}: *{len(all)} {{\n            a: {','.join(map(str, all))}\n        }}\n"
    points = numbers("Vertices", [x for p in POINTS for x in p])
    corners = numbers("PolygonVertexIndex", [i for a, b, c in FACES for i in (a, b, -c - 1)])
    geometry = lambda more="": f"    Geometry: 10, \"Geometry::a\", \"Mesh\" {{\n{points}{corners}{more}    }}\n"
    scale = "        Properties70:  {\n            P: \"Lcl Scaling\", \"Lcl Scaling\", \"\", \"A\",-1,2,3\n        }\n"
    model = lambda more="", number=20: f"    Model: {number}, \"Model::a\", \"Mesh\" {{\n        Version: 232\n{more}    }}\n"
    red = "    Material: 30, \"Material::Red\", \"\" {\n        Version: 102\n        ShadingModel: \"lambert\"\n    }\n"
    whole = lambda objects, *links: (
        head + f"Objects:  {{\n{objects}}}\nConnections:  {{\n"
        + "".join(f"    C: \"OO\",{a},{b}\n" for a, b in links) + "}\n"
    )
    one = whole(geometry() + model(), (20, 0), (10, 20))
    every("fbx", {
        "plain": one,
        "scaled": whole(geometry() + model(scale), (20, 0), (10, 20)),
        "twice": whole(geometry() + model() + model(number=21), (20, 0), (21, 0), (10, 20), (10, 21)),
        "material": whole(geometry() + model() + red, (20, 0), (10, 20), (30, 20)),
        "crlf": one.replace("\n", "\r\n"),
        "comments": one.replace("Objects:", "; what is there\nObjects:"),
        "inches": one.replace("Objects:", "GlobalSettings:  {\n    Properties70:  {\n        P: \"UnitScaleFactor\", "
                              "\"double\", \"Number\", \"\",2.54\n    }\n}\nObjects:"),
        "bad-empty": "",
        "bad-no-objects": head,
        "bad-no-model": whole(geometry()),
        "bad-not": "nothing of the kind",
        "bad-binary-cut": b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0",
        "bad-binary-huge": b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0" + b"\xff" * 64,
    })

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
    one = '[[body]]\nfile = "builtin:box"\nlevel = 5\n'
    fracture = lambda text: one + "[body.fracture]\n" + text
    broken = one + """[[break]]
body = 0
point = [0.0, 0.1, 0.0]
direction = [0.0, -1.0, 0.0]
joined = [[0, 1]]
fracture = { seeds = 6, rng = 3 }
[[break]]
of = 0
part = 2
point = [0.1, 0.0, 0.0]
direction = [1.0, 0.0, 0.0]
fracture = { seeds = 2 }
[[pose]]
of = 0
part = 1
position = [0.0, 0.5, 0.0]
rotation = [0.0, 0.0, 0.0, 1.0]
linear_velocity = [1.0, 0.0, 0.0]
asleep = true
hidden = true
locked = true
[[deleted]]
of = 1
part = 0
"""
    files = {
        "broken": broken,
        "projectile": one + '[[event]]\nkind = "projectile"\ntime = 0.1\n[event.body]\nfile = "builtin:sphere"\nlevel = 4\n'
        + "linear_velocity = [0.0, 0.0, -9.0]\nposition = [0.0, 1.0, 3.0]\n",
        "pinned": one + "[pinned]\nbody = 0\npoint = [0.0, 0.5, 0.0]\ndirection = [0.0, -1.0, 0.0]\n",
        "view": one + '[view]\ncolor_by = "Crack"\nexplode = 0.25\n',
        "names": '"name" = "ü\\u0000\\n\\"x"\n' + one,
        "contacts": 'contacts = "octree"\nresponse = "impulse"\nsleeping = false\nfloor = false\nsubsteps = 64\n' + one,
        "adaptive": "[adaptive_level]\nnear = 5.0\nmost = 2\n" + one,
        "fallback": '[[body]]\nfile = "not/here.obj"\nfallback = "builtin:statue"\nlevel = 4\nup = "minus-z"\n',
        "same-body-many-times": one * 40,
        "pieces": fracture("target_pieces = 30\nlocal = 0.3\n"),
        "dusty": fracture('surface = "dusty"\n[body.fracture.crack.dusty]\nwidth = 2.0\nirregularity = 0.1\n'),
        "rings": fracture('preset = "radial"\nradii = [0.1, 0.2]\ncounts = [3, 4]\n'),
        "grain": fracture('preset = "grain"\ngrain_axis = [1.0, 1.0, 0.0]\ngrain_ratio = 9.0\n'),
        "inward": fracture('preset = "inward"\nblow_strength = 1.0\nkeep = [0, 1, 5]\n'),
        "method": fracture('method = "box-cut"\noptions = { voxel_level = 5.0 }\n'),
        "smallest": fracture('smallest = { voxels = 9, fraction = 0.01, rule = "drop" }\n'),
        "interior": fracture('[body.fracture.interior]\nmaterial = "wood"\ncolor = "#a0b0c0"\nscale = 2.0\nseed = 9\n'),
        "preset-by-name": '[[body]]\nfile = "builtin:box"\npreset = "ceramic"\nfriction = 0.9\n',
        "pairs": '[[body]]\nname = "a"\nfile = "builtin:box"\nlevel = 5\n[[pair]]\nbodies = ["a", "a"]\nphysics_level = 3\n',
        "dotted-keys": 'camera.target = [0.0, 0.0, 0.0]\ncamera.distance = 1.0\ncamera.yaw = 0.0\ncamera.pitch = 0.0\n'
        "camera.fov_y = 1.0\n" + one,
        "crlf": body.replace("\n", "\r\n"),
    }
    extremes = {
        "dt": ("dt = 0.00001", "dt = 0.0"), "substeps": ("substeps = 1", "substeps = 65"),
        "gravity": ("gravity = [0, 0, 0]", "gravity = [inf, 0.0, nan]"),
        "floor-height": ("floor_height = -1e6", "floor_height = 1e7"),
        "units": ("meters_per_unit = 1e-9", "meters_per_unit = -1.0"),
        "generations": ("break_generations = 0", "break_generations = -1"),
        "bodies": ("break_pieces = 100000", "break_pieces = 100001"),
        "walls": ("walls = { low = [-1, 0, -1], high = [1, 2, 1] }", "walls = { low = [1, 0, 1], high = [-1, 2, -1] }"),
    }
    for name, (sound, bad) in extremes.items():
        files[f"extreme-{name}"] = sound + "\n" + one
        files[f"bad-{name}"] = bad + "\n" + one
    for name, line in {
        "level": "level = 13", "level-zero": "level = 0", "size": "size = 0.0", "density": "density = nan",
        "friction": "friction = -1.0", "rotation": "rotation = [0.0, 0.0, 0.0, 0.0]", "position": "position = [nan, 0.0, 0.0]",
        "threshold": "break_threshold = -1.0", "misspelt": "densitty = 1.0", "physics-level": "level = 3\nphysics_level = 9",
        "preset": 'preset = "no such material"', "up": 'up = "w"', "type": "level = \"five\"",
    }.items():
        files[f"bad-body-{name}"] = '[[body]]\nfile = "builtin:box"\n' + line + "\n"
    for name, line in {
        "seeds": "seeds = 8193", "radii": "radii = [-1.0]", "rng": "rng = -1", "counts": "radii = [0.1]\ncounts = [1, 2]",
        "method": 'method = "hammer"', "options": 'options = { hardness = 1.0 }', "colour": 'interior = { color = "red" }',
        "keep": "seeds = 3\nkeep = [9]", "target": "target_pieces = 0", "transition": "crack = { transition_level = 40 }",
    }.items():
        files[f"bad-fracture-{name}"] = fracture(line + "\n")
    files |= {
        "bad-no-file": "[[body]]\nlevel = 5\n",
        "bad-not-toml": "body = [\n",
        "bad-event-of-no-kind": one + "[[event]]\ntime = 1.0\n",
        "bad-event-time": one + '[[event]]\nkind = "impact"\ntime = nan\npoint = [0, 0, 0]\ndirection = [0, 1, 0]\n',
        "bad-direction": one + '[[event]]\nkind = "impact"\ntime = 1.0\npoint = [0, 0, 0]\ndirection = [0, 0, 0]\n',
        "bad-pair-of-nobody": one + '[[pair]]\nbodies = ["x", "y"]\nphysics_level = 3\n',
        "bad-break-of-later": one + "[[break]]\nof = 5\npoint = [0, 0, 0]\ndirection = [0, 1, 0]\nfracture = {}\n",
        "bad-break-of-nobody": one + "[[break]]\nbody = 9\npoint = [0, 0, 0]\ndirection = [0, 1, 0]\nfracture = {}\n",
        "bad-deep": "a = " + "[" * 3000,
        "bad-deep-tables": "[" + "a." * 3000 + "a]\n",
        "bad-twice": "dt = 0.01\ndt = 0.02\n" + one,
        "bad-camera-half": "camera = { distance = 1.0 }\n" + one,
    }
    every("scene", files)
    # A session is a scene file, read from a folder.
    every("session", {name: text for name, text in files.items() if not name.startswith(("bad-fracture", "extreme"))}
          | {"short": '[[body]]\nfile = "builtin:vase"\n', "long": body,
             "bad-not-text": b"\xff\xfe\x00", "file-beside": '[[body]]\nfile = "a.obj"\nlevel = 4\n',
             "file-elsewhere": '[[body]]\nfile = "../a.obj"\nfallback = "/b.obj"\n',
             "seeds-file": fracture('seeds_file = "seeds.txt"\n')})


def seeds():
    every("seeds", {
        "text": "# x y z\n1 2 3\n-1.5, 0, 2e1  # the last\n0 0 0\n",
        "commas": "1,2,3\n4,5,6\n", "tabs": "1\t2\t3\n", "semicolons-in-comments": "1 2 3 # ; 4\n", "crlf": "1 2 3\r\n4 5 6\r\n",
        "blank-lines": "\n\n1 2 3\n\n\n", "exponents": "1e-300 -1e300 +1E0\n", "many": lines([(k, k, k) for k in range(300)]),
        "bad-two": "1 2\n", "bad-four": "1 2 3 4\n", "bad-nan": "nan 0 0\n", "bad-infinite": "1e999 0 0\n",
        "bad-words": "a b c\n", "bad-empty": "", "bad-only-comments": "# 1 2 3\n", "bad-not-text": b"\xff\xfe1 2 3\n",
        "bad-hexadecimal": "0x1 0x2 0x3\n", "bad-a-secret": "root:x:0:0:root:/root:/bin/sh\n",
    })

    def array(kind, shape, data, order="False", version=1, tail=", "):
        head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s%s}" % (kind, order, shape, tail)
        start = 10 if version == 1 else 12
        head += " " * (-(len(head) + start + 1) % 64) + "\n"
        length = struct.pack("<H" if version == 1 else "<I", len(head))
        return b"\x93NUMPY" + bytes([version, 0]) + length + head.encode() + data

    nine = (1, 2, 3, -1.5, 0, 20, 0, 0, 0)
    whole = array("<f8", "(3, 3)", struct.pack("<9d", *nine))
    every("npy", {
        "float64": whole,
        "float32": array("<f4", "(3, 3)", struct.pack("<9f", *nine)),
        "bytes-after": whole + b"1234",
        "no-last-comma": array("<f8", "(3, 3)", struct.pack("<9d", *nine), tail=""),
        "one-seed": array("<f8", "(1, 3)", struct.pack("<3d", 1, 2, 3)),
        "bad-fortran": array("<f8", "(3, 3)", struct.pack("<9d", *nine), "True"),
        "bad-big-endian": array(">f8", "(3, 3)", struct.pack(">9d", *nine)),
        "bad-integers": array("<i8", "(3, 3)", struct.pack("<9q", *map(int, nine))),
        "bad-objects": array("|O", "(3, 3)", b"cos\nsystem\n"),
        "bad-flat": array("<f8", "(9,)", struct.pack("<9d", *nine)),
        "bad-huge": array("<f8", "(18446744073709551615, 3)", b""),
        "bad-none": array("<f8", "(0, 3)", b""),
        "bad-short": whole[:-8],
        "bad-nan": array("<f8", "(1, 3)", struct.pack("<3d", float("nan"), 0, 0)),
        "bad-head-length": whole[:8] + b"\xff\xff" + whole[10:],
        "bad-magic": b"\x93NUMPX" + whole[6:],
        "bad-empty": b"",
    })


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_head(width, height, depth=8, colour=6, interlace=0):
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head)


def png(width, height, colour=6, texts=(), depth=8):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    row = lambda y: b"\0" + bytes((x * 37 + y * 11) % (3 if colour == 3 else 256)
                                   for x in range((width * channels * depth + 7) // 8))
    palette = png_chunk(b"PLTE", bytes(range(9))) + png_chunk(b"tRNS", b"\x80") if colour == 3 else b""
    international = lambda key, text: png_chunk(b"iTXt", key.encode() + b"\0\0\0\0\0" + text.encode())
    pixels = zlib.compress(b"".join(map(row, range(height))))
    notes = b"".join(international(*text) for text in texts)
    return png_head(width, height, depth, colour) + palette + notes + png_chunk(b"IDAT", pixels) + png_chunk(b"IEND", b"")


def jpeg():
    """Eight by eight grey pixels: tables of one code each, all coefficients zero."""
    segment = lambda marker, data: b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
    one_code = lambda kind: bytes([kind, 1] + [0] * 15 + [0])
    return (b"\xff\xd8" + segment(0xDB, b"\0" + b"\x01" * 64) + segment(0xC0, struct.pack(">BHHB", 8, 8, 8, 1) + b"\x01\x11\0")
            + segment(0xC4, one_code(0)) + segment(0xC4, one_code(0x10)) + segment(0xDA, b"\x01\x01\0\0\x3f\0") + b"\x3f\xff\xd9")


JPEG = jpeg()


def bmp(width=2, height=2):
    rows = b"".join((b"\x01\x02\x03" * width).ljust((3 * width + 3) // 4 * 4, b"\0") for _ in range(height))
    return struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + len(rows), 0, 0, 54, 40, width, height, 1, 24, 0, len(rows), 0, 0, 0, 0) + rows


def tga(width=2, height=2, kind=2, bits=24):
    head = struct.pack("<BBBHHBHHHHBB", 0, 0, kind, 0, 0, 0, 0, 0, width, height, bits, 0)
    pixels = b"\x01\x02\x03\x04"[: bits // 8] * (width * height)
    return head + (bytes([0x80 | (width * height - 1)]) + pixels[: bits // 8] if kind == 10 else pixels)


def folders():
    textured = "mtllib a.mtl\n" + OBJ_POINTS + "vt 0 0\nvt 1 0\nvt 0 1\nvt 9 -9\nusemtl one\nf 1/1 3/3 2/2\nf 1/1 2/2 4/4\n" \
        "usemtl two\nf 1/1 4/4 3/3\nf 2/2 3/3 4/4\n"
    library = lambda first, second="Kd 0 1 0": f"newmtl one\n{first}\nnewmtl two\n{second}\n"
    made = lambda first, *files, second="Kd 0 1 0": bundle(("a.obj", textured), ("a.mtl", library(first, second)), *files)
    options = "-s 2 2 2 -o 0.5 0 0 -clamp on -bm 1 -mm 0 1 -blendu off a b.png"
    pictures = {
        "png": png(4, 4), "png-grey": png(5, 3, 0), "png-rgb": png(3, 5, 2), "png-palette": png(4, 4, 3),
        "png-grey-alpha": png(2, 2, 4), "png-16-bits": png(2, 2, 6, depth=16), "png-one-bit": png(9, 2, 0, depth=1),
        "png-interlaced-head": png_head(4, 4, interlace=1), "png-cut": png(4, 4)[:70], "png-no-pixels": png_head(4, 4),
        "png-huge": png_head(30000, 30000), "png-of-no-width": png_head(0, 4), "png-bad-colour": png_head(4, 4, 3, 7),
        "jpeg": JPEG, "jpeg-cut": JPEG[:100], "jpeg-huge": JPEG.replace(struct.pack(">BHH", 8, 8, 8), struct.pack(">BHH", 8, 65535, 65535)),
        "bmp": bmp(), "bmp-cut": bmp()[:56], "bmp-upside-down": bmp(2, 2)[:22] + struct.pack("<i", -2) + bmp()[26:],
        "tga": tga(), "tga-runs": tga(kind=10), "tga-alpha": tga(bits=32), "tga-grey": tga(kind=3, bits=8),
        "no-picture": b"not a picture", "empty": b"",
    }
    files = {f"picture-{name}": made("Kd 1 0 0\nmap_Kd a.png", ("a.png", data)) for name, data in pictures.items()}
    endings = {"jpg": JPEG, "bmp": bmp(), "tga": tga(), "TGA": tga(), "PNG": png(2, 2), "webp": b"RIFF", "": png(2, 2)}
    files |= {f"ending-{name or 'none'}": made(f"map_Kd a.{name}", (f"a.{name}", data)) for name, data in endings.items()}
    files |= {
        "plain": bundle(("a.obj", OBJ)),
        "no-library": bundle(("a.obj", textured)),
        "library-of-nothing": bundle(("a.obj", textured), ("a.mtl", "")),
        "colours": made("Ka 1 1 1\nKd 0.5 0.25 1.5\nKs 0 0 0\nNs 10\nd 0.5\nTr 0.5\nillum 2\nNi 1.5"),
        "colours-odd": made("Kd", second="Kd nan inf -1"),
        "colours-spectral": made("Kd spectral a.rfl 1", second="Kd xyz 1 1 1"),
        "options": made("map_Kd " + options, ("a b.png", png(2, 2))),
        "blanks": made("map_Kd a b.png", ("a b.png", png(2, 2))),
        "backslashes": made("map_Kd sub\\a.png", ("sub/a.png", png(2, 2))),
        "folder-below": bundle(("a.obj", textured.replace("a.mtl", "sub/a.mtl")), ("sub/a.mtl", library("map_Kd a.png")),
                               ("sub/a.png", png(2, 2))),
        "two-libraries": bundle(("a.obj", textured.replace("a.mtl", "a.mtl b.mtl")), ("a.mtl", "newmtl one\nKd 1 0 0\n"),
                                ("b.mtl", "newmtl two\nKd 0 0 1\n"), ("a.mtl b.mtl", library("Kd 1 1 1"))),
        "twice-the-name": made("Kd 1 0 0\nnewmtl one\nKd 0 1 0"),
        "shared-picture": made("map_Kd a.png", ("a.png", png(2, 2)), second="map_Kd a.png"),
        "other-maps": made("map_Ka a.png\nmap_bump a.png\nbump -bm 1 a.png\nmap_d a.png\ndisp a.png\nnorm a.png\nmap_Pr a.png\nrefl -type sphere a.png",
                           ("a.png", png(2, 2))),
        "outside": made("map_Kd ../../../../etc/hostname", second="map_Kd /etc/hostname"),
        "a-folder-for-a-picture": made("map_Kd sub", ("sub/a.png", png(2, 2))),
        "its-own-mesh": made("map_Kd a.obj", second="map_Kd a.mtl"),
        "not-utf-8": bundle(("a.obj", textured), ("a.mtl", b"newmtl one\nmap_Kd \xff\xfe.png\n# \x80\nnewmtl \xff\n")),
        "zero-bytes": bundle(("a.obj", textured), ("a.mtl", b"newmtl one\0\nKd 1 0 0\0\n")),
        "many-materials": bundle(("a.obj", "mtllib a.mtl\n" + OBJ_POINTS + "".join(f"usemtl m{k}\nf 1 3 2\n" for k in range(80)) + OBJ_FACES),
                                 ("a.mtl", "".join(f"newmtl m{k}\nKd 0.{k} 0 0\nmap_Kd a.png\n" for k in range(80))), ("a.png", png(2, 2))),
        "bad-no-such-file": b"--- a.obj",
        "bad-another-kind": bundle(("a.mtl", library("Kd 1 0 0"))),
        "bad-no-faces": bundle(("a.obj", OBJ_POINTS + "mtllib a.mtl\n"), ("a.mtl", library("Kd 1 0 0"))),
        "bad-no-bundle": OBJ,
    }
    every("obj_folder", files)
    root, data = gltf_root()
    outside = changed(root, ["buffers", 0, "uri"], "a.bin")
    image = lambda uri: changed(changed(changed(outside, ["images"], [{"uri": uri}]), ["textures"], [{"source": 0, "sampler": 0}]),
                                ["materials", 0, "pbrMetallicRoughness", "baseColorTexture"], {"index": 0})
    with_picture = lambda uri, name, bytes: bundle(("a.gltf", json.dumps(image(uri))), ("a.bin", data), (name, bytes))
    every("gltf_folder", {f"picture-{name}": with_picture("a.png", "a.png", bytes) for name, bytes in pictures.items()} | {
        "plain": bundle(("a.gltf", json.dumps(outside)), ("a.bin", data)),
        "percent": bundle(("a.gltf", json.dumps(changed(root, ["buffers", 0, "uri"], "a%20b.bin"))), ("a b.bin", data)),
        "picture-below": with_picture("sub/a.png", "sub/a.png", png(2, 2)),
        "picture-outside": with_picture("../../a.png", "a.png", png(2, 2)),
        "picture-percent": with_picture("%2e%2e/a.png", "a.png", png(2, 2)),
        "picture-in-a-view": bundle(("a.gltf", json.dumps(changed(image("x"), ["images"], [{"bufferView": 2, "mimeType": "image/png"}]))),
                                    ("a.bin", data)),
        "bad-binary-that-names-a-file": bundle(("a.glb", binary(image("a.png"), data)), ("a.png", png(2, 2))),
        "bytes-after": bundle(("a.gltf", json.dumps(outside)), ("a.bin", data + b"more")),
        "bad-buffer-missing": bundle(("a.gltf", json.dumps(outside))),
        "bad-buffer-short": bundle(("a.gltf", json.dumps(outside)), ("a.bin", data[:30])),
        "bad-buffer-outside": bundle(("a.gltf", json.dumps(changed(root, ["buffers", 0, "uri"], "../../../etc/hostname")))),
        "bad-buffer-of-another-computer": bundle(("a.gltf", json.dumps(changed(root, ["buffers", 0, "uri"], "//server/a.bin")))),
        "bad-buffer-by-name-of-its-own": bundle(("a.gltf", json.dumps(changed(root, ["buffers", 0, "uri"], "a.gltf")))[:60]),
    })


def presets():
    whole = """name = "Ceramic"
about = "A fired pot"
density = 2200.0
friction = 0.5
restitution = 0.2
rolling_resistance = 0.2
break_threshold = 3.5
[fracture]
preset = "spheres"
seeds = 40
radii = [0.1, 0.25, 0.5, 0.9]
surface = "rough"
[fracture.crack.noise]
amplitude = 0.5
frequency = 48
octaves = 2
[fracture.interior]
material = "clay"
"""
    files = {"whole": whole, "name": 'name = "x"\n', "letters": 'name = "äöü 💥"\n', "crlf": whole.replace("\n", "\r\n"),
             "own-of-a-blow": 'name = "x"\n[fracture]\nrng = 7\nkeep = [1, 2]\nseeds_file = "a.txt"\nlabelling = "iterative"\n'}
    for name, line in {
        "dusty": 'surface = "dusty"\ncrack = { dusty = { width = 3.0 } }', "pieces": "target_pieces = 12", "local": "local = 0.2",
        "radial": 'preset = "radial"\ncounts = [1, 2, 3, 4]', "grain": 'preset = "grain"\ngrain_ratio = 3.0',
        "clustered": 'preset = "clustered"\nclusters = 3\nspread = 0.2', "uniform": 'preset = "uniform"\nseeds = 1',
        "inward": 'preset = "inward"\nblow_strength = 0.0', "box-cut": 'method = "box-cut"\noptions = { voxel_level = 4.0 }',
        "smallest": "smallest = { fraction = 0.1 }", "interior": 'interior = { material = "marble", color = "#fff000", seed = 3 }',
        "transition": "crack = { transition_level = 12 }", "sides": 'surface = "rough"\ncrack = { sides = "votes", offset = "balance" }',
        "level": "island_level = 12",
    }.items():
        files[f"fracture-{name}"] = f'name = "x"\n[fracture]\n{line}\n'
    for name, line in {
        "density": "density = -1.0", "friction": "friction = inf", "restitution": "restitution = 2.0", "threshold": "break_threshold = nan",
        "misspelt": "densitty = 1.0", "seeds": "fracture = { seeds = 0 }", "radii": "fracture = { radii = [nan] }",
        "method": 'fracture = { method = "saw" }', "colour": 'fracture = { interior = { color = "#12" } }', "type": "fracture = 3",
        "deep": "fracture = " + "[" * 2000,
    }.items():
        files[f"bad-{name}"] = f'name = "x"\n{line}\n'
    every("preset", files | {"bad-empty": "", "bad-no-name": 'name = " "\n', "bad-long-name": f'name = "{"x" * 61}"\n',
                             "bad-control": 'name = "a\\u0007b"\n', "bad-not-toml": "name = \n"})


def jobs():
    one = 'meshes = ["builtin:box"]\n'
    every("jobs", {
        "one": one,
        "grid": one + 'levels = [4, 5]\nrng = [1, 2, 3]\nup = "z"\n[fracture]\nsurface = "dusty"\n[grid]\nseeds = [2, 4]\n'
        "crack.dusty.width = [1, 2]\nradii = [[0.1, 0.3], [0.2]]\n",
        "single": 'generations = 2\nimpact = [0, 1, 0.2]\ndirection = [0, 0, -1]\n[[job]]\nmesh = "a.obj"\nlevel = 3\nrng = 9\n'
        "fracture = { seeds = 3 }\n[[job]]\nmesh = 'builtin:vase'\n",
        "shared-and-own": '[fracture]\nseeds = 5\n[fracture.crack]\nstrength = 0.5\n[[job]]\nmesh = "x"\n[job.fracture.crack.noise]\noctaves = 3\n',
        "methods": one + '[grid]\nmethod = ["octree", "box-cut"]\noptions.voxel_level = [4.0]\n',
        "same-mesh-twice": 'meshes = ["builtin:box", "builtin:box"]\nrng = [1, 1, 1]\n',
        "formula": 'meshes = ["=1+1", "@x", "-y"]\n',
        "lists-of-lists": one + "[grid]\ncounts = [[1, 2, 3, 4], [4, 3, 2, 1]]\n",
        "many": one + f"rng = {list(range(900))}\n",
        "numbers-large": one + "rng = [9223372036854775807]\nlevels = [4294967295]\n",
        "bad-empty": "", "bad-no-mesh": "levels = [4]\n", "bad-misspelt": one + "level = [4]\n",
        "bad-grid-empty": one + "[grid]\nseeds = []\n", "bad-grid-value": one + "[grid]\nseeds = 3\n",
        "bad-rng-twice": one + "rng = [1]\nfracture = { rng = 2 }\n", "bad-method": one + '[grid]\nmethod = ["saw"]\n',
        "bad-too-many": one + "".join(f"grid.options.o{k} = [1, 2, 3]\n" for k in range(40)),
        "bad-product": 'meshes = ["a", "b"]\n' + "".join(f"grid.a{k} = {list(range(100))}\n" for k in range(12)),
        "bad-type": one + 'levels = ["four"]\n', "bad-negative": one + "rng = [-1]\n",
        "bad-not-text": b"\xff\xfe", "bad-deep": "grid." + "a." * 2000 + "a = [1]\n", "bad-deep-lists": "meshes = " + "[" * 3000,
        "bad-job-without-mesh": "[[job]]\nlevel = 3\n", "bad-seeds": one + "fracture = { seeds = -1 }\n",
    })


def small():
    """Cameras, settings, the memory of imports."""
    camera = {"target": [0, 0.5, 0], "distance": 2, "yaw": 0.5, "pitch": 0.2, "fov_y": 0.6}
    change = lambda **new: json.dumps(camera | new)
    every("camera", {
        "whole": json.dumps(camera), "indented": json.dumps(camera, indent=2), "bad-more-fields": change(roll=1),
        "far": change(distance=1e30, target=[1e30, -1e30, 0]), "near": change(distance=1e-30, fov_y=0.01), "wide": change(fov_y=3),
        "exponents": json.dumps(camera).replace("0.5", "5e-1"), "blank-before": "\n\t " + json.dumps(camera),
        "bad-distance": change(distance=-2), "bad-no-distance": change(distance=0), "bad-fov": change(fov_y=4), "bad-fov-zero": change(fov_y=0),
        "bad-large": change(yaw=0).replace('"yaw": 0', '"yaw": 1e400'), "bad-null": change(pitch=None), "bad-two": change(target=[0, 1]),
        "bad-text": change(yaw="left"), "bad-empty": "", "bad-half": json.dumps({"yaw": 1}), "bad-list": "[1, 2, 3]",
        "bad-deep": '{"target":' + "[" * 3000, "bad-not-text": b"{\xff\xfe}", "bad-twice": '{"yaw":1,' + json.dumps(camera)[1:],
    })
    every("settings", {
        "blender": 'keymap = "blender"\n', "maya": 'keymap = "maya"\n', "more": 'keymap = "maya"\nother = 3\n[a]\nb = 1\n',
        "crlf": '# mine\r\nkeymap = "blender"\r\n', "bad-other": 'keymap = "emacs"\n', "bad-empty": "", "bad-number": "keymap = 3\n",
        "bad-deep": "keymap = " + "[" * 3000, "bad-not-text": b"\xff\xfe", "bad-own": 'keymap = "kintsugi"\n', "bad-twice": 'keymap = "maya"\n' * 2,
    })
    memory = lambda up="z", size="2.5", more="": f'["/"]\nup = "{up}"\nsize = {size}\n{more}'
    every("imports", {
        "whole": memory(), "others": memory(more='["/a b.obj"]\nup = "x"\nsize = 1.0\n'), "up-alone-counts": memory("minus-x", "0.0"),
        "size-huge": memory("x", "1e300"), "size-nan": memory("x", "nan"), "size-infinite": memory("y", "2.5"), "whole-number": memory("y", "3"),
        "many": memory(more="".join(f'["/{k}"]\nup = "y"\nsize = {k}.5\n' for k in range(200))),
        "bad-up": memory("w"), "bad-text": memory("z", '"big"'), "bad-half": '["/"]\nup = "z"\n', "bad-empty": "", "bad-not-text": b"\xff",
        "bad-other": '["/a"]\nup = "z"\nsize = 1.0\n', "bad-deep": '["/"]\nup = ' + "[" * 3000, "bad-same": memory("y", "1.0"),
    })


def repeated():
    """What `repeat` reads: reports, pictures, scenes."""
    report = lambda *command, **more: json.dumps({"provenance": {"commit": "x", "command": ["kintsugi", *command]}, **more})
    alone = lambda *command, **more: bundle(("report.json", report(*command, **more)))
    break_ = ("fracture", "builtin:vase", "--level", "4", "--seeds", "5", "--out", "a")
    old = {"input": {"file": "builtin:vase"}, "parameters": {
        "level": 4, "rng": 1, "seeds": 5, "impact": {"point": [0, 1, 0], "direction": [0, 0, -1]}, "method": "octree",
        "radii": [0.1], "counts": [5], "surface": "rough", "options": {"voxel_level": 4}, "interior": {"material": "clay"},
        "smallest": {"voxels": 2, "rule": "merge"}, "crack": {"noise": {"octaves": 2}}}, "provenance": {"commit": "x", "command": []}}
    scene_text = '[[body]]\nfile = "builtin:box"\nlevel = 4\n'
    signed = lambda made, scene="": png(3, 2, texts=[("kintsugi:provenance", json.dumps(made)), ("kintsugi:scene", scene)])
    made = lambda *command, **more: {"version": "0.1.0", "compute": "cpu", "adapter": "2", "commit": "x",
                                    "command": ["kintsugi", *command], **more}
    picture = lambda *files: bundle(*files)
    every("repeat", {
        "fracture": alone(*break_),
        "fracture-many-options": alone("fracture", "builtin:box", "--out=x", "--surface", "dusty", "--impact=-1,0,0", "--dust", "1,0.5",
                                       "--noise", "0.5,48,2", "--format", "glb,obj", "--mesh", "smooth", "--bonds", "--up", "z"),
        "simulate": alone("simulate", "builtin:box", "--seconds", "1", "--out", "b", "--fps", "30"),
        "bad-json": alone(*break_, "--json", "x.json", "--json-progress"),
        "old-report": bundle(("report.json", json.dumps(old))),
        "old-report-turned": bundle(("report.json", json.dumps(old | {"provenance": {"commit": "", "command": [], "up": "z"}}))),
        "exported": bundle(("report.json", json.dumps({"placed": "as_they_lie", "formats": ["glb", "obj"], "meshes": {"kind": "smooth"}})),
                           ("scene.toml", scene_text)),
        "exported-fitted": bundle(("scene.toml", scene_text), ("report.json", json.dumps({"placed": "fitted"}))),
        "scene": bundle(("a.toml", scene_text)),
        "render": picture(("a.png", signed(made("render", "builtin:vase", "--out", "a.png", "--size", "3x2")))),
        "render-camera": picture(("a.png", signed(made("render", "builtin:vase", "--out", "a.png", "--camera", '{"yaw":1}')))),
        "sheet": picture(("a.png", signed(made("sheet", "builtin:box", "--vary", "seeds=2,4", "--out=a.png")))),
        "compare": picture(("a.png", signed(made("compare", "builtin:box", "--picture", "a.png")))),
        "frame": picture(("a.png", signed(made("simulate", "builtin:box", "--out", "x", output="frames/0001.png")))),
        "tour": picture(("a.png", signed(made("builtin:box", "--level", "4", output="1.png")))),
        "window": picture(("a.png", signed(made(), scene_text))),
        "bad-empty": bundle(("report.json", "")), "bad-no-bundle": "{}", "bad-list": bundle(("report.json", "[]")),
        "bad-times": bundle(("report.json", json.dumps({"stages": []}))), "bad-deep": bundle(("report.json", "[" * 4000)),
        "bad-itself": alone("repeat", "report.json"), "bad-sweep": alone("sweep", "a.toml", "--out", "x"),
        "bad-option": alone(*break_, "--outside-references"), "bad-two-inputs": alone("fracture", "builtin:box", "builtin:vase", "--out", "x"),
        "bad-short-option": alone("fracture", "builtin:box", "-o", "x"), "bad-lacks-value": alone("fracture", "builtin:box", "--seeds"),
        "bad-other-computer": alone("fracture", "//server/a.obj", "--out", "x"), "bad-file": alone("fracture", "no-such.obj", "--out", "x"),
        "bad-seeds-file": alone("fracture", "builtin:box", "--seeds-file", "/no/such", "--out", "x"),
        "bad-no-input": alone("fracture", "--out", "x"), "bad-numbers": bundle(("report.json", '{"provenance":{"command":[1,2]}}')),
        "bad-exported-alone": bundle(("report.json", '{"placed":"fitted"}')),
        "bad-other-ending": bundle(("a.txt", "x")), "bad-no-picture": bundle(("a.png", "x")), "bad-unsigned": bundle(("a.png", png(2, 2))),
        "bad-cut": bundle(("a.png", signed(made("render", "builtin:vase", "--out", "a"))[:-60])),
        "bad-huge": bundle(("a.png", png_head(60000, 60000))),
        "bad-output": picture(("a.png", signed(made("simulate", "builtin:box", "--out", "x", output="../../a.png")))),
        "bad-output-root": picture(("a.png", signed(made("simulate", "builtin:box", "--out", "x", output="/a.png")))),
        "bad-tour-command": picture(("a.png", signed(made("bench", "x", output="1.png")))),
        "bad-window-scene": picture(("a.png", signed(made(), "[[body]]\n"))), "bad-nothing": picture(("a.png", signed(made()))),
        "bad-signature": picture(("a.png", png(2, 2, texts=[("kintsugi:provenance", "{" * 3000)]))),
        "bad-half": bundle(("report.json", "{")),
    })


def results():
    """Folders of results: `.kintsugi-files.json`, `.kintsugi-change.json`, a staging folder, files of somebody's own."""
    mark = lambda text: {"bytes": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    files = lambda **named: (".kintsugi-files.json", json.dumps({"version": "0.1.0", "files": named}))
    staging = ".being-written-999999-0"
    journal = lambda take=(), put=(), staging=staging: (
        ".kintsugi-change.json", json.dumps({"staging": staging, "take": dict(take), "put": list(put)}))
    new = lambda name, text: (f"{staging}/new/{name}", text)
    lock, mine = (f"{staging}/lock", ""), ("mine.txt", "of somebody")
    every("results", {
        "own-alone": bundle(mine),
        "list": bundle(files(**{"report.json": mark("old")}), ("report.json", "old"), mine),
        "list-changed": bundle(files(**{"report.json": mark("old")}), ("report.json", "edited")),
        "list-leads-out": bundle(files(**{"../outside.txt": mark("outside"), "/etc/hostname": mark(""), "a/../../x": mark("")}), mine),
        "list-of-nonsense": bundle((".kintsugi-files.json", "nonsense"), mine),
        "list-deep": bundle((".kintsugi-files.json", "[" * 4000), mine),
        "change-not-begun": bundle(journal({"report.json": mark("old")}, ["report.json", "a.obj"]), lock, new("report.json", "new"),
                                   new("a.obj", "v"), ("report.json", "old"), files(**{"report.json": mark("old")}), mine),
        "change-half-done": bundle(journal({"report.json": mark("old"), "b.obj": mark("b")}, ["report.json", "a.obj"]), lock,
                                   new("report.json", "new"), ("a.obj", "v"), (f"{staging}/old/report.json", "old"), ("b.obj", "b"), mine),
        "change-done": bundle(journal({}, ["report.json"]), lock, ("report.json", "new"), (f"{staging}/old/report.json", "old")),
        "change-over-somebody-s": bundle(journal({}, ["mine.txt", "report.json"]), lock, new("mine.txt", "new"), new("report.json", "r"), mine),
        "change-takes-what-was-edited": bundle(journal({"mine.txt": mark("other")}, []), lock, mine),
        "change-below": bundle(journal({"cells/a": mark("a")}, ["cells/b/c.obj"]), lock, new("cells/b/c.obj", "c"), ("cells/a", "a"), mine),
        "change-without-staging": bundle(journal({}, ["report.json"]), mine),
        "change-of-nothing": bundle(journal(), lock, mine),
        "change-of-names-that-are-missing": bundle(journal({"x": mark("x")}, ["y", "z/z"]), lock, mine),
        "change-of-the-list": bundle(journal({}, [".kintsugi-files.json"]), lock, new(".kintsugi-files.json", "{}"), files(), mine),
        "staging-left": bundle(lock, new("report.json", "half"), mine),
        "staging-of-an-earlier-version": bundle((f"{staging}/.before/mine.txt", "kept"), mine),
        "free-name-taken": bundle(journal({}, ["mine.txt"]), lock, new("mine.txt", "new"), mine, ("mine.before.txt", "kept before")),
        "bad-leads-out": bundle(journal({}, ["../outside.txt"]), lock, mine),
        "bad-takes-outside": bundle(journal({"../outside.txt": mark("outside")}, []), lock, mine),
        "bad-root": bundle(journal({}, ["/tmp/x"]), lock, mine),
        "bad-staging-out": bundle(journal({}, ["a"], "../x"), mine),
        "bad-staging-below": bundle(journal({}, ["a"], ".being-written-a/b"), mine),
        "bad-staging-other": bundle(journal({}, ["a"], "mine.txt"), mine),
        "bad-nonsense": bundle((".kintsugi-change.json", "nonsense"), mine),
        "bad-empty": bundle((".kintsugi-change.json", ""), mine),
        "bad-deep": bundle((".kintsugi-change.json", "[" * 4000), mine),
        "bad-folder-for-a-file": bundle(journal({}, ["sub"]), lock, new("sub", "x"), ("sub/mine.txt", "of somebody")),
        "bad-file-for-a-folder": bundle(journal({}, ["mine.txt/a"]), lock, new("mine.txt/a", "x"), mine),
        "bad-no-bundle": "{}",
    })


for make in (obj, ply, stl, off, gltf, vox, usda, usdc, usdz, fbx, scene, seeds, folders, presets, jobs, small, repeated, results):
    make()
