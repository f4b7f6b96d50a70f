"""Training by recipes, in the background."""

from __future__ import annotations

import atexit
import json
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Any

from . import _native
from ._native import Training

#: The trainings that may still be running.
_trainings: list[Training] = []


def _toml(value: object) -> str:
    """A value in TOML syntax."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return json.dumps(value)
        case list() | tuple():
            return "[" + ", ".join(_toml(one) for one in value) + "]"
        case Mapping():
            return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    raise TypeError(f"{value!r} cannot be used in a recipe: {type(value).__name__} is not a TOML type")


def _overrides(prefix: str, values: Mapping[str, object]) -> list[str]:
    """The overrides ``KEY=VALUE`` of a dict, which may be nested."""
    overrides = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            overrides += _overrides(f"{prefix}{key}.", value)
        else:
            overrides.append(f"{prefix}{key}={_toml(value)}")
    return overrides


def train(
    recipe: str | PathLike[str] | Mapping[str, Any],
    set: Mapping[str, object] | None = None,
    callback: Callable[[dict[str, Any]], object] | None = None,
    *,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    threads: int | None = None,
    seed: int | None = None,
) -> Training:
    """Start a run in the background.

    ``recipe`` is the name of a shipped recipe, a file, or a dict of the same sections and keys; with
    ``resume`` also the directory of a run. ``set`` overrides keys, such as ``{"budget.actions": 1e6}``
    or ``{"budget": {"actions": 1e6}}``. ``callback`` is called from the background thread with dicts
    whose ``"kind"`` is ``progress``, ``log``, ``evaluation`` or ``warning``; if it raises an
    exception, the training stops and ``wait`` raises that exception again.

    Everything is saved in the directory ``out`` (by default, ``runs/NAME``), also when the training is
    stopped or the interpreter exits.
    """
    text = None
    if isinstance(recipe, Mapping):
        text = "\n".join(f"{json.dumps(key)} = {_toml(value)}" for key, value in recipe.items())
        name = str(recipe.get("name", "python"))
    else:
        name = fspath(recipe)
    overrides = _overrides("", set or {})
    if threads is not None:
        overrides.append(f"parallel.threads={threads}")
    if seed is not None:
        overrides.append(f"seed={seed}")
    training = _native.train(name, text, overrides, out, resume, callback)
    _trainings[:] = [one for one in _trainings if not one.done]
    _trainings.append(training)
    return training



@atexit.register
def _stop_all() -> None:
    """Save running trainings: threads do not outlive the interpreter."""
    for training in _trainings:
        training.stop()
    for training in _trainings:
        try:
            training.wait()
        except Exception:  # noqa: BLE001  (nobody is left to handle it)
            pass


__all__ = ["Training", "train"]
