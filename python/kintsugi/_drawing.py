"""Drawings of cracks: seeds whose cracks a drawing shows, and how far the cracks of a break lie from it.

In: a picture or lines, and the side of the object that they are seen on. Out: `Drawing`, which `kintsugi.fit.fit` takes as
its target. The edges of the picture are those of the object's bounding box, seen along parallel rays.

Lines part the picture into areas; one seed of each area lies in the plane through the middle of the object that is square
to the view, so cracks are prisms. Every place p of a border between areas i and j is off the crack of their seeds by
(|p - s_i|^2 - |p - s_j|^2) / (2 |s_i - s_j|). Sweeps over all seeds make the squares of that least, each seed by the normal
equations of its own borders (Gauss and Newton's method, damped as by Levenberg). A random search in small steps then makes
the mean distance of borders and cracks smaller, in both directions, on a coarse grid of nearest seeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._native import Object, ParameterError, Pieces
from ._seams import seams

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Ways to look, by the names of `picture`.
VIEWS = {
    "front": (0.0, 0.0, -1.0),
    "back": (0.0, 0.0, 1.0),
    "left": (1.0, 0.0, 0.0),
    "right": (-1.0, 0.0, 0.0),
    "top": (0.0, -1.0, 0.0),
    "bottom": (0.0, 1.0, 0.0),
}
# Pixels of the longer side to which larger pictures are reduced; of the grid of nearest seeds.
SIDE, COARSE = 256, 96
# Areas of fewer pixels, and drawings of more areas, are refused or left out.
FEWEST_PIXELS, MOST_AREAS = 6, 1000
# Places of borders and of cracks that are compared.
MOST_PLACES = 1000
# Sweeps of the least squares, and steps of the random search.
SWEEPS, STEPS = 600, 300
# Mean distance that is not searched to make smaller, pixels of that grid: its steps alone give a third of one.
ENOUGH = 0.4
# How far outside of the picture seeds may lie, in longest sides of the object; breaks take up to half a side.
OUTSIDE = 0.4
# Middles of areas that are nearer to each other are moved apart, by about ten times as much; shares of the longer side.
SAME_MIDDLE = 1e-3
# Seeds that are nearer have no crack between them; share of the longer side.
SAME_SEED = 1e-4
# How deep below the frontmost voxel a crack may lie that is seen, voxels.
SEEN = 2.5


class Drawing:
    """Cracks that an object shall have, as they are seen from one side.

        drawing = Drawing(picture, view="front")           # or Drawing.of_lines([[(0, 0.3), (1, 0.6)], ...])
        found = kintsugi.fit.fit(vase, drawing)            # the seeds of such cracks
        found.parameters["seeds"], found.loss

    `picture` is (H, W) numbers or truth values, or (H, W, 3 or 4) colours. White is 1 for floats, the largest number of an
    unsigned type (255 for uint8), and the largest of the picture for a signed one; black is 0. Pixels darker than the middle
    are lines, or the lighter ones where most are dark. The lines must part at least two areas; a line that ends within an
    area is no crack. Pieces have straight borders that meet the outline or each other, so no two seeds meet a closed line
    with nothing beside it, such as a ring: their crack crosses it. `view` is "front", "back", "left", "right", "top",
    "bottom", or the direction (3,) in which one looks, with y up in the picture (-z for a look straight down).

    `drawing(pieces)` is the distance of the cracks of a break from the drawing, in units of the mesh: the mean distance of
    places on drawn borders from the nearest crack that is seen, and that of such cracks from the nearest border, averaged.
    Cracks are the voxels of the surface that several pieces share, so about a third of a voxel remains where all agrees.
    Borders beside the object do not count.

    Raises ParameterError for an array of another shape, a drawing without lines, and one with a single area.
    """

    def __init__(self, picture: ArrayLike, view: str | ArrayLike = "front") -> None:
        self.forward = _forward(view)
        self.lines = _reduced(_lines(picture))
        """(H, W) whether each pixel is a line, 256 pixels a side at most; a pixel is one where a part of it is."""
        self.areas = _areas(self.lines)
        """(H, W) number of each pixel's area from 0 on, -1 for lines and for areas of a few pixels."""

    @classmethod
    def of_lines(
        cls,
        lines: Iterable[ArrayLike],
        view: str | ArrayLike = "front",
        size: tuple[int, int] = (SIDE, SIDE),
    ) -> Drawing:
        """The drawing of polylines, (n, 2) each: x from the left edge to the right, y from the top down, both 0 to 1.

        They are drawn a pixel wide on a picture of `size` (W, H) pixels, 2 to 256 each; what lies outside is cut off.
        """
        if not all(2 <= length <= SIDE for length in size):
            raise ParameterError(f"the size of a drawing is {size}; give (W, H) of 2 to {SIDE} pixels each")
        drawn = np.zeros((size[1], size[0]), dtype=bool)
        pixels = np.array(size, dtype=np.float64)
        for number, line in enumerate(lines):
            points = np.asarray(line, dtype=np.float64)
            if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2 or not np.isfinite(points).all():
                raise ParameterError(f"line {number} has the shape {points.shape}; give (n, 2) finite numbers, n of 2 or more")
            for start, end in zip(points[:-1] * pixels, points[1:] * pixels):
                count = min(2 * math.ceil(float(np.abs(end - start).max())), 100 * SIDE) + 2
                places = start + (end - start) * np.linspace(0.0, 1.0, count)[:, None]
                inside = ((places >= 0.0) & (places <= pixels)).all(axis=1)
                x, y = np.minimum(places[inside].astype(np.int64), np.array(size) - 1).T
                drawn[y, x] = True
        if not drawn.any():
            raise ParameterError("no line crosses the picture; its places go from 0 to 1")
        # Light on dark pictures do not occur here.
        return cls(np.where(drawn, 0.0, 1.0) if 2 * drawn.sum() <= drawn.size else drawn, view)

    def __call__(self, pieces: Pieces) -> float:
        """How far the cracks of `pieces` lie from the drawing, units of the mesh."""
        frame = _Frame.of(pieces.object, self.forward)
        borders = self._borders(frame, _Front.of(pieces.object, frame))
        seen = self._seen(pieces, frame)
        if len(seen) == 0:
            return math.hypot(*frame.size)
        return _apart(borders.places, seen)

    def seen(self, pieces: Pieces) -> Floats:
        """(C, 2) where cracks of `pieces` are seen, on the picture: x from the left, y from the top, 0 to 1."""
        frame = _Frame.of(pieces.object, self.forward)
        return np.asarray(self._seen(pieces, frame) / frame.size)

    def guesses(self, object: Object, rng: int = 0, go_on: Callable[[float], bool] = lambda share: True) -> list[Floats]:
        """Sets of seeds (S, 3), mesh units, the most promising first: searched, fitted by least squares, middles of areas.

        `go_on` gets the share of the steps that are done, and ends the search where it returns False.
        """
        frame = _Frame.of(object, self.forward)
        front = _Front.of(object, frame)
        borders = self._borders(frame, front)
        grid = _Grid.of(frame, front)
        longest = float(np.ptp(object.bounds, axis=0).max())
        low, high = -OUTSIDE * longest, frame.size + OUTSIDE * longest
        fitted = _fitted(borders, low, high)
        random = np.random.Generator(np.random.PCG64(rng))
        searched = _searched(fitted, borders.places, grid, random, (low, high), go_on)
        found: list[Floats] = []
        for flat in (searched, fitted, borders.middles):
            seeds = frame.placed(flat)
            if not any(np.array_equal(seeds, other) for other in found):
                found.append(seeds)
        return found

    def _borders(self, frame: _Frame, front: _Front) -> _Borders:
        """The borders of areas where the object is behind them."""
        height, width = self.areas.shape
        # Twice as fine, so that a line of one pixel has a middle.
        areas = np.repeat(np.repeat(self.areas, 2, axis=0), 2, axis=1)
        pitch = frame.size / np.array([2 * width, 2 * height])
        y, x = np.indices(areas.shape)
        centres = np.stack([x.ravel() + 0.5, y.ravel() + 0.5], axis=1) * pitch
        behind = front.filled(centres).reshape(areas.shape)
        # An area beside the object takes no part; that of the outline's line goes to what is inside.
        counts = np.bincount(areas[behind & (areas >= 0)], minlength=int(areas.max()) + 1)
        kept = counts >= 4 * FEWEST_PIXELS
        if kept.sum() < 2:
            raise ParameterError(
                "the lines of the drawing part no two areas of the object as it is seen from there; draw lines from edge to "
                "edge of the object, or choose another view"
            )
        numbers = np.where(kept, np.cumsum(kept) - 1, -1)
        areas = np.where(areas >= 0, numbers[areas], -1)
        own = behind & (areas >= 0)
        middles = np.stack(
            [np.bincount(areas[own], centres[own.ravel(), axis]) / counts[kept] for axis in range(2)], axis=1
        )
        middles = _distinct(middles, float(frame.size.max()))
        places, pairs = _steps(_grown(areas, pitch))
        places = places * pitch
        inside = front.filled(places)
        if not inside.any():
            raise ParameterError("no line of the drawing crosses the object as it is seen from there; choose another view")
        return _Borders(places[inside], pairs[inside], middles)

    def _seen(self, pieces: Pieces, frame: _Frame) -> Floats:
        """(C, 2) where cracks are seen, units of the mesh from the picture's upper left corner."""
        object = pieces.object
        front = _Front.of(object, frame)
        shared = seams(pieces)
        # The voxels of several pieces stand there several times, one after the other.
        is_first = np.ones(len(shared.coords), dtype=bool)
        is_first[1:] = (np.diff(shared.coords, axis=0) != 0).any(axis=1)
        points = shared.points[is_first]
        flat = frame.flat(points)
        return flat[front.is_seen(flat, frame.depth(points), SEEN * object.edge)]


