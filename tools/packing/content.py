"""What is in a package: the program without its symbols, scenes, texts, licences.

In: the source tree and a program that was built from it. Out: bytes by path, which each kind of package arranges as it
needs.
"""

import gzip
import io
import json
import lzma
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent

# 1 January 1980, the first date that every archive can hold.
NO_DATE = 315532800

# What a file with a licence is called in a crate's folder.
LICENCE = re.compile(r"licen[cs]e|copying|copyright|notice|^(ofl|ufl)\.txt$", re.I)


# Variables by which tests make the program fail. `cargo test` puts the program that obeys them where `cargo build` does.
HOOKS = [b"KINTSUGI_MISHAPS", b"KINTSUGI_FREE_BYTES", b"KINTSUGI_BROKEN_CHECK"]


class PackageError(Exception):
    """Why no package could be made: one line."""


def output(words, **more):
    """What a program prints."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    except FileNotFoundError:
        raise PackageError(f"{words[0]} is not installed, and is needed here") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        # What comes after it explains.
        said = next((line for line in lines if line.lower().startswith("error")), lines[-1])
        raise PackageError(f"{words[0]} failed: {said.removeprefix('error: ')}")
    return done.stdout


def hook(data):
    """A variable of tests that a program obeys, if it was built along with tests."""
    return next((hook.decode() for hook in HOOKS if hook in data), None)


def refuse_hooks(data, program):
    """An error about a program that was built along with tests."""
    found = hook(data)
    if found:
        clean = "run `cargo build --release` after the last `cargo test`, and pack then"
        raise PackageError(f"{program} was built along with tests and obeys {found}; {clean}")


def built(with_hooks):
    """The program that cargo builds of this source tree, as the tree is now: cargo does nothing where it is up to date. One
    that may obey tests is taken as it is."""
    cargo, tree = os.environ.get("CARGO", "cargo"), ["--manifest-path", str(TOP / "Cargo.toml")]
    about = json.loads(output([cargo, "metadata", "--format-version=1", "--no-deps", *tree]))
    program = Path(about["target_directory"]) / "release/kintsugi"
    if not with_hooks or not program.is_file():
        print(f"building {program}, which may take some minutes", file=sys.stderr, flush=True)
        if subprocess.run([cargo, "build", "--release", "--bin", "kintsugi", *tree], check=False).returncode:
            raise PackageError("cargo could not build the program, see above; --program packs one that is there")
    return program


def version():
    """The version of the program, from the workspace."""
    return re.search(r'^version = "([^"]+)"', (TOP / "Cargo.toml").read_text(), re.M)[1]


def date():
    """The one time that is written into packages, s since 1970: SOURCE_DATE_EPOCH, or the last commit's."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given and not given.isdigit():
        raise PackageError(f"SOURCE_DATE_EPOCH is {given!r}; give whole seconds since 1970")
    try:
        return max(NO_DATE, int(given or output(["git", "-C", str(TOP), "log", "-1", "--format=%ct"])))
    except (PackageError, ValueError):
        return NO_DATE


