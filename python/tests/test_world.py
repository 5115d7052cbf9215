"""Bodies in motion against formulas."""

from __future__ import annotations

import numpy as np
import pytest

import kintsugi as kg

G = 9.81


def test_a_free_fall_is_that_of_the_formula(box: kg.Object) -> None:
    world = kg.World(floor=None, substeps=4)
    ids = world.add(box, shift=(0.0, 10.0, 0.0), density=1500.0)
    assert len(ids) == 1 and list(world.ids) == ids
    start = world.positions.copy()
    assert start.shape == (1, 3) and world.rotations.shape == (1, 4)
    report = world.step(100)
    assert isinstance(report, dict) and world.time == pytest.approx(1.0)
    # Semi-implicit Euler in n = 400 substeps of h = 0.0025 s: g h^2 n (n + 1) / 2.
    n, h = 400, 0.0025
    assert start[0, 1] - world.positions[0, 1] == pytest.approx(G * h * h * n * (n + 1) / 2, rel=1e-9)
    assert world.linear_velocities[0] == pytest.approx([0.0, -G, 0.0], rel=1e-9, abs=1e-12)
    assert np.allclose(world.rotations[0], [0.0, 0.0, 0.0, 1.0])
    assert world.masses[0] == pytest.approx(1500.0 * box.volume, rel=1e-6)


def test_pieces_that_push_each_other_keep_their_momentum(blocks: kg.Pieces) -> None:
    world = kg.World(gravity=(0.0, 0.0, 0.0), floor=None, sleeping=False)
    world.add(blocks, density=2000.0)
    # The largest piece again, into the others: they part.
    world.add(blocks[0], shift=(0.1, 0.05, 0.0), density=2000.0)
    assert world.masses.sum() == pytest.approx(2000.0 * (blocks.object.volume + blocks[0].volume), rel=1e-6)
    world.step(30)
    moving = np.linalg.norm(world.linear_velocities, axis=1)
    assert moving.max() > 1e-3, "nothing moved"
    momentum = world.masses @ world.linear_velocities
    assert np.abs(momentum).max() < 1e-6 * (world.masses * moving).sum()


def test_a_push_off_the_middle_keeps_the_momentum(box: kg.Object) -> None:
    world = kg.World(gravity=(0.0, 0.0, 0.0), floor=None, sleeping=False)
    size = float(np.ptp(box.bounds, axis=0).max())
    world.add(box, shift=(-1.5 * size, 0.0, 0.0), linear_velocity=(3.0, 0.3, 0.0), angular_velocity=(0.0, 4.0, 1.0))
    world.add(box, shift=(1.5 * size, 0.1, 0.1), linear_velocity=(-2.0, 0.0, 0.1))

    before = world.masses @ world.linear_velocities
    world.step(120)
    after = world.masses @ world.linear_velocities
    assert np.abs(world.linear_velocities - [[3.0, 0.3, 0.0], [-2.0, 0.0, 0.1]]).max() > 0.1, "they did not meet"
    assert np.abs(after - before).max() < 1e-6 * np.abs(before).max()


def test_the_same_world_is_the_same_to_the_bit(blocks: kg.Pieces) -> None:
    ends = []
    for _ in range(2):
        world = kg.World()
        world.add(blocks, shift=(0.0, 0.3, 0.0))
        world.step(40)
        ends.append(np.concatenate([world.positions, world.rotations, world.linear_velocities], axis=1))
    assert np.array_equal(*ends)


