#!/usr/bin/env python3
"""A figure of a sweep: one quantity against another, a curve for each value of a third, over the random seeds.

    pip install pandas pyarrow matplotlib
    kintsugi sweep examples/study.toml --out study/
    python3 examples/plot_sweep.py study/table.arrow study.svg

Points are means over the random seeds, bars one standard deviation. Beside the figure the same is printed as a table.
Other columns of the table (docs/sweep.md): --x, --curves, --y COLUMN (several times, a panel each; A/B divides two).
"""

import argparse

import matplotlib
import pandas

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

# Told apart by the colour-blind (Okabe and Ito 2008).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"]


def quantity(table: pandas.DataFrame, name: str) -> pandas.Series:
    """A column, or one divided by another."""
    parts = name.split("/")
    for part in parts:
        if part not in table:
            raise SystemExit(f"the table has no column {part}; it has {', '.join(table.columns)}")
    value = table[parts[0]].astype(float)
    return value / table[parts[1]].astype(float) if len(parts) == 2 else value


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("table", help="table.arrow of a sweep")
    options.add_argument("figure", help="SVG, PNG or PDF to write")
    options.add_argument("--x", default="parameters.seeds")
    options.add_argument("--curves", default="parameters.surface")
    options.add_argument("--y", action="append", help="default: pieces, and the largest one's share of all voxels")
    given = options.parse_args()
    wanted = given.y or ["counts.pieces", "pieces.largest_mass/source_mass"]

    table = pandas.read_feather(given.table)
    failed = table["error"].notna()
    if failed.any():
        print(f"left out: {failed.sum()} jobs that failed")
    table = table[~failed]
    columns = {name: quantity(table, name) for name in wanted}
    grouped = table[[given.x, given.curves]].assign(**columns).groupby([given.curves, given.x])
    mean, deviation, count = grouped.mean(), grouped.std().fillna(0.0), grouped.size()

    figure, panels = pyplot.subplots(1, len(wanted), figsize=(4.2 * len(wanted), 3.4), squeeze=False)
    for panel, name in zip(panels[0], wanted):
        for colour, curve in zip(COLOURS, mean.index.unique(level=0)):
            own, bar = mean.loc[curve][name], deviation.loc[curve][name]
            panel.errorbar(own.index, own, yerr=bar, marker="o", capsize=3, color=colour, label=str(curve))
        panel.set(xlabel=given.x, ylabel=name, xscale="log", yscale="log")
        panel.grid(alpha=0.3, which="both")
    panels[0][0].legend()
    figure.tight_layout()
    figure.savefig(given.figure)

    shown = mean.round(4).join(deviation.round(4).add_suffix(" s.d.")).assign(breaks=count)
    print(shown.to_string())
    print(f"figure: {given.figure}")


if __name__ == "__main__":
    main()
