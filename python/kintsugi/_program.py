"""The program, in this process and as a process of its own.

In: the words after `kintsugi`. Out: its exit code and what it printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional, Sequence, Union

from ._native import Error, main

Word = Union[str, "os.PathLike[str]"]


def command() -> list[str]:
    """The words of a command line that starts the program; the program's own arguments follow."""
    home = str(Path(__file__).resolve().parent.parent)
    # A package of this name in the folder where the program starts would hide this one.
    code = f"import sys; sys.path.insert(0, {home!r}); sys.argv[0] = 'kintsugi'; from kintsugi.__main__ import main; main()"
    return [sys.executable, "-c", code]


def run_here(arguments: Sequence[Word]) -> int:
    """Runs the program in this process, with `arguments` as sys.argv; returns its exit code."""
    package = Path(__file__).resolve().parent
    share = package if (package / "assets/scenes").is_dir() else None
    if sys.platform == "linux":
        # Graphics drivers complain on stderr where this folder is not named, as in a container.
        os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    return main(arguments, launch=command(), share=share)


def run(arguments: Sequence[Word], *, check: bool = True, folder: Optional[Word] = None) -> "subprocess.CompletedProcess[str]":
    """Runs the program in a process of its own: `kintsugi.run(["dataset", "jobs.toml", "--out", "set"])`.

    `arguments` are the words after `kintsugi`, `folder` is where it is started. What it prints is in `stdout` and `stderr`
    of what comes back. With `check`, an exit code that is not 0 raises Error with the last line of stderr.
    """
    words = [os.fspath(word) for word in arguments]
    done = subprocess.run(
        [*command(), *words], cwd=folder, capture_output=True, text=True, encoding="utf-8", errors="replace"
    )
    if check and done.returncode != 0:
        raise Error(f"kintsugi {words[0] if words else ''} ended with code {done.returncode}: {last_line(done)}")
    return done


def last_line(done: "subprocess.CompletedProcess[str]") -> str:
    """The last line that a process printed to stderr, else to stdout."""
    lines = [line for text in (done.stdout, done.stderr) for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it printed nothing"
