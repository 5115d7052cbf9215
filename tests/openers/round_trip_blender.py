#!/usr/bin/env python3
"""Breaks an object with materials, sends its pieces through Blender and back, and says what was lost on the way.

    python3 tests/openers/round_trip_blender.py KINTSUGI OUT [--input FILE] [--blender BLENDER] [--bpy PYTHON]

The script makes a closed box of two materials, one of which has a map of every role, one factors alone. Kintsugi
breaks the box and writes GLB, USD, OBJ and PLY. Blender imports each format, exports it again, and exports as GLB
what it has, too. Kintsugi breaks what came back: all pieces as one file, and the largest piece alone. Compared are,
of Blender's GLB and of Kintsugi's second one, as far as a format carries them (`CARRIES`): names of pieces and
materials, factors, alpha and its limit, two sides, pixels of every map, texture coordinates (a linear function of
the place, which holds wherever a triangle is cut), areas by material, colours of points, axes and boxes, volumes.
Where something differs, Blender writes the box itself in that format and reads it, without Kintsugi: what differs
after that, too, is Blender's loss, which is said and is no fault. Ends with 1 where anything else differs.

With `--input`, a glTF file takes the box's place. Then the pieces that Kintsugi writes are what is compared with: their
materials, areas, box and volume, and at each point of the outside the texture coordinates that the pieces have there.

USD needs a Blender that has it: Debian's has not, so USD goes through `--bpy`, a Python with PyPI's `bpy` 4.2, and so
does all else where there is no `--blender`. Without `--bpy` a line says that USD was left out.
"""

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import readers
from textured_box import SIZE, box, coordinates, write_input

#: What of a material each format brings through Blender 3.4 or 4.2 (USD: 4.2) and back. MTL has neither cut-out nor two
#: sides, and no map of metal, roughness or occlusion (roughness and metal are in Ns and Ka); of USD, Blender leaves out
#: occlusion, and shows all from both sides; PLY has points and colours alone.
CARRIES = {
    "glb": {"names", "base", "metallic", "roughness", "alpha", "cutoff", "sides", "emissive", "scale", "strength"}
    | {"map base", "map normal", "map metal", "map rough", "map occlusion", "map emissive", "uv", "area"},
    "obj": {"names", "base", "metallic", "roughness", "scale", "map base", "map normal", "map emissive", "uv", "area"},
    "usd": {"names", "base", "metallic", "roughness", "map base", "map normal", "map emissive", "uv", "area"}
    | {"map metal", "map rough"},
    "ply": {"colour"},
}
#: Endings of what Blender exports.
ENDINGS = {"glb": "glb", "obj": "obj", "usd": "usda", "ply": "ply"}


# In Blender


def in_blender(kind, to, source, out):
    """Imports `source` of one format, and exports it in another: all.*, one.* (the largest piece) and seen.glb."""
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
        elif kind == "ply" and bpy.app.version < (4, 0):
            bpy.ops.import_mesh.ply(filepath=str(file))
        elif kind == "ply":
            bpy.ops.wm.ply_import(filepath=str(file))
        else:
            bpy.ops.wm.usd_import(filepath=str(file), import_textures_mode="IMPORT_PACK")

    def export(file, selected):
        only = {"use_selection": True} if selected else {}
        if to == "glb":
            bpy.ops.export_scene.gltf(filepath=str(file), export_format="GLB", **only)
        elif to == "obj":
            chosen = {"export_selected_objects": True} if selected else {}
            bpy.ops.wm.obj_export(filepath=str(file), path_mode="COPY", **chosen)
        elif to == "ply" and bpy.app.version < (4, 0):
            bpy.ops.export_mesh.ply(filepath=str(file), use_selection=True)
        elif to == "ply":
            bpy.ops.wm.ply_export(filepath=str(file), export_selected_objects=True)
        else:
            chosen = {"selected_objects_only": True} if selected else {}
            bpy.ops.wm.usd_export(filepath=str(file), **chosen)

    meshes = [o for o in bpy.data.objects if o.type == "MESH"]
    bpy.ops.export_scene.gltf(filepath=str(out / "seen.glb"), export_format="GLB")

    def size(thing):
        return np.prod([d or 1e-9 for d in thing.dimensions])

    for thing in bpy.data.objects:
        thing.select_set(to == "ply" and thing.type == "MESH")
    export(out / f"all.{ENDINGS[to]}", False)
    for thing in bpy.data.objects:
        thing.select_set(False)
    largest = max(meshes, key=size)
    largest.select_set(True)
    export(out / f"one.{ENDINGS[to]}", True)
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


