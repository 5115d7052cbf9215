"""Reads a Linux program: which libraries it needs, and where its file ends.

In: the bytes of a 64-bit little-endian ELF file. Out: its processor, the libraries that are loaded with it and those
that it opens itself while it runs, Debian's packages of both, and its sections.
"""

import re
import struct

# Processor of the header: name in file names, Debian's name, and the name of Rust's target.
MACHINES = {
    62: ("x86_64", "amd64", "x86_64-unknown-linux-gnu"),
    183: ("aarch64", "arm64", "aarch64-unknown-linux-gnu"),
}

# Debian's packages of libraries that a program is linked with, and the prefix of their versions.
LINKED = {
    "libc.so.6": ("libc6", "GLIBC_"),
    "libm.so.6": ("libc6", "GLIBC_"),
    "libdl.so.2": ("libc6", "GLIBC_"),
    "libpthread.so.0": ("libc6", "GLIBC_"),
    "librt.so.1": ("libc6", "GLIBC_"),
    "ld-linux-x86-64.so.2": ("libc6", "GLIBC_"),
    "ld-linux-aarch64.so.1": ("libc6", "GLIBC_"),
    "libgcc_s.so.1": ("libgcc-s1", "GCC_"),
    "libstdc++.so.6": ("libstdc++6", "GLIBCXX_"),
}

# What every manylinux tag from 2.17 on promises of the compiler's libraries (PEP 599).
OLDEST = (2, 17)
PROMISED = {"GCC_": (4, 8, 0), "GLIBCXX_": (3, 4, 19), "CXXABI_": (1, 3, 7)}

# Releases of GCC that brought a version of libstdc++; older ones are in every system that has this program's libc.
RELEASES = {25: "8", 26: "9", 27: "9.2", 28: "9.3", 29: "11", 30: "12", 31: "13.1", 32: "13.2", 33: "14", 34: "15"}

# Debian's packages of libraries that the program opens by name when it shows a window.
OPENED = {
    "libvulkan.so.1": "libvulkan1",
    "libEGL.so.1": "libegl1",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb.so.1": "libxcb1",
    "libXcursor.so.1": "libxcursor1",
    "libXi.so.6": "libxi6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libdbus-1.so.3": "libdbus-1-3",
}

LOAD, DYNAMIC = 1, 2
# Kind of the section with symbols that only debuggers read.
SYMBOLS = 2
NEEDED, STRINGS, VERSIONS, VERSION_COUNT = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF


class ElfError(Exception):
    """The file is no program of the kind that can be packed."""


class Elf:
    """A program."""

    def __init__(self, data, name):
        self.data, self.name = data, name
        if data[:6] != b"\x7fELF\x02\x01":
            raise ElfError(f"{name}: it is no 64-bit Linux program; build it for Linux first")
        try:
            (self.machine,) = struct.unpack_from("<H", data, 18)
            self.parts_at, self.sections_at = struct.unpack_from("<QQ", data, 32)
            _, part_size, parts, section_size, sections, names = struct.unpack_from("<6H", data, 52)
            # Kind, place in the file, address, size in the file.
            self.parts = []
            for k in range(parts):
                at = self.parts_at + k * part_size
                kind, _, place, address, _, size = struct.unpack_from("<IIQQQQ", data, at)
                self.parts.append((kind, place, address, size))
            self.end = max([self.sections_at + sections * section_size] + [p[1] + p[3] for p in self.parts])
            # Name, kind, place, size.
            raw = [struct.unpack_from("<IIQQQQ", data, self.sections_at + k * section_size) for k in range(sections)]
            strings = raw[names][4] if raw else 0
            self.sections = [(self.text(strings + r[0]), r[1], r[4], r[5]) for r in raw]
            self.symbols = any(kind == SYMBOLS or name.startswith(".debug") for name, kind, _, _ in self.sections)
        except (struct.error, IndexError, ValueError):
            raise ElfError(f"{name}: the program is damaged; build it again") from None
        if self.machine not in MACHINES:
            raise ElfError(f"{name}: packages are made for x86-64 and AArch64, and this is for machine {self.machine}")

    def text(self, at):
        """The string at a place in the file."""
        return self.data[at : self.data.index(b"\0", at)].decode()

    def place(self, address):
        """Where an address lies in the file."""
        for kind, place, begin, size in self.parts:
            if kind == LOAD and begin <= address < begin + size:
                return place + address - begin
        raise ElfError(f"{self.name}: the program is damaged; build it again")

    def dynamic(self):
        """Entries that the loader reads: kind and value."""
        for kind, place, _, size in self.parts:
            if kind == DYNAMIC:
                return [struct.unpack_from("<qQ", self.data, place + 16 * k) for k in range(size // 16)]
        return []

    def needed(self):
        """Libraries that the program is linked with, each with the versions that it needs of it."""
        entries = self.dynamic()
        of = dict(entries)
        if STRINGS not in of:
            return {}
        strings = self.place(of[STRINGS])
        found = {self.text(strings + value): set() for kind, value in entries if kind == NEEDED}
        at = self.place(of[VERSIONS]) if VERSIONS in of else 0
        for _ in range(of.get(VERSION_COUNT, 0)):
            _, count, file, first, after = struct.unpack_from("<HHIII", self.data, at)
            one = at + first
            for _ in range(count):
                _, _, _, name, next_one = struct.unpack_from("<IHHII", self.data, one)
                found.setdefault(self.text(strings + file), set()).add(self.text(strings + name))
                one += next_one
            at += after
        return found

    def depends(self):
        """What Debian calls the packages of those, with the versions that suffice."""
        least = {}
        for library, versions in self.needed().items():
            if library not in LINKED:
                raise ElfError(f"{library}: tools/packing/elf.py names no package for it; add the line")
            package, prefix = LINKED[library]
            least[package] = max(least.get(package, ()), self.highest(versions, prefix))
        return [f"{package} (>= {version})" for package, version in sorted(map(self.release, least.items()))]

    @staticmethod
    def highest(versions, prefix):
        """The highest of the versions that begin so, as numbers; () without any."""
        numbers = [name.removeprefix(prefix) for name in versions if name.startswith(prefix)]
        return max((tuple(map(int, n.split("."))) for n in numbers if re.fullmatch(r"[0-9]+(\.[0-9]+)*", n)), default=())

    def manylinux(self):
        """The platform of wheels with this library, as in manylinux_2_35_x86_64 (PEP 600); None where it needs what
        these names do not promise, so that PyPI takes no wheel of it."""
        needed = self.needed()
        if "libc.so.6" not in needed or not set(needed) <= set(LINKED):
            return None
        versions = set().union(*needed.values())
        if any(self.highest(versions, prefix) > most for prefix, most in PROMISED.items()):
            return None
        major, minor = max(OLDEST, self.highest(versions, "GLIBC_"))[:2]
        return f"manylinux_{major}_{minor}_{MACHINES[self.machine][0]}"

    @staticmethod
    def release(item):
        """The version of a package, from the version of its symbols."""
        package, numbers = item
        if package == "libstdc++6":
            return package, RELEASES.get(numbers[2] if len(numbers) > 2 else 0, "5")
        return package, ".".join(map(str, numbers)) or "0"

    def opened(self):
        """Packages of the libraries that the program opens by name."""
        return sorted(package for name, package in OPENED.items() if name.encode() in self.data)
