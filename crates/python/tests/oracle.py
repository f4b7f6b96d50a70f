"""The rules of 2048, written as plainly as possible, without numpy and without the library."""

from __future__ import annotations

Board = tuple[tuple[int, ...], ...]


def slide_line(line: list[int]) -> tuple[list[int], int]:
    """A line towards its front: the tiles close up, then equal neighbours merge once, from the front."""
    tiles = [tile for tile in line if tile]
    merged, points = [], 0
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tiles.pop(0)
            tile += 1
            points += 2**tile
        merged.append(tile)
    return merged + [0] * (len(line) - len(merged)), points


def slide(board: Board, action: int) -> tuple[Board, int, bool]:
    """What a move leaves, what it earns, and whether anything moved. Up, right, down, left."""
    size = len(board)
    result = [list(row) for row in board]
    points = 0
    for i in range(size):
        cells = {
            0: [(j, i) for j in range(size)],
            1: [(i, size - 1 - j) for j in range(size)],
            2: [(size - 1 - j, i) for j in range(size)],
            3: [(i, j) for j in range(size)],
        }[action]
        line, earned = slide_line([board[row][column] for row, column in cells])
        points += earned
        for (row, column), tile in zip(cells, line):
            result[row][column] = tile
    after = tuple(tuple(row) for row in result)
    return after, points, after != board


def empty(board: Board) -> list[tuple[int, int]]:
    return [(r, c) for r, row in enumerate(board) for c, tile in enumerate(row) if tile == 0]


def spawns(board: Board, four: float = 0.1) -> list[tuple[Board, float]]:
    """Every board that a new tile can make, with its probability."""
    cells = empty(board)
    found = []
    for row, column in cells:
        for tile, odds in ((1, 1 - four), (2, four)):
            new = [list(line) for line in board]
            new[row][column] = tile
            found.append((tuple(tuple(line) for line in new), odds / len(cells)))
    return found


def perft(board: Board, depth: int) -> int:
    if depth == 0:
        return 1
    total = 0
    for action in range(4):
        after, _, moved = slide(board, action)
        if moved:
            total += sum(perft(state, depth - 1) for state, _ in spawns(after))
    return total
