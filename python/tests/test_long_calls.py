"""Long calls: they tell how far they are, leave other threads the interpreter, and end at Ctrl+C."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from typing import Callable

import pytest

import kintsugi as kg
from kintsugi import progress


def check_told(told: list[tuple[str, float]]) -> None:
    assert told
    last: dict[str, float] = {}
    for stage, fraction in told:
        assert isinstance(stage, str) and isinstance(fraction, float)
        assert 0.0 <= fraction <= 1.0, told
        # A stage may begin again once it was done.
        assert fraction >= last.get(stage, 0.0) or last[stage] == 1.0, told
        last[stage] = fraction
    assert all(fraction == 1.0 for fraction in last.values()), last


def test_progress_goes_from_0_to_1_on_the_calling_thread(tmp_path) -> None:
    told: list[tuple[str, float]] = []
    threads = set()

    def show(stage: str, fraction: float) -> None:
        told.append((stage, fraction))
        threads.add(threading.get_ident())

    calls: list[Callable[[], object]] = []
    made = kg.voxelise("builtin:statue", level=8, progress=show)
    check_told(told)
    for call in (
        lambda: made.fracture(seeds=20, surface="rough", progress=show),
        lambda: made.fracture(seeds=5).export(tmp_path / "out", ["ply"], progress=show),
    ):
        calls.append(call)
        told.clear()
        call()
        check_told(told)
    assert threads == {threading.get_ident()}


def test_an_error_of_the_callable_ends_the_call() -> None:
    class Enough(Exception):
        pass

    def refuse(stage: str, fraction: float) -> None:
        raise Enough(stage)

    with pytest.raises(Enough):
        kg.voxelise("builtin:statue", level=8, progress=refuse)
    with pytest.raises(TypeError, match="callable"):
        kg.voxelise("builtin:box", level=3, progress=7)


def test_bars_count_and_close() -> None:
    for hide in (False, True):
        out = io.StringIO()
        show = progress.bar("vase: ", file=out)
        if hide:
            show._make = None
        with show:
            show("voxelise", 0.0)
            show("voxelise", 0.5)
            show("voxelise", 1.0)
            show("fracture", 0.25)
        assert "vase: voxelise" in out.getvalue()
        assert show._tqdm is None


def test_another_thread_counts_during_a_break() -> None:
    made = kg.voxelise("builtin:statue", level=8)
    counted, is_over = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not is_over.is_set():
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    time.sleep(0.05)
    try:
        before, began = counted, time.perf_counter()
        made.fracture(seeds=300, surface="rough")
        taken, during = time.perf_counter() - began, counted - before
    finally:
        is_over.set()
        thread.join()
    # One core counts millions a second; a call that kept the interpreter lock would leave a few.
    assert during > 20_000 * taken, f"{during} in {taken:.3f} s"


INTERRUPTED = """
import os, signal, sys, threading, time
import kintsugi as kg
mesh = kg.Mesh.read("builtin:statue")
sent = []
def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
timer = threading.Timer(0.3, interrupt)
timer.start()
said = None
try:
    kg.voxelise(mesh, level=int(sys.argv[1]))
    said = "finished"
    timer.join()
    time.sleep(1.0)
except KeyboardInterrupt:
    said = said or time.perf_counter() - sent[0]
print(said)
# The library can still be used.
assert kg.voxelise("builtin:box", level=3).voxels > 0
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Windows go to the whole console")
def test_ctrl_c_ends_a_call_soon() -> None:
    # Level 9 takes a fraction of a second on a fast machine: the first level that is not over in 0.3 s is the one.
    for level in ("9", "10", "11", "12"):
        done = subprocess.run([sys.executable, "-c", INTERRUPTED, level], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        if done.stdout.strip() != "finished":
            # Half a second beyond is the machine's: the other core may be busy.
            assert float(done.stdout) < 1.5
            return
    pytest.fail("every level was voxelised before the signal came")
