#!/usr/bin/env python3
"""Checks the meshes in result folders of `kintsugi fracture`, with trimesh and none of Kintsugi's own code.

    kintsugi fracture builtin:statue --seeds 60 --format glb,ply,obj,usda --out out/
    python3 tests/openers/check_meshes.py out/ --json out/meshes.json

For every piece in every format: whether trimesh calls it watertight, consistently wound and a volume once
points are merged where they coincide; edges of one face and of more than two; triangles that face inward,
asked by rays from a sample; triangles of no area; its volume against report.json's; names and number. With
`--input MESH` also how far the outside lies from the input and the input from the outside (greatest distance
over a sample), in voxels; and of *original* meshes, by Manifold's booleans, what pieces hold twice, what sticks
out of the input, and what no piece holds, which is the dust.

Writes one table (one row a folder and format), names the pieces that fail on stderr, and ends with 1 if any
does. Pieces below `--least` voxels are counted and not judged.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import trimesh

sys.path.insert(0, str(Path(__file__).parent))
import facing
import readers


def edges_by_faces(triangles):
    """How many edges have one face, and how many more than two."""
    edges = np.sort(
        np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1
    )
    keys = edges[:, 0] * (triangles.max(initial=0) + 1) + edges[:, 1]
    _, counts = np.unique(keys, return_counts=True)
    return int((counts == 1).sum()), int((counts > 2).sum())


def volume(points, triangles):
    """Signed volume, about the points' middle."""
    c = (points - points.mean(0))[triangles] if len(points) else np.zeros((0, 3, 3))
    return float((c[:, 0] * np.cross(c[:, 1], c[:, 2])).sum() / 6)


def check_piece(piece, reported, voxel, samples):
    """What is true of one piece, as plain numbers. `voxel` is its edge in mesh units."""
    placed, triangles = piece.placed, piece.triangles
    # trimesh's own answers, on the points as they are: nothing is repaired, nothing thrown away.
    mesh = trimesh.Trimesh(placed, triangles, process=False, validate=False)
    repeated = (triangles == np.roll(triangles, 1, axis=1)).any(1)
    one, many = edges_by_faces(triangles)
    turned, asked = facing.inward(placed, triangles[~repeated], samples)
    own = volume(placed, triangles)
    out = {
        "name": piece.name,
        "points": len(placed),
        "triangles": len(triangles),
        "inside_triangles": None if piece.inside is None else int(np.sum(piece.inside)),
        "materials": len(piece.materials),
        "watertight": bool(mesh.is_watertight),
        "winding": bool(mesh.is_winding_consistent),
        "volume_by_trimesh": bool(mesh.is_volume),
        "edges_of_one": one,
        "edges_of_more": many,
        "repeated_corners": int(repeated.sum()),
        "no_area": int((mesh.area_faces <= 1e-12 * voxel * voxel).sum()),
        "inward": turned,
        "asked": asked,
        "volume": own,
    }
    if reported:
        out["id"] = reported["id"]
        out["voxels"] = reported["voxels"]
        # Of the mesh, where the report has it. Voxels share what a crack goes through out evenly, so theirs is
        # another volume, the more so the smaller the piece is; it is told and judged nowhere.
        expected = (reported.get("mesh") or reported)["volume"]
        out["volume_reported"] = expected
        out["volume_error"] = own / expected - 1 if expected else float("inf")
        out["off_voxels"] = own / reported["volume"] - 1 if reported["volume"] else float("inf")
    return out


def faults(row, limits):
    """What is wrong with a piece, in words."""
    wrong = []
    for key, words in (
        ("watertight", "not watertight"),
        ("winding", "winding"),
        ("volume_by_trimesh", "no volume"),
    ):
        if not row[key]:
            wrong.append(words)
    for key, words in (
        ("edges_of_one", "open edges"),
        ("edges_of_more", "edges of more than two faces"),
        ("repeated_corners", "triangles with a corner twice"),
        ("inward", "of the asked face inward"),
    ):
        if row[key]:
            wrong.append(f"{row[key]} {words}")
    if "volume_error" not in row:
        wrong.append("not in the report")
    elif abs(row["volume_error"]) > limits.volume:
        wrong.append(
            f"volume {row['volume']:.6g}, reported {row['volume_reported']:.6g} ({row['volume_error']:+.2%})"
        )
    return wrong


