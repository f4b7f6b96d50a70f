"""Learning from targets that Python computes."""

import numpy as np
import pytest
from common import random_boards

import afterstate_2048 as a2


def boards_and_targets(count, seed=1):
    rng = np.random.default_rng(seed)
    return random_boards(count, seed=seed), rng.normal(0, 100, count).astype(np.float32)


def test_a_fixed_rate_moves_each_value_by_its_share():
    learner = a2.Learner("0123")
    board, target = a2.from_text(["1234/0000/0000/0000"]), np.array([80], np.float32)
    assert learner.update(board, target, rule="td", rate=0.25) == 80
    # No line of the board is like another, so that each weight has its share once.
    images = a2.symmetries(board[0])
    shares = {row.tobytes() for row in images.reshape(8, 16)[:, :4]}
    counts = [sum(row.tobytes() == share for row in images.reshape(8, 16)[:, :4]) for share in shares]
    assert learner.values(board)[0] == pytest.approx(20 * sum(n * n for n in counts) / 8)


def naive_tc(tuples, boards, targets, rate):
    """Temporal coherence by its definition, with dicts (jaskowski-2016, Algorithm 4)."""
    v, e, a = {}, {}, {}
    for board, target in zip(boards, targets):
        features = [
            (i, tuple(int(image[int(cell, 16)]) for cell in cells))
            for image in a2.symmetries(board).reshape(8, 16)
            for i, cells in enumerate(tuples)
        ]
        error = float(target) - sum(v.get(f, 0.0) for f in features)
        for f in features:
            alpha = abs(e.get(f, 0.0)) / a[f] if a.get(f) else 1.0
            v[f] = v.get(f, 0.0) + rate * alpha * error / len(features)
            e[f], a[f] = e.get(f, 0.0) + error, a.get(f, 0.0) + abs(error)
    return v


def test_temporal_coherence_is_the_papers():
    tuples = ["0123", "0145"]
    boards, targets = boards_and_targets(300)
    boards = np.minimum(boards[:60], 3)[np.random.default_rng(4).integers(0, 60, 300)]
    learner = a2.Learner(" ".join(tuples))
    learner.update(boards, targets, rate=0.5)
    expected = naive_tc(tuples, boards, targets, 0.5)
    tables = [table for _, table in learner.tables()]
    for (i, tiles), value in expected.items():
        index = sum(tile << (4 * k) for k, tile in enumerate(tiles))
        assert tables[i][index] == pytest.approx(value, rel=1e-3, abs=1e-2)


@pytest.mark.parametrize("rule", ["td", "tc", "autostep"])
def test_one_update_of_many_is_many_updates_of_one(rule):
    boards, targets = boards_and_targets(200)
    together, apart = a2.Learner("2x4"), a2.Learner("2x4")
    errors = together.update(boards, targets, rule, rate=0.5)
    for i in range(200):
        assert apart.update(boards[i], targets[i : i + 1].reshape(()), rule, rate=0.5) == errors[i]
    assert (together.values(boards) == apart.values(boards)).all()


def test_learning_reduces_errors():
    learner = a2.Learner("4x6")
    boards, targets = boards_and_targets(2000)
    first = np.abs(learner.update(boards, targets)).mean()
    for _ in range(5):
        last = np.abs(learner.update(boards, targets)).mean()
    assert last < 0.3 * first


def test_optimistic_values_and_smaller_boards():
    learner = a2.Learner("012345", size=3, tile_values=11, initial=700)
    boards = random_boards(20, 3)
    boards[boards > 9] = 0
    assert (learner.values(boards) == 700).all() and learner.size == 3
    assert learner.weights == 11**6 and learner.spec["tuples"] == "012345"


def test_models_of_learners_see_what_they_learn(tmp_path):
    learner = a2.Learner("2x4")
    model = learner.model()
    boards, targets = boards_and_targets(500)
    learner.update(boards, targets)
    assert (model.values(boards) == learner.values(boards)).all()
    assert len(model.play(3).score) == 3
    learner.save(tmp_path / "m.safetensors")
    again = a2.Learner(model=tmp_path / "m.safetensors")
    assert (again.values(boards) == learner.values(boards)).all()
    tables = dict(learner.tables())
    assert all((tables[name] == view).all() for name, view in a2.load(tmp_path / "m.safetensors").weights().items())


def test_td_in_numpy_learns_to_play():
    """TD(0) on afterstates, many games at once: ten lines."""
    learner, rng = a2.Learner("4x6"), np.random.default_rng(1)
    states = a2.spawn(a2.spawn(np.zeros((64, 4, 4), np.uint8), rng), rng)
    last = None
    for _ in range(1500):
        afterstates, rewards, legal = a2.slides(states)
        returns = np.where(legal, rewards + learner.values(afterstates), -np.inf)
        best = returns.argmax(axis=1)
        over = ~legal.any(axis=1)
        if last is not None:
            learner.update(last, np.where(over, 0, returns.max(axis=1)).astype(np.float32))
        last = afterstates[np.arange(64), best]
        last[over] = a2.spawn(np.zeros((int(over.sum()), 4, 4), np.uint8), rng)
        states = a2.spawn(last, rng)
    assert learner.model().play(100).score.mean() > 2500, "random play has 1,100"