@dataclass(frozen=True)
class _Frame:
    """The plane of a picture: where it lies and how it is turned. Lengths are units of the mesh."""

    middle: Floats
    right: Floats
    up: Floats
    forward: Floats
    size: Floats
    """(2,) across and high."""

    @classmethod
    def of(cls, object: Object, forward: Floats) -> _Frame:
        low, high = object.bounds
        is_steep = abs(forward[1]) >= 0.99
        above = np.array([0.0, 0.0, math.copysign(1.0, forward[1])]) if is_steep else np.array([0.0, 1.0, 0.0])
        right = np.cross(forward, above)
        right = right / math.sqrt(float((right * right).sum()))
        up = np.cross(right, forward)
        size = np.array([float((np.abs(axis) * (high - low)).sum()) for axis in (right, up)])
        return cls((low + high) / 2, right, up, forward, size)

    # Sums are written out: a matrix product may be rounded otherwise on another machine.
    def flat(self, points: Floats) -> Floats:
        """(N, 2) places on the picture, from its upper left corner to the right and down."""
        off = points - self.middle
        along = np.stack([(off * self.right).sum(axis=1), -(off * self.up).sum(axis=1)], axis=1)
        return along + self.size / 2

    def depth(self, points: Floats) -> Floats:
        """(N,) how far points lie along the view."""
        return np.asarray((points * self.forward).sum(axis=1))

    def placed(self, flat: Floats) -> Floats:
        """(N, 3) the points in the middle of the object that are seen at places of the picture."""
        off = flat - self.size / 2
        return self.middle + off[:, :1] * self.right - off[:, 1:] * self.up


