"""The stubs: strict mypy of uses, and of the package, and stubs against the compiled part."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import kintsugi as kg

USES = Path(__file__).with_name("uses.py")


def run(*words: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_uses_are_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    run("mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(USES), folder=tmp_path)
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import kintsugi as kg\nkg.voxelise('builtin:box', level='six')\nkg.parameters().seeds\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(wrong)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "wrong.py:2" in done.stdout and "wrong.py:3" in done.stdout, done.stdout


def test_the_package_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    run("mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "-p", "kintsugi", folder=tmp_path)


def test_stubs_are_those_of_the_compiled_part(tmp_path: Path) -> None:
    pytest.importorskip("mypy.stubtest")
    run("mypy.stubtest", "kintsugi._native", folder=tmp_path)


def test_uses_run() -> None:
    scope: dict[str, object] = {}
    exec(compile(USES.read_text(), str(USES), "exec"), scope)
    assert isinstance(scope["pieces"], kg.Pieces)


def test_everything_has_a_docstring() -> None:
    # What is only the name of a type has none.
    for name in set(kg.__all__) - {"MeshLike", "Progress", "__version__"}:
        assert (getattr(kg, name).__doc__ or "").strip(), name
    for kind in (kg.Object, kg.Pieces, kg.Piece, kg.PieceMesh, kg.Points, kg.World, kg.State, kg.Scene, kg.Simulation):
        bare = [name for name in vars(kind) if not name.startswith("_") and not (getattr(kind, name).__doc__ or "").strip()]
        assert not bare, f"{kind.__name__}: {bare}"
