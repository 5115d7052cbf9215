"""Reads the pieces out of what Kintsugi writes: GLB, OBJ, PLY and USD, each by its own rules and without
Kintsugi's code.

GLB is read here rather than by trimesh, since the check wants a node's primitives as one mesh and their
materials apart. A piece's points are merged where their coordinates are the same numbers: only so can a
format that splits points at seams (normals, texture coordinates, materials) say whether a surface is closed.
"""

import json
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

COMPONENTS = {
    5120: np.int8,
    5121: np.uint8,
    5122: np.int16,
    5123: np.uint16,
    5125: np.uint32,
    5126: np.float32,
}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
FORMATS = ("glb", "ply", "obj", "usd")


@dataclass
class Piece:
    """A mesh as a file holds it."""

    name: str
    #: (n, 3) float64, merged by exact position, before `to_object`.
    points: np.ndarray
    #: (m, 3) int64 into `points`.
    triangles: np.ndarray
    #: (m) whether a triangle's material is the inside's; None where the file names no such material.
    inside: np.ndarray | None = None
    #: (4, 4) from the node's own space to the file's.
    to_file: np.ndarray = field(default_factory=lambda: np.eye(4))
    materials: list = field(default_factory=list)
    #: Names of what stands at points or corners.
    attributes: list = field(default_factory=list)

    @property
    def placed(self):
        """Points in the file's space."""
        return self.points @ self.to_file[:3, :3].T + self.to_file[:3, 3]


def merged(points, triangles):
    """Points without repetition, and the triangles on them."""
    points = np.ascontiguousarray(points, dtype=np.float64) + 0.0  # -0 becomes 0
    if len(points) == 0:
        return points.reshape(0, 3), np.zeros((0, 3), np.int64)
    rows = points.view(np.dtype((np.void, points.dtype.itemsize * 3))).ravel()
    _, first, back = np.unique(rows, return_index=True, return_inverse=True)
    return points[first], back.ravel()[triangles].reshape(-1, 3).astype(np.int64)


def is_inside(name):
    """Whether a material of this name is that of crack faces."""
    return bool(re.search(r"inside|interior|crack", name or "", re.IGNORECASE))


def inside_mask(names, counts):
    """(m) bool from a material's name for each run of triangles; None where none is an inside."""
    flags = [is_inside(n) for n in names]
    return np.repeat(flags, counts) if any(flags) else None


def number_of(name):
    """The number at the end of a piece's name, or None."""
    digits = re.search(r"(\d+)\D*$", name)
    return int(digits.group(1)) if digits else None


# GLB


def glb_parts(path):
    """The JSON and the binary chunk of a GLB file."""
    data = Path(path).read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    if magic != b"glTF" or version != 2 or length != len(data):
        raise ValueError(f"{path} is no GLB 2 of the length that it says")
    at, chunks = 12, {}
    while at < length:
        size, kind = struct.unpack_from("<I4s", data, at)
        chunks.setdefault(kind, data[at + 8 : at + 8 + size])
        at += 8 + size
    return json.loads(chunks[b"JSON"]), chunks.get(b"BIN\0", b"")


def glb_array(document, binary, index):
    """An accessor as (count, width)."""
    accessor = document["accessors"][index]
    kind, width = np.dtype(COMPONENTS[accessor["componentType"]]), WIDTHS[accessor["type"]]
    if "bufferView" not in accessor:
        return np.zeros((accessor["count"], width), kind)
    view = document["bufferViews"][accessor["bufferView"]]
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    stride = view.get("byteStride", kind.itemsize * width)
    return np.lib.stride_tricks.as_strided(
        np.frombuffer(binary, np.uint8, offset=start)[: kind.itemsize].view(kind),
        (accessor["count"], width),
        (stride, kind.itemsize),
        writeable=False,
    )


def quaternion_matrix(q):
    """(3, 3) from x, y, z, w."""
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def node_matrix(node):
    """(4, 4) of a node alone."""
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    out = np.eye(4)
    out[:3, :3] = quaternion_matrix(node.get("rotation", (0, 0, 0, 1))) * np.array(
        node.get("scale", (1, 1, 1))
    )
    out[:3, 3] = node.get("translation", (0, 0, 0))
    return out


def read_glb(path):
    """Pieces of a GLB: every node with a mesh, all primitives of the mesh as one."""
    document, binary = glb_parts(path)
    nodes, pieces = document.get("nodes", []), []
    materials = [m.get("name", "") for m in document.get("materials", [])]

    def walk(index, above):
        node = nodes[index]
        here = above @ node_matrix(node)
        if "mesh" in node:
            pieces.append(glb_piece(document, binary, node, here, materials))
        for child in node.get("children", []):
            walk(child, here)

    for root in document["scenes"][document.get("scene", 0)].get("nodes", []):
        walk(root, np.eye(4))
    return pieces


def glb_piece(document, binary, node, here, materials):
    """One node's mesh."""
    points, triangles, names, counts, attributes, base = [], [], [], [], set(), 0
    for primitive in document["meshes"][node["mesh"]]["primitives"]:
        if primitive.get("mode", 4) != 4:
            continue
        p = glb_array(document, binary, primitive["attributes"]["POSITION"])
        if "indices" in primitive:
            t = glb_array(document, binary, primitive["indices"]).reshape(-1, 3).astype(np.int64)
        else:
            t = np.arange(len(p)).reshape(-1, 3)
        points.append(p)
        triangles.append(t + base)
        base += len(p)
        names.append(materials[primitive["material"]] if "material" in primitive else "")
        counts.append(len(t))
        attributes.update(primitive["attributes"])
    p, t = merged(np.concatenate(points), np.concatenate(triangles))
    name = node.get("name") or document["meshes"][node["mesh"]].get("name", "")
    return Piece(name, p, t, inside_mask(names, counts), here, list(dict.fromkeys(names)), sorted(attributes))


