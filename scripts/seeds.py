#!/usr/bin/env python3
"""Trains a recipe with many seeds, and prints the distribution of what comes out.

    scripts/seeds.py RECIPE [--seeds 100] [--set KEY=VALUE]... [--binary target/release/afterstate]

Each run is a process with one thread, and is deleted when its figures are known.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path


def lines(path):
    """The lines of a log after its header."""
    return [json.loads(line) for line in path.read_text().splitlines()[1:]] if path.exists() else []


def figures(directory):
    """What one run came to: scores and tiles of its games in training, and the evaluation after it."""
    log, evaluations = lines(directory / "log.jsonl"), lines(directory / "eval.jsonl")
    total, episodes, largest = 0.0, 0, 0
    for line in log:
        if line["mean_score"] is not None:
            total += line["mean_score"] * (line["episodes"] - episodes)
            episodes = line["episodes"]
        largest = max([largest] + [int(tile) for tile, share in line["tiles"].items() if share > 0])
    result = {
        "mean score in training": total / episodes,
        "highest score in training": max(line["max_score"] or 0 for line in log),
        "largest tile in training": largest,
    }
    if evaluations:
        score = evaluations[-1]["score"]
        result |= {"mean score after training": score["mean"], "highest score after training": score["max"]}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--binary", default="target/release/afterstate")
    options = parser.parse_args()
    runs = []
    for seed in range(1, options.seeds + 1):
        with tempfile.TemporaryDirectory() as place:
            run = Path(place) / "run"
            command = [options.binary, "train", options.recipe, "--seed", str(seed), "--threads", "1", "--out", run]
            for override in options.set:
                command += ["--set", override]
            subprocess.run(command, check=True, capture_output=True)
            runs.append(figures(run))
    print(f"{options.recipe}, {options.seeds} seeds\n")
    print("| | mean | sd | min | 25% | median | 75% | max |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    for name in runs[0]:
        found = [run[name] for run in runs]
        low, median, high = statistics.quantiles(found, n=4, method="inclusive")
        row = [statistics.mean(found), statistics.stdev(found), min(found), low, median, high, max(found)]
        print(f"| {name} | " + " | ".join(f"{number:,.0f}" for number in row) + " |")


if __name__ == "__main__":
    main()
