"""The search for parameters."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

import kintsugi as kg
from kintsugi.fit import fit, histogram_sizes, size_distance


def test_the_distance_is_the_least_work_of_moving_sizes() -> None:
    random = np.random.default_rng(3)
    for count in range(1, 6):
        a, b = random.random(count) + 0.01, random.random(count) + 0.01
        # Brute force: the best of all ways to pair them up.
        best = min(
            np.abs(np.log10(a) - np.log10(np.array(order))).mean() for order in itertools.permutations(b.tolist())
        )
        assert size_distance(a, b) == pytest.approx(best, abs=1e-12)
    assert size_distance([1.0], [2.0, 2.0]) == pytest.approx(np.log10(2.0))
    # A weight of two is twice the same size.
    assert size_distance([1, 1, 10], [3.0]) == pytest.approx(size_distance([1, 10], [3.0], [2, 1]))
    assert size_distance(a, a) == 0.0


def test_histograms() -> None:
    sizes, often = histogram_sizes([1, 100, 10_000], [3, 5])
    assert np.allclose(sizes, [10, 1000]) and often.tolist() == [3, 5]
    for edges, counts in (([1, 2], [1, 2]), ([2, 1, 3], [1, 1]), ([1, 2, 3], [0, 0]), ([1, 2, 3], [1, -1])):
        with pytest.raises(kg.ParameterError):
            histogram_sizes(edges, counts)


def test_a_number_of_pieces_is_found(box: kg.Object) -> None:
    found = fit(box, 37, parameters={"seeds": (2, 400)}, fixed={"preset": "uniform"}, budget=40)
    assert abs(len(found.pieces) - 37) <= 1
    assert found.parameters["preset"] == "uniform" and isinstance(found.parameters["seeds"], int)
    assert len(found.trials) <= 40 and (np.diff(found.history) <= 0).all() and found.history[-1] == found.loss
    # The parameters make the same pieces again.
    assert box.fracture(**found.parameters).digest() == found.pieces.digest()
    again = fit(box, 37, parameters={"seeds": (2, 400)}, fixed={"preset": "uniform"}, budget=40)
    assert again.parameters == found.parameters and again.loss == found.loss


def test_sizes_are_fitted_in_under_a_minute(vase: kg.Object) -> None:
    made = vase.fracture(seeds=70, preset="clustered", clusters=3, spread=0.1, rng=5)
    sherds = np.array([piece.volume for piece in made]) * 1234.5  # any unit
    began = time.monotonic()
    ranges = {"seeds": (10, 300), "clusters": (1, 12), "spread": (0.02, 0.5)}
    found = fit(vase, sherds, ranges, fixed={"preset": "clustered"}, budget=120, rng=1)
    assert time.monotonic() - began < 60
    usual = vase.fracture(seeds=40, rng=1)
    before = size_distance([piece.volume / vase.volume for piece in usual], sherds / sherds.sum())
    assert found.loss < 0.5 * before, f"{found.loss} of {before}"
    edges = np.geomspace(sherds.min() * 0.99, sherds.max() * 1.01, 9)
    counts, _ = np.histogram(sherds, edges)
    binned = fit(vase, (edges, counts), ranges, fixed={"preset": "clustered"}, budget=60, whole=float(sherds.sum()))
    assert binned.loss < before


def test_kinds_of_ranges(box: kg.Object) -> None:
    seen: list[dict[str, object]] = []

    def loss(pieces: kg.Pieces) -> float:
        seen.append(pieces.parameters)
        return abs(len(pieces) - 12)

    ranges = {
        "radii": [(0.05, 0.2), (0.1, 1.0)],
        "surface": ["planar", "rough"],
        "crack": {"noise": {"amplitude": (0.0, 1.0)}},
        "seeds": (4, 30),
    }
    told: list[float] = []
    found = fit(box, loss, ranges, budget=12, progress=lambda stage, fraction: told.append(fraction))
    assert len(seen) == 12 or found.loss == 0.0
    for trial in found.trials:
        asked = trial.parameters
        assert asked["radii"] == sorted(asked["radii"]) and len(asked["radii"]) == 2
        assert asked["surface"] in ("planar", "rough") and 4 <= asked["seeds"] <= 30
        assert 0.0 <= asked["crack"]["noise"]["amplitude"] <= 1.0
    assert {trial.parameters["surface"] for trial in found.trials} == {"planar", "rough"}
    assert told[-1] == 1.0 and told == sorted(told)


@pytest.mark.parametrize(
    ("target", "parameters"),
    [(0, None), ([], None), ([[1.0]], None), ([1.0, -1.0], None), (5, {"seeds": (9, 3)}), (5, {"seeds": 3}), (5, {})],
)
def test_what_means_nothing_is_refused(box: kg.Object, target: object, parameters: object) -> None:
    with pytest.raises(kg.ParameterError) as caught:
        fit(box, target, parameters, budget=2)
    assert "\n" not in str(caught.value)


def test_refused_trials_are_counted_and_none_is_an_error(box: kg.Object) -> None:
    with pytest.raises(kg.ParameterError, match="strength"):
        fit(box, 5, {"crack": {"strength": (2.0, 3.0)}}, fixed={"surface": "rough"}, budget=3)
