"""The program from Python: `python -m kintsugi fracture builtin:vase`, and the command `kintsugi` that pip installs."""

from __future__ import annotations

import sys
from typing import NoReturn

from ._program import run_here


def main() -> NoReturn:
    """Runs the program with the words of the command line, and ends this process with the program's exit code."""
    raise SystemExit(run_here(sys.argv))


if __name__ == "__main__":
    main()
