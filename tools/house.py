#!/usr/bin/env python3
"""Counts the house: lines, files, and circles of imports.

    python3 tools/house.py                  a table, crate by crate
    python3 tools/house.py --circles        the files of each circle as well
    python3 tools/house.py --check FILE     compares with the bounds in FILE; exits with 1 where one is broken
    python3 tools/house.py --self-test      counts a small tree whose figures are known

What is counted. A crate is a folder with a `Cargo.toml`: the root, or a folder in it (but `fuzz/`) or in `crates/`. A
production file is one that the crate's roots (`lib.rs`, `main.rs`, `bin/*.rs`) reach by `mod` declarations that are not
under `#[cfg(test)]` or `#[cfg(any(test, feature = "testing"))]`; every other file in `src/` is a test file. Production
lines are the lines of production files (blank lines and comments too) without the items under these two. Test lines are
the rest of `src/`, and all Rust in `tests/`.

What an import is. Production file A imports production file B where a path in A leads to an item that B defines, or
to the module that B is. The paths are those of every `use`, and those in the code that begin at `crate`, `super`,
`self` or the name of a crate. Each path is followed through `pub use`, private `use` and globs to the file that defines
the item. A `pub use` is an import only where the same file mentions the name elsewhere. Not followed are methods, trait
implementations, macros by bare name, and calls of a file's own child modules (`child::run()`), so that a recipe and its
stages are no circle because of the recipe. "By every path" counts these calls and all other paths in code as well.

A circle is a strongly connected component of two files or more. A circle across crates is a strongly connected
component of crates. At 6fe936d this counts 39 circles through 305 files, the longest 56 and 51; the plan of issue 46
counted 36 through 282, the longest 57 and 53, with another script.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
from pathlib import Path

TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | b?r(\#*)".*?"\1 | b?"(?:\\.|[^"\\])*" | b?'(?:\\.[^']*|[^'\\])'
    | '\w+ | (?:r\#)?[A-Za-z_]\w* | :: | \d[\w.]* | [^\s]""",
    re.S | re.X,
)
# `testing` is the feature by which the tests of one crate use the test helpers of another.
TEST = re.compile(r'cfg\((test|all\(test,.*\)|any\(test,feature="testing"\)|feature="testing")\)')
DEFINES = {"fn", "struct", "enum", "union", "trait", "type", "const", "static"}
CLOSED_BY = {"{": "}", "(": ")", "[": "]"}


class Module:
    """A module, inline or a file: the names that stand in it, and the `use`s by which others come in."""

    def __init__(self, file, parent, crate):
        self.file, self.parent, self.crate = file, parent, crate
        self.items, self.modules, self.uses, self.globs = set(), {}, {}, []


class File:
    """A file of `src/`."""

    def __init__(self, path, text):
        self.path, self.text, self.test = path, text, True
        self.lines = text.count("\n") + (not text.endswith("\n") and text != "")
        self.test_lines = self.lines
        self.codes = []  # (module, tokens of its code, names that it re-exports)


class Crate:
    """A crate: its name in paths, its folder, its files and the modules of its roots."""

    def __init__(self, name, folder):
        self.name, self.folder, self.roots = name, folder, {}
        self.source = folder / "src" if (folder / "src").exists() else folder
        self.files = {path: File(path, path.read_text()) for path in sorted(self.source.rglob("*.rs"))}


def tokens_of(text):
    """The tokens of a text without its comments, each with the line on which it stands."""
    tokens, line, at = [], 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if not match[0].startswith(("//", "/*")):
            tokens.append((match[0], line + match[0].count("\n")))
    return tokens


def closing(tokens, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(tokens)):
        token = tokens[place][0]
        depth += (token in "{([") - (token in "})]") if len(token) == 1 else 0
        if depth == 0:
            return place
    return len(tokens) - 1


def item_end(tokens, at):
    """The place behind the item, statement or field that begins at `at`."""
    words = [token for token, _ in tokens[at : at + 8]]
    listed = not DEFINES.union({"impl", "mod", "use", "let", "macro_rules", "extern"}).intersection(words)
    until_semicolon = "use" in words[:5] or ("fn" not in words and {"const", "static", "let"}.intersection(words[:5]))
    while at < len(tokens):
        token = tokens[at][0]
        if token in CLOSED_BY:
            at = closing(tokens, at)
            if token == "{" and not until_semicolon:
                return at + 1
        elif token == ";" or (token == "," and listed):
            return at + 1
        elif token in ("}", ")", "]"):
            return at
        at += 1
    return at


