"""Folders: meshes with what their files name, results that are repeated, and results that are written over."""

import hashlib
import json
import struct

from .common import JPEG, OBJ, OBJ_FACES, OBJ_POINTS, bmp, bundle, every, png, png_head, tga
from .gltf import binary, changed, gltf_root


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
