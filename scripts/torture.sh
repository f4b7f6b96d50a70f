#!/usr/bin/env bash
# Harms every command that writes, again and again, and looks at what is left: kills at random instants and at chosen
# system calls, full disks, I/O errors, signals, two of a command at once. After each harm the same command is run again and must come to the same
# result as one that was left alone, byte for byte; a file that is replaced holds the old content or the new, and nothing else.
#
#   scripts/torture.sh [SECONDS] [CASE…]     3600 seconds and all cases unless given; prints a table of counts
#
# AFTERSTATE names the program to torture; without it the release build is made and used. Needs strace.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-3600}
shift || true
command -v strace > /dev/null || { echo "error: no strace here; hint: apt-get install strace" >&2; exit 2; }
if [ -z "${AFTERSTATE:-}" ]; then
    cargo build --release --locked -p afterstate
    AFTERSTATE=${CARGO_TARGET_DIR:-$PWD/target}/release/afterstate
fi
AFTERSTATE=$(realpath "$AFTERSTATE")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

# --- what the cases work with -----------------------------------------------------------------------------------------

common='network.tuples = ["0123", "0145"]
parallel.threads = 1
budget.actions = 300_000
evaluation = { every = 100_000, games = 5 }
checkpoint.every_seconds = 0.01
log.every_episodes = 50'

recipe() { printf '%s\n%s\n' "$common" "$2" > "$1.toml"; }

# Every kind of target, order, step size and start.
recipe td-fixed 'learning = { step_size = "fixed", alpha = 0.1 }'
recipe td-lambda-tc 'learning.lambda = 0.5'
recipe delayed-tc $'learning = { lambda = 0.5, order = "delayed", tc_reset = 70_000 }'
recipe backward-fixed 'learning = { lambda = 0.5, order = "backward", step_size = "fixed" }'
recipe n-step-otd 'learning = { target = "n-step", n = 3, step_size = "otd+tc", tc_share = 0.5 }'
recipe autostep 'learning.step_size = "autostep"'
recipe carousel $'network.stages = "256"\nstart.kind = "carousel"'
recipe restart 'start.kind = "restart"'
recipe stage $'network.stages = "256"\nnetwork.from = "first.safetensors"\nstart.kind = "stage"\nstart.collected = 100'
recipe frozen $'network.stages = "256"\nnetwork.from = "first.safetensors"\nstart = { kind = "carousel", first_stage = 1, positions = "positions.jsonl" }'
recipe actions $'network.values = "actions"\nlearning.epsilon = 0.1'
recipe promoted $'network.stages = "256"\nnetwork.promotion = true'
trainings="td-fixed td-lambda-tc delayed-tc backward-fixed n-step-otd autostep carousel restart stage frozen actions promoted"

# Two rows, with two seeds each.
recipe rows $'learning = { step_size = "fixed", alpha = 0.1 }\nbudget.actions = 100_000\n[[row]]\nname = "tc"\nlearning.step_size = "tc"\n[[row]]\nname = "slow"\nlearning.alpha = 0.05'
sed -i '/300_000/d' rows.toml

# A chain: a training, one that goes on from it, positions that its model plays, and a training that begins with them.
chain='parallel.threads = 1
evaluation.every = 0
checkpoint.every_seconds = 0.01
network.tuples = ["0123", "0145"]'
printf '%s\nbudget.actions = 150_000\n' "$chain" > begin.toml
printf '%s\nbudget.actions = 100_000\nnetwork.from = "runs/begin"\n' "$chain" > middle.toml
printf '%s\nbudget.actions = 100_000\nnetwork.stages = "256"\nnetwork.from = "runs/middle"\nstart = { kind = "carousel", first_stage = 1, positions = "runs/middle/positions.jsonl" }\ncollect = { model = "runs/middle", search = "1ply", games = 100, goal = 512 }\n' \
    "$chain" > last.toml

