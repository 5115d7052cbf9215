"""A progress bar for long calls.

In: nothing. Out: a callable `(stage, fraction)` that every call with `progress=` takes.

    vase = kintsugi.voxelise("vase.obj", level=9, progress=kintsugi.progress.bar())
"""

from __future__ import annotations

import importlib
import sys
import time
from types import TracebackType
from typing import Any, TextIO


class Bar:
    """Shows how far the stages of a call are: by tqdm where it is installed, else as lines of text.

    A stage ends with the fraction 1; the next stage begins a bar of its own. `with bar() as show:` closes what an error
    left open.
    """

    def __init__(self, prefix: str = "", file: TextIO | None = None) -> None:
        self._prefix = prefix
        self._file = file if file is not None else sys.stderr
        self._stage: str | None = None
        self._began = 0.0
        self._tqdm: Any = None
        try:
            # The plain bar: the one for notebooks needs ipywidgets.
            self._make: Any = importlib.import_module("tqdm").tqdm
        except ImportError:
            self._make = None

    def __call__(self, stage: str, fraction: float) -> None:
        """Shows that `fraction` (0 to 1) of `stage` is done."""
        if stage != self._stage:
            self.close()
            self._stage, self._began = stage, time.monotonic()
            if self._make is not None:
                self._tqdm = self._make(
                    total=1.0,
                    desc=f"{self._prefix}{stage}",
                    file=self._file,
                    leave=False,
                    bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}",
                )
        if self._tqdm is not None:
            self._tqdm.update(min(max(fraction, 0.0), 1.0) - self._tqdm.n)
        if fraction >= 1.0:
            if self._tqdm is None:
                taken = time.monotonic() - self._began
                print(f"{self._prefix}{stage}: {taken:.1f} s", file=self._file, flush=True)
            self.close()

    def close(self) -> None:
        """Takes an open bar away."""
        if self._tqdm is not None:
            self._tqdm.close()
        self._tqdm = None
        self._stage = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def bar(prefix: str = "", file: TextIO | None = None) -> Bar:
    """A callable for `progress=`: a bar of tqdm where it is installed, else a line of text for each stage.

    `prefix` stands before the names of stages; `file` is stderr where it is not given.
    """
    return Bar(prefix, file)
