#!/usr/bin/env bash
# Does to a program what once lost somebody's evening, fault by fault, and says of each whether it is mended. The tests have the
# same faults in more detail; this script also runs on programs from before there were any such tests, to compare with.
#
#   scripts/faults.sh PROGRAM [FAULT…]      prints a table; ends with 1 if there is a fault
#
# Needs strace, curl and GNU time.
set -uo pipefail

[ $# -ge 1 ] || { sed -n 's/^# \{0,3\}//; 2,7p' "$0" >&2; exit 2; }
program=$(realpath "$1")
self=$(realpath "$0")
shift
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

a() { "$program" "$@" > out.txt 2> err.txt < /dev/null; }
panicked() { grep -qE 'panicked|a mistake in afterstate' err.txt; }
fresh() { rm -rf run runs; }

common=$'network.tuples = ["0123", "0145"]\nparallel.threads = 1\nevaluation.every = 0'
printf '%s\nbudget.actions = 300_000\n' "$common" > small.toml
printf '%s\nbudget.seconds = 60\nlog.every_seconds = 0.1\n' "$common" > long.toml
printf 'game.side = 3\nnetwork.tuples = ["0123"]\nparallel.threads = 1\nevaluation.every = 0\nbudget.actions = 50_000\n' > three.toml
a train small.toml --out m && cp m/model.safetensors M.safetensors || { cat err.txt >&2; exit 2; }
a train small.toml --seed 2 --out other && a train three.toml --out three || { cat err.txt >&2; exit 2; }
a model export M.safetensors -o M.w

# --- what is written ---------------------------------------------------------------------------------------------------

eval_touches_no_foreign_file() {
    printf notes > n.txt
    a eval M.safetensors --games 2 --out n.txt
    [ "$(cat n.txt)" = notes ]
}
collect_survives_a_full_disk() {
    a eval M.safetensors --games 30 --search 2ply --goal 512 --collect p.jsonl || return 1
    cp p.jsonl before
    strace -f -qq -o /dev/null -e trace=write -e inject=write:error=ENOSPC:when=1+ \
        "$program" eval M.safetensors --games 30 --search 2ply --goal 512 --seed 7 --collect p.jsonl > out.txt 2> err.txt
    cmp -s p.jsonl before
}
two_evals_do_not_share_a_file() {
    "$program" eval M.safetensors --games 3000 --threads 1 --out g.jsonl > first.txt 2>&1 &
    local first=$! second=0
    sleep 0.3
    a eval M.safetensors --games 3000 --threads 1 --out g.jsonl || second=$?
    wait "$first" && [ "$second" -ne 0 ]
}
a_file_without_its_header_is_refused() {
    a eval M.safetensors --games 5 --out h.jsonl || return 1
    sed -i 1d h.jsonl
    ! a eval other --games 5 --out h.jsonl
}
positions_cut_short_are_refused() {
    a eval M.safetensors --games 30 --search 2ply --goal 512 --collect whole.jsonl || return 1
    head -c "$(($(stat -c %s whole.jsonl) / 2 - 7))" whole.jsonl > cut.jsonl
    ! a eval M.safetensors --games 5 --from 256 --goal 512 --positions cut.jsonl && grep -q cut.jsonl err.txt
}
copied_lines_count_once() {
    a eval M.safetensors --games 10 --json || return 1
    local mean=$(grep -o '"mean":[0-9.]*' out.txt | head -1)
    a eval M.safetensors --games 10 --out d.jsonl || return 1
    for _ in 1 2 3; do tail -n 1 d.jsonl >> d.jsonl; done
    a eval M.safetensors --games 10 --out d.jsonl --json
    [ "$(grep -o '"mean":[0-9.]*' out.txt | head -1)" = "$mean" ]
}

two_solvers_do_not_share_a_table() {
    local solve=(endgame solve --walls FFFF/FFF./..../.... --walls FFFF/FF.F/..../.... --target 256 --threads 1)
    a "${solve[@]}" -o alone.endgame || return 1
    "$program" "${solve[@]}" -o shared.endgame > first.txt 2>&1 &
    local first=$!
    sleep 0.3
    a "${solve[@]}" -o shared.endgame
    wait "$first"
    # One of them does all of it, and the other is told why it does nothing.
    cat first.txt err.txt | grep -q 'another process' && cmp -s alone.endgame shared.endgame
}
an_interrupted_rm_can_be_repeated() {
    local when
    for when in 1 2 3 4 5 6 7 8; do
        cp -r m gone
        strace -f -qq -o /dev/null -e trace=unlinkat,unlink,rmdir -e "inject=unlinkat,unlink,rmdir:error=EIO:when=$when" \
            "$program" runs rm gone > out.txt 2> err.txt || a runs rm gone || return 1
        [ ! -e gone ] || return 1
    done
}
files_of_another_kind_stay() {
    local i
    for i in 'report m' 'solve --board 2x2' 'model fold m' 'model export m' 'model compact m' \
        'endgame solve --walls FFFF/FFF./..../.... --target 16'; do
        printf notes > n.txt
        # shellcheck disable=SC2086
        ! a $i -o n.txt && [ "$(cat n.txt)" = notes ] || return 1
    done
}

# --- sizes -------------------------------------------------------------------------------------------------------------

small_memory() {
    local status=0
    (ulimit -v 6000000; command time -q -f %M -o peak timeout --preserve-status -k 5 -s INT 5 "$program" "$@" \
        > out.txt 2> err.txt < /dev/null) || status=$?
    case $status in 101 | 134 | 137) return 1 ;; esac
    [ "$(tail -n 1 peak)" -lt 500000 ] || return 1
    ! grep -q 'memory allocation' err.txt && ! panicked
}
a_trillion_games_take_no_memory() { small_memory eval M.safetensors --search 2ply --games 1000000000000; }
a_trillion_records_take_no_memory() { small_memory record --model M.safetensors --search 1ply --games 1000000000000 --out records-many; }
a_table_of_any_size_is_looked_at() { small_memory eval M.safetensors --games 2 --search 3ply+table=30; }
a_million_threads_are_refused() { timeout -s KILL 8 "$program" eval M.safetensors --games 2000000 --threads 1000000 > out.txt 2> err.txt; [ $? -eq 2 ]; }
solving_has_a_size() { (ulimit -v 300000; timeout 60 "$program" solve --board 3x3 > out.txt 2> err.txt); [ $? -eq 2 ]; }
buffers_have_a_size() {
    a record --model M.safetensors --search 1ply --games 5 --threads 1 --out few || return 1
    small_memory dcnn train --records few --layers 2 --channels 4 --samples 100 --buffer 1000000000000 --out large && grep -q GiB err.txt
}
endgames_have_a_size() {
    (ulimit -v 1000000; timeout 60 "$program" endgame solve --walls FFFF/..../..../.... --target 2048 -o big > out.txt 2> err.txt)
    [ $? -eq 2 ]
}
the_engine_ends_with_its_input() { timeout 60 "$program" engine --model M.safetensors < /tmp > out.txt 2> err.txt; [ $? -eq 1 ]; }
seconds_have_a_range() { small_memory train small.toml --out run-9 --set checkpoint.every_seconds=2e19; }