def stripped(program):
    """The bytes of a program, for Linux or Windows, without symbols."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "kintsugi"
        try:
            output([os.environ.get("STRIP", "strip"), "-s", "-o", str(copy), str(program)])
        except PackageError as why:
            tool = "for another processor, STRIP names the tool, as in STRIP=aarch64-linux-gnu-strip"
            raise PackageError(f"{why}; {tool}") from None
        return copy.read_bytes()


def scenes():
    """The shipped scenes and their meshes, by path below the folder that has `assets`. Files that somebody put beside
    them are left out; the pictures of the list are in the program."""
    folder = TOP / "assets/scenes"
    try:
        names = output(["git", "-C", str(TOP), "ls-files", "-z", "--", "assets/scenes"]).split("\0")
        files = [TOP / name for name in names if name]
    except PackageError:
        files = []
    files = [file for file in files or folder.iterdir() if file.parent == folder and file.is_file()]
    if not files:
        raise PackageError(f"{folder} has no scenes; run this from a clone of the project")
    return {file.relative_to(TOP).as_posix(): file.read_bytes() for file in sorted(files)}


def crates(target):
    """Name, version, licence and folder of every crate that the program takes in, sorted."""
    cargo = os.environ.get("CARGO", "cargo")
    words = [cargo, "metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", target]
    listed = json.loads(output(words + ["--manifest-path", str(TOP / "Cargo.toml")]))
    packages = {package["id"]: package for package in listed["packages"]}
    nodes = {node["id"]: node for node in listed["resolve"]["nodes"]}
    (root,) = [i for i, p in packages.items() if Path(p["manifest_path"]) == TOP / "Cargo.toml"]
    seen, todo = set(), [root]
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            # What only tests and build scripts use is not in the program.
            deps = nodes[one]["deps"]
            todo += [dep["pkg"] for dep in deps if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    used = [packages[i] for i in seen if packages[i]["source"]]
    rows = [(p["name"], p["version"], p["license"] or "none", Path(p["manifest_path"]).parent) for p in used]
    return sorted(rows, key=lambda row: row[:2])


def licence_files(folder):
    """Texts of licences in a crate's folder and up to two folders below it, those in comments of C headers, too."""
    for path in sorted(folder.rglob("*")):
        depth = len(path.relative_to(folder).parts)
        fonts = path.parent.name == "fonts" and path.suffix == ".txt"
        is_code = path.suffix in (".rs", ".py", ".js", ".c", ".h", ".cpp")
        if depth > 3 or not path.is_file():
            continue
        if not is_code and (fonts or LICENCE.search(path.name)):
            yield path.read_text(errors="replace").replace("\r\n", "\n").strip() + "\n"
        if path.suffix == ".h":
            comments = re.findall(r"/\*(.*?)\*/", path.read_text(errors="replace"), re.S)
            for comment in comments:
                if "Permission is hereby granted" in comment:
                    yield re.sub(r"^ *\* ?", "", comment, flags=re.M).strip() + "\n"


def licences(target):
    """One text with the licences of all crates in the program, each text once."""
    texts, without = {}, {"Apache-2.0": [], "Unlicense": [], "BSL-1.0": []}
    listed = crates(target)
    for name, number, licence, folder in listed:
        found = list(licence_files(folder))
        for text in found:
            texts.setdefault(text, []).append(f"{name} {number}")
        if not found:
            # The Unlicense asks for no text, and Boost's licence asks for none beside a program.
            terms = next((terms for terms in without if terms in licence), None)
            if terms is None:
                raise PackageError(f"{name} ships no text of its licence, {licence}: extend licence_files")
            without[terms].append(f"{name} {number}")
    lines = ["Libraries in this program, each with the licences that it may be used under.", ""]
    lines += [f"{name} {number}: {licence}" for name, number, licence, _ in listed]
    for terms, names in without.items():
        if names:
            lines += ["", f"These ship no text of their licences and are used under {terms}: " + ", ".join(names) + "."]
    lines += [""]
    for text, users in texts.items():
        lines += ["=" * 78, ", ".join(dict.fromkeys(users)), "=" * 78, "", text]
    return "\n".join(lines).encode()


def zipped(data, level=9):
    """Bytes as gzip writes them, without a name and a time."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=out, mtime=0) as file:
        file.write(data)
    return out.getvalue()


def desktop_files():
    """The entry in menus and the icon, by path below `usr`."""
    return {
        "share/applications/kintsugi.desktop": (HERE / "kintsugi.desktop").read_bytes(),
        "share/icons/hicolor/scalable/apps/kintsugi.svg": (HERE / "kintsugi.svg").read_bytes(),
    }


def archive(files, level, suffix, time):
    """A tar archive of files, all owned by root; `files` has bytes and access rights by path."""
    out = io.BytesIO()
    folders = {parent for path in files for parent in Path(path).parents if parent.as_posix() != "."}
    names = sorted([(folder.as_posix(), None) for folder in folders] + [(path, path) for path in files])
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, path in names:
            about = tarfile.TarInfo(f"./{name}" if suffix == "xz" else name)
            about.mtime, about.uname, about.gname = time, "root", "root"
            about.type, about.mode = (tarfile.DIRTYPE, 0o755) if path is None else (tarfile.REGTYPE, files[path][1])
            data = b"" if path is None else files[path][0]
            about.size = len(data)
            tar.addfile(about, io.BytesIO(data))
    return lzma.compress(out.getvalue(), preset=level) if suffix == "xz" else zipped(out.getvalue(), level)
