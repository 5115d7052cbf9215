"""An archive to unpack anywhere and run from there.

In: the files and the program. Out: the bytes of a .tar.gz with one folder.
"""

from . import content
from .elf import MACHINES


def make(program, elf, level):
    """The bytes of the archive."""
    processor, _, target = MACHINES[elf.machine]
    files = {"kintsugi": (program, 0o755), "README.txt": ((content.HERE / "README.txt").read_bytes(), 0o644)}
    texts = {name: (content.TOP / name).read_bytes() for name in ("LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md")}
    texts |= content.scenes() | {"LICENCES-OF-LIBRARIES.txt": content.licences(target)}
    files |= {name: (data, 0o644) for name, data in texts.items()}
    folder = f"kintsugi-{content.version()}-{processor}-linux"
    return content.archive({f"{folder}/{name}": what for name, what in files.items()}, level, "gz", content.date())
