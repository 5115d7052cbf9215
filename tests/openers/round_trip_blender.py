#!/usr/bin/env python3
"""Breaks an object with materials, sends its pieces through Blender and back, and says what was lost on the way.

    python3 tests/openers/round_trip_blender.py KINTSUGI OUT [--blender /usr/bin/blender] [--bpy PYTHON]

The script makes a closed box of two materials, one of which has a map of every role, one factors alone. Kintsugi
breaks the box and writes GLB, USD, OBJ and PLY. Blender imports each format, exports it again, and exports as GLB
what it has, too. Kintsugi breaks what came back: all pieces as one file, and the largest piece alone. Compared are,
of Blender's GLB and of Kintsugi's second one, as far as a format carries them (`CARRIES`): names of pieces and
materials, factors, alpha and its limit, two sides, pixels of every map, texture coordinates (a linear function of
the place, which holds wherever a triangle is cut), areas by material, colours of points, axes and boxes, volumes.
Ends with 1 where something differs.

USD needs a Blender that has it: Debian's has not, so USD goes through `--bpy`, a Python with PyPI's `bpy` 4.2. Where
neither is there, or Kintsugi refuses USD, a line says that this part was left out.
"""

import argparse
import io
import json
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import readers

#: What of a material each format brings through Blender 3.4 (USD: 4.2) and back. Blender's exporters decide: MTL has
#: neither cut-out nor two sides, and no map of metal, roughness or occlusion (roughness and metal are in Ns and Ka);
#: PLY has points and colours alone.
CARRIES = {
    "glb": {"names", "base", "metallic", "roughness", "alpha", "cutoff", "sides", "emissive", "scale", "strength"}
    | {"map base", "map normal", "map metal", "map rough", "map occlusion", "map emissive", "uv", "area"},
    "obj": {"names", "base", "metallic", "roughness", "scale", "map base", "map normal", "map emissive", "uv", "area"},
    "usd": {"names", "base", "metallic", "roughness", "map base", "map normal", "map emissive", "uv", "area"},
    "ply": {"colour"},
}
#: Endings of what Blender exports.
ENDINGS = {"glb": "glb", "obj": "obj", "usd": "usda", "ply": "ply"}
#: u, v of GLB as a function of (x, y, z, 1).
COORDINATES = np.array([[0.31, 0.07, 0.11, 0.5], [0.05, -0.27, 0.13, 0.45]])
SIZE = (2.0, 1.2, 0.8)


# The input


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


# In Blender


def in_blender(kind, source, out):
    """Imports `source`, and exports it again: all.*, one.* (the largest piece) and seen.glb."""
    import bpy

    if "bool" not in np.__dict__:
        np.bool = bool  # Debian 12: Blender 3.4's glTF importer asks for a name that NumPy 1.24 has no longer
    bpy.ops.wm.read_factory_settings(use_empty=True)
    files = sorted(source.glob("*.ply")) if source.is_dir() else [source]
    for file in files:
        if kind == "glb":
            bpy.ops.import_scene.gltf(filepath=str(file))
        elif kind == "obj":
            bpy.ops.wm.obj_import(filepath=str(file))
        elif kind == "ply":
            bpy.ops.import_mesh.ply(filepath=str(file))
        else:
            bpy.ops.wm.usd_import(filepath=str(file), import_textures_mode="IMPORT_PACK")

    def export(file, selected):
        only = {"use_selection": True} if selected else {}
        if kind == "glb":
            bpy.ops.export_scene.gltf(filepath=str(file), export_format="GLB", **only)
        elif kind == "obj":
            chosen = {"export_selected_objects": True} if selected else {}
            bpy.ops.wm.obj_export(filepath=str(file), path_mode="COPY", **chosen)
        elif kind == "ply":
            bpy.ops.export_mesh.ply(filepath=str(file), use_selection=True)
        else:
            chosen = {"selected_objects_only": True} if selected else {}
            bpy.ops.wm.usd_export(filepath=str(file), **chosen)

    meshes = [o for o in bpy.data.objects if o.type == "MESH"]
    bpy.ops.export_scene.gltf(filepath=str(out / "seen.glb"), export_format="GLB")

    def size(thing):
        return np.prod([d or 1e-9 for d in thing.dimensions])

    for thing in bpy.data.objects:
        thing.select_set(kind == "ply" and thing.type == "MESH")
    export(out / f"all.{ENDINGS[kind]}", False)
    for thing in bpy.data.objects:
        thing.select_set(False)
    largest = max(meshes, key=size)
    largest.select_set(True)
    export(out / f"one.{ENDINGS[kind]}", True)
    (out / "state.json").write_text(json.dumps({"objects": [o.name for o in meshes], "one": largest.name}))


