"""Breaks of a data set that exists only as its recipe.

In: recipe.json, and the folder in which its meshes are found by their contents. Out: `Recipe`, a sequence of `Break` as
`Breaks` is one; a break is made when it is used, and its hash is compared with the recipe's.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import json
import os
import re
import shutil
import tempfile
import weakref
from collections import OrderedDict
from pathlib import Path, PureWindowsPath
from typing import Any, Sequence, overload

from . import _program
from ._breaks import ARRAYS_FOLDER, SPLITS, Break, PathLike
from ._native import Engine, Error, Mesh, Object, RecipeMaker, voxelise

# Breaks that lie in the temporary folder at a time.
KEPT = 64
# Voxelised objects that are in memory at a time.
OBJECTS = 4
# An adapter's driver cannot work in a process that is forked from the one that loaded it: its threads stay behind.
LOADED_BY = os.getpid()


class _Maker:
    """Makes breaks of a recipe in this process, and keeps the objects that were used last."""

    def __init__(self, file: Path, meshes: Path | None, compute: str) -> None:
        self.process = os.getpid()
        self._maker = RecipeMaker(file.resolve(), None if meshes is None else meshes.resolve())
        self._engine = Engine(compute)
        self._objects: OrderedDict[tuple[str, int | None, str, str | None, float | None], Object] = OrderedDict()

    def make(self, job: int, place: Path) -> None:
        key = self._maker.object_of(job)
        found = self._objects.pop(key, None)
        if found is None:
            while len(self._objects) >= OBJECTS:
                self._objects.popitem(last=False)
            mesh, (_, level, up, units, voxel_size) = Mesh.read(self._maker.mesh(job)), key
            found = voxelise(mesh, level, up, units=units, voxel_size=voxel_size)
        self._objects[key] = found
        self._maker.make(job, found, place, self._engine)


class Recipe(Sequence[Break]):
    """The breaks of a recipe: `Recipe("recipe.json", meshes="models", split="train")[0]`.

    `meshes` is the folder in which the files of the recipe's meshes are, under any names; built-in shapes need none. With
    `folder`, what was made stays there, each break in a folder of its job's number and hash, and is not made again; several
    recipes may share it. Without it the last 64 breaks lie in a temporary folder while this object lives. The last 4
    voxelised objects are kept, so breaks of one object that follow each other voxelise it once. With another `compute` than
    "cpu" a process that was forked after `kintsugi` was imported, as the workers of a PyTorch DataLoader on Linux, starts
    the program for each break instead, which reads and voxelises each time; take `multiprocessing_context="spawn"` there.

    A break whose arrays are not those of the recipe, bit by bit, raises Error.
    """

    def __init__(
        self,
        file: PathLike,
        meshes: PathLike | None = None,
        split: str | None = None,
        *,
        folder: PathLike | None = None,
        compute: str = "cpu",
    ) -> None:
        if split is not None and split not in SPLITS:
            raise ValueError(f"the split {split!r} is none of {', '.join(SPLITS)}")
        self.file = Path(file) / "recipe.json" if Path(file).is_dir() else Path(file)
        self.meshes = None if meshes is None else Path(meshes)
        self.split, self.compute = split, compute
        self.folder = None if folder is None else Path(folder)
        try:
            read = json.loads(self.file.read_text(encoding="utf-8"))
            hashes, text = read["breaks"], read["jobs"]
            contents = {mesh["file"]: mesh.get("sha256") for mesh in read["meshes"]}
            for digits in hashes:
                # They are parts of paths.
                if digits is not None and not re.fullmatch("[0-9a-f]{1,64}", digits):
                    raise ValueError(f"{digits!r} is no hash of a break")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Error(f"{self.file} is no recipe of a data set ({error}); `kintsugi dataset` writes recipe.json") from None
        self._total = len(hashes)
        places = _places(_toml(text), contents, self._total)
        # Breaks that failed have no hash.
        self._items = [
            (f"{job}-{hashes[job]}", job, name, part)
            for job, (name, part) in enumerate(places)
            if hashes[job] is not None and split in (None, part)
        ]
        self._made: list[str] = []
        self._left: list[Path] = []
        self._temporary: Path | None = None
        self._maker: _Maker | None = None
        self._process = os.getpid()

    @property
    def names(self) -> list[str]:
        """Names of the breaks, in their order."""
        return [name for _, _, name, _ in self._items]

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Break: ...
    @overload
    def __getitem__(self, index: slice) -> list[Break]: ...
    def __getitem__(self, index: int | slice) -> Break | list[Break]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        key, job, name, split = self._items[index]
        place = self._home() / key
        broken = Break(name, split, place)
        file = place / ARRAYS_FOLDER / name / "pieces.npz"
        if not file.is_file():
            self._make(job, place, file)
        if self.folder is None:
            # The files go when others come.
            broken.__dict__.update(broken.arrays())
            self._forget(key)
        return broken

    def __repr__(self) -> str:
        return f"Recipe({str(self.file)!r}, split={self.split!r}): {len(self)} breaks"

    def __getstate__(self) -> dict[str, Any]:
        # Another process has a temporary folder and objects of its own.
        return {**self.__dict__, "_temporary": None, "_made": [], "_left": [], "_maker": None}

    def _home(self) -> Path:
        if self.folder is not None:
            return self.folder
        if self._temporary is None or self._process != os.getpid():
            self._temporary = Path(tempfile.mkdtemp(prefix="kintsugi-recipe-"))
            self._process, self._made = os.getpid(), []
            weakref.finalize(self, _remove, self._temporary, self._process)
        return self._temporary

    def _make(self, job: int, place: Path, file: Path) -> None:
        """Makes one break beside its place, which it takes once it is the recipe's; `file` is there then."""
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=".making-", dir=place.parent))
        try:
            made = beside / "break"
            try:
                self._make_at(job, made)
            except Error as error:
                raise Error(f"break {job} of {self.file}: {error}") from None
            try:
                os.replace(made, place)
            except OSError as error:
                # Another process may have made it meanwhile.
                if not file.is_file():
                    raise Error(f"{place} is not this recipe's break and in the way ({error}); take it away") from None
            if not file.is_file():
                raise Error(f"break {job} of {self.file} was made without {file.name}; get the recipe again")
        except KeyboardInterrupt:
            # The compiled part makes the break to its end all the same, and may write the files once more.
            self._left.append(beside)
            raise
        finally:
            for folder in (beside, *self._left):
                shutil.rmtree(folder, ignore_errors=True)

    def _make_at(self, job: int, place: Path) -> None:
        if self.compute == "cpu" or os.getpid() == LOADED_BY:
            # A maker that came along by a fork may be held by a thread that did not.
            if self._maker is None or self._maker.process != os.getpid():
                self._maker = _Maker(self.file, self.meshes, self.compute)
            self._maker.make(job, place)
            return
        # As a shard of its own.
        words: list[str | os.PathLike[str]] = ["dataset", self.file.resolve(), "--out", place.resolve()]
        words += ["--shard", f"{job + 1}/{self._total}", "--compute", self.compute]
        if self.meshes is not None:
            words += ["--meshes", self.meshes.resolve()]
        done = _program.run(words, check=False)
        if done.returncode != 0:
            raise Error(self._why(place) or _program.last_line(done))

    @staticmethod
    def _why(place: Path) -> str:
        """The error of the one break of a table."""
        try:
            with open(place / "table.csv", newline="", encoding="utf-8") as lines:
                return next((row.get("error") or "" for row in csv.DictReader(lines)), "")
        except OSError:
            return ""

    def _forget(self, key: str) -> None:
        if key in self._made:
            self._made.remove(key)
        self._made.append(key)
        while len(self._made) > KEPT:
            shutil.rmtree(self._home() / self._made.pop(0), ignore_errors=True)


