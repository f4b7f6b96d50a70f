#!/usr/bin/env bash
# Kills training at random instants with SIGKILL and resumes it: every run must end with the same model,
# byte for byte, as one that was left alone.
#
#   scripts/kill-test.sh [RUNS]      200 unless given
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-200}
cargo build --release --locked -p afterstate
binary=${CARGO_TARGET_DIR:-$PWD/target}/release/afterstate
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

cat > small.toml <<'RECIPE'
network.tuples = ["0123", "0145"]
learning.lambda = 0.5
parallel.threads = 1
budget.actions = 1_000_000
evaluation = { every = 250_000, games = 10 }
checkpoint.every_seconds = 0.01
log.every_episodes = 100
RECIPE

# The shortest of three whole runs: most of the instants then lie inside a run.
milliseconds=60000
for _ in 1 2 3; do
    rm -rf whole
    start=$(date +%s%N)
    "$binary" train small.toml --out whole > whole.txt 2>&1
    taken=$((($(date +%s%N) - start) / 1000000))
    milliseconds=$((taken < milliseconds ? taken : milliseconds))
done
echo "a whole run takes $milliseconds ms"

killed=0
for run in $(seq "$runs"); do
    rm -rf run
    "$binary" train small.toml --out run > killed.txt 2>&1 &
    process=$!
    delay=$((RANDOM * RANDOM % (milliseconds + 1)))
    sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
    if kill -KILL "$process" 2> /dev/null; then killed=$((killed + 1)); fi
    wait "$process" 2> /dev/null || true
    if ! "$binary" train small.toml --out run --resume > resumed.txt 2>&1; then
        echo "error: run $run, killed after $delay ms, does not resume:" >&2
        cat resumed.txt >&2
        exit 1
    fi
    if ! cmp whole/model.safetensors run/model.safetensors; then
        echo "error: run $run, killed after $delay ms, gives another model" >&2
        exit 1
    fi
done
echo "$killed of $runs runs were killed at random instants; all resumed, and all models are the same"
