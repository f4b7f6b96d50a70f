"""Play records written by ``afterstate record``."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def _shards(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    shards = sorted(path.glob("games-*.parquet"))
    if not shards:
        raise ValueError(f"{path} holds no play records, which are files named games-….parquet")
    return shards


def records(path: str | PathLike[str], library: str = "polars") -> Any:
    """The play records of a file or directory, as a polars LazyFrame or a pyarrow dataset.

    Data is read lazily and not copied through Python: both libraries read the Parquet files
    themselves. Columns: ``game``, ``ply``, ``board``, ``move``, ``reward``,
    ``spawn_cell``, ``spawn_tile``, ``score_to_end``.
    """
    shards = _shards(Path(path))
    if library == "polars":
        import polars

        return polars.scan_parquet(shards)
    if library == "pyarrow":
        import pyarrow.dataset

        return pyarrow.dataset.dataset([str(shard) for shard in shards], format="parquet")
    raise ValueError(f'library must be "polars" or "pyarrow", not {library!r}')


#: The exponent of each character of a board's text; 255 for invalid characters.
_EXPONENTS = np.full(256, 255, np.uint8)
for _exponent, _character in enumerate("0123456789abcdefgh"):
    _EXPONENTS[ord(_character)] = _exponent


def record_boards(column: Any) -> npt.NDArray[np.uint8]:
    """The boards of a polars or pyarrow ``board`` column, as an array of shape (n, 4, 4)."""
    array = column.to_arrow() if hasattr(column, "to_arrow") else column
    if hasattr(array, "combine_chunks"):
        array = array.combine_chunks()
    if not hasattr(array, "buffers"):
        raise TypeError(f"column must be one of polars or pyarrow, not {type(column).__name__}")
    import pyarrow

    array = array.cast(pyarrow.large_string())
    _, offsets, characters = array.buffers()
    ends = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    texts = np.frombuffer(characters or b"", np.uint8)[ends[0] : ends[-1]]
    if texts.size != 16 * len(array):
        raise ValueError("a board has sixteen characters")
    boards = _EXPONENTS[texts]
    if (boards > 17).any():
        raise ValueError("a character of a board is not one of 0-9 and a-h")
    return boards.reshape(-1, 4, 4)
