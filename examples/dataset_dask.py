"""A data set under Dask: shards on the workers of a cluster, then one set.

    pip install "dask[distributed]"
    python examples/dataset_dask.py examples/dataset.toml set/ --shards 4

Without --scheduler a cluster of this machine is made. The folder must be one that all workers see. What was ended goes on
where it was when this is started again.
"""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

from dask.distributed import Client, as_completed


def make_shard(program: str, jobs: str, out: str, shard: int, shards: int, threads: int) -> tuple[int, int, str]:
    """Makes every `shards`th break; gives the shard, the exit code and the last line of stderr."""
    command = [program, "dataset", jobs, "--out", f"{out}/shard-{shard}", "--shard", f"{shard}/{shards}", "--compute", "cpu"]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return shard, done.returncode, (done.stderr.strip().splitlines() or [""])[-1]


def join(shards: list[Path], whole: Path) -> None:
    """Puts the files of the shards into the whole; as links, where the file system has them."""

    def link(source: str, target: str) -> None:
        try:
            os.link(source, target)
        except FileExistsError:
            pass
        except OSError:
            shutil.copy2(source, target)

    for shard in shards:
        for folder in shard.iterdir():
            if folder.is_dir() and folder.name != "data_split":  # the lists of the whole are there already
                shutil.copytree(folder, whole / folder.name, copy_function=link, dirs_exist_ok=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("jobs", help="job file, or a recipe")
    arguments.add_argument("out", help="folder for the shards and the whole")
    arguments.add_argument("--shards", type=int, default=8)
    arguments.add_argument("--threads", type=int, default=1, help="threads of each shard")
    arguments.add_argument("--scheduler", help="address of a Dask scheduler")
    arguments.add_argument("--program", default="kintsugi")
    given = arguments.parse_args()

    with Client(given.scheduler) if given.scheduler else Client(threads_per_worker=1) as client:
        shards = range(1, given.shards + 1)
        rest = (given.jobs, given.out)
        futures = [client.submit(make_shard, given.program, *rest, k, given.shards, given.threads, pure=False) for k in shards]
        for future in as_completed(futures):
            shard, code, line = future.result()
            print(f"shard {shard} of {given.shards}: {'done' if code == 0 else line}", flush=True)
            if code not in (0, 1):  # 1: it went to its end, and some breaks failed
                raise SystemExit(f"shard {shard} ended with code {code}")

    folders, whole = [Path(given.out) / f"shard-{k}" for k in shards], Path(given.out) / "whole"
    merge = [given.program, "dataset", given.jobs, "--out", str(whole), "--merge", ",".join(map(str, folders))]
    code = subprocess.run(merge).returncode
    join(folders, whole)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