# --- files that are damaged or change ------------------------------------------------------------------------------------

altered_shards_are_refused() {
    a record --model M.safetensors --search 1ply --games 40 --threads 1 --out records || return 1
    local shard=$(ls records/*.parquet | head -1) size i bad=0
    size=$(stat -c %s "$shard")
    cp "$shard" shard
    for i in $(seq 1 12); do
        cp shard "$shard"
        printf '\x55' | dd of="$shard" bs=1 seek=$((size * i / 13)) conv=notrunc status=none
        rm -rf dcnn
        if a dcnn train --records records --layers 2 --channels 4 --samples 200 --batch 50 --buffer 100 --test-games 1 --out dcnn \
            && ! cmp -s shard "$shard" || panicked; then bad=1; fi
    done
    cp shard "$shard"
    [ $bad -eq 0 ]
}
divergence_behind_a_frozen_stage_is_seen() {
    fresh
    printf '%s\nbudget.actions = 1_000_000\nnetwork.stages = "256"\nnetwork.from = "M.safetensors"\nlearning = { step_size = "fixed", alpha = 0.1, schedule = [[0.5, 1000.0]] }\nstart = { kind = "stage", collected = 100 }\n' "$common" > frozen.toml
    ! timeout 60 "$program" train frozen.toml --out run > out.txt 2> err.txt && grep -qiE 'diverge' err.txt
}
a_model_cut_short_does_not_kill_the_server() {
    cp M.safetensors served.safetensors
    "$program" serve served.safetensors --port 28476 --no-browser > out.txt 2> err.txt &
    local server=$! i
    if ! sleep 1 || ! kill -0 $server 2> /dev/null; then "$program" serve served.safetensors --port 28476 > out.txt 2> err.txt & server=$!; fi
    for i in $(seq 50); do curl -s -o /dev/null 127.0.0.1:28476/ && break; sleep 0.2; done
    : > served.safetensors
    for i in 1 2 3; do curl -s -o /dev/null "127.0.0.1:28476/move?board=0000/0010/0100/0002"; done
    sleep 0.5
    curl -s -o /dev/null 127.0.0.1:28476/
    local alive=$?
    kill $server 2> /dev/null
    wait $server 2> /dev/null
    [ $alive -eq 0 ]
}
divergence_of_a_dcnn_is_seen() {
    a record --model M.safetensors --search 1ply --games 5 --threads 1 --out few || return 1
    rm -rf wild
    ! a dcnn train --records few --layers 4 --channels 4 --samples 3000 --batch 50 --buffer 100 --rate 1e9 --out wild && grep -qi diverge err.txt
}
a_solution_cut_short_does_not_kill_the_server() {
    mkdir -p models && a solve --board 3x3 -o models/3x3.solution || return 1
    "$program" serve M.safetensors --models models --port 28478 > out.txt 2> err.txt &
    local server=$! i alive
    for i in $(seq 100); do curl -s -o /dev/null 127.0.0.1:28478/ && break; sleep 0.2; done
    curl -sf -o /dev/null "127.0.0.1:28478/api/advise?board=010/010/000&search=exact"
    : > models/3x3.solution
    for i in 112/000/321 123/012/001 345/210/010; do curl -s -o /dev/null "127.0.0.1:28478/api/advise?board=$i&search=exact"; done
    sleep 0.5
    curl -s -o /dev/null 127.0.0.1:28478/
    alive=$?
    kill $server 2> /dev/null
    wait $server 2> /dev/null
    [ $alive -eq 0 ]
}
interrupted() { fresh; timeout -s INT "${1:-2}" "$program" train long.toml --out run > out.txt 2> err.txt; }
a_checkpoint_knows_its_recipe() {
    interrupted
    sed -i 's/^beta = .*/beta = 0.25/' run/recipe.toml
    grep -q 'beta = 0.25' run/recipe.toml || return 1
    timeout --preserve-status -s INT 3 "$program" train long.toml --set learning.beta=0.25 --out run --resume > out.txt 2> err.txt
    [ $? -eq 2 ]
}
a_run_without_its_recipe_stays_itself() {
    interrupted
    rm run/recipe.toml
    timeout --preserve-status -s INT 3 "$program" train long.toml --set learning.beta=0.25 --out run --resume > out.txt 2> err.txt
    [ $? -eq 2 ]
}
a_removed_run_comes_back_whole() {
    fresh
    "$program" train long.toml --set checkpoint.every_seconds=0.5 --out run > out.txt 2> err.txt &
    local pid=$!
    sleep 2
    rm -rf run
    sleep 2
    kill -INT $pid
    wait $pid 2> /dev/null
    [ -s run/recipe.toml ] && timeout --preserve-status -s INT 3 "$program" train run --resume > out.txt 2> err.txt
}
a_damaged_log_line_does_not_block() {
    interrupted 3
    sed -i '1s/.*/{"damaged/' run/log.jsonl
    timeout --preserve-status -s INT 3 "$program" train long.toml --out run --resume > out.txt 2> err.txt
}

# --- signals -----------------------------------------------------------------------------------------------------------

a_closed_terminal_saves() {
    fresh
    "$program" train long.toml --out run > out.txt 2> err.txt &
    local pid=$!
    sleep 2
    kill -HUP $pid
    wait $pid 2> /dev/null
    ls run/checkpoint/*.safetensors > /dev/null 2>&1
}
timeout_saves_every_time() {
    local i
    for i in $(seq 20); do
        fresh
        timeout 1 "$program" train long.toml --out run > out.txt 2> err.txt
        ls run/checkpoint/*.safetensors > /dev/null 2>&1 || return 1
    done
}
a_long_search_hears_a_signal() {
    timeout -k 10 -s TERM 2 "$program" eval M.safetensors --games 1 --search 24ply > out.txt 2> err.txt
    [ $? -eq 124 ]
}
a_stopped_evaluation_shows_what_it_has() {
    timeout -s INT 2 "$program" eval M.safetensors --games 300000 --search 2ply > out.txt 2> err.txt
    grep -qi score out.txt
}

# --- what is asked for -------------------------------------------------------------------------------------------------

two_threads_give_the_same() {
    local i search
    for i in 1 2 3 4; do
        for search in 5ply+deeper 4ply+prune=0.001; do
            a advise 0000/1031/2412/5463 --search $search --threads 2 --json || return 1
            grep -oE '"(value|left|up|right|down)":[-0-9.]*' out.txt > "$search-$i"
            [ -s "$search-$i" ] && cmp -s "$search-1" "$search-$i" || return 1
        done
    done
}
many_rows_are_refused_at_once() {
    { cat small.toml; seq -f $'[[row]]\nname = "r%.0f"' 200000; } > many.toml
    timeout 10 "$program" train many.toml --dry-run > out.txt 2> err.txt
    [ $? -eq 2 ]
}
many_tuples_are_refused_at_once() {
    { printf 'network.tuples = ['; yes '"0123",' | head -n 100000 | tr -d '\n'; printf ']\n'; } > tuples.toml
    timeout 10 "$program" train tuples.toml --dry-run > out.txt 2> err.txt
    [ $? -eq 2 ]
}
evaluations_come_after_the_same_actions() {
    local i
    for i in 1 2 3; do
        fresh
        a train small.toml --out run --set evaluation.every=50_000 --set evaluation.games=2 || return 1
        grep -o '"actions":[0-9]*' run/eval.jsonl > "actions-$i" && cmp -s actions-1 "actions-$i" || return 1
    done
}
another_recipe_is_not_resumed() {
    interrupted
    sed 's/"0145"/"0145", "4567"/' long.toml > changed.toml
    timeout -s INT 3 "$program" train changed.toml --out run --resume > out.txt 2> err.txt
    [ $? -eq 2 ]
}
rows_have_directories_of_their_own() {
    fresh
    { cat small.toml; printf '[[row]]\nname = "fast"\n'; } > rates.toml
    a train rates/fast && [ -d runs/rates/fast ]
}
sizes_of_boards_are_not_mixed() { a eval --compare M.safetensors three; [ $? -eq 2 ]; }
a_server_without_its_model_does_not_start() { timeout 5 "$program" serve nosuch --port 28477 > out.txt 2> err.txt; [ $? -eq 2 ]; }
a_refused_start_leaves_nothing() {
    fresh
    printf 'no weights at all' > bad.w
    a train small.toml --out run --set network.from=bad.w
    [ $? -ne 0 ] && [ ! -e run ] && a train small.toml --out run --set network.from=M.w
}
targets_are_checked_before_the_work() { timeout 5 "$program" solve --board 3x3 -o none/solution > out.txt 2> err.txt; [ $? -eq 2 ]; }
options_without_effect_are_refused() { ! timeout 20 "$program" solve --board 2x2 --regret > out.txt 2> err.txt && a eval M.safetensors --games 1e1; }
small_runs_take_kilobytes() { [ "$(du -sk three | cut -f1)" -lt 200 ]; }
the_list_of_tables_takes_no_time() { timeout 5 "$program" reproduce > out.txt 2> err.txt; }

faults=("$@")
[ ${#faults[@]} -gt 0 ] || read -ra faults <<< "$(grep -oE '^[a-z_]+\(\) [{(]' "$self" | sed 's/() .//' | grep -vE '^(a|panicked|fresh|small_memory|interrupted)$' | tr '\n' ' ')"
left=0
printf '| fault | |\n| --- | --- |\n'
for fault in "${faults[@]}"; do
    : > err.txt
    if "$fault" > /dev/null 2>&1; then found=mended; else found='**fault**'; left=1; fi
    printf '| %s | %s |\n' "${fault//_/ }" "$found"
    [ -z "${VERBOSE:-}" ] || sed 's/^/    /' err.txt >&2
done
exit $left