# What a GLB has


def pixels(document, binary, texture):
    """(h, w, 3) of a texture's picture."""
    from PIL import Image

    slot = document["textures"][texture["index"]]
    image = document["images"][slot.get("source", slot.get("extensions", {}).get("EXT_texture_webp", {}).get("source"))]
    view = document["bufferViews"][image["bufferView"]]
    start = view.get("byteOffset", 0)
    data = binary[start : start + view["byteLength"]]
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def materials_of(path):
    """Name -> what a material of a GLB is, with pixels of its maps."""
    document, binary = readers.glb_parts(path)
    out = {}
    for material in document.get("materials", []):
        pbr = material.get("pbrMetallicRoughness", {})
        emissive = np.array(material.get("emissiveFactor", [0, 0, 0]), float)
        strong = material.get("extensions", {}).get("KHR_materials_emissive_strength", {})
        found = {
            "base": pbr.get("baseColorFactor", [1, 1, 1, 1])[:3],
            "metallic": pbr.get("metallicFactor", 1.0),
            "roughness": pbr.get("roughnessFactor", 1.0),
            "alpha": material.get("alphaMode", "OPAQUE"),
            "cutoff": material.get("alphaCutoff", 0.5),
            "sides": material.get("doubleSided", False),
            "emissive": (emissive * strong.get("emissiveStrength", 1.0)).tolist(),
            "scale": material.get("normalTexture", {}).get("scale", 1.0),
            "strength": material.get("occlusionTexture", {}).get("strength", 1.0),
        }
        for role, texture, channels in (
            ("base", pbr.get("baseColorTexture"), [0, 1, 2]),
            ("normal", material.get("normalTexture"), [0, 1, 2]),
            ("rough", pbr.get("metallicRoughnessTexture"), [1]),
            ("metal", pbr.get("metallicRoughnessTexture"), [2]),
            ("occlusion", material.get("occlusionTexture"), [0]),
            ("emissive", material.get("emissiveTexture"), [0, 1, 2]),
        ):
            found[f"map {role}"] = None if texture is None else pixels(document, binary, texture)[..., channels]
        out[material.get("name", "")] = found
    return out


def corners_of(path):
    """(name of the material) -> corners in the file's space (t, 3, 3), their coordinates and colours or None."""
    document, binary = readers.glb_parts(path)
    out = {}

    def visit(index, above):
        node = document["nodes"][index]
        here = above @ readers.node_matrix(node)
        for part in document["meshes"][node["mesh"]]["primitives"] if "mesh" in node else []:
            indices = readers.glb_array(document, binary, part["indices"]).reshape(-1)
            has = part["attributes"]
            points = readers.glb_array(document, binary, has["POSITION"]).astype(float)[indices]
            points = (points @ here[:3, :3].T + here[:3, 3]).reshape(-1, 3, 3)
            uv = colour = None
            if "TEXCOORD_0" in has:
                uv = readers.glb_array(document, binary, has["TEXCOORD_0"])[indices].reshape(-1, 3, 2)
            if "COLOR_0" in has:
                colour = readers.glb_array(document, binary, has["COLOR_0"])
                if colour.dtype.kind == "u":
                    colour = colour / np.iinfo(colour.dtype).max
                colour = colour[indices].astype(float).reshape(-1, 3, colour.shape[1])[..., :3]
            number = part.get("material")
            name = "" if number is None else document["materials"][number].get("name", "")
            out.setdefault(name, []).append((points, uv, colour))
        for child in node.get("children", []):
            visit(child, here)

    for root in document["scenes"][document.get("scene", 0)]["nodes"]:
        visit(root, np.eye(4))
    return out


def area(parts):
    """Area of what `corners_of` gives for a material."""
    return sum(
        float(np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1).sum()) / 2 for p, _, _ in parts
    )


# What is compared


