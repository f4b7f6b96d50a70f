"""Boards as images, in the colours of the page."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: The side of a cell and the gap between cells, in pixels.
CELL, GAP = 96, 10

_DIGITS = (
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00110 01000 10000 11111",
    "01110 10001 00001 00110 00001 10001 01110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
)


def _srgb(lightness: float, chroma: float, hue: float) -> npt.NDArray[np.uint8]:
    """The CSS colour ``oklch(lightness chroma hue)``."""
    a, b = chroma * np.cos(np.radians(hue)), chroma * np.sin(np.radians(hue))
    to_lms = np.array([[0.3963377774, 0.2158037573], [-0.1055613458, -0.0638541728], [-0.0894841775, -1.2914855480]])
    lms = (lightness + to_lms @ np.array([a, b])) ** 3
    to_rgb = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    linear = np.clip(to_rgb @ lms, 0, 1)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(np.round(255 * curved), np.uint8)


#: The light theme of the page, with the names of its ``style.css``: lightness and hue as functions of the exponent.
WELL, HOLE = (0.88, 0.018, 262), (0.955, 0.008, 262)
LIGHT, STEP, ROOM, TURNING, HUE, TURN = 0.93, -0.0365, 0.9, 0.575, 172, 11.5


def _tile(exponent: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """The colours of a tile and of its digits, as computed by ``board.css`` of the page."""
    lightness = LIGHT + exponent * STEP
    chroma = min(0.028 + 0.0105 * exponent, (1 - lightness) * ROOM)
    ink = float(lightness < TURNING)
    return _srgb(lightness, chroma, HUE + exponent * TURN), _srgb(ink, 0, 0)


_WELL, _HOLE = _srgb(*WELL), _srgb(*HOLE)


def _figures(text: str) -> npt.NDArray[np.bool_]:
    """A number as a pixel mask, as large as fits into a cell."""
    rows = [[_DIGITS[int(digit)].split()[row] for digit in text] for row in range(7)]
    mask = np.array([[pixel == "1" for pixel in "0".join(row)] for row in rows])
    scale = max(1, min((CELL - 16) // mask.shape[1], 6))
    return np.asarray(np.kron(mask, np.ones((scale, scale), np.bool_)), np.bool_)


def picture(board: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """A board of exponents as an RGB image."""
    size = board.shape[0]
    side = size * CELL + (size + 1) * GAP
    image = np.empty((side, side, 3), np.uint8)
    image[:] = _WELL
    for row in range(size):
        for column in range(size):
            top, left = (GAP + i * (CELL + GAP) for i in (row, column))
            cell = image[top : top + CELL, left : left + CELL]
            exponent = int(board[row, column])
            if exponent == 0:
                cell[:] = _HOLE
                continue
            cell[:], ink = _tile(exponent)
            figures = _figures(str(1 << exponent))
            y, x = (CELL - figures.shape[0]) // 2, (CELL - figures.shape[1]) // 2
            cell[y : y + figures.shape[0], x : x + figures.shape[1]][figures] = ink
    return image
