"""2048 for reinforcement learning: the rules in arrays, learned players, training, exact values.

Boards are numpy arrays of uint8 exponents (0 is empty, 1 is a 2, 11 is a 2048) whose last two axes
are rows and columns, of 4×4, 3×3 or 2×2 cells. Actions are 0 up, 1 right, 2 down, 3 left.

The environments are registered with Gymnasium if that is installed::

    gymnasium.make("afterstate_2048:Afterstate/2048-v0")
"""

from importlib.metadata import PackageNotFoundError, version

from ._native import Game, Learner, Model, Solution, import_model, load, recipes, solve
from .data import records, record_boards
from .models import Results, evaluate
from .rules import (
    DOWN,
    LEFT,
    MOVES,
    RIGHT,
    UP,
    canonical,
    draw,
    exponents,
    faces,
    from_text,
    legal_mask,
    perft,
    random_actions,
    slide,
    slides,
    spawn,
    spawns,
    symmetries,
    to_text,
)
from .training import Training, train

try:
    __version__ = version("afterstate-2048")
except PackageNotFoundError:
    __version__ = "unknown"

try:
    import gymnasium as _gymnasium
except ImportError:  # the rest works without it
    pass
else:
    from .environments import register as _register

    _register()

__all__ = [
    "DOWN",
    "LEFT",
    "MOVES",
    "RIGHT",
    "UP",
    "Game",
    "Learner",
    "Model",
    "Results",
    "Solution",
    "Training",
    "canonical",
    "draw",
    "evaluate",
    "exponents",
    "faces",
    "from_text",
    "import_model",
    "legal_mask",
    "load",
    "perft",
    "random_actions",
    "recipes",
    "record_boards",
    "records",
    "slide",
    "slides",
    "solve",
    "spawn",
    "spawns",
    "symmetries",
    "to_text",
    "train",
]