def compare_materials(want, have, carries, faults):
    """Materials `want` and `have`, as `materials_of` gives them, by name."""
    for name, material in want.items():
        other = have.get(name)
        if other is None:
            faults.append(f"material {name} is not there, there are {', '.join(sorted(have)) or 'none'}")
            continue
        for key, value in material.items():
            if key not in carries or (key == "cutoff" and material["alpha"] != "MASK"):
                continue
            if key.startswith("map "):
                if (value is None) != (other[key] is None):
                    faults.append(f"{name}: {key} is {'new' if value is None else 'lost'}")
                elif value is not None and (
                    value.shape != other[key].shape or np.abs(value.astype(int) - other[key]).max() > 1
                ):
                    faults.append(f"{name}: {key} has other pixels")
            elif isinstance(value, (str, bool)):
                if value != other[key]:
                    faults.append(f"{name}: {key} is {other[key]}, was {value}")
            elif np.abs(np.subtract(value, other[key])).max() > 2e-3:
                faults.append(f"{name}: {key} is {other[key]}, was {value}")


def compare_corners(path, names, areas, carries, faults):
    """Coordinates and areas of the outside in a GLB, and that nothing lies outside of the box."""
    corners = corners_of(path)
    everything = np.concatenate([p.reshape(-1, 3) for parts in corners.values() for p, _, _ in parts])
    off = max(np.abs(everything.max(0) - np.array(SIZE) / 2).max(), np.abs(everything.min(0) + np.array(SIZE) / 2).max())
    if off > 1e-4:
        faults.append(f"the box is {everything.min(0).round(4).tolist()} to {everything.max(0).round(4).tolist()}")
    for name in names:
        parts = corners.get(name, [])
        if "area" in carries and abs(area(parts) - areas[name]) > 1e-3 * areas[name]:
            faults.append(f"{name} covers {area(parts):.5g}, was {areas[name]:.5g}")
        for points, uv, _ in parts if "uv" in carries else []:
            if uv is None:
                faults.append(f"{name}: no texture coordinates")
                break
            wrong = np.abs(coordinates(points.reshape(-1, 3)) - uv.reshape(-1, 2)).max()
            if wrong > 1e-4:
                faults.append(f"{name}: texture coordinates off by {wrong:.3g}")
                break


def expected_areas():
    """Area by material of the input."""
    points, _, parts = box()
    return {n: area([(points[np.array(t)], None, None)]) for n, t in parts.items()}


def compare_colours(first, second, faults):
    """Colours at the points of PLY files that are in the broken ones, too: the largest difference."""
    import trimesh

    want_points, want = [], []
    for file in sorted(first.glob("*.ply")):
        raw = trimesh.load(file, process=False).metadata["_ply_raw"]["vertex"]["data"]
        want_points.append(np.stack([raw[a].reshape(-1) for a in "xyz"], -1).astype(float))
        want.append(np.stack([raw[c].reshape(-1) for c in ("red", "green", "blue")], -1) / 255.0)
    want_points, want = np.concatenate(want_points), np.concatenate(want)
    worst, met = 0.0, 0
    for parts in (p for n, p in corners_of(second).items() if not readers.is_inside(n)):
        for points, _, colour in parts:
            if colour is None:
                continue
            shown = np.where(colour <= 0.0031308, colour * 12.92, 1.055 * np.maximum(colour, 1e-9) ** (1 / 2.4) - 0.055)
            for place, value in zip(points.reshape(-1, 3), shown.reshape(-1, 3)):
                near = np.linalg.norm(want_points - place, axis=1) < 1e-5
                if near.any():
                    met += 1
                    worst = max(worst, np.abs(want[near] - value).max(1).min())
    if met < 20:
        faults.append(f"only {met} points with a colour are where they were")
    if worst > 3 / 255:
        faults.append(f"colours of points differ by {worst * 255:.0f} of 255")


# The way there and back