@dataclass(frozen=True)
class _Front:
    """How near the object is at each cell of a grid over the picture; infinite beside it."""

    edge: float
    low: Floats
    depth: Floats

    @classmethod
    def of(cls, object: Object, frame: _Frame) -> _Front:
        matrix = object.grid_to_mesh
        points = (object.coords + 0.5) * object.edge + matrix[:3, 3]
        flat, depth = frame.flat(points), frame.depth(points)
        # Seen along an axis a voxel is a cell; seen aslant cells are as large as its diagonal, so that none is missed.
        is_along = float(np.abs(frame.forward).max()) > 1.0 - 1e-9
        edge = object.edge * (1.0 if is_along else math.sqrt(3.0))
        low = flat.min(axis=0) - edge / 2
        cells = np.floor((flat - low) / edge).astype(np.int64)
        across, high = cells.max(axis=0) + 1
        nearest = np.full((high, across), np.inf)
        np.minimum.at(nearest, (cells[:, 1], cells[:, 0]), depth)
        return cls(edge, low, nearest)

    def _at(self, flat: Floats) -> Floats:
        cells = np.floor((flat - self.low) / self.edge).astype(np.int64)
        high, across = self.depth.shape
        inside = ((cells >= 0) & (cells < np.array([across, high]))).all(axis=1)
        found = np.full(len(flat), np.inf)
        found[inside] = self.depth[cells[inside, 1], cells[inside, 0]]
        return found

    def filled(self, flat: Floats) -> Flags:
        """Whether the object is behind places of the picture."""
        return np.isfinite(self._at(flat))

    def is_seen(self, flat: Floats, depth: Floats, behind: float) -> Flags:
        """Whether points of a depth are no more than `behind` deeper than what is seen there."""
        return np.asarray(depth <= self._at(flat) + behind)


