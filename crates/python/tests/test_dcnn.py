"""Convolutional networks: taught by the command, played from Python."""

import json
import subprocess

import numpy as np
import pytest
from common import command, random_boards

import afterstate_2048 as a2

pytestmark = pytest.mark.skipif(command() is None, reason="the command has not been built")

LAYERS, CHANNELS = 2, 8


def run(*arguments):
    return subprocess.run([command(), *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A network that was taught by the games of a small one."""
    path = tmp_path_factory.mktemp("dcnn")
    a2.Learner("0123 4567").save(path / "teacher.safetensors")
    records = ["--search", "1ply", "--games", "40", "--out", path / "records"]
    run("record", "--model", path / "teacher.safetensors", *records)
    size = ["--layers", str(LAYERS), "--channels", str(CHANNELS)]
    budget = ["--samples", "2000", "--batch", "100", "--buffer", "2000", "--test-every", "0"]
    run("dcnn", "train", "--records", path / "records", *size, *budget, "--out", path / "taught")
    return path / "taught"


def outputs_by_definition(weights, board):
    """kondo-2019, section 4.1: 2×2 convolutions over a border of zeros below and to the right, then one full layer."""
    image = np.stack([board == exponent for exponent in range(16)]).astype(np.float64)
    image[15] += board > 15
    for k in range(1, LAYERS + 1):
        filters, bias = weights[f"conv{k}.weight"], weights[f"conv{k}.bias"]
        padded = np.pad(image, ((0, 0), (0, 1), (0, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 2), axis=(1, 2))
        image = np.maximum(np.einsum("oidr,iyxdr->oyx", filters, windows) + bias[:, None, None], 0)
    return weights["fc.weight"] @ image.reshape(-1) + weights["fc.bias"]


def test_plain_play_takes_the_largest_output(directory):
    model = a2.load(directory)
    assert model.kind == "dcnn" and model.size == 4
    weights, boards = model.weights(), random_boards(300, seed=4)
    boards = boards[a2.legal_mask(boards).any(axis=1)]
    advice = model.advise(boards, search="plain")
    legal = a2.legal_mask(boards)
    assert np.array_equal(np.isnan(advice), ~legal)
    outputs = np.stack([outputs_by_definition(weights, board) for board in boards])
    assert (np.where(legal, outputs, -np.inf).argmax(axis=1) == np.nanargmax(advice, axis=1)).all()


def test_advice_of_many_is_advice_of_each(directory):
    model, boards = a2.load(directory), random_boards(50, seed=6)
    for search in ("majority", "plain", "sum"):
        together = model.advise(boards, search=search, threads=2)
        alone = np.stack([model.advise(board, search=search) for board in boards])
        assert np.allclose(together, alone, rtol=1e-4, atol=1e-6, equal_nan=True)


def test_the_games_are_those_of_the_command(directory):
    model = a2.load(directory)
    for search in ("majority", "plain"):
        report = json.loads(run("eval", directory, "--search", search, "--games", "4", "--json"))
        ours = a2.evaluate(model, games=4, search=search)
        assert (ours["score"], ours["moves"], ours["search"]) == (report["score"], report["moves"], search)


def test_what_a_policy_cannot_do(directory):
    model, boards = a2.load(directory), random_boards(3)
    with pytest.raises(ValueError, match="is a policy: it has no values"):
        model.values(boards)
    with pytest.raises(ValueError, match="no search `3ply`"):
        model.advise(boards, search="3ply")
    with pytest.raises(ValueError, match="4×4 boards, not 3×3"):
        model.advise(random_boards(3, size=3), search="plain")
