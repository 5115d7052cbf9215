"""Objects and breaks that several tests look at; each is made once."""

from __future__ import annotations

import numpy as np
import pytest

import kintsugi as kg


@pytest.fixture(scope="session")
def vase() -> kg.Object:
    return kg.voxelise("builtin:vase", level=6)


@pytest.fixture(scope="session")
def box() -> kg.Object:
    return kg.voxelise("builtin:box", level=5)


@pytest.fixture(scope="session")
def planar(vase: kg.Object) -> kg.Pieces:
    return vase.fracture(seeds=30, rng=7)


@pytest.fixture(scope="session")
def rough(vase: kg.Object) -> kg.Pieces:
    return vase.fracture(seeds=30, rng=7, surface="rough")


@pytest.fixture(scope="session")
def blocks(box: kg.Object) -> kg.Pieces:
    """A box in a few pieces, planar."""
    return box.fracture(seeds=8, rng=3, preset="uniform")


@pytest.fixture(scope="session")
def tetrahedron() -> tuple[np.ndarray, np.ndarray]:
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return vertices, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