quiet() { "$AFTERSTATE" "$@" > quiet.txt 2>&1 || { cat quiet.txt >&2; echo "error: $*" >&2; exit 1; }; }
quiet train td-lambda-tc.toml --out first --set budget.actions=1e6
cp first/model.safetensors first.safetensors
quiet eval first.safetensors --games 60 --threads 1 --goal 512 --search 2ply --collect positions.jsonl
quiet record --model first.safetensors --search 1ply --games 60 --threads 1 --out records
quiet model export first.safetensors -o first.w
# Of its two tuples the second lies inside the first.
quiet train td-lambda-tc.toml --out nested --set 'network.tuples=["0123", "01"]'
quiet endgame solve --walls FFFF/FFF./..../.... --target 64 --place ..../...F/..../.... -o placed
printf '[[table]]\nname = "%s"\ntarget = 16\nwalls = ["%s"]\n' 7-walls FFFF/FFF./..../.... 6-walls FFFF/FF../..../.... > set.toml
printf 'position 0000/0010/0100/000b\ngo ply 3\nbatch 2 ply 2\n0012/0034/0210/000b\n1234/0000/0000/0000\nquit\n' > talk.txt
# What is there before a command writes is of the kind that it writes: of anything else it keeps off.
quiet train td-lambda-tc.toml --out other --seed 2
for case in import compact expand fold average; do cp other/model.safetensors "old-$case"; done
quiet model export other/model.safetensors -o old-export.w
quiet model compact first.safetensors -o small.safetensors --size 100kB --games 3
mv old-export.w old-export
quiet report other -o old-report
quiet solve --board 2x2 --goal 16 -o old-solve
quiet eval first.safetensors --games 20 --threads 1 --goal 512 --search 2ply --seed 9 --collect old-collect
cp old-collect old-merge
part=(eval first.safetensors --games 20 --goal 512 --search 2ply --threads 1)
for i in 1 2; do quiet "${part[@]}" --part "$i/2" --collect "positions-$i" --out "part-$i"; done
quiet record --model first.safetensors --search 1ply --games 60 --threads 1 --part 2/2 --out records-2
quiet endgame solve --walls FFFF/FFF./..../.... --target 16 -o old-endgame-solve
cp placed old-endgame-weigh
replaced="collect merge solve report export import compact expand fold average endgame-solve endgame-weigh"
replaces() { [[ " $replaced " = *" $1 "* ]]; }

# --- the cases: how to start one anew, the command, and what it leaves -------------------------------------------------

# A case works in `now`, and its result is what `result` prints of it.
prepare() {
    rm -rf now && mkdir now
    if replaces "$1"; then cp "old-$1" now/file; fi
    case $1 in
        chain) cp begin.toml middle.toml last.toml now ;;
        record-part) cp -r records-2 now/records ;;
        runs-rm) cp -r first now/run && cp -r first now/beside ;;
    esac
}

run_case() {
    local before=()
    [ "${harm:-}" = call ] || [ "${harm:-}" = error ] || [ "${harm:-}" = full ] && before=("${strace[@]}")
    case $1 in
        eval) exec "${before[@]}" "$AFTERSTATE" eval first.safetensors --games 40 --search 2ply --threads 2 --json --out now/games ;;
        greedy) exec "${before[@]}" "$AFTERSTATE" eval first.safetensors --games 200 --threads 2 --json --out now/games ;;
        collect) exec "${before[@]}" "$AFTERSTATE" eval first.safetensors --games 30 --threads 2 --goal 512 --search 2ply --collect now/file ;;
        record) exec "${before[@]}" "$AFTERSTATE" record --model first.safetensors --search 1ply --games 60 --threads 2 --out now/records ;;
        dcnn) exec "${before[@]}" "$AFTERSTATE" dcnn train --records records --layers 2 --channels 8 --samples 3000 --batch 100 \
            --buffer 1000 --test-every 500 --test-games 1 --threads 2 --out now/run $(resume now/run/recipe.toml) ;;
        solve) exec "${before[@]}" "$AFTERSTATE" solve --board 2x2 -o now/file ;;
        report) exec "${before[@]}" "$AFTERSTATE" report first -o now/file ;;
        export) exec "${before[@]}" "$AFTERSTATE" model export first.safetensors -o now/file ;;
        import) exec "${before[@]}" "$AFTERSTATE" model import first.w -o now/file ;;
        compact) exec "${before[@]}" "$AFTERSTATE" model compact first.safetensors -o now/file --size 100kB --games 3 ;;
        expand) exec "${before[@]}" "$AFTERSTATE" model expand small.safetensors -o now/file ;;
        compare) exec "${before[@]}" "$AFTERSTATE" eval --compare first.safetensors other/model.safetensors --games 40 --search 2ply \
            --threads 2 --json --out now/games ;;
        sweep) exec "${before[@]}" "$AFTERSTATE" train rows.toml --all --seeds 2 --jobs 2 --out now/all --resume ;;
        chain) cd now && exec "${before[@]}" "$AFTERSTATE" train last.toml --resume ;;
        runs-rm)
            # What is gone need not be removed again.
            [ -e now/run ] || exit 0
            exec "${before[@]}" "$AFTERSTATE" runs rm now/run
            ;;
        engine) exec "${before[@]}" "$AFTERSTATE" engine --model first.safetensors < talk.txt ;;
        endgame-build) exec "${before[@]}" "$AFTERSTATE" endgame build set.toml --threads 2 --out now/tables ;;
        endgame-weigh) exec "${before[@]}" "$AFTERSTATE" endgame weigh placed \
            --tiles 16384,8192,4096,2048,1024,512,256 --threads 2 -o now/file ;;
        endgame-solve) exec "${before[@]}" "$AFTERSTATE" endgame solve --walls FFFF/FFF./..../.... --target 64 --threads 2 -o now/file ;;
        fold) exec "${before[@]}" "$AFTERSTATE" model fold nested -o now/file ;;
        average) exec "${before[@]}" "$AFTERSTATE" model average first.safetensors other/model.safetensors -o now/file ;;
        part) exec "${before[@]}" "$AFTERSTATE" "${part[@]}" --part 1/2 --collect now/positions --out now/part ;;
        merge) exec "${before[@]}" "$AFTERSTATE" eval --merge part-1 part-2 --collect now/file --json ;;
        record-part) exec "${before[@]}" "$AFTERSTATE" record --model first.safetensors --search 1ply --games 60 --threads 1 --part 1/2 --out now/records ;;
        reproduce) exec "${before[@]}" "$AFTERSTATE" reproduce ramesh-2018/table-2 --share 0.05 --seeds 1 --games 2 --threads 1 --out now/table ;;
        *) exec "${before[@]}" "$AFTERSTATE" train "$1.toml" --out now/run --resume ;;
    esac
}

