"""Opens what `--format vdb` and `--format vdb-fog` write with OpenVDB's own library: python3 vdb_check.py FILE.vdb ...
Needs pyopenvdb (Debian: python3-openvdb). Says of each grid its class, voxels and bounds, and fails where a level set is not
closed or its values leave the band, or a fog volume has a value outside of 0 to 1."""

import collections
import sys

import pyopenvdb


def check(grid):
    """What is wrong with a grid."""
    values = [item.value for item in grid.iterOnValues()]
    if not values:
        return "has no active voxel"
    if grid.gridClass == "fog volume":
        return None if 0 < min(values) and max(values) <= 1 else "has values outside of 0 to 1"
    if max(map(abs, values)) > grid.background:
        return "has distances beyond its background"
    _, triangles, quads = grid.convertToPolygons()
    edges = collections.Counter()
    for face in [*triangles.tolist(), *quads.tolist()]:
        edges.update(zip(face, face[1:] + face[:1]))
    return None if all(edges[b, a] == count for (a, b), count in edges.items()) else "has a surface with holes"


def main():
    wrong = 0
    for path in sys.argv[1:]:
        grids, _ = pyopenvdb.readAll(path)
        for grid in grids:
            why = check(grid)
            wrong += why is not None
            low, high = map(grid.transform.indexToWorld, grid.evalActiveVoxelBoundingBox())
            print(f"{path}: {grid.name}: {grid.gridClass}, {grid.activeVoxelCount()} voxels, {low} to {high}: {why or 'sound'}")
    sys.exit(1 if wrong or len(sys.argv) < 2 else 0)


main()