def run(words, **more):
    """Runs a command; its status and what it printed."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, **more)
    return done.returncode, done.stdout + done.stderr


def fracture(kintsugi, file, out, *more):
    """Breaks a file; its report, or None with the line that refused it."""
    code, text = run([kintsugi, "fracture", file, "--level", 6, "--seeds", 6, "--out", out, "--smallest", 0, *more])
    if code:
        return None, text.strip().splitlines()[-1]
    return json.loads((out / "report.json").read_text()), text


def round_trip(kind, options, first, report, start):
    """Faults of one format."""
    out, faults = options.out / kind, []
    out.mkdir(parents=True, exist_ok=True)
    source = {"glb": "pieces.glb", "obj": "pieces.obj", "usd": "pieces.usda", "ply": "ply"}[kind]
    words = ["--stage", kind, (first / source).resolve(), out.resolve()]
    if kind == "usd":
        if not options.bpy:
            return ["left out: USD needs --bpy, a Python with bpy 4.2"], True
        code, text = run([options.bpy, __file__, *words])
    else:
        code, text = run([options.blender, "-b", "--factory-startup", "--python", __file__, "--", *words])
    if code or not (out / "state.json").exists():
        return [f"Blender failed: {text.strip().splitlines()[-1:]}"], False
    state, carries = json.loads((out / "state.json").read_text()), CARRIES[kind]
    named = sorted(p.name for p in readers.read_glb(first / "pieces.glb"))
    if kind != "ply" and sorted(state["objects"]) != named:
        faults.append(f"Blender has the objects {sorted(state['objects'])[:3]}, wanted {named[:3]}")
    if "names" in carries:
        seen = []
        compare_materials(start, materials_of(out / "seen.glb"), carries, seen)
        compare_corners(out / "seen.glb", start, expected_areas(), carries, seen)
        faults += [f"in Blender: {f}" for f in seen]
    total, volumes = float(np.prod(SIZE)), {p["id"]: p["mesh"]["volume"] for p in report["pieces"]}
    for part in ("all", "one"):
        back = out / f"{part}.{ENDINGS[kind]}"
        again, text = fracture(options.kintsugi, back, out / f"again_{part}", "--format", "glb")
        if again is None:
            faults.append(f"{part}: {text}")
            continue
        here, health = [], again["health"]
        want = total if part == "all" else volumes[readers.number_of(state["one"].split(".")[0])]
        if abs(health["volume"] - want) > 1e-4 * want:
            here.append(f"volume {health['volume']}, was {want:.6g}")
        meshes = again["meshes"]
        if not health["closed"] or meshes["kind"] != "original" or meshes["without_original"]:
            here.append(f"closed {health['closed']}, meshes {meshes['kind']}: {health['notes']}")
        if meshes["watertight"] != meshes["meshes"] or meshes["manifold"] != meshes["meshes"]:
            here.append(f"of {meshes['meshes']} pieces {meshes['watertight']} closed, {meshes['manifold']} manifold")
        summed = sum(p["mesh"]["volume"] for p in again["pieces"])
        if abs(summed - want) > 1e-4 * want:
            here.append(f"pieces sum to {summed:.6g}, not {want:.6g}")
        second = out / f"again_{part}" / "pieces.glb"
        has = materials_of(second)
        if part == "all" and "names" in carries:
            compare_materials(start, has, carries, here)
            compare_corners(second, start, expected_areas(), carries, here)
        if part == "one" and "names" in carries:
            on_it = {n: m for n, m in start.items() if n in has}
            if not on_it:
                here.append("no material of the input is on the piece")
            compare_materials(on_it, has, carries, here)
        if part == "all" and "colour" in carries:
            compare_colours(first / "ply", second, here)
        faults += [f"{part}, broken again: {f}" for f in here]
    return faults, not faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kintsugi", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--blender", default="blender")
    parser.add_argument("--bpy", help="a Python that has bpy 4.2, for USD")
    parser.add_argument("--formats", default="glb,obj,ply,usd")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    write_input(options.out / "wall.glb")
    start, first = materials_of(options.out / "wall.glb"), options.out / "first"
    # For Blender: z up in PLY and USD, and linear colours in MTL.
    written = ("--format", "glb,obj,usda,ply", "--target", "blender")
    report, text = fracture(options.kintsugi, options.out / "wall.glb", first, *written)
    if report is None:
        print(text, file=sys.stderr)
        return 2
    broken = []
    compare_materials(start, materials_of(first / "pieces.glb"), CARRIES["glb"], broken)
    compare_corners(first / "pieces.glb", start, expected_areas(), CARRIES["glb"], broken)
    results = {"broken": {"ok": not broken, "faults": broken}}
    for kind in options.formats.split(","):
        faults, ok = round_trip(kind, options, first, report, start)
        results[kind] = {"ok": ok, "faults": faults}
    for kind, result in results.items():
        print(f"{kind}: {'as it was' if not result['faults'] else 'passes' if result['ok'] else 'differs'}")
        for fault in result["faults"]:
            print(f"  {fault}")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 0 if all(r["ok"] for r in results.values()) else 1


if __name__ == "__main__":
    words = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    if words[:1] == ["--stage"]:
        # Blender prints what a script throws and ends with 0, and bpy may crash while Python takes it down.
        status = 1
        try:
            in_blender(words[1], Path(words[2]), Path(words[3]))
            status = 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    sys.exit(main())
