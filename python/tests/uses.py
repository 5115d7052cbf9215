"""Uses of the package that mypy --strict must accept; test_types.py also runs them."""

from pathlib import Path
from typing import Dict, List

import numpy as np
from numpy.typing import NDArray

import kintsugi as kg
from kintsugi.fit import Drawing, fit

mesh: kg.Mesh = kg.Mesh.read("builtin:box")
box: kg.Object = kg.voxelise(mesh, level=4, progress=lambda stage, fraction: None)
also: kg.Object = kg.voxelise((mesh.vertices, mesh.triangles), 4, up="y")
pieces: kg.Pieces = box.fracture(seeds=6, rng=2, surface="rough", crack={"strength": 0.5}, engine=kg.Engine("cpu"))
slices: kg.Pieces = box.fracture(seeds=np.array([[-0.2, 0.0, 0.0], [0.2, 0.0, 0.0]]))
volumes: List[float] = [piece.volume for piece in pieces]
largest: kg.Piece = pieces[0]
vertices: NDArray[np.float64] = largest.mesh.vertices
crack: NDArray[np.bool_] = largest.mesh.crack
points: NDArray[np.float32] = largest.sample(10, seed=1).positions
arrays: Dict[str, NDArray[np.generic]] = dict(pieces.arrays())
pairs: NDArray[np.int32] = pieces.touching().pairs
some: List[kg.Piece] = pieces[1:3]
labels: NDArray[np.uint32] = pieces.labelling()[-1]
picture: NDArray[np.uint8] = pieces.picture(32, 24, apart=0.2)
count: int = len(fit(box, 5, {"seeds": (2, 40)}, budget=4).pieces)
drawing: Drawing = Drawing.of_lines([[(0.0, 0.4), (1.0, 0.6)]], view="front")
apart: float = drawing(fit(box, drawing).pieces)

world: kg.World = kg.World(gravity=(0.0, -9.81, 0.0), dt=0.01, floor=0.0)
ids: List[int] = world.add(pieces, shift=[0.0, 1.0, 0.0], density=2400.0)
for state in world.play(0.05):
    positions: NDArray[np.float64] = state.positions

where: Path = kg.scenes()
scene: kg.Scene = kg.Scene.open(where / "p01-free-fall.toml")
for moment in scene.play(0.02):
    seconds: float = moment.time

try:
    kg.voxelise("no-such-file.obj", level=4)
except kg.MeshError as error:
    said: str = str(error)
