"""A package for Debian and its relatives.

In: the files and the program. Out: the bytes of a .deb, which `apt-get install` with its path installs: the program,
scenes, an entry in menus, an icon, a manual page, licences and changes. Libraries that a window opens by name are
recommended and not required: commands run without them, on a cluster above all.
"""

import hashlib
import os
from datetime import datetime, timezone
from email.utils import format_datetime

from . import content
from .elf import MACHINES

# Drivers, and what joins films.
ALSO = ["mesa-vulkan-drivers | vulkan-icd", "ffmpeg"]


def maintainer():
    """As Debian's tools take it from the environment."""
    name = os.environ.get("DEBFULLNAME", "Kintsugi maintainers")
    return f"{name} <{os.environ.get('DEBEMAIL', 'kintsugi@kintsugi.invalid')}>"


def copyright_text():
    """Who may do what, in Debian's format."""
    mit = (content.TOP / "LICENSE-MIT").read_text()
    holder = next(line for line in mit.splitlines() if line.startswith("Copyright"))
    holder = holder.removeprefix("Copyright (c) ")
    terms = mit[mit.index("Permission is hereby") :].strip()
    terms = "\n".join(f" {line}" if line else " ." for line in terms.splitlines())
    return f"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Kintsugi
Comment:
 The program carries libraries under their own licences, which the file
 licences-of-libraries.gz beside this one has.

Files: *
Copyright: {holder}
License: Expat or Apache-2.0

License: Expat
{terms}

License: Apache-2.0
 On Debian systems, the text of this licence is in
 /usr/share/common-licenses/Apache-2.0.
"""


def changelog(version, time):
    """The package's own list of changes."""
    when = format_datetime(datetime.fromtimestamp(time, timezone.utc))
    return f"""kintsugi ({version}) unstable; urgency=medium

  * Package of this version, made from its sources by tools/package.py.

 -- {maintainer()}  {when}
"""


def files(program, elf):
    """Bytes and access rights by path below the root."""
    time, version = content.date(), content.version()
    of_docs = {
        "copyright": copyright_text().encode(),
        "changelog.gz": content.zipped((content.TOP / "CHANGELOG.md").read_bytes()),
        "changelog.Debian.gz": content.zipped(changelog(f"{version}-1", time).encode()),
        "licences-of-libraries.gz": content.zipped(content.licences(MACHINES[elf.machine][2])),
    }
    found = {f"usr/share/doc/kintsugi/{name}": data for name, data in of_docs.items()}
    found |= {f"usr/share/kintsugi/{name}": data for name, data in content.scenes().items()}
    found |= {f"usr/{name}": data for name, data in content.desktop_files().items()}
    found["usr/share/man/man1/kintsugi.1.gz"] = content.zipped((content.HERE / "kintsugi.1").read_bytes())
    return {"usr/bin/kintsugi": (program, 0o755)} | {name: (data, 0o644) for name, data in found.items()}


def control(elf, kib):
    """The package's description for the installer."""
    return f"""Package: kintsugi
Version: {content.version()}-1
Architecture: {MACHINES[elf.machine][1]}
Maintainer: {maintainer()}
Installed-Size: {kib}
Depends: {", ".join(elf.depends())}
Recommends: {", ".join(ALSO + elf.opened())}
Section: graphics
Priority: optional
Description: break voxel objects live
 Kintsugi loads a mesh, turns it into a sparse voxel octree and breaks it where
 one clicks. Pieces leave as meshes, arrays or scenes, and move as bodies.
 .
 Commands break, simulate and draw without a window and without a graphics
 card; the same seed gives the same bytes on every machine.
"""


def ar(members, time):
    """An archive of the kind that a .deb is."""
    out = b"!<arch>\n"
    for name, data in members:
        head = f"{name:<16}{time:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n"
        out += head.encode() + data + b"\n" * (len(data) % 2)
    return out


def make(program, elf, level):
    """The bytes of the package."""
    time, found = content.date(), files(program, elf)
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {name}\n" for name, (data, _) in sorted(found.items()))
    kib = sum(-(-len(data) // 1024) for data, _ in found.values())
    about = {"control": (control(elf, kib).encode(), 0o644), "md5sums": (sums.encode(), 0o644)}
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", content.archive(about, level, "xz", time)),
        ("data.tar.xz", content.archive(found, level, "xz", time)),
    ]
    return ar(members, time)