def without_tests(tokens):
    """The tokens that do not stand under `#[cfg(test)]`, and how many lines the others take."""
    kept, lines, at = [], set(), 0
    while at < len(tokens):
        if [token for token, _ in tokens[at : at + 2]] == ["#", "["]:
            end = closing(tokens, at + 1) + 1
            words = [token for token, _ in tokens[at + 2 : end - 1]]
            if TEST.fullmatch("".join(words)):
                begin, at = tokens[at][1], end
                while [token for token, _ in tokens[at : at + 2]] == ["#", "["]:
                    at = closing(tokens, at + 1) + 1
                at = item_end(tokens, at)
                lines.update(range(begin, tokens[at - 1][1] + 1))
                continue
        kept.append(tokens[at])
        at += 1
    return kept, len(lines)


def use_tree(tokens, before=()):
    """The paths of a `use`, each with the name under which it comes in (`*` for a glob)."""
    path, at = list(before), 0
    while at < len(tokens):
        token = tokens[at]
        if token == "{":
            depth, part = 0, []
            for token in tokens[at + 1 :]:
                if depth == 0 and token in (",", "}"):
                    if part:
                        yield from use_tree(part, path)
                    part = []
                    if token == "}":
                        return
                else:
                    depth += (token == "{") - (token == "}")
                    part.append(token)
        elif token == "as":
            yield path, tokens[at + 1]
            return
        elif token != "::":
            path.append(token)
        at += 1
    if path[-1] == "self":
        path.pop()
    yield path, path[-1]


class House:
    """All crates of a tree, read."""

    def __init__(self, top):
        self.top, self.crates = top, {}
        for folder in [top, *sorted(top.glob("*")), *sorted(top.glob("crates/*"))]:
            if (folder / "Cargo.toml").exists() and folder.name != "fuzz":
                manifest = (folder / "Cargo.toml").read_text()
                name = re.search(r'^name = "(.*?)"', manifest, re.M)[1].replace("-", "_")
                self.crates[name] = Crate(name, folder)
        for crate in self.crates.values():
            source = crate.source
            for root in [source / "lib.rs", source / "main.rs", *sorted((source / "bin").glob("*.rs"))]:
                if root in crate.files:
                    crate.roots[root] = Module(root, None, crate)
                    self.read(crate, crate.roots[root], source)
        self.files = {path: file for crate in self.crates.values() for path, file in crate.files.items()}
        self.imports = self.arrows(every=False)

    def read(self, crate, module, folder):
        """Reads a file and those below it."""
        file = crate.files[module.file]
        tokens, file.test_lines = without_tests(tokens_of(file.text))
        file.test = False
        self.read_items(crate, module, [token for token, _ in tokens], folder)

    def read_items(self, crate, module, tokens, folder):
        """Takes the items of a module into its tables, and its code aside."""
        code, exported, at, path = [], set(), 0, None
        pairs = [(token, 0) for token in tokens]
        while at < len(tokens):
            token, following = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else ""
            if token == "#":
                end = closing(pairs, at + (2 if following == "!" else 1))
                if tokens[at + 2] == "path":
                    path = tokens[at + 4].strip('"')
                code += tokens[at:end]
                at = end + 1
                continue
            if token == "mod" and tokens[at + 2] == ";":
                places = [folder / following / "mod.rs", folder / f"{following}.rs"]
                if path:
                    places = [(module.file.parent / path).resolve()]
                for place in places:
                    if place in crate.files:
                        module.modules[following] = Module(place, module, crate)
                        below = place.parent if place.name == "mod.rs" else place.with_suffix("")
                        self.read(crate, module.modules[following], below)
                at, path = at + 3, None
            elif token == "mod" and tokens[at + 2] == "{":
                end = closing(pairs, at + 2)
                module.modules[following] = Module(module.file, module, crate)
                self.read_items(crate, module.modules[following], tokens[at + 3 : end], folder / following)
                at = end + 1
            elif token == "use":
                end = tokens.index(";", at)
                public = tokens[at - 1] in ("pub", ")") if at else False
                for target, name in use_tree(tokens[at + 1 : end]):
                    if name == "*":
                        module.globs.append(target[:-1])
                    else:
                        module.uses.setdefault(name, target)
                        exported.update([name] if public else [])
                at = end + 1
            else:
                if token in DEFINES and re.match(r"\w", following) and following not in DEFINES:
                    module.items.add(following)
                if token == "macro_rules":
                    module.items.add(tokens[at + 2])
                if token == "{" or (token == "!" and following in CLOSED_BY):
                    end = closing(pairs, at + (token == "!")) + 1
                    body = tokens[at:end]
                    if token == "!":  # a macro's items are the module's
                        names = zip(body, body[1:])
                        module.items.update(name for word, name in names if word in DEFINES and name.isidentifier())
                    code += self.local_uses(module, body)
                    at = end
                else:
                    code.append(token)
                    at += 1
        crate.files[module.file].codes.append((module, code, exported))

    @staticmethod
    def local_uses(module, body):
        """Takes the `use`s inside a function into the module's table; the code without them."""
        code, at = [], 0
        while at < len(body):
            if body[at] == "use" and body[at - 1] in ("{", "}", ";", "]"):
                end = body.index(";", at)
                for target, name in use_tree(body[at + 1 : end]):
                    if name == "*":
                        module.globs.append(target[:-1])
                    else:
                        module.uses.setdefault(name, target)
                at = end + 1
            else:
                code.append(body[at])
                at += 1
        return code

    def find(self, module, path, seen=()):
        """The file that defines the item of a path, a module, or nothing if it lies outside the house."""
        for at, name in enumerate(path):
            key = (id(module), name)
            if key in seen:
                return None
            if name == "crate":
                while module.parent:
                    module = module.parent
                found = module
            elif name == "self":
                found = module
            elif name == "super":
                found = module.parent
            elif name in module.items:
                return module.file
            elif name in module.modules:
                found = module.modules[name]
            elif name in module.uses:
                found = self.find(module, module.uses[name], (*seen, key))
            else:
                found = None
                for target in module.globs:
                    origin = self.find(module, target, (*seen, key))
                    if isinstance(origin, Module):
                        found = found or self.find(origin, [name], (*seen, key))
                if found is None and at == 0 and name in self.crates:
                    found = self.crates[name].roots.get(self.crates[name].source / "lib.rs")
            if not isinstance(found, Module):
                return found
            module = found
        return module

    def arrows(self, every):
        """For each production file the production files that it imports, by `every` path or by imports alone."""
        arrows, begins = {}, {"crate", "super", "self", *self.crates}
        for path, file in self.files.items():
            if file.test:
                continue
            targets = arrows.setdefault(path, set())
            for module, code, exported in file.codes:
                paths = [target for name, target in module.uses.items() if name not in exported]
                for written in paths_in(code):
                    if len(written) == 1:
                        # A single `super` or `crate` is part of `pub(super)`, which imports nothing.
                        wanted = written[0] not in begins and (written[0] in exported or module.globs)
                    else:
                        own = written[written[0] == "self"] in module.modules
                        wanted = every or (written[0] in begins and not own)
                    if wanted:
                        paths.append(written)
                found = [self.find(module, written) for written in paths]
                targets.update(place.file if isinstance(place, Module) else place for place in found if place)
            targets.discard(path)
        return arrows

    def circles(self, every=False):
        """Circles of files, the longest first."""
        return circles(self.arrows(every=True) if every else self.imports)

    def crate_circles(self):
        """Circles of crates."""
        crate_of = {path: crate.name for crate in self.crates.values() for path in crate.files}
        arrows = {name: set() for name in self.crates}
        for path, targets in self.imports.items():
            arrows[crate_of[path]].update(crate_of[target] for target in targets)
        return circles(arrows)


