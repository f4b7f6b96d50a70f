#!/usr/bin/env bash
# The tests of the feature `mpi`, with 2, 3 and 4 ranks on this machine. Installs Debian's OpenMPI and libclang where they are missing.
set -euo pipefail
cd "$(dirname "$0")/.."

install_mpi() {
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
    "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-install-recommends libopenmpi-dev openmpi-bin libclang-dev clang
}

command -v mpirun > /dev/null && command -v clang > /dev/null || install_mpi
profile=${PROFILE:-dev}
# A rank is killed within so many seconds of its start.
within=${KILL_WITHIN:-2}
# The same packages and targets, so that what they have in common is compiled once.
targets=(--workspace --features mpi --bin afterstate --example replicas --locked)
cargo clippy "${targets[@]}" -- -D warnings
cargo build --profile "$profile" "${targets[@]}"
built=$(realpath "${CARGO_TARGET_DIR:-target}")/$([ "$profile" = dev ] && echo debug || echo "$profile")
afterstate=$built/afterstate replicas=$built/examples/replicas
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

ranks() {
    local number=$1
    shift
    # OpenMPI would not start more ranks than there are cores, nor any for root.
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n "$number" "$@"
}
same() { cmp "$1" "$2" || { echo "error: $3" >&2; exit 1; }; }
untimed() { python3 -c 'import json, sys; o = json.load(sys.stdin); [o.pop(k, 0) for k in ("seconds", "moves_per_second", "move_ms")]; print(o)'; }

echo "=== a small model"
small=(--set network.tuples=2x4 --set learning.step_size=tc --set evaluation.every=0 --threads 1)
"$afterstate" train quick "${small[@]}" --set budget.actions=300000 --out model > /dev/null 2>&1
"$afterstate" train quick "${small[@]}" --set budget.actions=100000 --seed 2 --out other > /dev/null 2>&1

echo "=== eval, record and reproduce come to what one process comes to"
"$afterstate" eval model --games 300 --search 2ply --goal 512 --collect whole.jsonl --json --threads 1 | untimed > whole.txt
"$afterstate" record --model model --search 1ply --games 70 --out whole > /dev/null
table=(ramesh-2018/table-2 --share 0.2 --seeds 2 --games 10 --threads 1 --json)
"$afterstate" reproduce "${table[@]}" --out whole-table 2> /dev/null | grep -v '"seconds"' > whole-table.txt
for number in 2 3 4; do
    ranks "$number" "$afterstate" eval model --games 300 --search 2ply --goal 512 --collect "$number.jsonl" --json --threads 1 | untimed > "$number.txt"
    same whole.txt "$number.txt" "eval with $number ranks differs"
    same whole.jsonl "$number.jsonl" "positions collected with $number ranks differ"
    ranks "$number" "$afterstate" record --model model --search 1ply --games 70 --out "records-$number" --threads 1 > /dev/null
    diff -r whole "records-$number"
    ranks "$number" "$afterstate" reproduce "${table[@]}" --out "table-$number" 2> /dev/null | grep -v '"seconds"' > "table-$number.txt"
    same whole-table.txt "table-$number.txt" "reproduce with $number ranks differs"
    echo "$number ranks: the same"
done

echo "=== several players meet in the same games, and what --out keeps is what one process keeps"
"$afterstate" eval model --search random,1ply,2ply --games 60 --threads 1 --out several > several.txt
"$afterstate" eval --compare model other --games 40 --threads 1 > compared.txt
# The seconds, and the checksums of lines, are another matter.
games() { python3 -c 'import json, sys; print(*sorted(json.dumps({k: v for k, v in json.loads(line).items() if k in ("game", "score", "moves", "board", "firsts")}) for line in list(sys.stdin)[1:]), sep="\n")' < "$1"; }
for number in 2 3; do
    ranks "$number" "$afterstate" eval model --search random,1ply,2ply --games 60 --threads 1 --out "several-$number" > "several-$number.txt"
    same several.txt "several-$number.txt" "several searches with $number ranks differ"
    for player in A B C; do
        games "several/$player.jsonl" > one.txt
        games "several-$number/$player.jsonl" > all.txt
        same one.txt all.txt "the games of $player that $number ranks keep differ"
    done
    ranks "$number" "$afterstate" eval --compare model other --games 40 --threads 1 > "compared-$number.txt"
    same compared.txt "compared-$number.txt" "two models with $number ranks differ"
    echo "$number ranks: the same"
done

