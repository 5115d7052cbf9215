#!/usr/bin/env python3
"""Computes the edge separation points of `kintsugi fracture --overlays points` anew, with NumPy alone, by equation 3 of
Domaradzki & Martyn (2018) as docs/files.md writes it out.

    pip install numpy
    kintsugi fracture builtin:vase --level 6 --surface rough --overlays points --out out/
    python3 tools/equation3.py out/overlays.npz

For every crossed edge: the weights of its ends from their places and the hash, the crossing of the bisector from the two
seeds, and the point from these. For rough surfaces the places in `points` are compared, too. The script prints the
number of edges and the largest differences, in units of which a transition voxel's edge has `crack_units`, and ends with
1 where any is not zero.
"""

import sys

import numpy as np

GRID = 1 << 14
WORD = np.uint64(0xFFFFFFFF)


def product(a, b):
    return a * np.uint64(b) & WORD


def random_words(places, salt):
    """A random word of 32 bits for each lattice point; `places` is (n, 3)."""
    h = np.full(len(places), salt, dtype=np.uint64)
    for axis in range(3):
        h = product(h ^ (places[:, axis].astype(np.uint64) & WORD), 0x9E3779B1)
        h = product(h ^ h >> np.uint64(15), 0x85EBCA77)
        h ^= h >> np.uint64(13)
    h = product(h, 0xC2B2AE3D)
    return h ^ h >> np.uint64(16)


def value_noise(places, frequency, salt):
    """Smooth noise of 0 to 255 with `frequency` lattice cells along the grid's side; `places` in 1/GRID of the side."""
    cell, rest = np.divmod(places * frequency, GRID)
    t = rest // 64
    blend = t * t * (768 - 2 * t) // 65536
    noise = [random_words(cell + [c & 1, c >> 1 & 1, c >> 2], salt).astype(np.int64) >> 24 for c in range(8)]
    for axis in range(3):
        share = blend[:, axis]
        noise = [(low * (256 - share) + high * share) // 256 for low, high in zip(noise[::2], noise[1::2])]
    return noise[0]


def weights(places, frequency, octaves, salt):
    total = 0
    for octave in range(octaves):
        layer = value_noise(places, frequency << octave, salt + octave * 0x3C6EF372 & 0xFFFFFFFF)
        total = total + (layer << octaves - 1 - octave)
    return total // ((1 << octaves) - 1)


def toward_zero(numerator, denominator):
    return np.sign(numerator) * (abs(numerator) // denominator)


def recompute(over):
    """The weights, crossings and points of all edges."""
    number = lambda name: int(over[name])
    units = number("crack_units")
    inside = lambda t: np.clip(t, 1, units - 1)
    corners = over["edge_corners"].astype(np.int64) * (GRID >> number("level"))
    seeds = over["edge_seeds"].astype(np.int64)

    noise = (number("crack_frequency"), number("crack_octaves"), number("crack_salt"))
    a, b = (weights(corners[:, end], *noise) for end in (0, 1))

    distance = lambda end, seed: ((corners[:, end] - seeds[:, seed]) ** 2).sum(axis=1)
    first, last = (distance(end, 1) - distance(end, 0) for end in (0, 1))
    whole = first - last
    t0 = inside(np.where(first >= whole, units, units * first // np.maximum(whole, 1)))

    amplitude, strength = number("crack_amplitude"), number("crack_strength")
    if number("crack_offset") == 0:
        t = units // 2 + toward_zero(amplitude * (a - b), 2 * (a + b + 1))
    else:
        t = units // 2 + toward_zero((t0 - units // 2) * strength, 256) + toward_zero(amplitude * (a - b), 255)
    return np.stack([a, b], axis=1), t0, inside(t)


def places(over, t):
    """The points in leaf units, from the ends of their edges."""
    low, high = (over["edge_corners"][:, end].astype(float) for end in (0, 1))
    return low + (high - low) * (t / int(over["crack_units"]))[:, None]


def main():
    if len(sys.argv) != 2:
        sys.exit("give one overlays.npz: python3 tools/equation3.py out/overlays.npz")
    try:
        over = dict(np.load(sys.argv[1]))
    except (OSError, ValueError) as error:
        sys.exit(f"{sys.argv[1]} cannot be read: {error}")
    if "edge_t" not in over:
        sys.exit(f"{sys.argv[1]} has no crossed edges: write it with --surface rough or dusty and --overlays points")
    given = over["edge_weights"], over["edge_t0"], over["edge_t"]
    found = recompute(over)
    names = ("weights", "t0", "t")
    off = {name: int(abs(f - g).max(initial=0)) for name, f, g in zip(names, found, given)}
    kinds = over["point_kind"]
    if (kinds == 1).any():
        # A surface without a gap: its points on edges come in the order of the edges.
        written = over["points"][kinds == 0]
        made = places(over, found[2])
        off["places"] = float(abs(made - written).max(initial=0)) if made.shape == written.shape else np.inf
    told = ", ".join(f"{name} {value:g}" for name, value in off.items())
    print(f"{len(given[2])} edges; largest differences: {told}")
    sys.exit(1 if any(off.values()) or not len(given[2]) else 0)


if __name__ == "__main__":
    main()
