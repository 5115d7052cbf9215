"""A sweep under Dask: shards on the workers of a cluster, then one table, as a pandas frame.

    pip install "dask[distributed]" pandas
    python examples/sweep_dask.py examples/sweep.toml sweep/ --shards 4

Without --scheduler a cluster of this machine is made. The folder must be one that all workers see. What was ended goes on
where it was when this is started again.
"""

import argparse
import os
import subprocess
from pathlib import Path

import pandas
from dask.distributed import Client, as_completed


def run_shard(program: str, jobs: str, out: str, shard: int, shards: int, threads: int) -> tuple[int, int, str]:
    """Breaks every `shards`th job; gives the shard, the exit code and the last line of stderr."""
    command = [program, "sweep", jobs, "--out", f"{out}/shard-{shard}", "--shard", f"{shard}/{shards}", "--compute", "cpu"]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return shard, done.returncode, (done.stderr.strip().splitlines() or [""])[-1]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("jobs", help="job file")
    arguments.add_argument("out", help="folder for the shards and the whole")
    arguments.add_argument("--shards", type=int, default=8)
    arguments.add_argument("--threads", type=int, default=1, help="threads of each shard")
    arguments.add_argument("--scheduler", help="address of a Dask scheduler")
    arguments.add_argument("--program", default="kintsugi")
    given = arguments.parse_args()

    with Client(given.scheduler) if given.scheduler else Client(threads_per_worker=1) as client:
        shards = range(1, given.shards + 1)
        rest = (given.jobs, given.out)
        futures = [client.submit(run_shard, given.program, *rest, k, given.shards, given.threads, pure=False) for k in shards]
        for future in as_completed(futures):
            shard, code, line = future.result()
            print(f"shard {shard} of {given.shards}: {'done' if code == 0 else line}", flush=True)
            if code not in (0, 1):  # 1: it went to its end, and some jobs failed
                raise SystemExit(f"shard {shard} ended with code {code}")

    folders = ",".join(f"{given.out}/shard-{k}" for k in shards)
    whole = Path(given.out) / "whole"
    subprocess.run([given.program, "sweep", given.jobs, "--out", str(whole), "--merge", folders], check=False)
    table = pandas.read_csv(whole / "table.csv")
    print(table.groupby("mesh")["counts.pieces"].describe())


if __name__ == "__main__":
    main()
