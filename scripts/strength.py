#!/usr/bin/env python3
"""Strength for time: our player and macroxue/2048-ai at several depths, all on one core of this machine.

    scripts/strength.py MACROXUE_BINARY MODEL [--endgame DIR] [--searches 2ply,3ply,3ply+tables] [--depths 3,4,5] [--games N]

A search with +tables plays with the endgame tables of DIR. MACROXUE_BINARY is the `2048` that `make` builds in https://github.com/macroxue/2048-ai; in its first game it makes its tables,
in the directory where it is started. Games are kept in OUT, and those that are there are not played again. Prints a table, and
draws docs/images/strength.svg.
"""

import argparse
import html
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 74, 24, 44, 52
# Where the labels of each player stand, so that they keep clear of one another.
LABELS = [(-8, -7, "end"), (8, -7, "start"), (-8, 16, "end")]
COLOURS = {"Afterstate": "#2a6fdb", "Afterstate with endgame tables": "#c2410c", "macroxue/2048-ai": "#6b7280"}


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("peer", metavar="MACROXUE_BINARY", type=pathlib.Path)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--endgame", metavar="DIR", help="the directory of the endgame tables")
    parser.add_argument("--searches", default="2ply,3ply,4ply", help="ours, with commas between them; +tables for endgame tables")
    parser.add_argument("--options", default="", help="what is added to each of our searches, as +downgrade=16384..24576")
    parser.add_argument("--depths", default="3,4,5", help="those of macroxue/2048-ai")
    parser.add_argument("--games", type=int, default=50, help="games of each player (50)")
    parser.add_argument("--ours", type=pathlib.Path, default=pathlib.Path("target/release/afterstate"), help="our program")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("strength"), help="where the games are kept")
    parser.add_argument("--svg", type=pathlib.Path, default=pathlib.Path("docs/images/strength.svg"))
    return parser.parse_args()