@dataclass(frozen=True)
class _Borders:
    """Places where areas meet, units of the mesh on the picture."""

    places: Floats
    """(B, 2)"""
    pairs: Whole
    """(B, 2) the two areas, 0 to S - 1."""
    middles: Floats
    """(S, 2) the middle of each area, moved a little where several areas have the same one."""


@dataclass(frozen=True)
class _Grid:
    """Coarse pixels of the picture behind which the object is."""

    x: Floats
    y: Floats
    is_behind: Flags

    @classmethod
    def of(cls, frame: _Frame, front: _Front) -> _Grid:
        pitch = float(frame.size.max()) / COARSE
        across, high = (max(2, round(length / pitch)) for length in frame.size.tolist())
        x, y = (np.arange(across) + 0.5) * (frame.size[0] / across), (np.arange(high) + 0.5) * (frame.size[1] / high)
        centres = np.stack([np.tile(x, high), np.repeat(y, across)], axis=1)
        return cls(x, y, front.filled(centres).reshape(high, across))

    def cracks(self, seeds: Floats) -> Floats:
        """(C, 2) where the nearest seed changes."""
        nearest = np.zeros(self.is_behind.shape, dtype=np.int64)
        least = np.full(self.is_behind.shape, np.inf)
        for number, (x, y) in enumerate(seeds.tolist()):
            far = ((self.x - x) ** 2)[None, :] + ((self.y - y) ** 2)[:, None]
            nearer = far < least
            nearest[nearer], least[nearer] = number, far[nearer]
        places, _ = _steps(np.where(self.is_behind, nearest, -1))
        return np.asarray(places * np.array([self.x[1] - self.x[0], self.y[1] - self.y[0]]))


def _forward(view: str | ArrayLike) -> Floats:
    if isinstance(view, str):
        if view not in VIEWS:
            raise ParameterError(f"there is no view {view!r}; there are {', '.join(VIEWS)}, or a direction (3,)")
        return np.array(VIEWS[view])
    way = np.asarray(view, dtype=np.float64)
    if way.shape != (3,) or not np.isfinite(way).all() or not way.any():
        raise ParameterError(f"the view is {view!r}; give a name such as \"front\", or a direction (3,) that is not zero")
    way = way / np.abs(way).max()
    return np.asarray(way / math.sqrt(float((way * way).sum())))


def _lines(picture: ArrayLike) -> Flags:
    """(H, W) whether pixels are lines."""
    try:
        array: NDArray[Any] = np.asarray(picture)
    except ValueError:
        raise ParameterError("a drawing is an array (H, W); rows of different lengths came") from None
    if array.dtype.kind not in "buif" or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise ParameterError(
            f"a drawing is an array (H, W) or (H, W, 3 or 4) of numbers; {array.dtype} of shape {array.shape} came"
        )
    if min(array.shape[:2]) < 2:
        raise ParameterError(f"a drawing has at least 2 x 2 pixels; an array of shape {array.shape} came")
    white = 1.0
    if array.dtype.kind == "u":
        white = float(np.iinfo(array.dtype).max)
    elif array.dtype.kind == "i":
        white = max(float(array.max()), 1.0)
    light = array.astype(np.float64) / white
    if not np.isfinite(light).all():
        raise ParameterError("the drawing has pixels that are not finite; give 0 (dark) to 1 (light)")
    if light.ndim == 3:
        opaque = light[:, :, 3] if light.shape[2] == 4 else np.ones(light.shape[:2])
        grey = 0.2126 * light[:, :, 0] + 0.7152 * light[:, :, 1] + 0.0722 * light[:, :, 2]
        light = grey * opaque + 1.0 - opaque
    dark = light < 0.5
    lines = dark if 2 * dark.sum() <= dark.size else ~dark
    if not lines.any():
        raise ParameterError("the drawing has no lines; draw lines from edge to edge, or closed ones, dark on light")
    return np.asarray(lines)


