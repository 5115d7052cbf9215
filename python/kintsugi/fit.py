"""Searches for parameters of a fracture whose pieces are those that are wanted.

In: an object, what is wanted (a number of pieces, sizes of sherds, a histogram of them, a drawing of the cracks, or a
function of one's own), and ranges of parameters. Out: the best parameters, their pieces, and every trial.

    from kintsugi.fit import fit
    found = fit(vase, sherds, parameters={"seeds": (10, 200), "radii": [(0.05, 0.4), (0.3, 1.5)]}, budget=120)
    found.parameters, found.loss, found.pieces

**The search.** The first third of the trials is spread over the ranges so that each range is cut into as many equal parts
as there are trials and every part gets one trial (a Latin hypercube); ranges above zero whose ends are a factor of 10 or
more apart are cut in the logarithm. The rest is a (1+4) evolution strategy (Rechenberg 1973): four trials around the best
one at normally distributed steps; a better one takes its place and the steps grow by half, else they shrink to 0.6.
When steps have become tiny, they begin wide again from the best. No parameters are tried twice. All trials break with the same
random seed, so a trial is a function of its parameters alone, and the same call gives the same result.

**The loss.** Sizes are volumes as shares of the whole. Two sets of sizes are compared by the Wasserstein distance of their
logarithms: how far, in powers of ten, the sizes of one distribution must be moved on average to become the other.

**A drawing.** `fit(vase, Drawing(picture))` searches for the seeds themselves, one for each area that the drawn lines part, so
that the cracks seen from that side are the lines; with `parameters` it searches for those. The loss is the mean distance of
cracks and lines, measured on the pieces, in units of the mesh. `help(kintsugi.fit.Drawing)` says more.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._drawing import Drawing
from ._native import FractureError, Object, ParameterError, Pieces

__all__ = ["Drawing", "Result", "Trial", "fit", "histogram_sizes", "size_distance"]

Floats = NDArray[np.float64]
Target = Union[int, ArrayLike, "tuple[ArrayLike, ArrayLike]", Drawing, Callable[[Pieces], float]]

# Trials of one generation of the evolution.
AROUND = 4
# Steps, as shares of a range: the first ones, and those at which the search begins again.
FIRST_STEP, LAST_STEP = 0.2, 0.002
# Places in a row that were tried before, after which nothing is left to try.
MOST_REPEATED = 400
# Wider ranges are searched in the logarithm.
DECADE = 10.0


@dataclass(frozen=True)
class Trial:
    """One break of the search."""

    parameters: dict[str, Any]
    loss: float
    pieces: int
    """How many pieces came of it; 0 where the parameters were refused."""


@dataclass
class Result:
    """What the search found."""

    parameters: dict[str, Any]
    """Those of the best trial, fixed ones and `rng` included: `object.fracture(**parameters)` makes its pieces again."""
    loss: float
    pieces: Pieces
    trials: list[Trial] = field(repr=False)
    """All trials, in their order."""
    seconds: float = 0.0

    @property
    def history(self) -> Floats:
        """(B,) the lowest loss after each trial."""
        return np.minimum.accumulate(np.array([trial.loss for trial in self.trials]))

    @property
    def sizes(self) -> Floats:
        """Volumes of the best pieces as shares of their sum, descending."""
        return _shares(_volumes(self.pieces))


def fit(
    object: Object,
    target: Target,
    parameters: Mapping[str, Any] | None = None,
    *,
    fixed: Mapping[str, Any] | None = None,
    budget: int = 80,
    rng: int = 0,
    whole: float | None = None,
    seconds: float | None = None,
    progress: Callable[[str, float], Any] | None = None,
) -> Result:
    """Searches for parameters by which `object` breaks into what `target` says.

    `target` is a whole number of pieces; sizes of sherds (volumes or masses, any unit); a histogram as the pair (edges,
    counts) with one edge more than counts; a `Drawing`; or a function that takes `Pieces` and gives a loss, lower is better.

    `parameters` has ranges by the names of `Object.fracture`: `(low, high)` is a range, of whole numbers where both are; a
    list of such pairs is a parameter that is a list, sorted ascending; a list or set of anything else is a choice; a dict
    is a nested table. Without it, `{"seeds": (4, 400)}`, and for a drawing the places of the seeds, of which the three most
    promising sets are broken. `fixed` are parameters that stay.

    `budget` is the number of breaks. `whole` is the size of the whole object in the unit of the sherds where some are
    missing; else sizes are shares of their sum. `seconds` ends the search early, whose result then depends on the machine.
    `rng` is the random seed of the search and, where `fixed` has none, of the breaks.

    Raises ParameterError for ranges and targets that mean nothing, and where every trial was refused.
    """
    if budget < 1:
        raise ParameterError(f"the budget is {budget}; it is the number of breaks, 1 or more")
    loss_of = _loss(target, whole)
    if isinstance(target, Drawing) and parameters is None:
        return _drawn(object, target, {"rng": rng, **(fixed or {})}, budget, rng, seconds, progress)
    axes = list(_axes(parameters if parameters is not None else {"seeds": (4, 400)}))
    if not axes:
        raise ParameterError('there is nothing to search for; give ranges such as parameters={"seeds": (10, 200)}')
    constant = {"rng": rng, **(fixed or {})}
    began = time.monotonic()
    trials: list[Trial] = []
    best: tuple[float, Pieces | None, dict[str, Any], Floats] = (math.inf, None, {}, np.zeros(len(axes)))
    refused: Exception | None = None
    tried: set[str] = set()
    repeated = 0

    def is_over() -> bool:
        if repeated >= MOST_REPEATED:
            return True
        return len(trials) >= budget or (seconds is not None and bool(trials) and time.monotonic() - began > seconds)

    def attempt(place: Floats) -> bool:
        """Breaks at a place of the unit cube; whether that was the best so far."""
        nonlocal best, refused, repeated
        asked = _merged(constant, axes, place)
        # Whole numbers and choices: many places are one trial.
        key = repr(asked)
        if key in tried:
            repeated += 1
            return False
        tried.add(key)
        repeated = 0
        try:
            pieces = object.fracture(**asked)
            loss = float(loss_of(pieces))
        except (ParameterError, FractureError) as error:
            # Ranges may hold combinations that no break has.
            refused = error
            trials.append(Trial(asked, math.inf, 0))
            return False
        finally:
            if progress is not None:
                progress("search", min(1.0, (len(trials) + 1) / budget))
        trials.append(Trial(asked, loss, len(pieces)))
        if not loss < best[0]:
            return False
        best = (loss, pieces, asked, place)
        return True

    random = np.random.Generator(np.random.PCG64(rng))
    for place in _spread(max(1, min(budget, max(budget // 3, 2 * len(axes)))), len(axes), random):
        if is_over():
            break
        attempt(place)
    step = FIRST_STEP
    while not is_over() and best[0] > 0.0:
        centre = best[3]
        better = False
        for _ in range(AROUND):
            if is_over():
                break
            better |= attempt(_reflected(centre + step * random.standard_normal(len(axes))))
        step = min(0.5, step * 1.5) if better else step * 0.6
        # Tiny steps, or steps that lead nowhere new.
        if step < LAST_STEP or repeated >= 2 * AROUND:
            step = FIRST_STEP
    if progress is not None:
        progress("search", 1.0)
    loss, pieces, asked, _ = best
    if pieces is None:
        raise ParameterError(f"no trial could be broken or compared; the last one: {refused or 'its loss is not finite'}")
    return Result(asked, loss, pieces, trials, time.monotonic() - began)


def _drawn(
    object: Object,
    drawing: Drawing,
    constant: dict[str, Any],
    budget: int,
    rng: int,
    seconds: float | None,
    progress: Callable[[str, float], Any] | None,
) -> Result:
    """The seeds whose cracks are drawn; which of the promising ones they are, the breaks decide."""
    began = time.monotonic()
    if "seeds" in constant:
        raise ParameterError("fixed has seeds, which a drawing is fitted by; give parameters to search for others")

    def go_on(share: float) -> bool:
        if progress is not None:
            progress("search", 0.9 * share)
        return seconds is None or time.monotonic() - began < seconds

    trials: list[Trial] = []
    best: tuple[float, Pieces | None, dict[str, Any]] = (math.inf, None, {})
    for seeds in drawing.guesses(object, rng, go_on)[:budget]:
        asked = {**constant, "seeds": seeds}
        pieces = object.fracture(**asked)
        trials.append(Trial(asked, drawing(pieces), len(pieces)))
        if best[1] is None or trials[-1].loss < best[0]:
            best = (trials[-1].loss, pieces, asked)
    if progress is not None:
        progress("search", 1.0)
    loss, found, asked = best
    if found is None:
        raise ParameterError("no seeds were found; give a budget of 1 or more")
    return Result(asked, loss, found, trials, time.monotonic() - began)


def size_distance(
    first: ArrayLike,
    second: ArrayLike,
    first_weights: ArrayLike | None = None,
    second_weights: ArrayLike | None = None,
) -> float:
    """Wasserstein distance (order 1) of the decimal logarithms of two sets of sizes.

    0.3 means that sizes differ by a factor of 2 (10^0.3) on average. Weights are how often each size counts.
    """
    (a, wa), (b, wb) = _logarithms(first, first_weights), _logarithms(second, second_weights)
    values = np.concatenate([a, b])
    order = np.argsort(values, kind="stable")
    # The area between the two cumulative distributions.
    difference = np.cumsum(np.concatenate([wa, -wb])[order])[:-1]
    return float(np.sum(np.abs(difference) * np.diff(values[order])))


def histogram_sizes(edges: ArrayLike, counts: ArrayLike) -> tuple[Floats, Floats]:
    """The sizes that stand for the bins of a histogram, their geometric middles, and how often each counts."""
    at, often = np.asarray(edges, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if at.ndim != 1 or often.ndim != 1 or len(at) != len(often) + 1:
        raise ParameterError(f"a histogram is (edges (B + 1,), counts (B,)); shapes {at.shape} and {often.shape} came")
    if not (np.isfinite(at).all() and (np.diff(at) > 0).all() and at[0] >= 0.0):
        raise ParameterError("the edges of a histogram must ascend from 0 or more")
    if not (np.isfinite(often).all() and (often >= 0).all() and often.sum() > 0):
        raise ParameterError("the counts of a histogram must be 0 or more, and one of them above 0")
    # A bin that begins at 0 has no geometric middle.
    middles = np.where(at[:-1] > 0.0, np.sqrt(at[:-1] * at[1:]), at[1:] / 2.0)
    return middles[often > 0], often[often > 0]


def _logarithms(sizes: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, Floats]:
    values = np.asarray(sizes, dtype=np.float64)
    shares = np.ones_like(values) if weights is None else np.asarray(weights, dtype=np.float64)
    if values.ndim != 1 or values.shape != shares.shape or len(values) == 0:
        raise ParameterError(f"sizes are a list of numbers with a weight each; shapes {values.shape}, {shares.shape} came")
    if not (np.isfinite(values).all() and (values > 0.0).all()):
        raise ParameterError("sizes must be finite and above 0; leave the others out")
    return np.log10(values), shares / shares.sum()


def _volumes(pieces: Iterable[Any]) -> Floats:
    volumes = np.array([piece.volume for piece in pieces], dtype=np.float64)
    return volumes[volumes > 0.0]


def _shares(sizes: Floats, whole: float | None = None) -> Floats:
    return np.sort(sizes / (sizes.sum() if whole is None else whole))[::-1]


def _loss(target: Target, whole: float | None) -> Callable[[Pieces], float]:
    """The function that says how far pieces are from what is wanted."""
    if callable(target):
        return target
    if isinstance(target, (int, np.integer)) and not isinstance(target, bool):
        wanted = int(target)
        if wanted < 1:
            raise ParameterError(f"{wanted} pieces cannot be had; the target is a number of 1 or more")
        return lambda pieces: abs(math.log(len(pieces) / wanted)) if len(pieces) else math.inf
    if isinstance(target, tuple) and len(target) == 2 and np.ndim(target[0]) == 1 and np.ndim(target[1]) == 1:
        sizes, weights = histogram_sizes(target[0], target[1])
    else:
        sizes = np.asarray(target, dtype=np.float64)
        if sizes.ndim != 1 or len(sizes) == 0:
            raise ParameterError(
                "a target is a number of pieces, a list of sizes, (edges, counts), a Drawing, or a function; an array of "
                f"shape {sizes.shape} came"
            )
        weights = np.ones_like(sizes)
    _logarithms(sizes, weights)  # looks them over
    total = float((sizes * weights).sum()) if whole is None else whole
    if not total > 0.0:
        raise ParameterError(f"the whole is {whole}; it is the size of the whole object, above 0")
    wanted_shares = sizes / total

    def distance(pieces: Pieces) -> float:
        own = _volumes(pieces)
        return size_distance(_shares(own), wanted_shares, None, weights) if len(own) else math.inf

    return distance


@dataclass(frozen=True)
class _Axis:
    """One number that is searched for: where it goes, and its value at a share of its range."""

    path: tuple[str | int, ...]
    value: Callable[[float], Any]


def _is_number(what: object) -> bool:
    return isinstance(what, (int, float, np.integer, np.floating)) and not isinstance(what, bool)


def _is_range(what: object) -> bool:
    return isinstance(what, tuple) and len(what) == 2 and all(_is_number(end) for end in what)


def _axes(ranges: Mapping[str, Any], above: tuple[str | int, ...] = ()) -> Iterable[_Axis]:
    for name, what in ranges.items():
        path = (*above, name)
        shown = ".".join(str(part) for part in path)
        if isinstance(what, Mapping):
            yield from _axes(what, path)
        elif _is_range(what):
            yield _Axis(path, _range(shown, *what))
        elif isinstance(what, (list, tuple)) and what and all(_is_range(entry) for entry in what):
            for number, entry in enumerate(what):
                yield _Axis((*path, number), _range(f"{shown}[{number}]", *entry))
        elif isinstance(what, (list, tuple, set, frozenset)) and what:
            yield _Axis(path, _choice(sorted(what) if isinstance(what, (set, frozenset)) else list(what)))
        else:
            raise ParameterError(f"the range of {shown} is {what!r}; give (low, high), a list of them, or a list of choices")


def _choice(choices: list[Any]) -> Callable[[float], Any]:
    return lambda share: choices[min(int(share * len(choices)), len(choices) - 1)]


def _range(name: str, low: Any, high: Any) -> Callable[[float], Any]:
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ParameterError(f"the range of {name} is ({low}, {high}); it goes from a number to a larger one")
    is_whole = all(isinstance(end, (int, np.integer)) for end in (low, high))
    if low > 0 and high / low >= DECADE:
        span = math.log(high / low)

        def at(share: float) -> float:
            return min(float(low) * math.exp(share * span), float(high))

    else:

        def at(share: float) -> float:
            return float(low) + share * float(high - low)

    if is_whole:
        return lambda share: int(min(max(round(at(share)), low), high))
    return at


def _merged(constant: Mapping[str, Any], axes: Sequence[_Axis], place: Floats) -> dict[str, Any]:
    """The parameters at a place of the unit cube, laid over those that stay."""
    asked: dict[str, Any] = {name: dict(what) if isinstance(what, Mapping) else what for name, what in constant.items()}
    lists: dict[tuple[str | int, ...], list[Any]] = {}
    for axis, share in zip(axes, place):
        *above, last = axis.path
        value = axis.value(float(share))
        if isinstance(last, int):
            lists.setdefault(tuple(above), []).append(value)
        else:
            _put(asked, (*above, last), value)
    for path, values in lists.items():
        _put(asked, path, sorted(values))
    return asked


def _put(table: dict[str, Any], path: Sequence[str | int], value: Any) -> None:
    for name in path[:-1]:
        inner = table.get(str(name))
        # A table that stays is copied before a range is laid over it.
        table[str(name)] = dict(inner) if isinstance(inner, Mapping) else {}
        table = table[str(name)]
    table[str(path[-1])] = value


def _spread(count: int, axes: int, random: np.random.Generator) -> Floats:
    """(count, axes) places of the unit cube, one in each of `count` equal parts of every axis."""
    parts = np.stack([random.permutation(count) for _ in range(axes)], axis=1)
    return (parts + random.random((count, axes))) / count


def _reflected(place: Floats) -> Floats:
    """A place outside of the unit cube, folded back into it."""
    folded = np.abs(np.mod(place, 2.0))
    return np.where(folded > 1.0, 2.0 - folded, folded)
