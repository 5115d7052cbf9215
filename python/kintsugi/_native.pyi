"""Types of the compiled part. Shapes: N, M, K, P ... are lengths; dtypes are those that arrays have."""

import os
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Progress = Optional[Callable[[str, float], Any]]
_Path = Union[str, "os.PathLike[str]"]
_Three = Union[Sequence[float], NDArray[Any]]

__all__ = [
    "DeviceError",
    "Engine",
    "Error",
    "ExportError",
    "FractureError",
    "Labelling",
    "Mesh",
    "MeshError",
    "Object",
    "ParameterError",
    "Piece",
    "PieceMesh",
    "Pieces",
    "Playing",
    "Points",
    "RecipeMaker",
    "Scene",
    "SceneError",
    "Simulation",
    "State",
    "Touching",
    "World",
    "__version__",
    "main",
    "parameters",
    "voxelise",
]

__version__: str

class Error(Exception):
    """A call failed; the message is one line that says what to do."""

class MeshError(Error):
    """A mesh cannot be read or voxelised."""

class ParameterError(Error):
    """A parameter is unknown, out of range, or has another shape."""

class FractureError(Error):
    """The method cannot break the object."""

class ExportError(Error):
    """A file cannot be written, or a format not be had."""

class SceneError(Error):
    """A scene cannot be read or played."""

class DeviceError(Error):
    """The graphics adapter failed, or there is none."""

@final
class Engine:
    """Where stages run: "cpu", "gpu" or "auto". Results are the same bytes."""

    def __new__(cls, choice: str = "cpu") -> Engine: ...
    @property
    def name(self) -> str: ...
    @property
    def adapter(self) -> str: ...

@final
class Mesh:
    """Triangles: vertices (N, 3) and rows of them (T, 3), counter-clockwise seen from outside. Arrays are read-only."""

    def __new__(
        cls, vertices: ArrayLike, triangles: ArrayLike, *, name: str = "mesh", colors: Optional[ArrayLike] = None
    ) -> Mesh: ...
    @staticmethod
    def read(path: _Path, *, progress: _Progress = None) -> Mesh:
        """Reads OBJ, PLY, STL, OFF, glTF, GLB, FBX, USD, USDZ, VOX, or makes "builtin:NAME"."""
    def objects(self, which: str = "touching", *, progress: _Progress = None) -> List[Tuple[str, Mesh]]:
        """The objects of the file with their names: which parts are one is "touching", "apart" or "together"."""
    @property
    def vertices(self) -> NDArray[np.float32]: ...
    @property
    def triangles(self) -> NDArray[np.uint32]: ...
    @property
    def colors(self) -> Optional[NDArray[np.uint8]]: ...
    @property
    def name(self) -> str: ...
    @property
    def warnings(self) -> List[str]: ...
    @property
    def sha256(self) -> str: ...

def voxelise(
    mesh: Mesh,
    level: Optional[int] = None,
    up: str = "y",
    progress: _Progress = None,
    *,
    units: Optional[str] = None,
    voxel_size: Union[float, str, None] = None,
) -> Object:
    """An octree with 2^level voxels along the longest side, or with voxels of at most `voxel_size`."""

@final
class Object:
    """A mesh with its octree, ready to be broken."""

    @property
    def level(self) -> int: ...
    @property
    def voxels(self) -> int: ...
    @property
    def volume(self) -> float: ...
    @property
    def bounds(self) -> NDArray[np.float64]: ...
    @property
    def edge(self) -> float: ...
    @property
    def health(self) -> Dict[str, Any]: ...
    @property
    def warnings(self) -> List[str]: ...
    @property
    def mesh(self) -> Mesh: ...
    @property
    def grid_to_mesh(self) -> NDArray[np.float64]: ...
    @property
    def coords(self) -> NDArray[np.int32]: ...
    @property
    def coverage(self) -> NDArray[np.float32]: ...
    @property
    def default_impact(self) -> Tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def fracture(
        self,
        *,
        seeds: Union[int, ArrayLike] = 40,
        impact: Optional[_Three] = None,
        direction: Optional[_Three] = None,
        generations: int = 1,
        progress: _Progress = None,
        engine: Optional[Engine] = None,
        **parameters: Any,
    ) -> Pieces:
        """Breaks it. `seeds` is a number, or (S, 3) points in mesh units; the rest is named as in a scene's [fracture]."""
    def picture(
        self,
        width: int = 640,
        height: int = 480,
        *,
        view: str = "three-quarter",
        color_by: str = "material",
        transparent: bool = False,
        engine: Optional[Engine] = None,
    ) -> NDArray[np.uint8]:
        """(height, width, 4) RGBA."""

def parameters() -> List[Dict[str, Any]]:
    """The parameters of `Object.fracture`: name, unit, low, high, default, help."""

