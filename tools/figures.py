#!/usr/bin/env python3
"""Draws the figures of the documents, and computes the numbers of their worked examples.

    python3 tools/figures.py              writes docs/figures/*.svg
    python3 tools/figures.py --check      compares files and worked examples with what is drawn here
    python3 tools/figures.py --numbers    prints the worked examples

Only Python's standard library is needed. `tools/drawing/` has the figures, a function each.
"""

import argparse
import re
import sys
from pathlib import Path

from drawing import architecture, fracture, glossary, meshes, physics

TOP = Path(__file__).resolve().parent.parent
FOLDER = TOP / "docs" / "figures"
DOCUMENTS = {
    "docs/architecture.md": architecture,
    "docs/fracture.md": fracture,
    "docs/glossary.md": glossary,
    "docs/meshes.md": meshes,
    "docs/physics.md": physics,
}


def drawn():
    """Each figure's name and text."""
    return {f"{name}.svg": draw().svg() for module in DOCUMENTS.values() for name, draw in module.FIGURES.items()}


def problems():
    """One line for each figure or example that is not as it is drawn or computed here."""
    figures = drawn()
    for name, text in figures.items():
        path = FOLDER / name
        if not path.exists() or path.read_text() != text:
            yield f"docs/figures/{name} is not what tools/figures.py draws; run it"
    for path in sorted(FOLDER.glob("*.svg")):
        if path.name not in figures:
            yield f"docs/figures/{path.name} is drawn by nothing"
    for name, module in DOCUMENTS.items():
        document = (TOP / name).read_text()
        for line in module.example():
            if f"    {line}\n" not in document:
                yield f"{name} lacks a line of its worked example: {line}"
        shown = set(re.findall(r"\(figures/([\w.-]+)\)", document))
        for figure in module.FIGURES:
            if f"{figure}.svg" not in shown:
                yield f"{name} does not show {figure}.svg"
        yield from (f"{name} shows {figure}, which is not there" for figure in sorted(shown - set(figures)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare the files and documents with what is drawn")
    parser.add_argument("--numbers", action="store_true", help="print the worked examples")
    arguments = parser.parse_args()
    if arguments.numbers:
        for name, module in DOCUMENTS.items():
            print(name, *(f"    {line}" for line in module.example()), sep="\n")
    elif arguments.check:
        found = list(problems())
        print(*found, sep="\n", end="\n" if found else "")
        sys.exit(1 if found else 0)
    else:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, text in drawn().items():
            (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
