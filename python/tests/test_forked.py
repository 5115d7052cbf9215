"""Workers that are forked after the library was used, as multiprocessing does on Linux."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
from multiprocessing.pool import Pool
from typing import Iterator

import numpy as np
import pytest
from test_scene import FALLS

import kintsugi as kg

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be forked here")

# Seconds until a worker counts as stuck.
PATIENCE = 120


def told(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def broken(box: kg.Object) -> list[str]:
    """What a break, its meshes and its pictures are."""
    pieces = box.fracture(seeds=10, surface="rough", rng=3)
    mesh, points, touching = pieces[0].mesh, pieces[1].sample(50), pieces.touching()
    return [
        pieces.digest(),
        told(*pieces.arrays().values()),
        told(mesh.vertices, mesh.triangles, mesh.beyond),
        told(points.positions, points.beyond),
        told(touching.pairs, touching.area),
        told(pieces.labelling()[-1], pieces.picture(40, 30), box.default_impact[0]),
        repr(pieces.check()),
    ]


def all_calls() -> list[str]:
    """Reading, voxelising, breaking, moving; each hands work to threads."""
    box = kg.voxelise("builtin:box", level=5)
    world = kg.World()
    world.add(box.fracture(seeds=8, rng=3), shift=(0.0, 0.1, 0.0))
    world.step(5)
    # Reads, and breaks, on threads of its own.
    states = list(kg.Scene.parse(FALLS).play(0.15))
    assert len(states[-1]) > 1, "the blow broke nothing"
    return [*broken(box), told(world.positions), told(*(state.positions for state in states))]


held: kg.Object
engine: kg.Engine


@pytest.fixture(scope="module")
def worker() -> Iterator[Pool]:
    """A process that is forked when the library's threads have worked, and hold a box."""
    global held
    held = kg.voxelise("builtin:box", level=5)
    held.fracture(seeds=4)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        yield pool


def broken_there() -> list[str]:
    return broken(held)


def test_a_forked_worker_gets_what_its_parent_gets(worker: Pool) -> None:
    assert worker.apply_async(all_calls).get(timeout=PATIENCE) == all_calls()


def test_a_forked_worker_breaks_an_object_of_its_parent(worker: Pool) -> None:
    assert worker.apply_async(broken_there).get(timeout=PATIENCE) == broken(held)


def test_a_worker_of_a_worker_breaks_too(worker: Pool) -> None:
    assert worker.apply_async(forked_again).get(timeout=PATIENCE) == held.fracture(seeds=4, rng=2).digest()


def forked_again() -> str:
    """The digest that a process finds that is forked from this one, which has broken the object, too."""
    ours = held.fracture(seeds=4, rng=2).digest()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        # One that is stuck would keep the pipes of the test runner open.
        signal.alarm(PATIENCE)
        try:
            os.write(write, held.fracture(seeds=4, rng=2).digest().encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        theirs = answer.read()
    os.waitpid(child, 0)
    assert theirs == ours
    return theirs


def drawn_by_an_engine() -> str:
    try:
        return told(held.picture(20, 15, engine=engine))
    except kg.DeviceError as error:
        return str(error)


def test_an_adapter_stays_in_its_process_and_says_what_to_do(worker: Pool) -> None:
    global engine
    try:
        engine = kg.Engine("gpu")
    except kg.DeviceError as error:
        pytest.skip(f"no adapter: {error}")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        said = pool.apply_async(drawn_by_an_engine).get(timeout=PATIENCE)
    assert "spawn" in said and "forked" in said
