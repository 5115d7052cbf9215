#!/bin/sh
# Runs every fuzzing target in turn, SECONDS each, until the time of day UNTIL (HH:MM): run.sh SECONDS UNTIL FOLDER.
# In: the built targets. Out: in FOLDER the grown corpora, what was found (crash-..., oom-..., timeout-...), and `log.tsv`,
# a line a run: target, seconds, executions, edges, features, what was found.
set -u
seconds=$1 until=$2 home=$3
here=$(cd "$(dirname "$0")" && pwd)
bin=$here/target/x86_64-unknown-linux-gnu/release
export ASAN_OPTIONS=quarantine_size_mb=16:detect_leaks=0:allocator_may_return_null=1
mkdir -p "$home/found"
dictionary() {
    case $1 in
        gltf | glb) echo gltf ;;
        obj_folder | gltf_folder) echo "$1" ;;
        scene | session | preset | jobs | settings | imports) echo toml ;;
        seeds | npy) echo numbers ;;
        usdc | usdz) echo usdc ;;
        *) echo "$1" ;;
    esac
}
while :; do
    for target in obj_folder results repeat scene jobs preset gltf glb gltf_folder vox fbx usda usdc usdz session ply camera obj off stl imports settings seeds npy; do
        [ "$(date +%H%M)" -lt "$(echo "$until" | tr -d :)" ] || exit 0
        [ -x "$bin/$target" ] || continue
        mkdir -p "$home/$target"
        # A bundle has words of its first file's format, too.
        words=$home/$target.dict
        name=$(dictionary "$target")
        case $name in
            *_folder) cat "$here/dictionaries/folder.dict" "$here/dictionaries/${name%_folder}.dict" >"$words" ;;
            *) cat "$here/dictionaries/$name.dict" >"$words" ;;
        esac
        case $target in camera | settings) most=4096 ;; *) most=196608 ;; esac
        output=$home/$target.out
        "$bin/$target" "$home/$target" "$here/corpus/$target" -dict="$words" -max_total_time="$seconds" -max_len="$most" \
            -rss_limit_mb=1024 -timeout=2 -print_final_stats=1 -artifact_prefix="$home/found/$target-" >"$output" 2>&1
        code=$?
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$output")
        edges=$(sed -n 's/.*cov: \([0-9]*\) ft: \([0-9]*\).*/\1\t\2/p' "$output" | tail -1)
        took=$(sed -n 's/^Done .* in \([0-9]*\) second.*/\1/p' "$output")
        printf '%s\t%s\t%s\t%s\t%s\n' "$target" "${took:--}" "${runs:--}" "${edges:--	-}" "$code" >>"$home/log.tsv"
        [ "$code" = 0 ] || cp "$output" "$home/found/$target.$(date +%H%M%S).out"
    done
done
