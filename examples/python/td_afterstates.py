"""TD(0) on afterstates in numpy, with the learning curve drawn by matplotlib.

    python td_afterstates.py --moves 3000000 --output curve.svg

Many games are played at once. The learner is a network with ``values`` and ``update``; which target it learns
from is said here, in one line: change it and see.
"""

import argparse
import time

import matplotlib
import numpy as np

import afterstate_2048 as a2

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def new_games(count: int, rng: np.random.Generator) -> np.ndarray:
    """The afterstates of games that are about to begin: boards with one tile."""
    return a2.spawn(np.zeros((count, 4, 4), np.uint8), rng)


def learn(learner: a2.Learner, moves: int, games: int, seed: int) -> list[tuple[int, float]]:
    """Plays and learns: (moves, mean score of the games that ended since the point before)."""
    rng = np.random.default_rng(seed)
    last = new_games(games, rng)
    fresh = np.ones(games, bool)
    score = np.zeros(games)
    curve, ended = [], []
    for turn in range(moves // games):
        states = a2.spawn(last, rng)
        afterstates, rewards, legal = a2.slides(states)
        returns = np.where(legal, rewards + learner.values(afterstates), -np.inf)
        best, over = returns.argmax(axis=1), ~legal.any(axis=1)

        # The target of the last afterstate: what its best move comes to, and nothing at the end of a game.
        targets = np.where(over, 0, returns.max(axis=1)).astype(np.float32)
        learner.update(last[~fresh], targets[~fresh], rule="tc")

        last = afterstates[np.arange(games), best]
        score += np.where(over, 0, rewards[np.arange(games), best])
        ended.extend(score[over])
        last[over] = new_games(int(over.sum()), rng)
        score[over], fresh = 0, over
        if (turn + 1) % max(1, moves // games // 40) == 0 and ended:
            curve.append(((turn + 1) * games, float(np.mean(ended))))
            ended.clear()
    return curve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=3_000_000)
    parser.add_argument("--games", type=int, default=64, help="games that are played at once")
    parser.add_argument("--tuples", default="4x6")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="curve.svg")
    options = parser.parse_args()

    learner, start = a2.Learner(options.tuples), time.perf_counter()
    curve = learn(learner, options.moves, options.games, options.seed)
    seconds = time.perf_counter() - start
    report = a2.evaluate(learner.model(), games=200)
    print(f"{options.moves:,} moves in {seconds:.0f} s; greedy play, 200 games: {report['score']['mean']:,.0f}")
    print({tile: share for tile, share in report["tiles"].items() if share})

    moves, scores = zip(*curve)
    plt.figure(figsize=(6, 3.5))
    plt.plot(moves, scores)
    plt.xlabel("moves")
    plt.ylabel("mean score while learning")
    plt.title(f"TD(0) on afterstates, {options.tuples}")
    plt.tight_layout()
    plt.savefig(options.output)


if __name__ == "__main__":
    main()
