"""Models: values, advice, weights, files of other programs."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from common import built_in, random_boards

import afterstate_2048 as a2


@pytest.fixture(scope="module")
def model():
    return built_in()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small model file with arbitrary weights."""
    learner = a2.Learner("0123 4567 0145")
    rng = np.random.default_rng(2)
    boards = random_boards(3000)
    learner.update(boards, rng.normal(0, 1000, 3000).astype(np.float32), rule="td", rate=0.5)
    path = tmp_path_factory.mktemp("models") / "small.safetensors"
    learner.save(path)
    return path


def value_by_definition(tables, tuples, board):
    """The sum of a weight for each tuple and symmetry; the first cell counts 1, the next 16, …"""
    total = 0.0
    for image in a2.symmetries(board).reshape(8, 16):
        for table, cells in zip(tables, tuples):
            index = sum(min(int(image[int(cell, 16)]), 15) << (4 * i) for i, cell in enumerate(cells))
            total += float(table[index])
    return total


def test_values_are_sums_of_weights(small):
    model, weights = a2.load(small), a2.load(small).weights()
    tuples = model.spec["tuples"].split()
    tables = [weights[f"V.{i}"] for i in range(len(tuples))]
    boards = random_boards(200, seed=5)
    for board, value in zip(boards, model.values(boards)):
        assert value == pytest.approx(value_by_definition(tables, tuples, board), rel=1e-4, abs=0.01)


def test_weights_of_a_plain_file_are_views(small):
    weights = a2.load(small).weights()
    base = weights["V.0"]
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap), "no copy"
    assert not weights["V.0"].flags.writeable and weights["V.0"].shape == (65536,)


def test_weights_of_the_built_in_model(model):
    weights = model.weights()
    assert all(table.dtype == np.float32 for table in weights.values())
    assert model.path is None and model.kind == "n-tuple" and model.size == 4


def test_values_of_many_are_values_of_each(model):
    boards = random_boards(40_000, seed=8)
    values = model.values(boards, threads=2)
    assert values.dtype == np.float32 and values.shape == (40_000,)
    assert (values == model.values(boards)).all()
    assert all(model.values(board) == value for board, value in zip(boards[:50], values))
    out = np.empty(40_000, np.float32)
    assert model.values(boards, out) is out and (out == values).all()
    assert model.values(boards.reshape(100, 400, 4, 4)).shape == (100, 400)
    assert model.values(boards[:0]).shape == (0,)


def test_advice_is_reward_plus_value(model):
    boards = random_boards(500, seed=9)
    afterstates, rewards, legal = a2.slides(boards)
    expected = np.where(legal, rewards + model.values(afterstates), np.nan).astype(np.float32)
    found = model.advise(boards, search="1ply+downgrade=off")
    assert np.array_equal(found, expected, equal_nan=True)


def test_advice_at_2_ply_is_the_expectation(model):
    board = a2.from_text("0120/0031/0004/0065")
    afterstates, rewards, legal = a2.slides(board)
    for action in np.flatnonzero(legal):
        states, probabilities, _ = a2.spawns(afterstates[action])
        best = np.nanmax(model.advise(states, search="1ply+downgrade=off"), axis=1)
        expected = rewards[action] + (probabilities * best).sum()
        assert model.advise(board, search="2ply+downgrade=off")[action] == pytest.approx(expected, rel=1e-5)


def test_threads_change_nothing(model):
    boards = random_boards(60, seed=10)
    one = model.advise(boards, search="2ply", threads=1)
    assert np.array_equal(one, model.advise(boards, search="2ply", threads=3), equal_nan=True)
    alone = model.advise(boards[0], search="3ply", threads=2)
    assert np.array_equal(alone, model.advise(boards[0], search="3ply", threads=1), equal_nan=True)
    games = [model.play(20, seed=4, threads=threads) for threads in (1, 3)]
    assert all((a == b).all() for a, b in zip(*games))


def test_evaluate_has_the_form_of_the_command(model):
    report = a2.evaluate(model, games=20, seed=3)
    assert list(report) == "model search games seed score tiles moves seconds moves_per_second".split()
    results = model.play(20, seed=3)
    assert report["score"]["mean"] == pytest.approx(results.score.mean())
    assert report["score"]["max"] == results.score.max() and report["moves"] == results.moves.sum()
    assert report["tiles"]["2048"] == (results.tile >= 2048).mean()


def test_files_of_tdl2048(small, tmp_path):
    original = a2.load(small)
    original.export(tmp_path / "small.w")
    a2.import_model(tmp_path / "small.w", tmp_path / "back.safetensors")
    boards = random_boards(500)
    for name in ["small.w", "back.safetensors"]:
        assert (a2.load(tmp_path / name).values(boards) == original.values(boards)).all()
    with pytest.raises(ValueError, match="model file already"):
        a2.import_model(small, tmp_path / "other.safetensors")


CTRL_C = """
import sys, numpy as np, afterstate_2048 as a2
board = a2.from_text("0120/0031/0004/0065")
model = a2.load() if sys.argv[1] in ("advise", "play", "search") else None
calls = {
    "perft": lambda: a2.perft(board, 12),
    "advise": lambda: model.advise(np.stack([board] * 200), search="6ply", threads=1),
    "play": lambda: model.play(1_000_000),
    "search": lambda: model.play(1000, search="4ply"),
    "solve": lambda: a2.solve(3, threads=1),
    "wait": lambda: a2.train("quick", out=sys.argv[2], set={"budget.seconds": 600}).wait(),
}
try:
    print("go", flush=True)
    calls[sys.argv[1]]()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("call", ["perft", "advise", "play", "search", "solve", "wait"])
def test_ctrl_c(call, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", CTRL_C, call, tmp_path / "run"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "go\n"
    # Most likely in the middle of the call; before it the outcome is the same.
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=300)
    assert (output, process.returncode) == ("interrupted\n", 0)


def test_other_threads_run_while_a_model_plays(small):
    """The games never end: if they kept the interpreter's lock, nothing else would ever run."""
    program = f"""
import os, threading, time, afterstate_2048 as a2
model = a2.load({str(small)!r})
threading.Thread(target=model.play, args=(2**40,), daemon=True).start()
for _ in range(20):
    time.sleep(0.01)
print("free", flush=True)
os._exit(0)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (result.returncode, result.stdout) == (0, "free\n"), result.stderr