# OBJ


def read_obj(path):
    """Objects of an OBJ; polygons become fans."""
    points, objects, material, attributes = [], [], "", set()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            word = line.split(None, 1)
            if not word or word[0].startswith("#"):
                continue
            if word[0] == "v":
                points.append([float(x) for x in word[1].split()[:3]])
            elif word[0] in ("vt", "vn"):
                attributes.add(word[0])
            elif word[0] == "o":
                objects.append((word[1].strip(), [], []))
            elif word[0] == "usemtl":
                material = word[1].strip()
            elif word[0] == "f":
                corners = [int(c.split("/", 1)[0]) for c in word[1].split()]
                corners = [c - 1 if c > 0 else c + len(points) for c in corners]
                for i in range(1, len(corners) - 1):
                    objects[-1][1].append((corners[0], corners[i], corners[i + 1]))
                    objects[-1][2].append(material)
    points, pieces = np.array(points, float).reshape(-1, 3), []
    for name, triangles, names in objects:
        used, local = np.unique(np.array(triangles, np.int64).reshape(-1, 3), return_inverse=True)
        p, t = merged(points[used], local.reshape(-1, 3))
        pieces.append(
            Piece(
                name, p, t, inside_mask(names, 1), np.eye(4), list(dict.fromkeys(names)), sorted(attributes)
            )
        )
    return pieces


# PLY


def read_ply(folder):
    """One piece a file. The reader is trimesh's, which artists' scripts use."""
    import trimesh

    pieces = []
    for path in sorted(Path(folder).glob("*.ply")):
        mesh = trimesh.load(path, process=False)
        p, t = merged(mesh.vertices, np.asarray(mesh.faces))
        header = path.read_bytes()[:4096].split(b"end_header")[0].decode("ascii", "replace")
        pieces.append(Piece(path.stem, p, t, attributes=re.findall(r"property (?!list)\w+ (\w+)", header)))
    return pieces


# USD


def read_usd(path):
    """Every mesh of a stage, at its first time."""
    from pxr import Usd, UsdGeom, UsdShade

    stage, pieces = Usd.Stage.Open(str(path)), []
    cache = UsdGeom.XformCache(Usd.TimeCode.EarliestTime())
    for prim in stage.Traverse():
        mesh = UsdGeom.Mesh(prim)
        if not prim.IsA(UsdGeom.Mesh) or mesh.ComputePurpose() == UsdGeom.Tokens.guide:  # collision hulls
            continue
        points = np.array(mesh.GetPointsAttr().Get(Usd.TimeCode.EarliestTime()), float).reshape(-1, 3)
        counts = np.array(mesh.GetFaceVertexCountsAttr().Get(), np.int64)
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(), np.int64)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        faces, triangles = [], []
        for step in range(1, int(counts.max(initial=2)) - 1):
            has = counts > step + 1
            triangles.append(
                np.stack(
                    [corners[starts[has]], corners[starts[has] + step], corners[starts[has] + step + 1]], 1
                )
            )
            faces.append(np.flatnonzero(has))
        triangles, faces = np.concatenate(triangles), np.concatenate(faces)
        if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
            triangles = triangles[:, ::-1]
        material, inside, names = np.full(len(counts), "", object), None, []
        for subset in UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets():
            bound = UsdShade.MaterialBindingAPI(subset).ComputeBoundMaterial()[0]
            name = bound.GetPrim().GetName() if bound else subset.GetPrim().GetName()
            material[np.array(subset.GetIndicesAttr().Get(), np.int64)] = name
            names.append(name)
        if not names:
            bound = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
            names = [bound.GetPrim().GetName()] if bound else []
            material[:] = names[0] if names else ""
        inside = inside_mask(list(material[faces]), 1)
        p, t = merged(points, triangles)
        matrix = np.array(cache.GetLocalToWorldTransform(prim)).T
        up = prim if number_of(prim.GetName()) is not None else prim.GetParent()
        primvars = [v.GetPrimvarName() for v in UsdGeom.PrimvarsAPI(prim).GetPrimvars()]
        pieces.append(Piece(up.GetName(), p, t, inside, matrix, names, sorted(primvars)))
    return pieces


def find(folder):
    """Format and file (PLY: folder) of the pieces that `kintsugi fracture` wrote into a folder."""
    folder = Path(folder)
    found = {}
    for kind, pattern in (("glb", "*.glb"), ("obj", "*.obj"), ("usd", "*.usd*")):
        files = [f for f in sorted(folder.glob(pattern)) if not f.name.startswith("collision")]
        if files:
            found[kind] = files[0]
    if (folder / "ply").is_dir():
        found["ply"] = folder / "ply"
    return found


def read(kind, path):
    """Pieces of a file in one of `FORMATS`."""
    return {"glb": read_glb, "obj": read_obj, "ply": read_ply, "usd": read_usd}[kind](path)