def sampled(points, triangles, count, seed=0):
    """Corners and points on the triangles, at random by area."""
    c = points[triangles]
    area = np.linalg.norm(np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]), axis=1)
    rng = np.random.default_rng(seed)
    pick = rng.choice(len(c), count, p=area / area.sum())
    a, b = rng.random((2, count, 1))
    a, b = np.where(a + b > 1, 1 - a, a), np.where(a + b > 1, 1 - b, b)
    on = c[pick, 0] + a * (c[pick, 1] - c[pick, 0]) + b * (c[pick, 2] - c[pick, 0])
    used = np.unique(triangles)
    corners = points[used if len(used) <= count else rng.choice(used, count, replace=False)]
    return np.concatenate([corners, on])


def distances(points, surface):
    """Distance of each point to a surface (points, triangles), exactly, by libigl's tree."""
    import igl

    squared = igl.point_mesh_squared_distance(points, surface[0], surface[1])[0]
    return np.sqrt(squared)


def outside_of(pieces):
    """Points and triangles of all outside faces."""
    points, triangles, base = [], [], 0
    for piece in pieces:
        keep = piece.triangles if piece.inside is None else piece.triangles[~piece.inside]
        points.append(piece.placed)
        triangles.append(keep + base)
        base += len(piece.points)
    return np.concatenate(points), np.concatenate(triangles)


def hausdorff(pieces, mesh, voxel, count):
    """Greatest distances over samples, in voxels, both ways. None where no material is the inside's."""
    if all(p.inside is None for p in pieces):
        return None
    outside, source = outside_of(pieces), (np.asarray(mesh.vertices), np.asarray(mesh.faces))
    if len(outside[1]) == 0:
        return None
    there = distances(sampled(*outside, count), source) / voxel
    back = distances(sampled(*source, count), outside) / voxel
    return {
        "outside_to_input": float(there.max()),
        "outside_to_input_p99": float(np.quantile(there, 0.99)),
        "input_to_outside": float(back.max()),
        "input_to_outside_p99": float(np.quantile(back, 0.99)),
    }


def by_booleans(pieces, mesh):
    """Shares of a solid, by Manifold: what pieces hold twice, what sticks out, and what none of them holds."""
    import manifold3d

    def solid(points, triangles):
        merged = trimesh.Trimesh(points, triangles, process=False)
        merged.merge_vertices(merge_tex=True, merge_norm=True)
        points = np.ascontiguousarray(merged.vertices, dtype=np.float64)
        return manifold3d.Manifold(
            manifold3d.Mesh64(points, np.ascontiguousarray(merged.faces, dtype=np.uint64))
        )

    source = solid(mesh.vertices, mesh.faces)
    solids = [solid(piece.placed, piece.triangles) for piece in pieces]
    if any(s.status() != manifold3d.Error.NoError for s in [source, *solids]):
        return None
    union = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add)
    whole = source.volume()
    return {
        "twice": (sum(s.volume() for s in solids) - union.volume()) / whole,
        "beyond": (union - source).volume() / whole,
        "rest": (source - union).volume() / whole,
    }


