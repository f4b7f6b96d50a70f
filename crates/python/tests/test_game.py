"""Numbered games are those of the command."""

import copy
import json
import pickle
import subprocess

import numpy as np
import pytest
from common import ROOT, built_in, command

import afterstate_2048 as a2


def test_game_42_is_the_one_that_every_other_part_plays():
    game = a2.Game(1, 42)
    lines = (ROOT / "crates/game/tests/it/data/game-42.txt").read_text().splitlines()
    for line in lines:
        name, board, score = line.split()
        if name != "start":
            game.play(a2.MOVES.index(name))
        assert (a2.to_text(game.board), game.score) == (board, int(score))
    assert game.over and game.legal_actions == [] and game.moves == len(lines) - 1


def played(game, moves):
    for _ in range(moves):
        game.play(game.legal_actions[0])
    return game


@pytest.mark.parametrize("size", [2, 3, 4])
def test_copies_and_pickles_go_on_in_the_same_way(size):
    game = played(a2.Game(3, 5, size=size, four=0.5), 4)
    for twin in (copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert (twin.board == game.board).all() and twin.history == game.history
        there, here = played(twin, 1), played(copy.copy(game), 1)
        assert (there.board == here.board).all() and there.score == here.score
    assert game.moves == 4


def test_a_game_from_a_board():
    board = a2.from_text("123/450/000")
    game = a2.Game(1, 1, size=3, board=board)
    assert (game.board == board).all() and (game.score, game.moves) == (0, 0)


def test_illegal_moves_change_nothing():
    game = a2.Game(1, 1, board=a2.from_text("1230/0000/0000/0000"))
    with pytest.raises(ValueError, match="illegal"):
        game.play(a2.UP)
    assert game.moves == 0 and a2.to_text(game.board) == "1230/0000/0000/0000"


@pytest.mark.skipif(command() is None, reason="the command has not been built")
@pytest.mark.parametrize("search, games", [("1ply", 12), ("2ply", 2)])
def test_evaluations_are_those_of_the_command(search, games):
    arguments = ["eval", "--games", str(games), "--seed", "11", "--search", search, "--threads", "1", "--json"]
    output = subprocess.run([command(), *arguments], check=True, capture_output=True, text=True).stdout
    theirs, ours = json.loads(output), a2.evaluate(built_in(), games=games, seed=11, search=search, threads=2)
    assert ours.keys() == theirs.keys()
    for key in ("model", "search", "games", "seed", "score", "tiles", "moves"):
        assert ours[key] == theirs[key], key


def test_the_game_that_a_model_plays_is_the_numbered_one():
    model = built_in()
    results = model.play(3, seed=9, threads=1)
    game = a2.Game(9, 2)
    while not game.over:
        game.play(int(np.nanargmax(model.advise(game.board))))
    assert (game.score, game.moves) == (results.score[2], results.moves[2])
    assert a2.faces(game.board).max() == results.tile[2]