resume() { if [ -e "$1" ]; then echo --resume; fi; }

untimed() { sed 's/"seconds":[^,}]*//g; s/"moves_per_second":[^,}]*//g; s/,"move_ms":{[^}]*}//g' "$1"; }

result() {
    case $1 in
        eval | greedy | compare) untimed "$2" ;;
        part) "$AFTERSTATE" eval --merge now/part part-2 --json | untimed - ;;
        merge) cat now/file && untimed "$2" ;;
        collect | solve | report | export | import | compact | expand | fold | average | endgame-solve | endgame-weigh) cat now/file ;;
        chain) cat now/runs/begin/model.safetensors now/runs/last/model.safetensors ;;
        sweep) cat now/all/*/seed-*/model.safetensors ;;
        runs-rm) ls now && cat now/beside/model.safetensors now/beside/log.jsonl ;;
        engine) grep bestmove "$2" ;;
        endgame-build) cat now/tables/*.endgame ;;
        reproduce) cat now/table/*/seed-*/model.safetensors ;;
        record | record-part) cat now/records/games-*.parquet ;;
        *) cat now/run/model.safetensors ;;
    esac
}

# The system calls of a case that can be harmed, as "NAME COUNT" lines.
calls=openat,write,fsync,rename,ftruncate,unlink,unlinkat,mkdir,flock
learn() {
    prepare "$1"
    (harm=none; strace=(strace -f -qq -o "$place/trace.txt" -e "trace=$calls"); harm=call; run_case "$1") > out.txt 2> err.txt \
        || { cat err.txt >&2; echo "error: $1 fails unharmed" >&2; exit 1; }
    result "$1" out.txt > "whole-$1"
    if replaces "$1"; then cp now/file "file-$1"; fi
    grep -oE '^[0-9]+ +[a-z]+' trace.txt | awk '{ count[$2]++ } END { for (name in count) print name, count[name] }' > "calls-$1"
    local start=${EPOCHREALTIME/./}
    prepare "$1"
    (harm=none; run_case "$1") > out.txt 2> err.txt
    echo $(((${EPOCHREALTIME/./} - start) / 1000 + 1)) > "time-$1"
    # What does not come out the same twice cannot be compared.
    result "$1" out.txt | cmp -s - "whole-$1" || { echo "error: $1 differs from run to run" >&2; exit 1; }
}

# --- the harms ---------------------------------------------------------------------------------------------------------

declare -A tries harmed lost panics
count() { eval "$1[$2]=\$((\${$1[$2]:-0} + 1))"; }

# Random numbers from 1 to the given one.
upto() { echo $(((RANDOM * 32768 + RANDOM) % $1 + 1)); }

# The exit code of a process, also if this script is told to stop meanwhile, which interrupts `wait`.
outcome() {
    local status=0
    wait "$1" 2> /dev/null || status=$?
    while kill -0 "$1" 2> /dev/null; do
        status=0
        wait "$1" 2> /dev/null || status=$?
    done
    return "$status"
}

