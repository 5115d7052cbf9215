#!/usr/bin/env python3
"""Packs a library that was built before into a wheel of the Python package.

    cargo build --release -p kintsugi-python
    python3 tools/wheel.py --library target/release/libkintsugi_python.so --out target/wheels

`pip install ./python` is the usual way: it builds the library by maturin. This script is for tests, and for wheels of a
library that is there already: nothing is compiled. Needs Python 3.9 or later and nothing else. The same input gives the
same bytes. On Linux the file's name says which C library the wheel needs (manylinux_2_35), read from the library, as PyPI
wants it. Prints the path of the wheel.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import stat
import sys
import sysconfig
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True

from packing.elf import Elf, ElfError  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
NAME = "kintsugi"
# The library is built for the stable interface of this version and later ones.
PYTHON = "cp39-abi3"
# Zip files have no earlier time.
EPOCH = (1980, 1, 1, 0, 0, 0)
ENDINGS = {".so": "_native.abi3.so", ".dylib": "_native.abi3.so", ".dll": "_native.pyd", ".pyd": "_native.pyd"}


def project() -> dict:
    """The table [project] of python/pyproject.toml."""
    text = (ROOT / "python/pyproject.toml").read_text(encoding="utf-8")
    try:
        import tomllib
    except ImportError:  # Python 3.9 and 3.10
        from pip._vendor import tomli as tomllib
    return tomllib.loads(text)["project"]


def version() -> str:
    """The version of the workspace."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    found = re.search(r'^\[workspace\.package\]$.*?^version = "([^"]+)"', text, re.M | re.S)
    if not found:
        sys.exit("Cargo.toml has no version in [workspace.package]")
    return found[1]


def platform(library: Path) -> str:
    """The platform as file names of wheels have it: of a library for Linux the oldest C library that it can use, without which
    PyPI takes no wheel; else, and where the library needs what not every system has, the system that this runs on."""
    if library.suffix == ".so":
        try:
            tag = Elf(library.read_bytes(), str(library)).manylinux()
        except ElfError as why:
            tag, about = None, str(why)
        else:
            about = f"{library} needs libraries that manylinux does not promise"
        if tag:
            return tag
        print(f"{about}; PyPI will not take the wheel", file=sys.stderr)
    return re.sub(r"[-.]", "_", sysconfig.get_platform())


def metadata(about: dict, number: str, licences: list[str]) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {number}",
        f"Summary: {about['description']}",
        f"Keywords: {','.join(about['keywords'])}",
        f"License-Expression: {about['license']}",
        *(f"License-File: {name}" for name in licences),
        *(f"Classifier: {line}" for line in about["classifiers"]),
        f"Requires-Python: {about['requires-python']}",
        *(f"Requires-Dist: {line}" for line in about["dependencies"]),
    ]
    for extra, needs in about["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {line}; extra == "{extra}"' for line in needs]
    readme = (ROOT / "python/README.md").read_text(encoding="utf-8")
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme])


def files(library: Path) -> dict[str, bytes]:
    """The contents of the package by their paths in the wheel."""
    there: dict[str, bytes] = {}
    package = ROOT / "python" / NAME
    for file in sorted(package.rglob("*")):
        below = file.relative_to(package)
        # Scenes come from the assets below; a library beside the sources is another one.
        is_source = file.suffix in (".py", ".pyi") or file.name == "py.typed"
        if is_source and file.is_file() and below.parts[0] != "assets":
            there[f"{NAME}/{below.as_posix()}"] = file.read_bytes()
    for file in sorted((ROOT / "assets/scenes").glob("*")):
        if file.suffix in (".toml", ".obj"):
            there[f"{NAME}/assets/scenes/{file.name}"] = file.read_bytes()
    there[f"{NAME}/{ENDINGS[library.suffix]}"] = library.read_bytes()
    return there


def pack(library: Path, out: Path) -> Path:
    """Writes the wheel into the folder `out`."""
    number, about = version(), project()
    tag = f"{PYTHON}-{platform(library)}"
    info = f"{NAME}-{number}.dist-info"
    licences = ["LICENSE-APACHE", "LICENSE-MIT"]
    content = files(library)
    content |= {f"{info}/licenses/{name}": (ROOT / name).read_bytes() for name in licences}
    scripts = "".join(f"{name} = {target}\n" for name, target in about["scripts"].items())
    content[f"{info}/METADATA"] = metadata(about, number, licences).encode()
    content[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: {NAME}-tools\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    content[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}".encode()
    record = f"{info}/RECORD"
    rows = [f"{name},sha256={digest(data)},{len(data)}" for name, data in sorted(content.items())]
    content[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"{NAME}-{number}-{tag}.whl"
    aside = wheel.with_suffix(".part")
    with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
        # The list comes last, as the format recommends.
        for name in sorted(content, key=lambda name: (name.startswith(info), name == record, name)):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if name.endswith((".so", ".pyd")) else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(entry, content[name])
    aside.replace(wheel)
    return wheel


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True, help="libkintsugi_python.so, .dylib or kintsugi_python.dll")
    parser.add_argument("--out", type=Path, required=True, help="folder for the wheel; made if it is not there")
    given = parser.parse_args()
    if not given.library.is_file():
        sys.exit(f"{given.library} is not there; build it with `cargo build --release -p kintsugi-python`")
    if given.library.suffix not in ENDINGS:
        sys.exit(f"{given.library} is no shared library ({', '.join(ENDINGS)})")
    print(pack(given.library, given.out))


if __name__ == "__main__":
    main()
