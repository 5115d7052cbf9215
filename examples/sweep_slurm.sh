#!/bin/bash
# A sweep as a Slurm array: each task does every 16th job into a folder of its own. A task that was ended (time limit,
# preemption) goes on where it was when it is queued again.
#
#   sbatch examples/sweep_slurm.sh examples/sweep.toml sweep/
#
# and when all are done, on the login node (nothing is broken, the tables are put together):
#
#   kintsugi sweep examples/sweep.toml --out sweep/whole --merge "$(ls -d sweep/shard-* | paste -sd,)"
#SBATCH --job-name=kintsugi-sweep
#SBATCH --array=1-16
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
#SBATCH --requeue
set -euo pipefail
jobs=$1
out=$2
shards=${SLURM_ARRAY_TASK_COUNT:-16}
# Threads of one task; without this each would take all cores of its node.
export RAYON_NUM_THREADS=${SLURM_CPUS_PER_TASK:-4}
exec kintsugi sweep "$jobs" --out "$out/shard-$SLURM_ARRAY_TASK_ID" --shard "$SLURM_ARRAY_TASK_ID/$shards" --compute cpu
