#!/usr/bin/env python3
"""Checks the documents: each link leads to a file and a heading, and each path that is named exists.

    python3 tools/links.py        one line for each that does not; exits with 1 where there is one

Links are checked in every Markdown file. Paths in backticks that begin with a folder of the repository (`src/...`) are
checked everywhere but in `docs/lab/` and CHANGELOG.md, which describe earlier versions. So are other names of Rust and
WGSL files with a folder (`a/b.rs`, `../b.rs`): the path of some file must end so. Tests that are named after a file and
a colon (`src/a/b.rs`: `one`, `two`) are looked for there, in every document.
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
FOLDERS = "assets|crates|docs|examples|fuzz|python|screenshots|shaders|src|tests|tools"


def anchor(heading):
    """The name that GitHub gives to a heading."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")


def problems():
    """One line for each link or path that leads nowhere."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=TOP, capture_output=True, text=True, check=True)
    sources = subprocess.run(["git", "ls-files", "*.rs", "*.wgsl"], cwd=TOP, capture_output=True, text=True, check=True)
    parts = [name.split("/") for name in sources.stdout.split()]
    ends = {"/".join(of[at:]) for of in parts for at in range(len(of))}
    files = [TOP / name for name in listed.stdout.split()]
    texts = {path: re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M) for path in files if path.exists()}
    anchors = {path: {anchor(found) for found in re.findall(r"^#+ (.*)$", text, re.M)} for path, text in texts.items()}
    for path, text in texts.items():
        name = path.relative_to(TOP).as_posix()
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            target, _, place = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            file = (path.parent / target).resolve() if target else path
            if not file.exists():
                yield f"{name}: {link} is not there"
            elif place and place not in anchors.get(file, {place}):
                yield f"{name}: {link} has no such heading"
        for place, names in re.findall(r"`((?:%s)/[\w./-]+\.rs)`: (`\w+_\w+`(?:, `\w+_\w+`)*)" % FOLDERS, text):
            source = (TOP / place).read_text() if (TOP / place).exists() else ""
            for test in re.findall(r"\w+", names):
                if not re.search(rf"\bfn {test}\b", source):
                    yield f"{name}: `{place}` has no `{test}`"
        if not name.startswith("docs/lab/") and name != "CHANGELOG.md":
            for place in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", text):
                if not (TOP / place).exists():
                    yield f"{name}: `{place}` is not there"
            for place in re.findall(r"`((?:[\w.-]+/)+[\w-]+\.(?:rs|wgsl))`", text):
                if not re.match(rf"(?:{FOLDERS})/", place) and place.removeprefix("../") not in ends:
                    yield f"{name}: no file ends with `{place}`"


if __name__ == "__main__":
    found = list(problems())
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)
