"""Whatever comes in, there is an exception with a text, never a crash."""

import subprocess
import sys

import numpy as np
import pytest
from common import built_in

import afterstate_2048 as a2

BOARDS = np.zeros((5, 4, 4), np.uint8)
RNG = np.random.default_rng(1)


def with_tile(exponent):
    board = BOARDS.copy()
    board[3, 1, 2] = exponent
    return board


BAD_BOARDS = [
    (np.zeros((5, 4, 3), np.uint8), ValueError, r"shape \(..., N, N\)"),
    (np.zeros((5, 5, 5), np.uint8), ValueError, "N = 2, 3 or 4"),
    (np.zeros((1, 1), np.uint8), ValueError, "N = 2, 3 or 4"),
    (np.zeros(16, np.uint8), ValueError, r"not \(16,\)"),
    (np.zeros((), np.uint8), ValueError, r"not \(\)"),
    (BOARDS.astype(np.int64), TypeError, "dtype uint8, not int64"),
    (BOARDS.astype(float), TypeError, "dtype uint8, not float64"),
    (BOARDS.tolist(), TypeError, "numpy array of uint8, not list"),
    (None, TypeError, "not NoneType"),
    ("0000/0000/0000/0000", TypeError, "not str"),
    (with_tile(18), ValueError, "board 3: cell 6 holds exponent 18"),
    (with_tile(255), ValueError, "exponent 255"),
    (np.full((1, 4, 4), 17, np.uint8), ValueError, "add up to"),
    (BOARDS[:, ::-1], ValueError, "C-contiguous"),
    (BOARDS.transpose(0, 2, 1), ValueError, "C-contiguous"),
    (np.asfortranarray(BOARDS), ValueError, "C-contiguous"),
]

