"""Play records of the command, read by polars and pyarrow."""

import subprocess

import numpy as np
import pytest
from common import command

import afterstate_2048 as a2

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.skipif(command() is None, reason="the command has not been built")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "records"
    arguments = ["record", "--games", "2", "--search", "1ply", "--out", path]
    subprocess.run([command(), *arguments], check=True, capture_output=True)
    return path


def test_records_replay(directory):
    frame = a2.records(directory).sort("game", "ply").collect()
    boards = a2.record_boards(frame["board"])
    actions, rewards = frame["move"].to_numpy(), frame["reward"].to_numpy()
    afterstates, earned, moved = a2.slide(boards, actions)
    assert moved.all() and (earned == rewards).all()
    after = afterstates.reshape(-1, 16).copy()
    rows = np.arange(len(frame))
    after[rows, frame["spawn_cell"].to_numpy()] = np.log2(frame["spawn_tile"].to_numpy()).astype(np.uint8)
    goes_on = frame["game"].to_numpy()[1:] == frame["game"].to_numpy()[:-1]
    assert (after[:-1][goes_on] == boards.reshape(-1, 16)[1:][goes_on]).all()
    scores = frame.group_by("game").agg(polars.col("reward").sum()).sort("game")["reward"]
    firsts = frame.filter(polars.col("ply") == 0)["score_to_end"]
    assert scores.to_list() == firsts.to_list()


def test_both_libraries_read_the_same(directory):
    table = a2.records(directory, "pyarrow").to_table()
    frame = a2.records(directory).collect()
    assert table.num_rows == len(frame) and table.column_names == frame.columns
    assert (a2.record_boards(table["board"]) == a2.record_boards(frame["board"])).all()
    assert (a2.record_boards(table["board"].slice(5, 3)) == a2.record_boards(frame["board"][5:8])).all()


def test_boards_that_are_none():
    with pytest.raises(ValueError, match="sixteen"):
        a2.record_boards(polars.Series(["0123"]))
    with pytest.raises(ValueError, match="is not one of 0-9"):
        a2.record_boards(polars.Series(["x" * 16]))