def _remove(folder: Path, process: int) -> None:
    """Removes the temporary folder of a process; one that is forked from it inherits the recipe, but not the folder."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _toml(text: str) -> dict[str, Any]:
    # Python has a reader from 3.11 on, and pip always.
    for module in ("tomllib", "tomli", "pip._vendor.tomli"):
        try:
            reader = importlib.import_module(module)
        except ImportError:
            continue
        read: dict[str, Any] = reader.loads(text)
        return read
    raise ImportError("kintsugi.data.Recipe needs Python 3.11, or tomli: pip install tomli")


def _places(jobs: dict[str, Any], contents: dict[str, str | None], total: int) -> list[tuple[str, str]]:
    """Name and split of each job's break, as docs/dataset.md says they follow from the recipe."""
    options = jobs.get("dataset", {})
    category, shares = options.get("name", "everyday"), options.get("split", {})
    single = [job["mesh"] for job in jobs.get("job", [])]
    meshes = jobs.get("meshes", [])
    # All combinations with one mesh come one after the other; single jobs follow.
    each, rest = divmod(total - len(single), max(len(meshes), 1))
    if rest or each < 0 or (each and not meshes):
        raise Error("the recipe has another number of breaks than its jobs; get it again")
    objects: dict[str, tuple[str, str]] = {}
    taken: set[str] = set()
    counts: dict[str, int] = {}
    places = []
    for mesh in [mesh for mesh in meshes for _ in range(each)] + single:
        if mesh not in objects:
            objects[mesh] = (_free(_plain(mesh), taken), _part(contents.get(mesh) or mesh, shares))
        name, part = objects[mesh]
        number = counts.get(mesh, 0)
        counts[mesh] = number + 1
        places.append((f"{category}/{name}/fractured_{number}", part))
    return places


def _plain(mesh: str) -> str:
    """The name of a mesh in letters, digits, - and _."""
    stem = mesh[len("builtin:") :] if mesh.startswith("builtin:") else (PureWindowsPath if os.name == "nt" else Path)(mesh).stem
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in stem[:100])
    return plain or "object"


def _free(name: str, taken: set[str]) -> str:
    tried, number = name, 2
    while tried.lower() in taken:
        tried, number = f"{name}-{number}", number + 1
    taken.add(tried.lower())
    return tried


def _part(key: str, shares: dict[str, float]) -> str:
    train, val, test = (shares.get(part, usual) for part, usual in zip(SPLITS, (0.8, 0.1, 0.1)))
    drawn = (int(hashlib.sha256(f"split {key}".encode()).hexdigest()[:16], 16) >> 11) / 2**53
    if drawn < train:
        return "train"
    return "val" if drawn < train + val or test <= 0.0 else "test"