def check_folder(folder, limits):
    """One result per format in a folder of `kintsugi fracture`."""
    folder = Path(folder)
    report = json.loads((folder / "report.json").read_text())
    with np.load(folder / "voxels.npz") as arrays:
        voxel = float(np.linalg.norm(arrays["grid_to_mesh"][:3, 0]))
    parts = report["pieces"]
    by_id = {p["id"]: p for p in parts}
    lost = report.get("dust_mass", 0.0) + report.get("dropped_mass", 0.0)
    health = report.get("health") or {}
    results = []
    for kind, path in readers.find(folder).items():
        if limits.format and kind not in limits.format:
            continue
        pieces = readers.read(kind, path)
        for piece in pieces:
            piece.to_file = np.diag([limits.unit] * 3 + [1.0]) @ piece.to_file
        wrong, rows, names = [], [], [p.name for p in pieces]
        if len(set(names)) != len(names):
            wrong.append("names occur twice")
        if sorted(n for n in map(readers.number_of, names) if n is not None) != sorted(by_id):
            wrong.append(f"{len(pieces)} meshes for {len(parts)} pieces, or other names than their numbers")
        for piece in pieces:
            row = check_piece(piece, by_id.get(readers.number_of(piece.name)), voxel, limits.samples)
            row["faults"] = faults(row, limits) if row.get("voxels", limits.least) >= limits.least else []
            rows.append(row)
        total = sum(r["volume"] for r in rows)
        source = health.get("volume") if health.get("closed") else report["source_mass"]
        if limits.input:
            mesh = trimesh.load(limits.input, force="mesh", process=False)
            source = (
                abs(volume(np.asarray(mesh.vertices, float), np.asarray(mesh.faces)))
                if health.get("closed")
                else source
            )
        mesh_kind = (report.get("meshes") or {}).get("kind", "voxels")
        is_original = mesh_kind == "original"
        booleans = by_booleans(pieces, mesh) if is_original and limits.input and health.get("closed") else None
        if is_original and limits.input and health.get("closed"):
            if booleans is None:
                wrong.append("Manifold finds a piece or the input that is no solid")
            elif doubled(booleans) > limits.sum:
                wrong.append(f"pieces overlap or stick out: {booleans}")
        sum_error = total / (source - lost) - 1
        dust_error = None
        if booleans and report.get("dust_mass"):
            # The report knows dust by voxels alone, which share out what a gap's border goes through evenly: what
            # no piece holds is the dust, and how far the report's is from it stands apart.
            dust_error = report["dust_mass"] / source - booleans["rest"]
            sum_error = total / source + booleans["rest"] - 1
        most = limits.sum if booleans or not report.get("dust_mass") else max(limits.sum, limits.dust)
        if abs(sum_error) > most or abs(dust_error or 0.0) > limits.dust:
            wrong.append(f"volumes sum to {total:.7g} of {source - lost:.7g} ({sum_error:+.2e})")
        judged = [r for r in rows if r.get("voxels", limits.least) >= limits.least]
        errors = np.abs([r["volume_error"] for r in judged if "volume_error" in r] or [np.inf])
        off = np.abs([r["off_voxels"] for r in judged if "off_voxels" in r] or [np.inf])
        result = {
            "folder": str(folder),
            "file": report["input"]["file"],
            "format": kind,
            "voxel": voxel,
            "mesh": mesh_kind,
            "surface": report["parameters"]["surface"],
            "level": report["parameters"]["level"],
            "pieces": len(parts),
            "meshes": len(pieces),
            "below_least": sum(p["voxels"] < limits.least for p in parts),
            "judged": len(judged),
            "triangles": sum(r["triangles"] for r in rows),
            "watertight": sum(r["watertight"] for r in judged),
            "winding": sum(r["winding"] for r in judged),
            "volumes": sum(r["volume_by_trimesh"] for r in judged),
            **{
                key: sum(r[key] for r in judged)
                for key in ("edges_of_one", "edges_of_more", "repeated_corners", "no_area", "inward", "asked")
            },
            "volume_error_max": float(errors.max()),
            "volume_error_median": float(np.median(errors)),
            "off_voxels_max": float(off.max()),
            "off_voxels_median": float(np.median(off)),
            "sum_error": float(sum_error),
            "dust_error": dust_error,
            "booleans": booleans,
            "lost_share": float(lost / source),
            "materials": sorted({r["materials"] for r in rows}),
            "attributes": sorted({a for p in pieces for a in p.attributes}),
        }
        if limits.input:
            result["hausdorff"] = hausdorff(pieces, mesh, voxel, limits.points)
            far = result["hausdorff"]
            # Dust takes some of the outside away: there only what is left can be near.
            ways = ["outside_to_input"] + ["input_to_outside"] * (lost == 0)
            if far and limits.hausdorff and max(far[way] for way in ways) > limits.hausdorff:
                wrong.append(
                    f"outside {far['outside_to_input']:.2f} and input {far['input_to_outside']:.2f} voxels off"
                )
        bad = sum(bool(r["faults"]) for r in rows)
        result.update(ok=not wrong and not bad, bad_pieces=bad, faults=wrong, rows=rows)
        results.append(result)
    if not results:
        raise SystemExit(f"{folder} has none of the formats {', '.join(limits.format or readers.FORMATS)}")
    return results