@dataclass
class Expected:
    """What the outside must be after each way."""

    #: As `materials_of` gives them.
    materials: dict
    #: Area by material.
    areas: dict
    #: Lowest and highest corner.
    bounds: np.ndarray
    volume: float
    #: By material, how far texture coordinates (n, 2) of places (n, 3) are from what they must be; `None`: none are there.
    wrong_by: dict
    #: Whether `wrong_by` knows places that another break made.
    knows_new_places: bool

    @property
    def size(self):
        return float(np.ptp(self.bounds, axis=0).max())


def expected_of_box(path):
    """What the box must be."""
    points, _, parts = box()
    areas = {n: area([(points[np.array(t)], None, None)]) for n, t in parts.items()}
    linear = lambda places, uv: np.abs(coordinates(places) - uv).max()
    half = np.array(SIZE) / 2
    wrong_by = {n: linear for n in areas}
    return Expected(materials_of(path), areas, np.array([-half, half]), float(np.prod(SIZE)), wrong_by, True)


def expected_of_pieces(path, report):
    """What pieces in a GLB must be once they come back."""
    from scipy.spatial import cKDTree

    materials = {n: m for n, m in materials_of(path).items() if not readers.is_inside(n)}
    corners = corners_of(path)
    everything = np.concatenate([p.reshape(-1, 3) for parts in corners.values() for p, _, _ in parts])
    bounds = np.array([everything.min(0), everything.max(0)])
    size = float(np.ptp(bounds, axis=0).max())

    def row(places, uv):
        return np.concatenate([places / size, uv], axis=1)

    def by_nearest(parts):
        if any(uv is None for _, uv, _ in parts):
            return None
        rows = cKDTree(np.concatenate([row(p.reshape(-1, 3), uv.reshape(-1, 2)) for p, uv, _ in parts]))
        return lambda places, uv: rows.query(row(places, uv))[0].max()

    areas = {n: area(corners[n]) for n in materials}
    wrong_by = {n: by_nearest(corners[n]) for n in materials}
    volume = sum(p["mesh"]["volume"] for p in report["pieces"])
    return Expected(materials, areas, bounds, volume, wrong_by, False)


def compare_corners(path, want, carries, faults, is_broken_again=False):
    """Coordinates and areas of the outside in a GLB, and that nothing lies outside of the box."""
    corners = corners_of(path)
    everything = np.concatenate([p.reshape(-1, 3) for parts in corners.values() for p, _, _ in parts])
    bounds = np.array([everything.min(0), everything.max(0)])
    if np.abs(bounds - want.bounds).max() > 1e-4 * want.size:
        faults.append(f"the box is {bounds[0].round(4).tolist()} to {bounds[1].round(4).tolist()}")
    has_coordinates = "uv" in carries and (want.knows_new_places or not is_broken_again)
    for name, wanted in want.areas.items():
        parts = corners.get(name, [])
        if "area" in carries and abs(area(parts) - wanted) > 1e-3 * wanted:
            faults.append(f"{name} covers {area(parts):.5g}, was {wanted:.5g}")
        for points, uv, _ in parts if has_coordinates and want.wrong_by[name] else []:
            if uv is None:
                faults.append(f"{name}: no texture coordinates")
                break
            wrong = want.wrong_by[name](points.reshape(-1, 3), uv.reshape(-1, 2))
            if wrong > 1e-4:
                faults.append(f"{name}: texture coordinates off by {wrong:.3g}")
                break


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
    words = ["--level", 6, "--seeds", 6, "--smallest", 0, "--objects", "together"]
    code, text = run([kintsugi, "fracture", file, *words, "--out", out, *more])
    if code:
        return None, text.strip().splitlines()[-1]
    return json.loads((out / "report.json").read_text()), text


def through_blender(options, kind, source, out, to=None):
    """Sends a file through Blender into a folder; the fault that kept it from that, or None."""
    out.mkdir(parents=True, exist_ok=True)
    words = ["--stage", kind, to or kind, source.resolve(), out.resolve()]
    if "usd" in (kind, to) or not shutil.which(options.blender):
        if not options.bpy:
            return f"there is no {options.blender}, and no --bpy in its place"
        code, text = run([options.bpy, __file__, *words])
    else:
        code, text = run([options.blender, "-b", "--factory-startup", "--python", __file__, "--", *words])
    if code or not (out / "state.json").exists():
        return f"Blender failed: {text.strip().splitlines()[-1:]}"
    return None


def lost_by_blender(options, kind, given, want):
    """What differs in the input once Blender has written it in a format and read that, without Kintsugi."""
    if kind == "ply" or (kind == "usd" and not options.bpy):
        return []
    there, back = options.out / f"alone_{kind}", options.out / f"alone_{kind}_again"
    failed = through_blender(options, "glb", given, there, kind)
    failed = failed or through_blender(options, kind, there / f"all.{ENDINGS[kind]}", back)
    if failed:
        return [failed]
    lost = []
    compare_materials(want.materials, materials_of(back / "seen.glb"), CARRIES[kind], lost)
    return lost