echo "=== what ranks cannot share is refused by all of them, and said once"
refused() {
    local message=$1 code=0
    shift
    ranks 3 "$afterstate" "$@" > refused.out 2> refused.txt || code=$?
    [ "$code" -eq 2 ] || { cat refused.txt; echo "error: exit code $code: $*" >&2; exit 1; }
    [ "$(grep -c "error: " refused.txt)" -eq 1 ] && grep -q "$message" refused.txt && [ ! -s refused.out ] \
        || { cat refused.txt; echo "error: not refused as it should be: $*" >&2; exit 1; }
}
refused "milestones" eval model --milestones
refused "positions of .--from" eval model --from 128 --positions whole.jsonl --goal 512
refused "train several" train quick --seeds 2
refused "train several" train ramesh-2018/table-2 --all
refused "share all trainings" reproduce ramesh-2018/table-2 --share 0.2 --part 1/2
refused "only train, eval, record and reproduce" advise 0123012301230123
refused "no-such-model" eval no-such-model
refused "no-such-option" eval model --no-such-option
refused "a budget in actions or seconds" train reference/4x6-tc --set network.tuples=2x4 --set budget.episodes=10 --out refused
"$afterstate" train --list ramesh-2018 > list.txt
ranks 3 "$afterstate" train --list ramesh-2018 > list-3.txt
same list.txt list-3.txt "a list by 3 ranks differs"
code=0
OMPI_COMM_WORLD_SIZE=3 "$afterstate" eval model --games 1 > refused.out 2> refused.txt || code=$?
[ "$code" -eq 2 ] && grep -q "started 3 of these processes, but their MPI library finds 1" refused.txt && [ ! -s refused.out ] \
    || { cat refused.txt; echo "error: processes that do not find one another: exit code $code" >&2; exit 1; }
echo "refused"

echo "=== merged training is what a serial account of it says, bit for bit"
cat > compare.py << 'PYTHON'
import json, struct, sys

def tensors(path):
    data = open(path, "rb").read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:begin])
    header.pop("__metadata__")
    return {name: data[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]] for name, entry in header.items()}

merged, serial = map(tensors, sys.argv[1:])
assert any(any(tensor) for tensor in merged.values()), "the network has not learned anything"
assert merged == serial, "the bits of the ranks are not those of the serial account"
PYTHON
# The share of the time that games stood still for merges, and what has been sent, are in the logs of all ranks.
cat > shares.py << 'PYTHON'
import json, sys

lines = [line for line in map(json.loads, open(sys.argv[1])) if "actions" in line]
assert lines and all(0 < line["merge_share"] <= 1 for line in lines), f"{sys.argv[1]}: {lines}"
assert any(line["merge_bytes_per_second"] > 0 for line in lines), f"{sys.argv[1]}: {lines}"
PYTHON
recipe=("${small[@]}" --set budget.actions=786432)
for step_size in tc fixed; do
    for number in 2 3 4; do
        merged=merged-$step_size-$number
        ranks "$number" "$afterstate" train quick "${recipe[@]}" --set learning.step_size=$step_size --merge 65536 --out "$merged" --json 2> /dev/null | grep -q '"finished":true'
        "$replicas" quick "$number" 65536 mean "$merged.safetensors" network.tuples=2x4 learning.step_size=$step_size budget.actions=786432 evaluation.every=0 > /dev/null
        python3 compare.py "$merged/model.safetensors" "$merged.safetensors"
        for log in "$merged/log.jsonl" "$merged"/replica-*/log.jsonl; do python3 shares.py "$log"; done
        [ "$(ls -d "$merged"/replica-* | wc -l)" -eq $((number - 1)) ]
        echo "$step_size, $number ranks: the same"
    done
done

echo "=== a chain: ranks train its steps together, and wait while the first collects positions"
common="parallel.threads = 1
evaluation.every = 0
learning.step_size = 'tc'
budget.actions = 300_000"
for place in chained apart; do
    mkdir "$place"
    printf "network.tuples = '2x4'\n%s\n" "$common" > "$place/first.toml"
    printf "network = { tuples = '2x4', stages = '256', from = 'runs/first' }
start = { kind = 'carousel', first_stage = 1, positions = 'runs/positions.jsonl' }
collect = { model = 'runs/first', search = '1ply', games = 120, seed = 5, goal = 512 }\n%s\n" "$common" > "$place/second.toml"
done
(cd chained && ranks 3 "$afterstate" train second.toml --merge 32768 --json 2> /dev/null | grep -q '"finished":true')
(cd apart && ranks 3 "$afterstate" train first.toml --merge 32768 --json 2> /dev/null | grep -q '"finished":true')
python3 compare.py {chained,apart}/runs/first/model.safetensors
(cd apart && ranks 3 "$afterstate" train second.toml --merge 32768 --json 2> /dev/null | grep -q '"finished":true')
same chained/runs/positions.jsonl apart/runs/positions.jsonl "the positions of a chain differ"
python3 compare.py {chained,apart}/runs/second/model.safetensors
echo "3 ranks: step by step and at once the same"

echo "=== a run goes on with another number of ranks"
ranks 3 "$afterstate" train quick "${recipe[@]}" --merge 65536 --out resumed --set budget.actions=393216 > /dev/null 2>&1
ranks 2 "$afterstate" train resumed --resume --set budget.actions=786432 --merge 1s > /dev/null 2>&1
"$afterstate" train resumed --resume --set budget.actions=900000 --json 2> /dev/null | grep -q '"finished":true'

