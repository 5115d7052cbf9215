"""Meshes as text, or in the bytes of an old format."""

import struct

from .common import FACES, OBJ, OBJ_FACES, OBJ_POINTS, POINTS, every, grid, lines


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
        "objects-in-one-place": OBJ_POINTS + "".join(f"o p{k}\n{OBJ_FACES}" for k in range(300)),
        "objects-that-cross": "".join(
            lines([(x + k / 50, y, z) for x, y, z in POINTS], "v {} {} {}")
            + f"o p{k}\n" + lines([[i + 1 + 4 * k for i in f] for f in FACES], "f {} {} {}") for k in range(30)),
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
