"""An archive for Windows, to unpack anywhere and run from there.

In: the files and a 64-bit program for Windows (PE32+). Out: the libraries that the program names, and the bytes of a .zip
with one folder.
"""

import io
import struct
import time
import zipfile

from . import content

# Rust's names of the target.
TARGET, PROCESSOR = "x86_64-pc-windows-gnu", "x86_64"
MACHINE, OPTIONAL = 0x8664, 0x20B
# What the compiler brings along and Windows does not have.
OF_COMPILER = ("libgcc", "libstdc++", "libwinpthread")


class Exe:
    """A program for Windows."""

    def __init__(self, data, name):
        self.data, self.name = data, name
        try:
            (head,) = struct.unpack_from("<I", data, 60) if data[:2] == b"MZ" else (len(data),)
            mark, machine, sections, _, _, self.symbols, size = struct.unpack_from("<4sHHIIIH", data, head)
            (kind,) = struct.unpack_from("<H", data, head + 24)
            if (mark, machine, kind) != (b"PE\0\0", MACHINE, OPTIONAL):
                raise content.PackageError(f"{name}: it is no program for 64-bit Windows on x86-64; build it for {TARGET}")
            # Address, size and place in the file.
            sections = [struct.unpack_from("<III", data, head + 24 + size + 40 * k + 12) for k in range(sections)]
            self.sections = [(address, size, place) for address, size, place in sections]
            self.libraries = self.imported(head + 24)
        except (struct.error, ValueError):
            raise content.PackageError(f"{name}: it is no program for Windows, or damaged; build it again") from None

    def place(self, address):
        """Where an address lies in the file."""
        found = (at + address - begin for begin, size, at in self.sections if begin <= address < begin + size)
        at = next(found, None)
        if at is None:
            raise ValueError(address)
        return at

    def imported(self, optional):
        """Names of the libraries that are loaded with the program."""
        (count,) = struct.unpack_from("<I", self.data, optional + 108)
        (address,) = struct.unpack_from("<I", self.data, optional + 120) if count > 1 else (0,)
        found = []
        while address:
            (name,) = struct.unpack_from("<I", self.data, self.place(address) + 12)
            if name == 0:
                break
            at = self.place(name)
            found.append(self.data[at : self.data.index(b"\0", at)].decode("latin-1"))
            address += 20
        return found


def make(program, exe, level):
    """The bytes of the archive."""
    missing = [name for name in exe.libraries if name.lower().startswith(OF_COMPILER)]
    if missing:
        how = "link it statically, by RUSTFLAGS='-C link-arg=-static'"
        raise content.PackageError(f"{exe.name} needs {', '.join(missing)}, which Windows does not have; {how}")
    here = (content.HERE / "README.txt").read_bytes().replace(b" ./kintsugi", b" kintsugi")
    texts = {name: (content.TOP / name).read_bytes() for name in ("LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md")}
    texts |= {"README.txt": here, "LICENCES-OF-LIBRARIES.txt": content.licences(TARGET)}
    # Names without an ending open in no editor there.
    texts = {name if "." in name else f"{name}.txt": data.replace(b"\n", b"\r\n") for name, data in texts.items()}
    files = {"kintsugi.exe": program} | texts | content.scenes()
    folder = f"kintsugi-{content.version()}-{PROCESSOR}-windows"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in sorted(files.items()):
            about = zipfile.ZipInfo(f"{folder}/{name}", time.gmtime(content.date())[:6])
            about.compress_type, about.create_system = zipfile.ZIP_DEFLATED, 3
            about.external_attr = (0o755 if name.endswith(".exe") else 0o644) << 16
            archive.writestr(about, data, compresslevel=level)
    return out.getvalue()
