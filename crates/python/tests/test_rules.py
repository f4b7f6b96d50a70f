"""The rules in arrays against a naive oracle."""

import numpy as np
import oracle
import pytest
from common import ROOT, as_tuples, random_boards

import afterstate_2048 as a2

SIZES = [2, 3, 4]


@pytest.mark.parametrize("size", SIZES)
def test_slides_are_those_of_the_oracle(size):
    boards = random_boards(1500, size)
    afterstates, rewards, legal = a2.slides(boards)
    assert afterstates.shape == (1500, 4, size, size)
    assert (rewards.dtype, legal.dtype) == (np.int32, np.bool_)
    for i, board in enumerate(boards):
        for action in range(4):
            after, points, moved = oracle.slide(as_tuples(board), action)
            assert as_tuples(afterstates[i, action]) == after
            assert rewards[i, action] == points
            assert legal[i, action] == moved
    assert (a2.legal_mask(boards) == legal).all()
    for action in range(4):
        one = a2.slide(boards, np.full(1500, action))
        assert all((a == b[:, action]).all() for a, b in zip(one, (afterstates, rewards, legal)))


def test_the_largest_tiles_merge():
    board = a2.from_text("ff00/0000/g000/0001")
    afterstate, reward, moved = a2.slide(board, np.array(a2.LEFT))
    assert (a2.to_text(afterstate), int(reward), bool(moved)) == ("g000/0000/g000/1000", 65536, True)
    board = a2.from_text("gg00/0000/0000/0001")
    assert int(a2.slide(board, np.array(a2.LEFT))[1]) == 131072


@pytest.mark.parametrize("size", SIZES)
def test_spawns_are_those_of_the_oracle(size):
    boards = random_boards(200, size)
    boards = boards[(boards == 0).any(axis=(1, 2))]
    states, probabilities, index = a2.spawns(boards, four=0.25)
    found = {}
    for state, probability, i in zip(states, probabilities, index):
        found.setdefault(int(i), []).append((as_tuples(state), pytest.approx(probability)))
    for i, board in enumerate(boards):
        assert oracle.spawns(as_tuples(board), 0.25) == found[i]
    assert np.allclose(np.bincount(index, probabilities), 1)


def test_new_tiles_are_uniform_over_cells_and_a_four_comes_in_ten_percent():
    afterstates = np.broadcast_to(a2.from_text("1230/0456/7089/ab0c"), (40_000, 4, 4)).copy()
    states = a2.spawn(afterstates, np.random.default_rng(3))
    new = states.astype(int) - afterstates
    assert ((new > 0).sum(axis=(1, 2)) == 1).all()
    assert set(np.unique(new)) == {0, 1, 2}
    cells = (new > 0).reshape(-1, 16).sum(axis=0)
    # Four empty cells, 10,000 expected in each with a standard deviation of 87.
    assert (np.abs(cells[cells > 0] - 10_000) < 5 * 87).all() and (cells > 0).sum() == 4
    # 4,000 expected with a standard deviation of 60.
    assert abs((new == 2).sum() - 4_000) < 5 * 60
    again = a2.spawn(afterstates, np.random.default_rng(3))
    assert (states == again).all()


@pytest.mark.parametrize("four, tile", [(0.0, 1), (1.0, 2)])
def test_odds_of_nothing_and_of_everything(four, tile):
    afterstates = np.zeros((1000, 3, 3), np.uint8)
    assert (a2.spawn(afterstates, np.random.default_rng(), four=four).max(axis=(1, 2)) == tile).all()


def test_a_merge_on_a_full_board_is_followed_by_a_tile():
    board = a2.from_text("1123/4567/89ab/1234")
    game = a2.Game(7, 0, board=board)
    afterstate, reward = game.play(a2.LEFT)
    assert (reward, (afterstate == 0).sum()) == (4, 1)
    assert (game.board == 0).sum() == 0, "a tile has appeared"


@pytest.mark.parametrize("size", SIZES)
def test_symmetries(size):
    boards = random_boards(100, size)
    images = a2.symmetries(boards)
    for board, found in zip(boards, images):
        turned = [np.rot90(b, k) for b in (board, board.T) for k in range(4)]
        assert {b.tobytes() for b in turned} == {b.tobytes() for b in found}
    assert (images[:, 0] == boards).all()
    canonical = a2.canonical(boards)
    assert (a2.canonical(images) == canonical[:, None]).all()
    assert all(c.tobytes() == min(i.tobytes() for i in eight) for c, eight in zip(canonical, images))


def test_perft_has_the_published_counts():
    lines = (ROOT / "crates/game/tests/it/data/perft.txt").read_text().splitlines()
    checked = 0
    for line in lines:
        if line.startswith("#") or not line:
            continue
        text, *counts = line.split()
        board = a2.from_text(text)
        for depth, count in enumerate(map(int, counts), 1):
            if count < 2_000_000:
                assert a2.perft(board, depth) == count
            if count < 3_000:
                assert oracle.perft(as_tuples(board), depth) == count
                checked += 1
    assert checked > 20


def test_boards_as_text():
    texts = ["0000/0010/0100/000b", "1200/0000/0000/gh00"]
    boards = a2.from_text(texts)
    assert boards.shape == (2, 4, 4) and a2.to_text(boards) == texts
    assert a2.to_text(boards[0]) == texts[0]
    assert a2.to_text(boards[None]) == [texts]
    assert (a2.from_text("2 0 4 8") == [[1, 0], [2, 3]]).all()
    assert (a2.from_text("123/450/00a") == [[1, 2, 3], [4, 5, 0], [0, 0, 10]]).all()
    assert (a2.faces(boards[1])[3] == [65536, 131072, 0, 0]).all()
    assert (a2.exponents(a2.faces(boards)) == boards).all()
    assert "2048" in a2.draw(boards[0]) and "\x1b[" in a2.draw(boards[0], True)


def test_outputs_into_given_arrays():
    boards = random_boards(300)
    outs = (np.empty((300, 4, 4, 4), np.uint8), np.empty((300, 4), np.int32), np.empty((300, 4), np.bool_))
    found = a2.slides(boards, out=outs)
    assert all(a is b for a, b in zip(found, outs))
    assert all((a == b).all() for a, b in zip(outs, a2.slides(boards)))
    assert a2.legal_mask(boards, out=outs[2]) is outs[2]


def test_random_actions_are_legal_and_uniform():
    mask = np.array([[1, 0, 1, 1]] * 30_000 + [[0, 0, 0, 1]] * 5, np.int8)
    actions = a2.random_actions(mask, np.random.default_rng(1))
    assert mask[np.arange(len(mask)), actions].all()
    counts = np.bincount(actions[:30_000], minlength=4)
    # 10,000 expected with a standard deviation of 82.
    assert counts[1] == 0 and (np.abs(counts[[0, 2, 3]] - 10_000) < 5 * 82).all()
    for same in (mask.astype(np.bool_), -mask, mask * 64, mask * -128):
        assert (a2.random_actions(same, np.random.default_rng(1)) == actions).all(), "what is not 0 is legal"
    assert a2.random_actions(np.zeros((1, 4), np.int8), np.random.default_rng(1)) == [0]
