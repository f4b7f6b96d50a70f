"""One's own policy against exact values on 3×3.

    python exact_values.py                   solves 3×3 first (half a minute) and keeps it in 3x3.solution

Nothing is played: the probability of every board that the policy reaches is followed, so that its mean score is
exact, and so is what each of its mistakes costs.
"""

import argparse
from pathlib import Path

import numpy as np

import afterstate_2048 as a2


def corner(boards: np.ndarray) -> np.ndarray:
    """Left or down while that is possible, otherwise right or up."""
    legal = a2.legal_mask(boards)
    order = [a2.LEFT, a2.DOWN, a2.RIGHT, a2.UP]
    return np.array(order)[legal[:, order].argmax(axis=1)]


def most_points(boards: np.ndarray) -> np.ndarray:
    """The move that earns most, the first one of equals."""
    _, rewards, legal = a2.slides(boards)
    return np.where(legal, rewards, -1).argmax(axis=1)


def most_empty_cells(boards: np.ndarray) -> np.ndarray:
    """The move that leaves most empty cells."""
    afterstates, _, legal = a2.slides(boards)
    empty = (afterstates == 0).sum(axis=(2, 3))
    return np.where(legal, empty, -1).argmax(axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solution", type=Path, default=Path("3x3.solution"))
    options = parser.parse_args()
    if not options.solution.exists():
        a2.solve(3).save(options.solution)
    solution = a2.Solution(options.solution)
    print(f"best play: {solution.expected:,.2f} points\n")
    print(f"{'policy':<18}{'points':>10}{'of the best':>13}{'mistakes':>10}   reaches 256 / 512")
    for policy in (corner, most_points, most_empty_cells):
        found = solution.evaluate(policy)
        share, tiles = found["score"] / solution.expected, found["tiles"]
        print(
            f"{policy.__name__:<18}{found['score']:>10,.2f}{share:>13.1%}{found['mistakes']:>10.1%}"
            f"   {tiles[256]:.2%} / {tiles[512]:.3%}"
        )
        worst = found["worst"][0]
        print(
            f"  worst: {a2.MOVES[worst['played']]} on {worst['board']} rather than {a2.MOVES[worst['best']]}"
            f" costs {worst['regret']:.0f} points"
        )


if __name__ == "__main__":
    main()