@final
class Pieces:
    """What an object was broken into, by descending size."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Piece]: ...
    @overload
    def __getitem__(self, index: int, /) -> Piece: ...
    @overload
    def __getitem__(self, index: slice, /) -> List[Piece]: ...
    @property
    def object(self) -> Object: ...
    @property
    def parameters(self) -> Dict[str, Any]: ...
    @property
    def timings(self) -> Dict[str, float]: ...
    @property
    def stayed_whole(self) -> bool: ...
    def arrays(
        self, names: Optional[Sequence[str]] = None, *, progress: _Progress = None
    ) -> Dict[str, NDArray[Any]]:
        """The arrays of voxels.npz by name: all, or those named."""
    def overlays(self, names: Sequence[str]) -> Dict[str, NDArray[Any]]:
        """The arrays of overlays.npz by name."""
    def labelling(self) -> Labelling:
        """The published labelling step by step."""
    def touching(self, *, progress: _Progress = None) -> Touching:
        """Which pieces touch."""
    def check(self) -> List[Dict[str, Any]]:
        """The checks of the report: name, ok, figures."""
    def report(self) -> Dict[str, Any]:
        """report.json, without files."""
    def export(
        self,
        folder: _Path,
        formats: Sequence[str] = (),
        *,
        mesh: Optional[str] = None,
        progress: _Progress = None,
    ) -> Dict[str, Any]:
        """Writes voxels.npz, report.json and the formats into a folder; returns the report."""
    def picture(
        self,
        width: int = 640,
        height: int = 480,
        *,
        view: str = "three-quarter",
        color_by: str = "material",
        apart: float = 0.0,
        transparent: bool = False,
        engine: Optional[Engine] = None,
    ) -> NDArray[np.uint8]:
        """(height, width, 4) RGBA; `apart` moves the pieces from the middle."""
    def digest(self) -> str:
        """SHA-256 over the names, shapes and bytes of `arrays`."""

@final
class Piece:
    """One of `Pieces`."""

    @property
    def id(self) -> int: ...
    @property
    def cell(self) -> Optional[int]: ...
    @property
    def parent(self) -> Optional[int]: ...
    @property
    def generation(self) -> int: ...
    @property
    def voxels(self) -> int: ...
    @property
    def volume(self) -> float: ...
    @property
    def centre(self) -> NDArray[np.float64]: ...
    @property
    def bounds(self) -> NDArray[np.float64]: ...
    @property
    def mesh(self) -> PieceMesh: ...
    def sample(self, count: int, seed: int = 0) -> Points:
        """`count` points spread evenly over the surface."""

@final
class PieceMesh:
    """The closed mesh of a piece, mesh units. Arrays are read-only."""

    @property
    def vertices(self) -> NDArray[np.float64]: ...
    @property
    def triangles(self) -> NDArray[np.uint32]: ...
    @property
    def crack(self) -> NDArray[np.bool_]: ...
    @property
    def beyond(self) -> NDArray[np.int32]: ...
    @property
    def beyond_cell(self) -> NDArray[np.int32]: ...
    @property
    def normals(self) -> NDArray[np.float32]: ...
    @property
    def uv(self) -> NDArray[np.float32]: ...
    @property
    def colors(self) -> NDArray[np.uint8]: ...

@final
class Points:
    """Points on the surface of a piece. Arrays are read-only."""

    def __len__(self) -> int: ...
    @property
    def positions(self) -> NDArray[np.float32]: ...
    @property
    def normals(self) -> NDArray[np.float32]: ...
    @property
    def crack(self) -> NDArray[np.bool_]: ...
    @property
    def beyond(self) -> NDArray[np.int32]: ...
    @property
    def triangle(self) -> NDArray[np.uint32]: ...

@final
class Touching:
    """Pairs of pieces whose crack faces lie against each other."""

    def __len__(self) -> int: ...
    @property
    def pairs(self) -> NDArray[np.int32]: ...
    @property
    def area(self) -> NDArray[np.float64]: ...
    @property
    def centre(self) -> NDArray[np.float64]: ...
    @property
    def normal(self) -> NDArray[np.float64]: ...

@final
class Labelling:
    """The published labelling: labels (M,) after each iteration."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> NDArray[np.uint32]: ...
    @property
    def start(self) -> NDArray[np.uint32]: ...
    @property
    def changes(self) -> NDArray[np.int32]: ...
    @property
    def agrees(self) -> bool: ...
    @property
    def coords(self) -> NDArray[np.int32]: ...
    @property
    def size(self) -> NDArray[np.int32]: ...
    @property
    def levels(self) -> NDArray[np.int32]: ...
    @property
    def cells(self) -> NDArray[np.int32]: ...

@final
class State:
    """Bodies at a moment: metres, seconds, y up, quaternions x, y, z, w."""

    def __len__(self) -> int: ...
    @property
    def time(self) -> float: ...
    @property
    def ids(self) -> NDArray[np.int32]: ...
    @property
    def objects(self) -> NDArray[np.int32]: ...
    @property
    def masses(self) -> NDArray[np.float64]: ...
    @property
    def positions(self) -> NDArray[np.float64]: ...
    @property
    def rotations(self) -> NDArray[np.float64]: ...
    @property
    def linear_velocities(self) -> NDArray[np.float64]: ...
    @property
    def angular_velocities(self) -> NDArray[np.float64]: ...