def test_contacts_bear_the_weight(box: kg.Object) -> None:
    world = kg.World(sleeping=False)
    low = box.bounds[0]
    world.add(box, shift=(0.0, -float(low[1]) + 0.001, 0.0), density=1000.0, physics_level=4)
    world.step(100)
    contacts = world.contacts()
    count = len(contacts["point"])
    assert count >= 3
    for name in ("point", "normal", "relative_velocity", "substep_friction", "step_friction"):
        assert contacts[name].shape == (count, 3) and contacts[name].dtype == np.float64, name
    for name in ("separation", "impulse", "parting", "sliding", "substep_impulse", "step_impulse", "cell", "area"):
        assert contacts[name].shape == (count,) and contacts[name].dtype == np.float64, name
    for name in ("bodies", "key"):
        assert contacts[name].shape == (count, 2) and contacts[name].dtype == np.int32, name
    for name in ("found_by", "found_as", "chosen_as", "candidates", "persistence", "touches_later"):
        assert contacts[name].shape == (count,) and contacts[name].dtype == np.int32, name
    # By octrees or hulls; outermost or deepest of at least as many candidates as there are contacts.
    assert np.isin(contacts["found_by"], [1, 2]).all() and np.isin(contacts["chosen_as"], [1, 2]).all()
    assert (contacts["candidates"] >= count).all()
    # The body, and the floor, which has no number.
    assert (contacts["bodies"] == [world.ids[0], -1]).all()
    assert np.allclose(contacts["normal"], [0.0, 1.0, 0.0], atol=1e-3)
    # One face lies on the floor: its corners share no more than the face.
    width, _, depth = box.bounds[1] - box.bounds[0]
    assert 0.7 * width * depth < contacts["area"].sum() < 1.05 * width * depth
    names = {tuple(key) for key in contacts["key"].tolist()}
    world.step()
    assert len(names) == count and {tuple(key) for key in world.contacts()["key"].tolist()} == names
    borne = contacts["impulse"].sum()
    assert borne == pytest.approx(world.masses[0] * G * world.dt, rel=0.2)
    along = np.einsum("ci,ci->c", contacts["relative_velocity"], contacts["normal"])
    assert np.allclose(along, contacts["parting"], atol=1e-12)
    assert "substep" not in contacts
    with pytest.raises(kg.ParameterError, match="contact_substeps"):
        world.contacts(by_substep=True)


def test_impulses_of_substeps_change_the_momentum(box: kg.Object) -> None:
    # Without weight nothing but contacts changes a velocity; fast enough for several searches in a step.
    world = kg.World(gravity=(0.0, 0.0, 0.0), sleeping=False, contact_substeps=True)
    low = box.bounds[0]
    world.add(box, shift=(0.0, -float(low[1]) + 0.05, 0.0), linear_velocity=(1.0, -8.0, 0.0), physics_level=4)
    start = world.linear_velocities[0] * world.masses[0]
    total = np.zeros(3)
    for _ in range(20):
        world.step()
        rows = world.contacts(by_substep=True)
        assert rows["substep"].dtype == np.int32 and ((rows["substep"] >= 0) & (rows["substep"] < 8)).all()
        total += (rows["normal"] * rows["substep_impulse"][:, None] + rows["substep_friction"]).sum(axis=0)
    change = world.linear_velocities[0] * world.masses[0] - start
    assert total[1] > 0.9 * abs(start[1])
    assert np.allclose(total, change, atol=1e-9 * np.abs(start).max())


def test_played_states_follow_the_steps(blocks: kg.Pieces) -> None:
    world, other = kg.World(), kg.World()
    for each in (world, other):
        each.add(blocks[0], shift=(0.0, 0.2, 0.0))
    states = list(world.play(0.2))
    times = [state.time for state in states]
    assert np.allclose(times, 0.01 * np.arange(1, 21)) and world.time == times[-1]
    report = other.step(20)
    assert report["time"] == other.time and report["bodies"] == 1
    speed = other.linear_velocities[0]
    assert report["momentum_y"] == pytest.approx(other.masses[0] * speed[1], rel=1e-9)
    assert report["potential_energy"] == pytest.approx(other.masses[0] * G * other.positions[0, 1], rel=1e-9)
    last = states[-1]
    assert np.array_equal(last.positions, other.positions) and np.array_equal(last.rotations, other.rotations)
    assert np.array_equal(last.linear_velocities, other.linear_velocities) and list(last.ids) == list(other.ids)
    for array, width in ((last.positions, 3), (last.rotations, 4), (last.angular_velocities, 3)):
        assert array.shape == (1, width) and array.dtype == np.float64
    assert last.ids.dtype == last.objects.dtype == np.int32 and len(last) == len(other) == 1
    assert np.array_equal(last.masses, other.masses)


def test_what_is_fixed_stays_and_what_means_nothing_is_refused(box: kg.Object) -> None:
    world = kg.World(floor=None)
    world.add(box, fixed=True)
    before = world.positions.copy()
    world.step(10)
    assert np.array_equal(world.positions, before)
    with pytest.raises((kg.ParameterError, TypeError), match="gravitation"):
        kg.World(gravitation=(0, 0, 0))
    with pytest.raises(kg.Error):
        kg.World(dt=-1.0)
    with pytest.raises(TypeError):
        world.add("a box")