# Starts ranks and kills one of them at a random moment; mpirun must say so. Ranks that were faster than that have ended well.
kill_one() {
    ranks "$@" > /dev/null 2> stderr.txt &
    local job=$! victims=()
    while kill -0 "$job" 2> /dev/null && [ ${#victims[@]} -eq 0 ]; do
        victims=($(pgrep -P "$(pgrep -P "$job" mpirun || echo 0)" afterstate || true))
    done
    sleep "$(python3 -c "import random; print(random.uniform(0, $within))")"
    if [ ${#victims[@]} -gt 0 ] && kill -9 "${victims[$((RANDOM % ${#victims[@]}))]}" 2> /dev/null; then
        wait "$job" && { echo "error: a rank was killed, and the job ended well" >&2; exit 1; }
        grep -q "process rank . with PID .* exited on signal 9" stderr.txt || { cat stderr.txt; echo "error: no message" >&2; exit 1; }
        kills=$((kills + 1))
    else
        wait "$job"
        # It was faster than that: when nothing is left to do, ranks have little time to live.
        within=$(python3 -c "print($within / 2)")
    fi
}

echo "=== a rank that is killed ends the job, and what is finished is kept"
kills=0
touch before.txt
while [ "$kills" -lt 5 ]; do
    kill_one 3 "$afterstate" eval model --games 30000 --search 2ply --out killed.jsonl --threads 1
    # Every line that was there is still there, but for one that was cut short.
    head -n -1 before.txt | sort > kept.txt
    sort killed.jsonl > after.txt
    [ -z "$(comm -23 kept.txt after.txt)" ] || { echo "error: games were lost" >&2; exit 1; }
    cp killed.jsonl before.txt
done
echo "5 kills of an evaluation: $(wc -l < killed.jsonl) lines kept"
"$afterstate" eval model --games 30000 --search 2ply --out killed.jsonl --json | untimed > killed.txt
"$afterstate" eval model --games 30000 --search 2ply --json | untimed > unkilled.txt
same unkilled.txt killed.txt "games that were kept differ"

# What was there before a kill, and is finished, is there after it as it was: the files of a directory by this name.
checksums() { find "$1" -name "$2" -type f -exec sha256sum {} + 2> /dev/null | sort || true; }
nothing_lost() {
    checksums "$1" "$2" > after.txt
    [ -z "$(comm -23 before.txt after.txt)" ] || { comm -23 before.txt after.txt; echo "error: files of $1 were lost or changed" >&2; exit 1; }
    cp after.txt before.txt
}

echo "=== the same for play records"
kills=0
: > before.txt
recording=(record --model model --search 2ply --games 2000 --threads 1)
while [ "$kills" -lt 5 ]; do
    kill_one 3 "$afterstate" "${recording[@]}" --out killed-records
    nothing_lost killed-records '*.parquet'
done
echo "5 kills of a recording: $(wc -l < before.txt) of 100 files kept"
"$afterstate" "${recording[@]}" --out killed-records > /dev/null
"$afterstate" "${recording[@]}" --out unkilled-records > /dev/null
diff -r unkilled-records killed-records

echo "=== the same for a table"
kills=0
: > before.txt
table=(ramesh-2018/table-2 --share 1 --seeds 40 --games 100 --threads 1 --json)
while [ "$kills" -lt 5 ]; do
    kill_one 3 "$afterstate" reproduce "${table[@]}" --out killed-table
    nothing_lost killed-table trained.json
done
echo "5 kills of a table: $(wc -l < before.txt) trainings kept"
"$afterstate" reproduce "${table[@]}" --out killed-table 2> /dev/null | grep -v '"seconds"' > killed-table.txt
"$afterstate" reproduce "${table[@]}" --out unkilled-table 2> /dev/null | grep -v '"seconds"' > unkilled-table.txt
same unkilled-table.txt killed-table.txt "a table that was interrupted differs"

echo "=== the same for a training: it goes on from its last checkpoint, with any number of ranks"
cat > actions.py << 'PYTHON'
import json, struct, sys

try:
    file = open(sys.argv[1], "rb")
    print(json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))["__metadata__"]["actions"])
except FileNotFoundError:
    print(0)
PYTHON
kills=0 done=0
while [ "$kills" -lt 5 ]; do
    kill_one $((RANDOM % 3 + 2)) "$afterstate" train quick "${small[@]}" --set budget.actions=2e9 --set checkpoint.every_seconds=0.2 --merge 0.1s --out killed --resume
    saved=$(python3 actions.py killed/checkpoint/state.safetensors)
    [ "$saved" -ge "$done" ] || { echo "error: a checkpoint was lost: $done actions, then $saved" >&2; exit 1; }
    done=$saved
done
[ "$done" -gt 0 ] || { echo "error: no checkpoint was written" >&2; exit 1; }
echo "5 kills of a training: $done actions"
"$afterstate" train quick "${small[@]}" --set budget.actions=$((done + 100000)) --out killed --resume --json 2> /dev/null | grep -q '"finished":true'

echo "all good"