def _reduced(lines: Flags) -> Flags:
    """The same, small enough; thin lines stay closed."""
    part = -(-max(lines.shape) // SIDE)
    if part == 1:
        return lines
    high, across = (-(-length // part) for length in lines.shape)
    whole = np.zeros((high * part, across * part), dtype=bool)
    whole[: lines.shape[0], : lines.shape[1]] = lines
    return np.asarray(whole.reshape(high, part, across, part).any(axis=(1, 3)))


def _areas(lines: Flags) -> Whole:
    """(H, W) numbers of the areas that lines part: pixels that share an edge are of one area."""
    above: list[int] = []

    def root(run: int) -> int:
        while above[run] != run:
            above[run] = above[above[run]]
            run = above[run]
        return run

    # Runs of pixels without a line are joined with those of the row above that they touch.
    runs: list[tuple[int, int, int]] = []
    former: list[tuple[int, int, int]] = []
    labels = np.full(lines.shape, -1, dtype=np.int64)
    for y, row in enumerate(lines):
        ends = np.flatnonzero(np.diff(np.concatenate([[True], row, [True]]).astype(np.int8)))
        present: list[tuple[int, int, int]] = []
        for start, end in zip(ends[::2].tolist(), ends[1::2].tolist()):
            number = len(above)
            above.append(number)
            labels[y, start:end] = number
            for first, last, other in former:
                if first < end and start < last:
                    low, high = sorted((root(number), root(other)))
                    above[high] = low
            present.append((start, end, number))
        runs += present
        former = present
    roots = np.array([root(run) for run in range(len(above))], dtype=np.int64)
    of = np.where(labels >= 0, roots[labels], -1) if len(roots) else labels
    counts = np.bincount(of[of >= 0], minlength=len(roots))
    kept = counts >= FEWEST_PIXELS
    if kept.sum() < 2:
        raise ParameterError(
            "the drawing has a single area, so its lines part nothing; draw lines from edge to edge, or closed ones"
        )
    if kept.sum() > MOST_AREAS:
        raise ParameterError(f"the drawing has {kept.sum()} areas; {MOST_AREAS} are the most, so draw fewer lines")
    return np.asarray(np.where(of >= 0, np.where(kept, np.cumsum(kept) - 1, -1)[of], -1))


def _grown(areas: Whole, pitch: Floats) -> Whole:
    """The same with the nearest area's number in every pixel of -1; exact, by columns and then by rows."""
    height, width = areas.shape
    rows = np.arange(height)[:, None]
    has = areas >= 0
    up = np.maximum.accumulate(np.where(has, rows, -10 * height), axis=0)
    down = np.minimum.accumulate(np.where(has, rows, 10 * height)[::-1], axis=0)[::-1]
    source = np.where(rows - up <= down - rows, up, down)
    off = np.where(np.abs(source - rows) < 5 * height, (np.abs(source - rows) * pitch[1]) ** 2, np.inf)
    grown = areas.copy()
    columns = np.arange(width)
    for y in range(height):
        (open_ones,) = np.nonzero(~has[y])
        if len(open_ones):
            far = ((open_ones[:, None] - columns[None, :]) * pitch[0]) ** 2 + off[y][None, :]
            nearest = far.argmin(axis=1)
            grown[y, open_ones] = areas[source[y, nearest], nearest]
    return grown


def _steps(labels: Whole) -> tuple[Floats, Whole]:
    """Where neighbouring pixels differ: places (B, 2) as x, y in pixels, and the two labels, both from 0 on."""
    places, pairs = [], []
    for first, second, x, y in (
        (labels[:, :-1], labels[:, 1:], 1.0, 0.5),
        (labels[:-1], labels[1:], 0.5, 1.0),
    ):
        rows, columns = np.nonzero((first != second) & (first >= 0) & (second >= 0))
        places.append(np.stack([columns + x, rows + y], axis=1))
        pairs.append(np.stack([first[rows, columns], second[rows, columns]], axis=1))
    return np.concatenate(places), np.concatenate(pairs)


def _some(places: Floats) -> Floats:
    """At most `MOST_PLACES` of them, evenly chosen."""
    if len(places) <= MOST_PLACES:
        return places
    return places[np.arange(MOST_PLACES) * len(places) // MOST_PLACES]


def _nearest(places: Floats, others: Floats) -> float:
    """Mean distance of places from the nearest of the others."""
    sums = 0.0
    for start in range(0, len(places), 100):
        some = places[start : start + 100]
        far = (some[:, :1] - others[None, :, 0]) ** 2 + (some[:, 1:] - others[None, :, 1]) ** 2
        sums += float(np.sqrt(far.min(axis=1)).sum())
    return sums / len(places)


def _apart(first: Floats, second: Floats) -> float:
    """Mean distance of places from the nearest of the others, averaged over both directions."""
    return (_nearest(_some(first), second) + _nearest(_some(second), first)) / 2.0


def _distinct(middles: Floats, side: float) -> Floats:
    """(S, 2) the middles of areas of which one surrounds another, as a ring and its disc, moved apart; others stay."""
    moved = middles.copy()
    for number in range(1, len(moved)):
        if (((moved[:number] - moved[number]) ** 2).sum(axis=1) < (SAME_MIDDLE * side) ** 2).any():
            # Evenly spread, without sines, which other machines round otherwise.
            spread = np.array([number * 0.7548776662466927, number * 0.5698402909980532]) % 1.0 - 0.5
            moved[number] += 20.0 * SAME_MIDDLE * side * spread
    return moved


def _fitted(borders: _Borders, low: float, high: Floats) -> Floats:
    """(S, 2) seeds whose bisectors are nearest to the borders, by least squares from the middles of areas.

    Two seeds cannot meet a closed line with nothing beside it: the least squares put a straight crack across it.
    """
    count = len(borders.middles)
    chosen = np.arange(min(len(borders.places), 4 * MOST_PLACES)) * len(borders.places)
    chosen = chosen // min(len(borders.places), 4 * MOST_PLACES)
    places, (i, j) = borders.places[chosen], borders.pairs[chosen].T
    both = np.concatenate([i, j])

    def summed(values: Floats) -> Floats:
        return np.asarray(np.bincount(both, values, minlength=count), dtype=np.float64)

    seeds, best = borders.middles.copy(), borders.middles.copy()
    # `low` and `high` are equally far outside of the picture.
    least, closest = math.inf, (SAME_SEED * (float(high.max()) + low)) ** 2
    for _ in range(SWEEPS):
        to_i, to_j, between = seeds[i] - places, seeds[j] - places, seeds[i] - seeds[j]
        squared = np.maximum((between**2).sum(axis=1), closest)
        length = np.sqrt(squared)
        off = ((to_i**2).sum(axis=1) - (to_j**2).sum(axis=1)) / (2.0 * length)
        loss = float((off**2).mean())
        # Without a distance between them seeds would seem to meet every border.
        if loss < least and float(squared.min()) > closest:
            least, best = loss, seeds.copy()
        turn = (off / squared)[:, None] * between
        slope = np.concatenate([to_i / length[:, None] - turn, -to_j / length[:, None] + turn])
        off = np.concatenate([off, off])
        xx, xy, yy = (summed(slope[:, a] * slope[:, b]) for a, b in ((0, 0), (0, 1), (1, 1)))
        x, y = (summed(slope[:, a] * off) for a in range(2))
        # Two seeds move for each border, so each moves by half.
        damping = 1e-3 * (xx + yy) + 1e-12
        xx, yy = xx + damping, yy + damping
        determinant = xx * yy - xy * xy
        step = np.stack([yy * x - xy * y, xx * y - xy * x], axis=1) / determinant[:, None]
        seeds = np.clip(seeds - 0.5 * step, low, high)
    return best


def _searched(
    seeds: Floats,
    places: Floats,
    grid: _Grid,
    random: np.random.Generator,
    within: tuple[float, Floats],
    go_on: Callable[[float], bool],
) -> Floats:
    """Seeds whose cracks on the grid are nearer to `places`: single seeds are moved, and stay where that helped."""
    pitch, places = float(grid.x[1] - grid.x[0]), _some(places)

    def loss(at: Floats) -> float:
        cracks = grid.cracks(at)
        return _apart(places, cracks) if len(cracks) else math.inf

    best, least, reach = seeds, loss(seeds), 4.0 * pitch
    for step in range(STEPS):
        # Less than the grid resolves.
        if least < ENOUGH * pitch or not go_on(step / STEPS):
            break
        moved = best.copy()
        moved[int(random.integers(len(seeds)))] += reach * (2.0 * random.random(2) - 1.0)
        moved = np.clip(moved, *within)
        now = loss(moved)
        if now < least:
            best, least, reach = moved, now, reach * 1.5
        else:
            reach = reach * 0.97 if reach > 0.2 * pitch else 4.0 * pitch
    return best
