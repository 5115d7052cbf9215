"""USD as text, binary, and packed in an archive."""

import io
import struct
import zipfile

from .common import FACES, HERE, OBJ, POINTS, every, png


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