FUNCTIONS = {
    "slides": a2.slides,
    "legal_mask": a2.legal_mask,
    "symmetries": a2.symmetries,
    "canonical": a2.canonical,
    "to_text": a2.to_text,
    "spawn": lambda boards: a2.spawn(boards, RNG),
    "spawns": a2.spawns,
    "slide": lambda boards: a2.slide(boards, np.zeros(5, np.int64)),
    "values": lambda boards: built_in().values(boards),
    "advise": lambda boards: built_in().advise(boards),
    "learner": lambda boards: a2.Learner("2x4").values(boards),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("boards, error, text", BAD_BOARDS)
def test_bad_boards(function, boards, error, text):
    with pytest.raises((error, ValueError) if function == "slide" else error) as raised:
        FUNCTIONS[function](boards)
    if function not in ("slide", "values", "advise", "learner"):
        raised.match(text)


BAD_CALLS = [
    (lambda: a2.slide(BOARDS, np.full(5, 4)), ValueError, "action 0 is 4"),
    (lambda: a2.slide(BOARDS, np.full(5, -1)), ValueError, "action 0 is -1"),
    (lambda: a2.slide(BOARDS, np.zeros(4, np.int64)), ValueError, r"shape \(5,\), not \(4,\)"),
    (lambda: a2.slide(BOARDS, np.zeros(5)), TypeError, "int64"),
    (lambda: a2.slide(BOARDS, [0] * 5), TypeError, "numpy array of integers"),
    (lambda: a2.slides(BOARDS, out=(BOARDS, BOARDS, BOARDS)), ValueError, "out must have the shape"),
    (lambda: a2.legal_mask(BOARDS, out=np.zeros((5, 4), np.int8)), TypeError, "dtype bool"),
    (lambda: a2.spawn(BOARDS, RNG, out=BOARDS), ValueError, "out must be writeable"),
    (lambda: a2.spawn(BOARDS, RNG, four=1.5), ValueError, "probability"),
    (lambda: a2.spawn(BOARDS, RNG, four=float("nan")), ValueError, "probability"),
    (lambda: a2.spawn(BOARDS, 7), TypeError, "numpy.random.Generator"),
    (lambda: a2.spawn(np.ones((1, 2, 2), np.uint8), RNG), ValueError, "no empty cell"),
    (lambda: a2.spawns(np.ones((2, 2), np.uint8)), ValueError, "no empty cell"),
    (lambda: a2.perft(BOARDS, 2), ValueError, "one board"),
    (lambda: a2.perft(BOARDS[0], -1), ValueError, "-1 is not from 0"),
    (lambda: a2.draw(BOARDS), ValueError, "one board"),
    (lambda: a2.from_text("0000/00x0/0000/0000"), ValueError, "`x` in row 2, column 3"),
    (lambda: a2.from_text(["10/01", "100/000/000"]), ValueError, "differ in size"),
    (lambda: a2.from_text(7), TypeError, "int"),
    (lambda: a2.exponents([3]), ValueError, "3 is not a tile"),
    (lambda: a2.exponents([2.0]), TypeError, "integers"),
    (lambda: a2.random_actions(np.zeros((3, 5), np.int8), RNG), ValueError, r"shape \(3, 4\)"),
    (lambda: a2.Game(1, 1, size=5), ValueError, "size must be 2, 3 or 4"),
    (lambda: a2.Game(-1, 1), ValueError, "-1 is not from 0"),
    (lambda: a2.Game("1", 1), TypeError, "whole number"),
    (lambda: built_in().play(3, seed=-1), ValueError, "-1 is not from 0"),
    (lambda: built_in().play(3, threads=-1), ValueError, "threads"),
    (lambda: a2.Game(1, 1, four=2), ValueError, "probability"),
    (lambda: a2.Game(1, 1, board=BOARDS), ValueError, r"\(N, N\)"),
    (lambda: a2.Game(1, 1).play(4), ValueError, "actions are 0 up"),
    (lambda: a2.Game.replayed(1, 1, 4, 0.1, [1], []), ValueError, "not a board of this size"),
    (lambda: a2.load("no-such-model"), OSError, "no-such-model"),
    (lambda: a2.load(__file__), ValueError, "test_bad_input.py"),
    (lambda: a2.load(7), TypeError, "int"),
    (lambda: built_in().advise(BOARDS, search="0ply"), ValueError, "`0ply` is not a search"),
    (lambda: built_in().advise(np.zeros((3, 3), np.uint8)), ValueError, "must be 4×4 boards"),
    (lambda: built_in().values(BOARDS, out=np.zeros(5)), TypeError, "dtype float32"),
    (lambda: built_in().play(0), ValueError, "at least 1"),
    (lambda: a2.evaluate(games=0), ValueError, "at least 1"),
    (lambda: a2.Learner("5x9"), ValueError, "5x9"),
    (lambda: a2.Learner(size=7), ValueError, "size"),
    (lambda: a2.Learner("2x4", tile_values=99), ValueError, "99"),
    (lambda: a2.Learner("2x4", tile_values=-9), ValueError, "-9"),
    (lambda: a2.Learner("2x4", initial=float("inf")), ValueError, "inf"),
    (lambda: a2.Learner("2x4").update(BOARDS, np.zeros(5)), TypeError, "dtype float32"),
    (lambda: a2.Learner("2x4").update(BOARDS, np.zeros(4, np.float32)), ValueError, "shape"),
    (lambda: a2.Learner("2x4").update(BOARDS, np.full(5, np.nan, np.float32)), ValueError, "finite"),
    (lambda: a2.Learner("2x4").update(BOARDS, np.zeros(5, np.float32), rule="x"), ValueError, "rule"),
    (lambda: a2.train("no-such-recipe"), ValueError, "no recipe `no-such-recipe`"),
    (lambda: a2.train("quick", set={"learning.lamda": 1}), ValueError, "did you mean"),
    (lambda: a2.train("quick", set={"seed": object()}), TypeError, "not a TOML type"),
    (lambda: a2.train({"network": {"tuples": "4x6"}}), ValueError, "budget"),
    (lambda: a2.solve(4), ValueError, "2 or 3"),
    (lambda: a2.solve(2, goal=3), ValueError, "tile"),
    (lambda: a2.Solution(__file__), ValueError, "is not a solution"),
    (lambda: a2.Solution("nowhere.solution"), OSError, "nowhere"),
    (lambda: a2.records("."), ValueError, "no play records"),
    (lambda: a2.records(__file__, "pandas"), ValueError, "polars"),
    (lambda: a2.record_boards(["0"]), TypeError, "polars or pyarrow"),
    (lambda: a2.import_model(__file__, "x.safetensors"), ValueError, "test_bad_input.py"),
]


@pytest.mark.parametrize("call, error, text", BAD_CALLS)
def test_bad_calls(call, error, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text):
        call()


def test_closed_models_say_so():
    with a2.load() as model:
        assert not model.closed
    assert model.closed and "closed" in repr(model)
    for use in (
        lambda: model.values(BOARDS),
        lambda: model.advise(BOARDS),
        lambda: model.play(1),
        lambda: model.weights(),
        lambda: model.size,
        lambda: a2.evaluate(model, games=1),
    ):
        with pytest.raises(ValueError, match="closed"):
            use()
    model.close()


def test_read_only_outputs_are_rejected():
    out = np.zeros((5, 4), np.bool_)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        a2.legal_mask(BOARDS, out=out)


def test_nothing_of_this_aborts_the_interpreter():
    """Arrays that change and models that close while other threads work on them."""
    program = """
import threading, numpy as np, afterstate_2048 as a2
boards = np.zeros((200_000, 4, 4), np.uint8)
model = a2.load()
def work():
    try:
        model.values(boards, threads=2)
    except ValueError as error:
        assert "closed" in str(error) or "exponent" in str(error) or "add up" in str(error), error
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
boards[100_000:] = 200
model.close()
for thread in threads: thread.join()
print("alive")
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (result.returncode, result.stdout) == (0, "alive\n"), result.stderr
