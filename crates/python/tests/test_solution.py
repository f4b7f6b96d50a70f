"""Exact values against a naive solver."""

import functools

import numpy as np
import oracle
import pytest
from common import as_tuples

import afterstate_2048 as a2


@pytest.fixture(scope="module")
def solution():
    return a2.solve(2)


@functools.cache
def state_value(board):
    moves = [oracle.slide(board, action) for action in range(4)]
    return max((points + after_value(after) for after, points, moved in moves if moved), default=0.0)


@functools.cache
def after_value(board):
    return sum(p * state_value(state) for state, p in oracle.spawns(board))


def reachable():
    """Every state of 2×2 that a game can reach."""
    todo = [s for one, _ in oracle.spawns(((0, 0), (0, 0))) for s, _ in oracle.spawns(one)]
    seen = set(todo)
    while todo:
        board = todo.pop()
        for action in range(4):
            after, _, moved = oracle.slide(board, action)
            for state, _ in oracle.spawns(after) if moved else []:
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
    return sorted(seen)


def test_values_are_those_of_the_naive_solver(solution):
    boards = np.array(reachable(), np.uint8)
    afterstates, rewards, legal = a2.slides(boards)
    values = solution.values(afterstates)
    expected = np.array([[after_value(as_tuples(b)) for b in four] for four in afterstates])
    assert np.allclose(values[legal], expected[legal], atol=0.01)
    moves = solution.move_values(boards)
    assert np.isnan(moves[~legal]).all() and np.allclose(moves[legal], (rewards + expected)[legal], atol=0.01)
    assert solution.size == 2 and solution.objective == "score" and round(solution.expected, 2) == 66.96
    assert np.isnan(solution.values(np.array([[9, 9], [9, 9]], np.uint8)))


def test_files(solution, tmp_path):
    path = tmp_path / "2x2.solution"
    solution.save(path)
    opened = a2.Solution(path)
    assert (opened.expected, opened.states, opened.afterstates) == (solution.expected, 110, 67)
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        a2.Solution(path)


def test_the_exact_value_of_a_policy(solution):
    def first(boards):
        return a2.legal_mask(boards).argmax(axis=1)

    evaluation = solution.evaluate(first)
    assert round(evaluation["score"], 2) == 26.34
    assert evaluation["regret"] == pytest.approx(solution.expected - evaluation["score"], abs=0.01)
    assert evaluation["worst"] and evaluation["tiles"][4] > evaluation["tiles"][16]

    def best(boards):
        return np.nanargmax(solution.move_values(boards), axis=1)

    assert solution.evaluate(best)["regret"] == pytest.approx(0, abs=1e-6)


def test_policies_that_are_none(solution):
    with pytest.raises(TypeError, match="function"):
        solution.evaluate(7)
    with pytest.raises(ValueError, match="nothing would move"):
        solution.evaluate(lambda boards: a2.legal_mask(boards).argmin(axis=1))
    with pytest.raises(ZeroDivisionError):
        solution.evaluate(lambda boards: 1 / 0)
    with pytest.raises(ValueError, match="shape"):
        solution.evaluate(lambda boards: np.zeros(1, np.int64)[:0])


def test_chances_of_a_tile():
    goal = a2.solve(2, goal=16)
    assert goal.objective == "16" and 0 < goal.expected < 1
    assert a2.solve(2, goal=16, four=0.5).expected != goal.expected
