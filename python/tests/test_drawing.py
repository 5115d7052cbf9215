"""Drawings of cracks as targets of the search."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import kintsugi as kg
from kintsugi.fit import Drawing, fit

PIXELS = 128


@pytest.fixture(scope="module")
def brick() -> kg.Object:
    """A box, fine enough to tell a pixel of the drawings."""
    return kg.voxelise("builtin:box", level=7)


def drawn(seeds: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The picture of the borders between the nearest seeds, by brute force; (S, 2) from the upper left corner."""
    at = (np.arange(PIXELS) + 0.5) / PIXELS
    places = np.stack(np.meshgrid(at * size[0], at * size[1]), axis=-1)
    nearest = ((places[:, :, None] - seeds) ** 2).sum(axis=-1).argmin(axis=-1)
    picture = np.full((PIXELS, PIXELS), 255, dtype=np.uint8)
    picture[:, :-1][nearest[:, :-1] != nearest[:, 1:]] = 0
    picture[:-1][nearest[:-1] != nearest[1:]] = 0
    return picture


def random_seeds(count: int, size: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.random.default_rng(count).random((count, 2)) * size


# Across and high of each view of the brick in its axes, which all have the length 1.
@pytest.mark.parametrize(("count", "view"), [(2, "front"), (8, "front"), (8, "right"), (20, "top"), (20, "front")])
def test_the_cracks_of_known_seeds_are_found_again(brick: kg.Object, count: int, view: str) -> None:
    low, high = brick.bounds
    size = np.array([1.0, 1.0])
    assert np.allclose(high - low, 1.0)
    seeds = random_seeds(count, size)
    found = fit(brick, Drawing(drawn(seeds, size), view=view))
    pixel = 1.0 / PIXELS
    assert found.loss < 1.5 * pixel, f"{found.loss / pixel} pixels"
    assert found.loss == min(trial.loss for trial in found.trials) and found.trials[-1].loss > 2.0 * found.loss
    assert len(found.pieces) == count
    again = brick.fracture(**found.parameters)
    assert again.digest() == found.pieces.digest()
    # All lie in one layer. An independent view of the front: the nearest of the known seeds and the cell of each voxel that
    # faces the viewer part these alike.
    middle = (low + high) / 2
    axes = {"front": (0, 1, 2), "top": (0, 2, 1), "right": (2, 1, 0)}[view]
    placed = found.parameters["seeds"]
    assert placed.shape == (count, 3) and np.allclose(placed[:, axes[2]], middle[axes[2]])
    arrays = again.arrays()
    points = (arrays["coords"] + 0.5) @ arrays["grid_to_mesh"][:3, :3].T + arrays["grid_to_mesh"][:3, 3]
    facing = points[:, axes[2]] > high[axes[2]] - 0.75 * brick.edge
    flat = points[facing][:, axes[:2]] - low[list(axes[:2])]
    if view == "front":
        flat[:, 1] = 1.0 - flat[:, 1]
    elif view == "right":
        # Seen along -x, z goes to the left and y up.
        flat = 1.0 - flat
    known = ((flat[:, None] - seeds) ** 2).sum(axis=-1).argmin(axis=-1)
    table = np.zeros((count, count), dtype=int)
    np.add.at(table, (known, arrays["piece"][facing]), 1)
    assert table.max(axis=1).sum() > 0.93 * table.sum(), "areas and pieces are not the same"


def test_another_drawing_is_farther(brick: kg.Object) -> None:
    size = np.array([1.0, 1.0])
    right, wrong = (Drawing(drawn(random_seeds(count, size), size)) for count in (12, 13))
    found = fit(brick, right)
    assert wrong(found.pieces) > 3.0 * right(found.pieces) == 3.0 * found.loss
    # Seen from the top there is no crack of that kind.
    assert Drawing(drawn(random_seeds(12, size), size), "top")(found.pieces) > 3.0 * found.loss
    # No crack at all is as far as the picture is wide and high.
    assert right(brick.fracture(seeds=[[0.0, 0.5, 0.0]])) == pytest.approx(np.sqrt(2.0))


def test_the_distance_is_that_of_places(brick: kg.Object) -> None:
    """Two halves: borders and cracks are parallel lines, a known distance apart."""
    drawing = Drawing.of_lines([[(0.0, 0.4), (1.0, 0.4)]], size=(100, 100))
    low, high = brick.bounds
    for down in (0.4, 0.5, 0.75):
        y = high[1] - down * (high[1] - low[1])
        pieces = brick.fracture(seeds=[[0.0, y - 0.2, 0.0], [0.0, y + 0.2, 0.0]])
        # Half a pixel of the drawing and one voxel.
        assert drawing(pieces) == pytest.approx(abs(down - 0.4), abs=0.5 / 100 + brick.edge)
        assert np.allclose(drawing.seen(pieces)[:, 1], down, atol=1.5 * brick.edge)


def test_lines_and_pictures_are_the_same(box: kg.Object) -> None:
    lines = [[(0.0, 0.3), (0.45, 0.5), (1.0, 0.35)], np.array([[0.45, 0.5], [0.55, 1.0]])]
    of_lines = Drawing.of_lines(lines, view=(0, 0, -2), size=(PIXELS, PIXELS))
    # Places on the lines, drawn apart from that.
    picture = np.ones((PIXELS, PIXELS))
    for line in lines:
        for (x0, y0), (x1, y1) in zip(line[:-1], line[1:]):
            for share in np.linspace(0, 1, 1000):
                x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
                picture[min(int(y * PIXELS), PIXELS - 1), min(int(x * PIXELS), PIXELS - 1)] = 0.0
    first, second = fit(box, of_lines), fit(box, Drawing(picture))
    assert first.loss == pytest.approx(second.loss, abs=0.2 / PIXELS) and len(first.pieces) == 3
    # The very same pixels are the very same seeds, whatever the picture is made of.
    dark = ~of_lines.lines
    for same in (of_lines.lines, dark, dark * np.uint8(255), np.stack([dark.astype(float)] * 3, axis=-1)):
        again = fit(box, Drawing(same))
        assert np.array_equal(again.parameters["seeds"], first.parameters["seeds"]) and again.loss == first.loss


def test_white_follows_from_the_type_of_a_picture() -> None:
    mask = np.zeros((20, 30), dtype=bool)
    mask[9] = mask[:, 20] = True
    for light in (
        np.where(mask, 0, 1),
        np.where(mask, 0, 200).astype(np.int16),
        np.where(mask, -5, 90),
        np.where(mask, 0, 255).astype(np.uint8),
        np.where(mask, 0, 65535).astype(np.uint16),
        # Nearly white, and nearly black.
        np.where(mask, 20000, 60000).astype(np.uint16),
        np.where(mask, 0.2, 0.9),
        np.repeat(np.where(mask, 0, 65535)[:, :, None], 4, axis=2).astype(np.uint16) | np.array([0, 0, 0, 65535], np.uint16),
        ~mask,
        mask,
    ):
        assert np.array_equal(Drawing(light).lines, mask), light.dtype


def test_areas_with_one_middle_have_seeds(box: kg.Object) -> None:
    """A ring round a disc, and two rings: the middles of their areas are the same."""
    at = (np.arange(PIXELS) + 0.5) / PIXELS - 0.5
    far = np.hypot(at[None, :], at[:, None])
    for radii in ((0.3,), (0.15, 0.3)):
        rings = np.ones((PIXELS, PIXELS))
        for radius in radii:
            rings[np.abs(far - radius) < 1.5 / PIXELS] = 0.0
        drawing = Drawing(rings)
        guesses = drawing.guesses(box)
        for seeds in guesses:
            apart = np.sqrt(((seeds[:, None] - seeds[None]) ** 2).sum(axis=-1))
            assert np.isfinite(seeds).all() and apart[~np.eye(len(seeds), dtype=bool)].min() > 1e-4
        assert all(np.array_equal(*pair) for pair in zip(guesses, drawing.guesses(box)))
        found = fit(box, drawing)
        assert len(found.pieces) == len(radii) + 1 and found.loss < 0.25
    # Straight cracks meet a ring that has lines beside it better than one without.
    cross = rings.copy()
    cross[far < 0.29] = 1.0
    ring = fit(box, Drawing(cross)).loss
    cross[PIXELS // 2 - 1 : PIXELS // 2 + 1, np.abs(at) > 0.3] = 0.0
    cross[np.abs(at) > 0.3, PIXELS // 2 - 1 : PIXELS // 2 + 1] = 0.0
    assert fit(box, Drawing(cross)).loss < 0.5 * ring


def test_a_drawing_on_what_does_not_fill_its_bounds(vase: kg.Object) -> None:
    size = np.ptp(vase.bounds, axis=0)[:2]
    found = fit(vase, Drawing(drawn(random_seeds(14, size), size)))
    assert found.loss < vase.edge
    # Lines beside the vase are no cracks of it.
    beside = Drawing.of_lines([[(0.03, 0.0), (0.03, 0.1)], [(0.0, 0.5), (1.0, 0.52)], [(0.0, 0.1), (0.03, 0.1)]])
    assert len(beside.guesses(vase)[0]) == 2 < beside.areas.max() + 1


def test_other_parameters_are_searched_by_a_drawing(box: kg.Object) -> None:
    size = np.array([1.0, 1.0])
    drawing = Drawing(drawn(random_seeds(5, size), size))
    told: list[float] = []
    found = fit(box, drawing, {"seeds": (2, 12), "rng": (1, 40)}, budget=8)
    assert len(found.trials) <= 8 and found.loss == drawing(found.pieces)
    seeds = fit(box, drawing, fixed={"surface": "rough"}, budget=2, progress=lambda stage, share: told.append(share))
    assert seeds.loss < found.loss and len(seeds.trials) <= 2 and seeds.parameters["surface"] == "rough"
    assert told == sorted(told) and told[-1] == 1.0
    with pytest.raises(kg.ParameterError, match="fixed has seeds"):
        fit(box, drawing, fixed={"seeds": 3})


@pytest.mark.parametrize(
    ("picture", "part"),
    [
        (np.zeros((20, 20)), "no lines"),
        (np.ones((20, 20), dtype=bool), "no lines"),
        (np.eye(20)[::2][:, ::2] > 2, "no lines"),
        (np.zeros(20), "shape"),
        (np.zeros((1, 20)), "2 x 2"),
        (np.zeros((4, 4, 2)), "shape"),
        (np.full((4, 4), np.nan), "finite"),
        ([[1, 2], [3]], "lengths"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        (np.pad(np.zeros((1, 10)), ((9, 10), (0, 10)), constant_values=1.0), "single area"),
    ],
)
def test_what_is_no_drawing_is_refused(picture: object, part: str) -> None:
    with pytest.raises(kg.ParameterError, match=part) as caught:
        Drawing(picture)
    assert "\n" not in str(caught.value)


def test_other_refusals(vase: kg.Object) -> None:
    line = [[(0.0, 0.5), (1.0, 0.5)]]
    for view in ("above", (0, 0, 0), (1, 2), (np.nan, 0, 1)):
        with pytest.raises(kg.ParameterError, match="view"):
            Drawing.of_lines(line, view=view)
    short, deep = [[(0, 0)]], [[(0, 0, 0), (1, 1, 1)]]
    for lines, size in ((short, (64, 64)), (deep, (64, 64)), (line, (1, 64)), (line, (9, 9999)), ([], (9, 9))):
        with pytest.raises(kg.ParameterError):
            Drawing.of_lines(lines, size=size)
    beside = Drawing.of_lines([[(0.03, 0.0), (0.03, 0.1), (0.0, 0.1)]])
    with pytest.raises(kg.ParameterError, match="no two areas of the object"):
        fit(vase, beside)
