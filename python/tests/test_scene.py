"""Scenes from Python against what `kintsugi simulate` writes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kintsugi as kg

FALLS = """
name = "falls"

[[body]]
file = "builtin:box"
level = 5
size = 0.4
position = [0.0, 0.25, 0.0]
rotation = [0.1, 0.0, 0.2, 0.9746794344808963]
density = 1800.0

[body.fracture]
seeds = 6
rng = 3

[[event]]
kind = "impact"
time = 0.1
point = [0.0, 0.3, 0.2]
direction = [0.0, 0.0, -1.0]
speed = 1.0
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    """A scene file and the trajectory that the program writes of it."""
    folder = tmp_path_factory.mktemp("scene")
    file = folder / "falls.toml"
    file.write_text(FALLS)
    kg.run(["simulate", file, "--seconds", "0.4", "--compute", "cpu", "--out", folder / "out"])
    with np.load(folder / "out/trajectory.npz") as archive:
        return file, {name: archive[name] for name in archive.files}


def test_states_are_those_of_the_program(played: tuple[Path, dict[str, np.ndarray]]) -> None:
    file, log = played
    playing = kg.Scene.open(file).play(0.4)
    states = [playing.state, *playing]
    by_time = {round(float(time), 6): row for row, time in enumerate(log["time"])}
    assert len(states) == 41 == playing.steps + 1 and len(playing) == 0
    broke = False
    for state in states:
        row = by_time[round(state.time, 6)]
        alive = np.flatnonzero(np.isfinite(log["position"][row, :, 0]))
        broke |= len(alive) > 1
        assert len(state.ids) == len(alive)
        for ours, name in (
            (state.positions, "position"),
            (state.rotations, "rotation"),
            (state.linear_velocities, "linear_velocity"),
            (state.angular_velocities, "angular_velocity"),
        ):
            assert np.array_equal(ours, log[name][row, alive]), f"{name} at {state.time} s"
    assert broke, "the blow broke nothing"
    # Numbers of bodies stay the same for their life.
    assert set(states[0].ids).isdisjoint(states[-1].ids)


def test_a_scene_is_read_from_text(played: tuple[Path, dict[str, np.ndarray]]) -> None:
    file, _ = played
    scene = kg.Scene.parse(FALLS, file.parent)
    assert "builtin:box" in scene.toml
    again = kg.Scene.parse(scene.toml, file.parent)
    assert again.toml == scene.toml
    first, second = list(scene.play(0.15)), list(kg.Scene.open(file).play(0.15))
    assert all(np.array_equal(a.positions, b.positions) for a, b in zip(first, second))
    assert len(first) == len(second) == 15 and scene.name == "falls" and scene.dt == 0.01


def test_a_simulation_tells_of_its_step(played: tuple[Path, dict[str, np.ndarray]]) -> None:
    file, _ = played
    simulation = kg.Scene.open(file).play(0.4)
    assert iter(simulation) is simulation
    found = 0
    for state in simulation:
        contacts = simulation.contacts()
        found = max(found, len(contacts["point"]))
        assert set(np.unique(contacts["bodies"]).tolist()) - {-1} <= set(state.ids.tolist())
        assert simulation.step_report["bodies"] == len(state.ids) and simulation.step_report["time"] == state.time
    assert found > 0
    pieces = simulation.pieces
    assert np.array_equal(pieces["ids"], state.ids) and np.array_equal(pieces["masses"], state.masses)
    assert (pieces["generations"] == 1).all() and np.allclose(pieces["volumes"] * 1800.0, pieces["masses"])
    assert len(simulation.objects) == 1 and (pieces["objects"] == 0).all()


def test_contacts_by_substep_are_those_of_the_program(played: tuple[Path, dict[str, np.ndarray]], tmp_path: Path) -> None:
    file, _ = played
    words = ["--seconds", "0.4", "--contact-log", "1", "--contact-substeps", "--compute", "cpu"]
    kg.run(["simulate", file, *words, "--out", tmp_path / "out"])
    with np.load(tmp_path / "out/contacts.npz") as archive:
        log = {name: archive[name] for name in archive.files}
    scene = kg.Scene.open(file)
    simulation, plain = scene.play(0.4, contact_substeps=True), scene.play(0.4)
    found = 0
    for step, (state, other) in enumerate(zip(simulation, plain), start=1):
        assert np.array_equal(state.positions, other.positions), "keeping substeps moves no body"
        rows = simulation.contacts(by_substep=True)
        logged = log["step"] == step
        for name in set(log) - {"step", "time"}:
            assert np.array_equal(rows[name], log[name][logged]), f"{name} of step {step}"
        found += len(rows["substep"])
        assert ((rows["substep"] >= -1) & (rows["substep"] < 8)).all()
    assert found == len(log["step"]) > 100
    assert "substep" not in simulation.contacts()
    with pytest.raises(kg.ParameterError, match="contact_substeps=True"):
        plain.contacts(by_substep=True)


def test_shipped_scenes_are_there() -> None:
    folder = kg.scenes()
    names = {file.stem for file in folder.glob("*.toml")}
    assert {"vase", "columns", "bunny", "wall"} <= names
    playing = kg.Scene.open(folder / "p01-free-fall.toml").play(0.1)
    states = [playing.state, *playing]
    fallen = states[0].positions[0, 1] - states[-1].positions[0, 1]
    # 4 substeps of 0.0025 s a step.
    n = 4 * (len(states) - 1)
    assert fallen == pytest.approx(9.81 * 0.0025**2 * n * (n + 1) / 2, rel=1e-9)
