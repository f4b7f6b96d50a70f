#!/usr/bin/env bash
# Speed beside TDL2048+: every case in turns, several rounds, as the ratio of moves per second.
#
#   scripts/compare.sh TDL2048_BINARY [--rounds N] [--only CASE]… [--ours AFTERSTATE_BINARY]
#
# TDL2048_BINARY is the `2048` that `make` builds in https://github.com/moporgic/TDL2048. Nothing else may run meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - "$@" <<'PYTHON'
import argparse, json, os, re, shutil, statistics, subprocess, sys, tempfile, time

GREEDY_GAMES, TRAINED = 4000, 20  # games of greedy play; thousands of games behind the network that is played with

# name: (arguments of TDL2048+, ours, thousands of games of training)
TRAININGS = {
    "4x6 TD": ("-n 4x6patt", "reference/4x6-td", 12),
    "4x6 TC": ("-n 4x6patt -a 1.0", "reference/4x6-tc", 8),
    "8x6 TC": ("-n 8x6patt -a 1.0", "reference/8x6-tc", 4),
}
# name: (arguments of TDL2048+, our search, games of TDL2048+, our games)
SEARCHES = {
    "2-ply": ("-d 2p", "2ply", 60, 180),
    "3-ply": ("-d 3p -c 64K", "3ply", 5, 15),
    "4-ply": ("-d 4p -c 1M", "4ply", 1, 2),
}
BARS = {
    "4x6 TD, one thread": (1.8, 2.5), "4x6 TC, one thread": (2.1, 2.5), "8x6 TC, one thread": (2.1, 2.5),
    "4x6 TD, two threads": (1.6, 2.0), "4x6 TC, two threads": (1.7, 2.0), "8x6 TC, two threads": (1.6, 2.0),
    "greedy play": (2.2, 2.5), "2-ply": (3.5, 4.0), "3-ply": (3.5, 4.0), "4-ply": (3.3, 4.0),
}

parser = argparse.ArgumentParser(prog="scripts/compare.sh", description="Speed beside TDL2048+, in turns.")
parser.add_argument("peer", metavar="TDL2048_BINARY")
parser.add_argument("--rounds", type=int, default=5, help="rounds of every case (5)")
parser.add_argument("--only", action="append", choices=list(BARS), metavar="CASE", help=f"one of: {', '.join(BARS)}")
parser.add_argument("--ours", default="target/release/afterstate", help="our program (target/release/afterstate)")
arguments = parser.parse_args()
for path, how in ((arguments.peer, "`make` builds it"), (arguments.ours, "`cargo build --release` builds it")):
    if not os.access(path, os.X_OK):
        sys.exit(f"error: {path} is no program; hint: {how}")
peer, ours = os.path.abspath(arguments.peer), os.path.abspath(arguments.ours)


def run(*command):
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode:
        sys.exit(f"error: {' '.join(command)}\n{finished.stderr}")
    return finished.stdout


def others():
    """The share of the processors that others use, over a second."""
    def busy():
        with open("/proc/stat") as file:
            numbers = list(map(int, file.readline().split()[1:]))
        return sum(numbers) - numbers[3] - numbers[4], sum(numbers)
    before = busy()
    time.sleep(1)
    after = busy()
    return (after[0] - before[0]) / (after[1] - before[1])


def peer_training(flags, thousands, processes):
    output = run(peer, *flags.split(), "-t", str(thousands), "-s", "1", "-p", str(processes))
    # One line for each thousand games of each process, which share them; of the second half, moves over time.
    lines = re.findall(r"^(\d+)/(\d+) (\d+)ms ([\d.]+)ops", output, re.M)
    late = [(int(ms), float(ops)) for number, all, ms, ops in lines if 2 * int(number) > int(all)]
    return processes * sum(ms * ops for ms, ops in late) / sum(ms for ms, _ in late)


def our_training(recipe, thousands, threads):
    out = os.path.join(folder, "run")
    shutil.rmtree(out, ignore_errors=True)
    episodes = thousands * 1000
    run(ours, "train", recipe, "--set", f"budget.episodes={episodes}", "--set", "log.every_episodes=500",
        "--threads", str(threads), "--seed", "1", "--out", out)
    with open(os.path.join(out, "log.jsonl")) as file:
        lines = [line for line in map(json.loads, file) if "actions" in line]
    first = next(line for line in lines if line["episodes"] >= episodes // 2)
    last = lines[-1]
    return (last["actions"] - first["actions"]) / (last["seconds"] - first["seconds"])


def peer_play(games, flags=""):
    count = f"{games // 1000}" if games >= 1000 else f"1x{games}"
    output = run(peer, "-n", "4x6patt", "-i", weights, "-e", count, "-s", "1", *flags.split())
    return float(re.search(r"summary \d+ms ([\d.]+)ops", output).group(1))


def our_play(games, search="1ply"):
    found = json.loads(run(ours, "eval", model, "--games", str(games), "--threads", "1", "--search", search, "--json"))
    return found["moves_per_second"]


def cases():
    for name, (flags, recipe, games) in TRAININGS.items():
        for threads, text in ((1, "one thread"), (2, "two threads")):
            yield (f"{name}, {text}", lambda f=flags, g=games, t=threads: peer_training(f, g * t, t),
                   lambda r=recipe, g=games, t=threads: our_training(r, g * t, t))
    yield "greedy play", lambda: peer_play(GREEDY_GAMES), lambda: our_play(GREEDY_GAMES)
    for name, (flags, search, theirs, games) in SEARCHES.items():
        yield name, lambda f=flags, g=theirs: peer_play(g, f), lambda s=search, g=games: our_play(g, s)


def figure(rate):
    return f"{rate / 1e6:.2f} M" if rate >= 1e6 else f"{rate / 1e3:.1f} k" if rate >= 1e4 else f"{rate:,.0f}"


folder = tempfile.mkdtemp(prefix="afterstate-compare-")
try:
    load = others()
    if load > 0.1:
        sys.exit(f"error: other programs use {load:.0%} of the processors; speed is measured when nothing else runs")
    with open("/proc/cpuinfo") as file:
        processor = re.search(r"model name\s*: (.*)", file.read()).group(1)
    print(f"{processor}, {os.cpu_count()} cores; moves/s, medians of {arguments.rounds} rounds in turns\n")
    weights, model = os.path.join(folder, "f.w"), os.path.join(folder, "f.safetensors")
    wanted = [case for case in cases() if not arguments.only or case[0] in arguments.only]
    if any(name in SEARCHES or name == "greedy play" for name, _, _ in wanted):
        run(peer, "-n", "4x6patt", "-t", str(TRAINED), "-s", "1", "-a", "1.0", "-o", weights)
        run(ours, "model", "import", weights, "-o", model)
    print("| case | TDL2048+ | Afterstate | ratio | bar | goal |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, theirs, our in wanted:
        rounds = []
        for number in range(arguments.rounds):
            print(f"{name}: round {number + 1} of {arguments.rounds}", end="\r", file=sys.stderr)
            rounds.append((theirs(), our()))
        ratios = [mine / other for other, mine in rounds]
        low, high = min(ratios), max(ratios)
        medians = [figure(statistics.median(rates)) for rates in zip(*rounds)]
        bar, goal = BARS[name]
        ratio = f"{statistics.median(ratios):.2f} ({low:.2f} – {high:.2f})"
        print(f"| {name} | {medians[0]} | {medians[1]} | {ratio} | {bar} | {goal} |", flush=True)
finally:
    shutil.rmtree(folder, ignore_errors=True)
PYTHON
