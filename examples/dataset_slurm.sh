#!/bin/bash
# A data set as a Slurm array: each task makes every 16th break into a folder of its own. A task that was ended (time limit,
# preemption) goes on where it was when it is queued again.
#
#   sbatch examples/dataset_slurm.sh examples/dataset.toml set/
#
# and when all are done, on the login node (nothing is broken; tables, lists and recipe are put together, files are linked):
#
#   kintsugi dataset examples/dataset.toml --out set/whole --merge "$(ls -d set/shard-* | paste -sd,)"
#   for s in set/shard-*; do cp -rl "$s/arrays" "$s/everyday" set/whole/; done
#
# everyday is the name of the category. --compute cpu: nodes need no graphics card.
#SBATCH --job-name=kintsugi-dataset
#SBATCH --array=1-16
#SBATCH --cpus-per-task=4
#SBATCH --time=04:00:00
#SBATCH --requeue
set -euo pipefail
jobs=$1
out=$2
shards=${SLURM_ARRAY_TASK_COUNT:-16}
# Threads of one task; without this each would take all cores of its node.
export RAYON_NUM_THREADS=${SLURM_CPUS_PER_TASK:-4}
exec kintsugi dataset "$jobs" --out "$out/shard-$SLURM_ARRAY_TASK_ID" --shard "$SLURM_ARRAY_TASK_ID/$shards" --compute cpu