def run(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def peer_games(wanted, depth):
    """Scores, largest tiles, moves and seconds of the peer's games, which are numbered from 2001 on as its author's."""
    kept = wanted.out / f"peer-{depth}.txt"
    if not kept.exists() or kept.read_text().count("game#") < wanted.games:
        binary = wanted.peer.resolve()
        kept.write_text(run([binary, "-d", depth, "-i", wanted.games, 2001], cwd=binary.parent))
    text = kept.read_text()
    pattern = r"score (\d+) max (\d+) sum \d+\s+game# \d+ moves (\d+) seconds ([\d.]+)"
    found = re.findall(pattern, text)[: wanted.games]
    return [(int(score), int(tile), int(moves), float(seconds)) for score, tile, moves, seconds in found]


def point(name, label, mean, ci, games, ms, tiles):
    return {"player": name, "search": label, "mean": mean, "ci95": ci, "games": games, "ms": ms, **tiles}


def of_peer(wanted, depth):
    games = peer_games(wanted, depth)
    scores = [score for score, *_ in games]
    ci = 1.96 * statistics.stdev(scores) / math.sqrt(len(scores)) if len(scores) > 1 else float("nan")
    ms = 1000 * sum(seconds for *_, seconds in games) / sum(moves for _, _, moves, _ in games)
    tiles = {tile: sum(largest >= tile for _, largest, *_ in games) / len(games) for tile in (32768, 65536)}
    return point("macroxue/2048-ai", f"depth {depth}", statistics.mean(scores), ci, len(games), ms, tiles)


def of_ours(wanted, name):
    """Ours: `eval` itself keeps its games, and resumes."""
    search = name.removesuffix("+tables")
    endgame = name != search
    kept = wanted.out / f"ours-{search}{'-tables' if endgame else ''}.jsonl"
    command = [wanted.ours, "eval", wanted.model, "--search", search + wanted.options, "--games", wanted.games, "--threads", 1]
    command += ["--endgame", wanted.endgame] if endgame else []
    report = json.loads(run([*command, "--out", kept, "--json"]))
    name = "Afterstate with endgame tables" if endgame else "Afterstate"
    tiles = {tile: report["tiles"].get(str(tile), 0.0) for tile in (32768, 65536)}
    ms = 1000 / report["moves_per_second"]
    score = report["score"]
    return point(name, search, score["mean"], score["ci95"], report["games"], ms, tiles)


def draw(points, path):
    low, high = (f(p["ms"] for p in points) for f in (min, max))
    low, high = math.floor(math.log10(low) * 2) / 2, math.ceil(math.log10(high) * 2) / 2
    top = math.ceil(max(p["mean"] + p["ci95"] for p in points) / 100_000) * 100_000
    x = lambda ms: LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(ms) - low) / (high - low)
    y = lambda score: HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * score / top
    text = lambda at, to, words, **more: f'<text x="{at:.1f}" y="{to:.1f}" {" ".join(f"{k}={chr(34)}{v}{chr(34)}" for k, v in more.items())}>{html.escape(words)}</text>'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="#374151">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        text(LEFT, 20, "Mean score by mean time for a move, one core (bars: 95% intervals)", **{"font-size": 14, "font-weight": 600}),
    ]
    for score in range(0, top + 1, 100_000):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(score):.1f}" y2="{y(score):.1f}" stroke="#e5e7eb"/>')
        out.append(text(LEFT - 8, y(score) + 4, f"{score:,}", **{"text-anchor": "end"}))
    for tenth in range(math.ceil(low), math.floor(high) + 1):
        out.append(f'<line x1="{x(10**tenth):.1f}" x2="{x(10**tenth):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#e5e7eb"/>')
        out.append(text(x(10**tenth), HEIGHT - BOTTOM + 18, f"{10**tenth:g} ms", **{"text-anchor": "middle"}))
    for number, (name, colour) in enumerate(COLOURS.items()):
        mine = sorted((p for p in points if p["player"] == name), key=lambda p: p["ms"])
        if not mine:
            continue
        line = " ".join(f"{x(p['ms']):.1f},{y(p['mean']):.1f}" for p in mine)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        for p in mine:
            ends = [y(p["mean"] - p["ci95"]), y(p["mean"] + p["ci95"])]
            out.append(f'<line x1="{x(p["ms"]):.1f}" x2="{x(p["ms"]):.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" stroke="{colour}"/>')
            out.append(f'<circle cx="{x(p["ms"]):.1f}" cy="{y(p["mean"]):.1f}" r="4" fill="{colour}"/>')
            aside, below, anchor = LABELS[number]
            out.append(text(x(p["ms"]) + aside, y(p["mean"]) + below, p["search"], fill=colour, **{"text-anchor": anchor}))
        out.append(f'<circle cx="{LEFT + 8 + 230 * number}" cy="{HEIGHT - 14}" r="4" fill="{colour}"/>')
        out.append(text(LEFT + 18 + 230 * number, HEIGHT - 10, name))
    path.write_text("\n".join([*out, "</svg>"]) + "\n")


def main():
    wanted = options()
    if "+tables" in wanted.searches and not wanted.endgame:
        sys.exit("error: +tables needs tables; hint: give their directory with --endgame")
    wanted.out.mkdir(parents=True, exist_ok=True)
    points = []
    print("| player | search | games | mean score | 32768 | 65536 | ms a move |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    def add(p):
        points.append(p)
        print(f"| {p['player']} | {p['search']} | {p['games']} | {p['mean']:,.0f} ± {p['ci95']:,.0f} | {p[32768]:.1%} | {p[65536]:.1%} | {p['ms']:.3g} |", flush=True)
    for search in filter(None, wanted.searches.split(",")):
        add(of_ours(wanted, search))
    for depth in filter(None, wanted.depths.split(",")):
        add(of_peer(wanted, int(depth)))
    draw(points, wanted.svg)


if __name__ == "__main__":
    main()
