"""The rules on arrays of boards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._native import canonical, draw, legal_mask, perft, slide, slides, symmetries

UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3
#: The names of the actions, by number.
MOVES = ("up", "right", "down", "left")

Boards = npt.NDArray[np.uint8]


def _bits(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator, not {type(rng).__name__}")
    if not shape or isinstance(rng.bit_generator, np.random.MT19937):
        return rng.integers(2**64, size=shape, dtype=np.uint64)
    # The same numbers in a third of the time; MT19937 gives only 32 bits at a time.
    return rng.bit_generator.random_raw(shape)


def _lead(boards: object) -> tuple[int, ...]:
    """The axes before rows and columns; the native code rejects anything but an array of boards."""
    return boards.shape[:-2] if isinstance(boards, np.ndarray) else ()


def spawn(
    afterstates: Boards, rng: np.random.Generator, *, four: float = 0.1, out: Boards | None = None
) -> Boards:
    """Put a new tile on a random empty cell of each afterstate, a 4 with probability ``four``.

    One 64-bit number of ``rng`` determines both for each board.
    """
    bits = _bits(rng, _lead(afterstates))
    return _native.spawn(afterstates, bits, four, out)


def spawns(
    afterstates: Boards, *, four: float = 0.1
) -> tuple[Boards, npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Every state that a new tile can lead to.

    Returns ``(states, probabilities, index)``, where ``index`` is the flat index, over all leading
    axes, of each state's afterstate: the expectation of some ``values`` of the states is
    ``numpy.bincount(index, probabilities * values)``.
    """
    return _native.spawns(afterstates, four)


def random_actions(
    mask: npt.NDArray[np.int8] | npt.NDArray[np.bool_], rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """A random one of the legal actions in each row of a mask of shape (n, 4)."""
    if isinstance(mask, np.ndarray) and mask.dtype == np.bool_:
        mask = mask.view(np.int8)
    rows = mask.shape[:1] if isinstance(mask, np.ndarray) else ()
    return _native.random_actions(mask, _bits(rng, rows))


def from_text(text: str | Sequence[str]) -> Boards:
    """A board from text such as ``0000/0010/0100/000b`` or ``2 0 0 4 …``, or an array of several."""
    if isinstance(text, str):
        return _native.from_text(text)
    boards = [_native.from_text(one) for one in text]
    if len({board.shape for board in boards}) > 1:
        raise ValueError("the boards differ in size")
    return np.stack(boards) if boards else np.zeros((0, 4, 4), np.uint8)


def to_text(boards: Boards) -> Any:
    """A board as text: a ``str``, or a list of them (of lists, …) for an array of boards."""
    texts: Any = _native.to_text(boards)
    lead = boards.shape[:-2]
    for length in reversed(lead[1:]):
        texts = [texts[i : i + length] for i in range(0, len(texts), length)] if length else []
    return texts if lead else texts[0]


def faces(boards: Boards) -> npt.NDArray[np.int32]:
    """The face values of exponents: 0, 2, 4, 8, …"""
    return np.where(boards > 0, np.int32(1) << boards.astype(np.int32), np.int32(0))


def exponents(faces: npt.ArrayLike) -> Boards:
    """The exponents of face values."""
    values = np.asarray(faces)
    if values.dtype.kind not in "iu":
        raise TypeError(f"faces must be integers, not {values.dtype}")
    is_tile = (values == 0) | ((values >= 2) & (values <= 131072) & (values & (values - 1) == 0))
    if not is_tile.all():
        raise ValueError(f"{values[~is_tile].flat[0]} is not a tile: face values are 0, 2, 4, … 131072")
    return np.where(values > 0, np.log2(np.maximum(values, 1)), 0).astype(np.uint8)


__all__ = [
    "DOWN",
    "LEFT",
    "MOVES",
    "RIGHT",
    "UP",
    "canonical",
    "draw",
    "exponents",
    "faces",
    "from_text",
    "legal_mask",
    "perft",
    "random_actions",
    "slide",
    "slides",
    "spawn",
    "spawns",
    "symmetries",
    "to_text",
]
