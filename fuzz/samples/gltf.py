"""glTF as JSON and as GLB."""

import base64
import json
import struct

from .common import FACES, JPEG, POINTS, every, png, png_head, write


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
    same = {"nodes": [{"mesh": 0} for _ in range(300)], "scenes": [{"nodes": list(range(300))}]}
    every("gltf", {
        "coincident": with_data(root | same),
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