strike() {
    local case=$1 name call number milliseconds pid status=0
    harm=$2
    name="$case/$harm"
    prepare "$case"
    case $harm in
        kill | signal)
            milliseconds=$(upto "$(cat "time-$case")")
            run_case "$case" > out.txt 2> err.txt &
            pid=$!
            sleep "$(printf '%d.%03d' $((milliseconds / 1000)) $((milliseconds % 1000)))"
            local signal=KILL
            [ "$harm" = kill ] || signal=$(printf 'TERM\nINT\nHUP\n' | shuf -n 1)
            kill "-$signal" "$pid" 2> /dev/null || true
            outcome "$pid" || status=$?
            ;;
        call | error | full)
            read -r call number < <(shuf -n 1 "calls-$case")
            number=$(upto "$number")
            case $harm in
                call) what="$call:signal=KILL:when=$number" ;;
                error) what="$call:error=EIO:when=$number" ;;
                full) what="write,ftruncate:error=ENOSPC:when=$(upto "$(awk '$1 == "write" { print $2 }' "calls-$case")")+" ;;
            esac
            strace=(strace -f -qq -o "$place/trace.txt" -e "trace=${what%%:*}" -e "inject=$what")
            run_case "$case" > out.txt 2> err.txt &
            pid=$!
            outcome "$pid" || status=$?
            ;;
        two)
            local other
            run_case "$case" > out.txt 2> err.txt &
            pid=$!
            sleep "0.$(printf '%03d' "$(upto 200)")"
            run_case "$case" > other.txt 2> other-err.txt &
            other=$!
            outcome "$pid" || status=$?
            local second=0
            outcome "$other" || second=$?
            # One of them may be refused; the one that ends well must have done all of it.
            what='two at once'
            if { [ "$status" -eq 0 ] && ! result "$case" out.txt | cmp -s - "whole-$case"; } ||
                { [ "$second" -eq 0 ] && ! result "$case" other.txt | cmp -s - "whole-$case"; }; then
                count lost "$name"
                keep "$name" wrong
            fi
            cat other-err.txt >> err.txt
            [ "$status" -ne 0 ] || status=$second
            ;;
    esac
    count tries "$name"
    [ "$status" -eq 0 ] || count harmed "$name"
    judge "$case" "$name" "$status"
}

# Looks at what a harm has left.
judge() {
    local case=$1 name=$2 status=$3
    if grep -qE 'panicked|a mistake in afterstate' err.txt || [ "$status" -eq 101 ] || [ "$status" -eq 134 ] || [ "$status" -eq 139 ]; then
        count panics "$name"
        keep "$name" panic
    fi
    if replaces "$case" && [ -e now/file ] && ! cmp -s now/file "old-$case" && ! cmp -s now/file "file-$case"; then
        count lost "$name"
        keep "$name" torn
        return
    fi
    harm=none
    if ! (run_case "$case") > out.txt 2> err.txt || ! result "$case" out.txt | cmp -s - "whole-$case"; then
        count lost "$name"
        keep "$name" lost
    fi
}

# Keeps what went wrong for a look.
keep() {
    echo "$1: $2, after ${what:-a signal}" >&2
    sed 's/^/    /' err.txt >&2
    if [ -n "${TORTURE_KEEP:-}" ]; then cp -r now "$TORTURE_KEEP/${1//\//-}-$2-$RANDOM"; fi
}

# --- the torture -------------------------------------------------------------------------------------------------------

cases=("$@")
[ ${#cases[@]} -gt 0 ] || read -ra cases <<< "$trainings eval greedy collect record dcnn solve report export import compact expand compare chain sweep runs-rm engine endgame-build endgame-solve endgame-weigh fold average part merge record-part reproduce"
harms=(kill signal call error full two)
for case in "${cases[@]}"; do learn "$case"; done
began=$SECONDS
over=
# Told to stop, it prints what it has.
trap 'over=1' TERM
is_over() { [ -n "$over" ] || [ $((SECONDS - began)) -ge "$seconds" ]; }
until is_over; do
    for case in "${cases[@]}"; do
        for harm in "${harms[@]}"; do
            ! is_over || break 2
            what=
            strike "$case" "$harm"
        done
    done
done

total() { local sum=0 key; for key in "${!tries[@]}"; do eval "sum=\$((sum + \${$1[$key]:-0}))"; done; echo "$sum"; }
printf '| case | kills | signals | kills at system calls | I/O errors | full disks | two at once | lost | panics |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n'
for case in "${cases[@]}"; do
    row="| $case"
    missing=0 broken=0
    for harm in "${harms[@]}"; do
        name=$case/$harm
        row+=" | ${harmed[$name]:-0} of ${tries[$name]:-0}"
        missing=$((missing + ${lost[$name]:-0})) broken=$((broken + ${panics[$name]:-0}))
    done
    echo "$row | $missing | $broken |"
done
echo
echo "$(total tries) tries, $(total harmed) of them ended early, in $((SECONDS - began)) s; lost: $(total lost), panics: $(total panics)"
[ "$(total lost)" -eq 0 ] && [ "$(total panics)" -eq 0 ]
