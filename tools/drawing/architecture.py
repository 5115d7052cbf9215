"""The figure of docs/architecture.md: the crates, as their manifests have them."""

import re
import textwrap
from pathlib import Path

from .svg import CELLS, GREY, INK, Page

TOP = Path(__file__).resolve().parent.parent.parent


def manifests():
    """For each crate of the workspace its description and the crates of the workspace that it uses."""
    found = {}
    for path in sorted([TOP / "Cargo.toml", *TOP.glob("*/Cargo.toml"), *TOP.glob("crates/*/Cargo.toml")]):
        text = path.read_text()
        package = re.search(r"^\[package\].*?(?=^\[|\Z)", text, re.S | re.M)
        if path.parent.name == "fuzz" or not package:
            continue
        name = re.search(r'^name = "(.*)"', package[0], re.M)[1]
        about = re.search(r'^description = "(.*)"', package[0], re.M)
        tables = re.findall(r"^\[dependencies\](.*?)(?=^\[|\Z)", text, re.S | re.M)
        uses = re.findall(r"^(kintsugi[\w-]*)\b", "".join(tables), re.M)
        found[name] = (about[1] if about else "", set(uses))
    return found


def crates():
    """The crates in floors: an arrow leads from a crate to one that it uses."""
    found = manifests()
    used_by = {name: {user for user, (_, uses) in found.items() if name in uses} for name in found}
    arrows = {  # without those to a crate that another used crate uses as well
        (user, name)
        for name, users in used_by.items()
        for user in users
        if not any(name in reach(found, other) for other in found[user][1] - {name} if other in found)
    }
    depth = {}

    def depth_of(name):
        if name not in depth:
            depth[name] = 1 + max((depth_of(user) for user in used_by[name]), default=-1)
        return depth[name]

    deepest = max(depth_of(name) for name in found)
    width, height, gap = 236, 82, 40
    widest = max(sum(1 for name in found if depth[name] == k) for k in range(deepest + 1))
    middle = max(800, widest * (width + 22) + 20) / 2
    page = Page(int(2 * middle), 62 + (height + gap) * (deepest + 1) - gap, "The crates of the workspace, each above those it uses")
    page.text((24, 28), "the crates: an arrow leads to a crate that is used, and every arrow leads down", 13, bold=True)
    place = {}
    for k in range(deepest + 1):
        middles = {}
        for name in sorted(found):
            if depth[name] == k:
                above = [place[user][0] + width / 2 for user, used in arrows if used == name]
                middles[name] = sum(above) / len(above) if above else middle
        names = sorted(middles, key=lambda name: (middles[name], name))
        for i, name in enumerate(names):
            alone = middles[name] if len(names) == 1 else middle + (i - (len(names) - 1) / 2) * (width + 22)
            place[name] = (alone - width / 2, 50 + k * (height + gap))
    for user, used in sorted(arrows):
        a, b = place[user], place[used]
        page.arrow((a[0] + width / 2, a[1] + height), (b[0] + width / 2, b[1] - 2), GREY, 1.5)
    for name, (x, y) in place.items():
        page.rect(x, y, width, height, fill=CELLS[depth[name] % len(CELLS)], stroke=INK, width=1.2)
        page.text((x + 12, y + 22), name, 14, bold=True)
        page.lines((x + 12, y + 42), textwrap.wrap(found[name][0], 38)[:3], 11)
    return page


def reach(found, name):
    """All crates that a crate uses, directly or by others."""
    uses = found[name][1] & set(found)
    return uses.union(*(reach(found, used) for used in uses)) if uses else set()


FIGURES = {"architecture-crates": crates}


def example():
    """No numbers."""
    return []