def round_trip(kind, options, first, report, want):
    """Faults of one format."""
    out, faults = options.out / kind, []
    source = {"glb": "pieces.glb", "obj": "pieces.obj", "usd": "pieces.usda", "ply": "ply"}[kind]
    if kind == "usd" and not options.bpy:
        return ["left out: USD needs --bpy, a Python with bpy 4.2"], True
    failed = through_blender(options, kind, first / source, out)
    if failed:
        return [failed], False
    state, carries = json.loads((out / "state.json").read_text()), CARRIES[kind]
    named = sorted(p.name for p in readers.read_glb(first / "pieces.glb"))
    if kind != "ply" and sorted(state["objects"]) != named:
        faults.append(f"Blender has the objects {sorted(state['objects'])[:3]}, wanted {named[:3]}")
    if "names" in carries:
        seen = []
        compare_materials(want.materials, materials_of(out / "seen.glb"), carries, seen)
        compare_corners(out / "seen.glb", want, carries, seen)
        faults += [f"in Blender: {f}" for f in seen]
    volumes = {p["name"]: p["mesh"]["volume"] for p in report["pieces"]}
    for part in ("all", "one"):
        back = out / f"{part}.{ENDINGS[kind]}"
        again, text = fracture(options.kintsugi, back, out / f"again_{part}", "--format", "glb")
        if again is None:
            faults.append(f"{part}: {text}")
            continue
        here, health = [], again["health"]
        volume = want.volume if part == "all" else volumes[state["one"]]
        if abs(health["volume"] - volume) > 1e-4 * volume:
            here.append(f"volume {health['volume']}, was {volume:.6g}")
        meshes = again["meshes"]
        if not health["closed"] or meshes["kind"] != "original" or meshes["without_original"]:
            here.append(f"closed {health['closed']}, meshes {meshes['kind']}: {health['notes']}")
        if meshes["watertight"] != meshes["meshes"] or meshes["manifold"] != meshes["meshes"]:
            here.append(f"of {meshes['meshes']} pieces {meshes['watertight']} closed, {meshes['manifold']} manifold")
        summed = sum(p["mesh"]["volume"] for p in again["pieces"])
        if abs(summed - volume) > 1e-4 * volume:
            here.append(f"pieces sum to {summed:.6g}, not {volume:.6g}")
        second = out / f"again_{part}" / "pieces.glb"
        has = materials_of(second)
        if part == "all" and "names" in carries:
            compare_materials(want.materials, has, carries, here)
            compare_corners(second, want, carries, here, is_broken_again=True)
        if part == "one" and "names" in carries:
            on_it = {n: m for n, m in want.materials.items() if n in has}
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
    parser.add_argument("--input", type=Path, help="a glTF file in the place of the box")
    parser.add_argument("--blender", default="blender")
    parser.add_argument("--bpy", help="a Python that has bpy 4.2, for USD")
    parser.add_argument("--formats", default="glb,obj,ply,usd")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    given, first = options.input or options.out / "wall.glb", options.out / "first"
    if not options.input:
        write_input(given)
    # For Blender: z up in PLY and USD, and linear colours in MTL.
    written = ("--format", "glb,obj,usda,ply", "--target", "blender")
    report, text = fracture(options.kintsugi, given, first, *written)
    if report is None:
        print(text, file=sys.stderr)
        return 2
    broken = []
    want = expected_of_pieces(first / "pieces.glb", report) if options.input else expected_of_box(given)
    compare_materials(want.materials, materials_of(first / "pieces.glb"), CARRIES["glb"], broken)
    compare_corners(first / "pieces.glb", want, CARRIES["glb"], broken)
    results = {"broken": {"ok": not broken, "faults": broken}}
    for kind in options.formats.split(","):
        faults, ok = round_trip(kind, options, first, report, want)
        lost = lost_by_blender(options, kind, given, want) if faults else []
        ours = [f for f in faults if not any(f.endswith(f": {loss}") for loss in lost)]
        results[kind] = {"ok": ok or not ours, "faults": ours, "lost_by_blender": lost if ours != faults else []}
    for kind, result in results.items():
        print(f"{kind}: {'as it was' if not result['faults'] else 'passes' if result['ok'] else 'differs'}")
        for fault in result["faults"]:
            print(f"  {fault}")
        for loss in result.get("lost_by_blender", []):
            print(f"  Blender loses it of the input as well: {loss}")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 0 if all(r["ok"] for r in results.values()) else 1


if __name__ == "__main__":
    words = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    if words[:1] == ["--stage"]:
        # Blender prints what a script throws and ends with 0, and bpy may crash while Python takes it down.
        status = 1
        try:
            in_blender(*words[1:3], *map(Path, words[3:5]))
            status = 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    sys.exit(main())
