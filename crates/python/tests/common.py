"""Boards for the tests."""

from __future__ import annotations

import functools
import os
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt

import afterstate_2048 as a2

ROOT = Path(__file__).resolve().parents[3]


def random_boards(count: int, size: int = 4, seed: int = 1) -> npt.NDArray[np.uint8]:
    """Boards of all kinds, full and nearly empty ones, with large tiles now and then."""
    rng = np.random.default_rng(seed)
    highest = rng.integers(1, 13, (count, 1, 1))
    boards = rng.integers(0, 1 + highest, (count, size, size))
    boards[rng.random(boards.shape) < rng.random((count, 1, 1)) ** 2] = 0
    few = rng.random(count) < 0.2
    boards[few, 0, :2] = rng.integers(14, 17, (few.sum(), 1))
    return boards.astype(np.uint8)


@functools.cache
def built_in() -> a2.Model:
    """The built-in model, which takes a second to unpack."""
    return a2.load()


def as_tuples(board: npt.NDArray[np.uint8]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(tile) for tile in row) for row in board)


def command() -> str | None:
    """The command, if it has been built."""
    named = os.environ.get("AFTERSTATE_COMMAND")
    built = [named] if named else [str(ROOT / "target" / kind / "afterstate") for kind in ("debug", "release")]
    return next((path for path in built if shutil.which(path)), None)
