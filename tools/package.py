#!/usr/bin/env python3
"""Makes a package of the program: for Debian, as an AppImage, as an archive, or for Windows.

    python3 tools/package.py deb         dist/kintsugi_0.1.0-1_amd64.deb
    python3 tools/package.py appimage    dist/kintsugi-0.1.0-x86_64.AppImage; needs mksquashfs
    python3 tools/package.py tar         dist/kintsugi-0.1.0-x86_64-linux.tar.gz
    python3 tools/package.py zip         dist/kintsugi-0.1.0-x86_64-windows.zip, of a program for Windows (--program)

In: the source tree, for scenes, licences, changes and the program, which cargo builds where it is missing or was built along
with tests; or a program that was built (--program). Out: one file, whose bytes depend on these alone:
times are SOURCE_DATE_EPOCH or the last commit's, names are sorted, everything belongs to root. Needs Python 3.9, cargo,
which lists the libraries in the program with their licences, and strip. `docs/systems.md` has more.
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from packing import appimage, content, deb, tar, windows  # noqa: E402
from packing.elf import MACHINES, Elf, ElfError  # noqa: E402


def arguments():
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["deb", "appimage", "tar", "zip"])
    told = "what to pack; without it this tree's, built if need be; for zip a program for Windows, which has to be named"
    parser.add_argument("--program", type=Path, help=told)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder of the package, made if need be")
    runtime = "for appimage: its runtime, or any AppImage, which begins with one; without it pip gets one"
    parser.add_argument("--runtime", type=Path, help=runtime)
    parser.add_argument("--compression", type=int, choices=range(10), default=6, help="0: fast, 9: small")
    told = "pack a program that was built along with tests, and obeys their variables: for tests of this script"
    parser.add_argument("--with-hooks-for-tests", action="store_true", help=told)
    return parser.parse_args()


def packed(asked, found):
    """Name of the package, the program without symbols, and the package; `found` is the program that was read."""
    version, level = content.version(), asked.compression
    program = content.stripped(asked.program) if found.symbols else found.data
    if asked.kind == "zip":
        return f"kintsugi-{version}-{windows.PROCESSOR}-windows.zip", program, windows.make(program, found, level)
    processor, debian, _ = MACHINES[found.machine]
    if asked.kind == "deb":
        return f"kintsugi_{version}-1_{debian}.deb", program, deb.make(program, found, level)
    if asked.kind == "appimage":
        name = f"kintsugi-{version}-{processor}.AppImage"
        return name, program, appimage.make(program, found, asked.runtime, level)
    return f"kintsugi-{version}-{processor}-linux.tar.gz", program, tar.make(program, found, level)


def main():
    """Makes the package and says how large it is."""
    asked = arguments()
    try:
        if asked.program is None and asked.kind == "zip":
            raise content.PackageError("zip packs a program for Windows: name it by --program (docs/systems.md)")
        if asked.program is None:
            asked.program = content.built(asked.with_hooks_for_tests)
        data = asked.program.read_bytes()
        read = windows.Exe if asked.kind == "zip" else Elf
        found = read(data, str(asked.program))
        if not asked.with_hooks_for_tests:
            content.refuse_hooks(data, asked.program)
        name, program, package = packed(asked, found)
        asked.out.mkdir(parents=True, exist_ok=True)
        path = asked.out / name
        path.write_bytes(package)
        path.chmod(0o755 if asked.kind == "appimage" else 0o644)
    except FileNotFoundError as why:
        sys.exit(f"error: {why.filename} is not there; build the program (cargo build --release), or name another file")
    except (content.PackageError, ElfError, OSError) as why:
        sys.exit(f"error: {why}")
    mib = [f"{len(one) / 2**20:.1f} MiB" for one in (data, program, package)]
    print(f"program {mib[0]}, without symbols {mib[1]}; {path}: {mib[2]}")


main()
