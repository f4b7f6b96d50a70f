"""Results, evaluations and weights of models."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _native

if TYPE_CHECKING:
    from ._native import Model

#: The seed of evaluations, the same as the command's.
SEED = 2048


class Results(NamedTuple):
    """The results of games, one element for each."""

    game: npt.NDArray[np.uint64]
    score: npt.NDArray[np.uint64]
    tile: npt.NDArray[np.uint32]
    moves: npt.NDArray[np.uint64]


def evaluate(
    model: Model | str | PathLike[str] = "built-in",
    games: int = 1000,
    search: str | None = None,
    seed: int = SEED,
    *,
    threads: int = 0,
) -> dict[str, Any]:
    """The object that ``afterstate eval --json`` prints."""
    player = model if isinstance(model, _native.Model) else _native.load(model)
    report: dict[str, Any] = json.loads(player.evaluate_json(games, search, seed, threads))
    return report


def weights(path: Path | None) -> dict[str, npt.NDArray[np.float32]]:
    """The weights in a model file by tensor name; without a file, those of the built-in model.

    Read-only views of the mapped file if it stores them uncompressed. Compact models, including the
    built-in one, are unpacked into new arrays.
    """
    views = None if path is None else _views(path)
    return dict(_native._tables(path or "built-in")) if views is None else views


def _views(path: Path) -> dict[str, npt.NDArray[np.float32]] | None:
    """Views of the tensors of a safetensors file; None if they are packed."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    if any(info["dtype"] != "F32" for info in header.values()):
        return None
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    views = {}
    for name, info in header.items():
        start, end = (8 + length + offset for offset in info["data_offsets"])
        views[name] = np.asarray(mapped[start:end]).view("<f4").reshape(info["shape"])
    return views