@final
class World:
    """Bodies that fall and touch; one unit of a mesh is a metre."""

    def __new__(
        cls,
        *,
        gravity: _Three = (0, -9.81, 0),
        dt: float = 0.01,
        substeps: int = 8,
        floor: Union[float, bool, None] = 0.0,
        walls: Optional[Dict[str, Any]] = None,
        contacts: str = "mixed",
        response: str = "soft",
        sleeping: bool = True,
        contact_substeps: bool = False,
        **settings: Any,
    ) -> World: ...
    def __len__(self) -> int: ...
    def add(
        self,
        what: Union[Object, Piece, Pieces],
        *,
        shift: Optional[_Three] = None,
        density: Optional[float] = None,
        friction: Optional[float] = None,
        restitution: Optional[float] = None,
        rolling_resistance: Optional[float] = None,
        physics_level: Optional[int] = None,
        fixed: bool = False,
        linear_velocity: Optional[_Three] = None,
        angular_velocity: Optional[_Three] = None,
    ) -> List[int]:
        """Adds bodies; their ids."""
    def step(self, count: int = 1) -> Dict[str, Any]:
        """Takes steps; the figures of the last one by the names of steps.csv."""
    def play(self, seconds: float) -> Playing:
        """The states after each step, which is taken when its state is asked for."""
    @property
    def time(self) -> float: ...
    @property
    def dt(self) -> float: ...
    @property
    def state(self) -> State: ...
    @property
    def ids(self) -> NDArray[np.int32]: ...
    @property
    def objects(self) -> NDArray[np.int32]: ...
    @property
    def masses(self) -> NDArray[np.float64]: ...
    @property
    def positions(self) -> NDArray[np.float64]: ...
    @property
    def rotations(self) -> NDArray[np.float64]: ...
    @property
    def linear_velocities(self) -> NDArray[np.float64]: ...
    @property
    def angular_velocities(self) -> NDArray[np.float64]: ...
    def contacts(self, *, by_substep: bool = False) -> Dict[str, NDArray[Any]]:
        """The contacts of the last step, by the names of contacts.npz."""
    def picture(
        self,
        width: int = 640,
        height: int = 480,
        *,
        view: str = "three-quarter",
        color_by: str = "material",
        transparent: bool = False,
        engine: Optional[Engine] = None,
    ) -> NDArray[np.uint8]:
        """(height, width, 4) RGBA."""

@final
class Playing:
    """A world that is played: an iterator of its states."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Playing: ...
    def __next__(self) -> State: ...

@final
class Simulation:
    """A scene that is played: an iterator of its states, one after each step."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Simulation: ...
    def __next__(self) -> State: ...
    @property
    def steps(self) -> int: ...
    @property
    def time(self) -> float: ...
    @property
    def state(self) -> State: ...
    @property
    def step_report(self) -> Dict[str, Any]: ...
    @property
    def pieces(self) -> Dict[str, NDArray[Any]]: ...
    @property
    def objects(self) -> List[str]: ...
    @property
    def notes(self) -> List[str]: ...
    def contacts(self, *, by_substep: bool = False) -> Dict[str, NDArray[Any]]:
        """The contacts of the last step, by the names of contacts.npz."""

@final
class Scene:
    """A scene file."""

    @staticmethod
    def open(
        path: _Path,
        *,
        level: Optional[int] = None,
        outside: bool = False,
        units: Optional[str] = None,
        up: str = "y",
        voxel_size: Union[float, str, None] = None,
    ) -> Scene: ...
    @staticmethod
    def parse(text: str, folder: _Path = ".", *, outside: bool = False) -> Scene: ...
    @property
    def toml(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def dt(self) -> float: ...
    def play(
        self,
        seconds: float,
        *,
        progress: _Progress = None,
        engine: Optional[Engine] = None,
        contact_substeps: bool = False,
    ) -> Simulation:
        """Opens it, to be played step by step."""

@final
class RecipeMaker:
    """Makes single breaks of a recipe; `kintsugi.data.Recipe` is what users see of it."""

    def __new__(cls, file: _Path, meshes: Optional[_Path] = None) -> RecipeMaker: ...
    def object_of(self, job: int) -> Tuple[str, Optional[int], str, Optional[str], Optional[float]]:
        """SHA-256 of the mesh file (the name of a built-in shape), level, axis that points up, unit, edge of a voxel."""
    def mesh(self, job: int) -> str:
        """The file of a job's mesh, or "builtin:" and the name of its shape."""
    def make(self, job: int, object: Object, folder: _Path, engine: Optional[Engine] = None) -> None:
        """Makes the break of a job; `object` is its mesh, voxelised as `object_of` says."""

def main(
    arguments: Sequence[_Path], launch: Optional[Sequence[_Path]] = None, share: Optional[_Path] = None
) -> int:
    """Runs the program; the first argument is its name. Returns the exit code."""