def paths_in(code):
    """The paths and the single names that stand in code, but for fields and methods."""
    at = 0
    while at < len(code):
        written = []
        if re.match(r"[A-Za-z_]", code[at]) and (at == 0 or code[at - 1] not in (".", "::")):
            written.append(code[at])
            while code[at + 1 : at + 2] == ["::"] and re.match(r"[A-Za-z_]", "".join(code[at + 2 : at + 3])):
                written.append(code[at + 2])
                at += 2
            yield written
        at += 1


def circles(arrows):
    """Strongly connected components of two or more, the longest first (Tarjan 1972, with a stack of its own)."""
    number, low, stack, on_stack, result = {}, {}, [], set(), []
    for start in arrows:
        work = [(start, iter(sorted(arrows[start])))] if start not in number else []
        while work:
            node, targets = work[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                stack.append(node)
                on_stack.add(node)
            for target in targets:
                if target not in number:
                    work.append((target, iter(sorted(arrows.get(target, ())))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], number[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    members = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    on_stack.difference_update(members)
                    if len(members) > 1:
                        result.append(sorted(members))
    return sorted(result, key=lambda members: (-len(members), members))


def lines_in(folder, pattern):
    """The lines of all files below a folder that are called like that."""
    return sum(path.read_text().count("\n") for path in folder.rglob(pattern))


def figures(house):
    """The table: a row for each crate and one for all."""
    rows, all_lengths = [], []
    for crate in house.crates.values():
        production = [file for file in crate.files.values() if not file.test]
        lengths = sorted((file.lines - file.test_lines, file.path.relative_to(house.top)) for file in production)
        shaders = [crate.source] + [crate.folder / "shaders"] * (not (crate.folder / "shaders/Cargo.toml").exists())
        all_lengths += lengths
        tests = sum(file.test_lines for file in crate.files.values()) + lines_in(crate.folder / "tests", "*.rs")
        rows.append(
            {
                "crate": crate.name,
                "production": sum(length for length, _ in lengths),
                "tests": tests,
                "wgsl": sum(lines_in(folder, "*.wgsl") for folder in shaders),
                "files": len(lengths),
                "median": int(statistics.median(length for length, _ in lengths)),
                "largest": lengths[-1],
            }
        )
    total = {"crate": "all", "median": int(statistics.median(length for length, _ in all_lengths))}
    total |= {name: sum(row[name] for row in rows) for name in ("production", "tests", "wgsl", "files")}
    return [*rows, total | {"largest": max(all_lengths)}]


def bounds_of(house):
    """The figures that have a bound, by the name of the bound."""
    total, found = figures(house)[-1], house.circles()
    return {
        "production_lines": total["production"],
        "production_files": total["files"],
        "largest_file": total["largest"][0],
        "circles": len(found),
        "longest_circle": max(map(len, found), default=1),
        "circles_across_crates": len(house.crate_circles()),
    }


def show(house, members):
    """Prints the table and the circles."""
    print(f"{'crate':22}{'production':>11}{'tests':>8}{'WGSL':>7}{'files':>7}{'median':>8}{'largest':>9}")
    for row in figures(house):
        numbers = f"{row['production']:11}{row['tests']:8}{row['wgsl']:7}{row['files']:7}{row['median']:8}"
        print(f"{row['crate']:22}{numbers}{row['largest'][0]:9}  {row['largest'][1]}")
    found = house.circles()
    print(f"\n{len(found)} circles of imports through {sum(map(len, found))} files:", *map(len, found))
    every = house.circles(every=True)
    print(f"{len(every)} circles by every path through {sum(map(len, every))} files:", *map(len, every))
    for circle in found if members else []:
        print(f"\n{len(circle)} files:", *(path.relative_to(house.top) for path in circle), sep="\n  ")
    across = house.crate_circles()
    print(f"{len(across)} circles across crates", *(", ".join(circle) for circle in across), sep="\n  ")


def check(house, bounds):
    """One line for each bound that is broken."""
    counted = bounds_of(house)
    for name in bounds:
        if name not in counted:
            sys.exit(f"there is no bound {name}; there are {', '.join(counted)}")
    return [f"{name} is {counted[name]}, at most {most}" for name, most in bounds.items() if counted[name] > most]


def self_test():
    """Counts a small tree: a circle of three files through a re-export, and one of two crates."""
    tree = {
        "Cargo.toml": '[package]\nname = "top"\n',
        "src/lib.rs": 'mod a;\nmod b;\nmod c;\n#[cfg(any(test, feature = "testing"))]\nmod tests;\npub use a::A;\n'
        "use c::C;\n",
        "src/a.rs": "use crate::b::B; // not crate::c::C\npub struct A(B);\n",
        "src/b/mod.rs": 'mod inner;\npub use inner::B;\nconst S: &str = "crate::c::C";\n',
        "src/b/inner.rs": "pub struct B;\nfn f() {\n    crate::c::c();\n}\n"
        "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n",
        "src/c.rs": "use super::A;\nuse std::cmp::*;\npub(super) fn c() {}\npub struct C(kintsugi_low::Low);\n#[cfg(test)]\nuse crate::b::B;\n",
        "src/tests.rs": "use super::*;\n",
        "shaders/a.wgsl": "// One\n",
        "tests/out.rs": "use top::A;\n",
        "crates/low/Cargo.toml": '[package]\nname = "kintsugi-low"\n',
        "crates/low/src/lib.rs": "pub struct Low;\nfn back(a: top::A) {}\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in tree.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text)
        house = House(Path(folder).resolve())
        names = [[path.relative_to(house.top).as_posix() for path in circle] for circle in house.circles()]
        top, low, total = figures(house)
        assert names == [["crates/low/src/lib.rs", "src/a.rs", "src/b/inner.rs", "src/c.rs"]], names
        assert house.crate_circles() == [["kintsugi_low", "top"]], house.crate_circles()
        assert (top["production"], top["tests"], top["wgsl"], top["files"]) == (18, 10, 1, 5), top
        assert (low["production"], total["production"], total["files"]) == (2, 20, 6), (low, total)
        assert check(house, {"production_lines": 20, "longest_circle": 4}) == []
        assert check(house, {"circles": 0}) == ["circles is 1, at most 0"], check(house, {"circles": 0})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--circles", action="store_true", help="list the files of each circle")
    parser.add_argument("--check", metavar="FILE", help="compare with the bounds in this JSON file")
    parser.add_argument("--self-test", action="store_true", help="count a small tree whose figures are known")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return print("house.py counts as it should")
    house = House(Path(__file__).resolve().parent.parent)
    show(house, arguments.circles)
    if arguments.check:
        broken = check(house, json.loads(Path(arguments.check).read_text()))
        print(*broken, sep="\n", end="\n" if broken else "")
        sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