def doubled(booleans):
    return max(booleans["twice"], booleans["beyond"])


COLUMNS = (
    ("format", lambda r: r["format"]),
    ("pieces", lambda r: r["pieces"]),
    ("below", lambda r: r["below_least"]),
    ("triangles", lambda r: r["triangles"]),
    ("watertight", lambda r: f"{r['watertight']}/{r['judged']}"),
    ("winding", lambda r: f"{r['winding']}/{r['judged']}"),
    ("volume", lambda r: f"{r['volumes']}/{r['judged']}"),
    ("edges 1", lambda r: r["edges_of_one"]),
    ("edges >2", lambda r: r["edges_of_more"]),
    ("twice", lambda r: r["repeated_corners"]),
    ("no area", lambda r: r["no_area"]),
    ("inward", lambda r: f"{r['inward']}/{r['asked']}"),
    ("volume off, max", lambda r: f"{r['volume_error_max']:.1e}"),
    ("off voxels, median", lambda r: f"{r['off_voxels_median']:.1e}"),
    ("sum off", lambda r: f"{r['sum_error']:+.1e}"),
    ("twice or beyond", lambda r: f"{doubled(r['booleans']):.0e}" if r.get("booleans") else ""),
    ("dust off", lambda r: f"{r['dust_error']:+.1e}" if r.get("dust_error") else ""),
    ("far out", lambda r: f"{r['hausdorff']['outside_to_input']:.2f}" if r.get("hausdorff") else ""),
    ("far in", lambda r: f"{r['hausdorff']['input_to_outside']:.2f}" if r.get("hausdorff") else ""),
    ("holds", lambda r: "yes" if r["ok"] else "NO"),
)


def table(results, lead=("result",), leads=lambda r: (r["folder"],)):
    """Markdown."""
    heads = [*lead, *(c[0] for c in COLUMNS)]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for r in results:
        lines.append("| " + " | ".join(str(x) for x in (*leads(r), *(c[1](r) for c in COLUMNS))) + " |")
    return "\n".join(lines)


def arguments(parser):
    """Options that `ten_meshes.py` has too."""
    parser.add_argument("--format", nargs="*", choices=readers.FORMATS, help="only these formats")
    parser.add_argument("--least", type=int, default=8, help="voxels of a piece that is judged [8]")
    parser.add_argument(
        "--samples", type=int, default=400, help="triangles asked for their facing, a piece [400]"
    )
    parser.add_argument(
        "--points", type=int, default=20000, help="points of a surface for the distance [20000]"
    )
    parser.add_argument(
        "--volume", type=float, default=1e-3, help="a piece's volume against the report's, relative [1e-3]"
    )
    parser.add_argument(
        "--sum", type=float, default=2e-3, help="all volumes against the source, relative [2e-3]"
    )
    parser.add_argument(
        "--dust", type=float, default=1e-2, help="what became dust by the report against what no piece holds [1e-2]"
    )
    parser.add_argument(
        "--hausdorff", type=float, default=0.0, help="most voxels between outside and input [no limit]"
    )
    parser.add_argument("--unit", type=float, default=1.0, help="mesh units a unit of the file [1]")


def complaints(result, most=8):
    """What fails, a line each."""
    lines = [f"{result['folder']} {result['format']}: {w}" for w in result["faults"]]
    bad = [r for r in result["rows"] if r["faults"]]
    for row in bad[:most]:
        lines.append(
            f"{result['folder']} {result['format']} {row['name']} ({row.get('voxels')} voxels): "
            + "; ".join(row["faults"])
        )
    if len(bad) > most:
        lines.append(f"{result['folder']} {result['format']}: and {len(bad) - most} pieces more")
    return lines


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--input", help="the mesh that was broken, for its volume and the outside's distance")
    parser.add_argument("--json", help="write everything, piece by piece")
    arguments(parser)
    limits = parser.parse_args()
    results = [r for folder in limits.folders for r in check_folder(folder, limits)]
    print(table(results))
    for result in results:
        for line in complaints(result):
            print(line, file=sys.stderr)
    if limits.json:
        Path(limits.json).write_text(json.dumps(results, indent=1))
    sys.exit(0 if all(r["ok"] for r in results) else 1)


if __name__ == "__main__":
    main()
