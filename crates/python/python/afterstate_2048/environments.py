"""Gymnasium environments: one game, or many that are stepped together by native threads.

An environment that was reset with a seed s plays the numbered games (s, 0), (s, 1), … one after the
other, which are those of ``Game(s, 0)`` and of the command. The i-th of many has the seed s + i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from . import _native
from .render import picture
from .rules import from_text

#: A function of points, board before and board after: of one environment, or arrays of many.
Reward: TypeAlias = "str | Callable[[Any, npt.NDArray[np.uint8], npt.NDArray[np.uint8]], Any]"

_TILES = 18


def _observation_space(observation: str, size: int) -> spaces.Space[Any]:
    board = (size, size)
    match observation:
        case "one-hot":
            return spaces.Box(0, 1, (*board, _TILES), np.uint8)
        case "faces":
            return spaces.Box(0, 131072, board, np.int32)
        case "afterstates":
            return spaces.Dict(
                {
                    "afterstates": spaces.Box(0, _TILES - 1, (4, *board), np.uint8),
                    "rewards": spaces.Box(0, 2**18, (4,), np.int32),
                }
            )
    return spaces.Box(0, _TILES - 1, board, np.uint8)


def _check_reward(reward: object) -> None:
    if not callable(reward) and reward not in ("score", "log"):
        raise ValueError(f'reward must be "score", "log" or a function, not {reward!r}')


def _read_options(options: dict[str, Any] | None) -> tuple[int | None, Any]:
    """The number of the game and the start board that the options request."""
    unknown = set(options or {}) - {"game", "board"}
    if unknown:
        raise ValueError(f"unknown options {sorted(unknown)}: there are game and board")
    number, board = ((options or {}).get(key) for key in ("game", "board"))
    return number, from_text(board) if isinstance(board, str) else board


class Game2048(gymnasium.Env[Any, Any]):
    """2048 as one environment.

    Args:
        size: The side of the board: 2, 3 or 4.
        four: The probability that a new tile is a 4.
        observation: ``exponents``, ``one-hot`` (an axis of 18), ``faces``, or ``afterstates``.
        reward: ``score``, ``log`` (log2 of 1 + the points), or a function of (points, board before,
            board after).
        illegal: The effect of an action that moves nothing: ``ignore`` (no new tile, no reward), ``end``
            (the episode terminates) or ``error`` (a ValueError).
        render_mode: ``ansi``, ``rgb_array`` or ``human`` (in the terminal).

    ``reset(seed=…, options={"game": number, "board": array or text})``. ``info["action_mask"]`` and
    ``action_masks()`` have the legal actions, ``info["score"]`` the score so far.
    """

    metadata = {"render_modes": ["ansi", "rgb_array", "human"], "render_fps": 4}

    def __init__(
        self,
        *,
        size: int = 4,
        four: float = 0.1,
        observation: str = "exponents",
        reward: Reward = "score",
        illegal: str = "ignore",
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(
                f"render_mode must be one of {self.metadata['render_modes']}, not {render_mode!r}"
            )
        _check_reward(reward)
        self._game = _native.Environments(
            1,
            size=size,
            four=four,
            observation=observation,
            illegal=illegal,
            autoreset="disabled",
            threads=1,
        )
        self._reward = reward
        self._seeded = False
        self.render_mode = render_mode
        self.observation_space = _observation_space(observation, size)
        self.action_space = spaces.Discrete(4)

    @property
    def board(self) -> npt.NDArray[np.uint8]:
        """The exponents of the current board."""
        board: npt.NDArray[np.uint8] = self._game.boards()[0]
        return board

    @property
    def score(self) -> int:
        """The score of the current game."""
        return self._game.observe_one()[2]

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions."""
        return self._game.observe_one()[1].astype(np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        number, board = _read_options(options)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**63))
        self._game.reset(None, None if seed is None else [seed], number, board)
        self._seeded = True
        observation, mask, score = self._game.observe_one()
        if self.render_mode == "human":
            self.render()
        return observation, {"action_mask": mask, "score": score}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if callable(self._reward):
            before = self.board
        observation, points, terminated, mask, score = self._game.step_one(action)
        if self._reward == "score":
            reward = float(points)
        elif self._reward == "log":
            reward = float(np.log2(1 + points))
        else:
            assert callable(self._reward)
            reward = float(self._reward(points, before, self.board))
        if self.render_mode == "human":
            self.render()
        return observation, reward, terminated, False, {"action_mask": mask, "score": score}

    def render(self) -> Any:
        if self.render_mode == "rgb_array":
            return picture(self.board)
        text = f"score {self.score}\n{_native.draw(self.board, True)}"
        if self.render_mode == "human":
            print(text)
            return None
        return text if self.render_mode == "ansi" else None


class AfterstateGame2048(Game2048):
    """2048 where the agent observes the results of its moves.

    The observation has the boards after each of the four moves, before the new tile (``afterstates``),
    and their points (``rewards``); the action picks one of them. The afterstate of an illegal move is
    the board itself: see the mask.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(observation="afterstates", **options)


class VectorGame2048(VectorEnv[Any, npt.NDArray[np.integer[Any]], npt.NDArray[Any]]):
    """Many games, stepped together by native threads.

    Args:
        num_envs: The number of environments.
        threads: The number of threads; 0 uses as many cores as there is enough work for.
        autoreset_mode: As in Gymnasium: ``NextStep``, ``SameStep`` or ``Disabled``.
        size, four, observation, reward, illegal: As for one environment; a reward function gets arrays.

    ``reset(options={"reset_mask": array, "game": number, "board": board})``.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        *,
        size: int = 4,
        four: float = 0.1,
        observation: str = "exponents",
        reward: Reward = "score",
        illegal: str = "ignore",
        threads: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "ansi", "rgb_array"):
            raise ValueError(f"render_mode must be ansi or rgb_array, not {render_mode!r}")
        _check_reward(reward)
        mode = AutoresetMode(autoreset_mode)
        self._games = _native.Environments(
            num_envs,
            size=size,
            four=four,
            observation=observation,
            illegal=illegal,
            autoreset=_AUTORESET[mode],
            threads=threads,
        )
        self._reward = reward
        self._mode = mode
        self._seeded = False
        self._over: npt.NDArray[np.bool_] = np.zeros(num_envs, np.bool_)
        self._all = np.ones(num_envs, np.bool_)
        self._all.flags.writeable = False
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.single_observation_space = _observation_space(observation, size)
        self.single_action_space = spaces.Discrete(4)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @property
    def boards(self) -> npt.NDArray[np.uint8]:
        """The exponents of the current boards."""
        return self._games.boards()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions of each environment."""
        return self._games.observe()[1].astype(np.bool_)

    def _info(self, mask: Any, score: Any, which: npt.NDArray[np.bool_]) -> dict[str, Any]:
        return {"action_mask": mask, "_action_mask": which, "score": score, "_score": which}

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        number, board = _read_options(options)
        super().reset(seed=seed if isinstance(seed, int) else None)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**63))
        if isinstance(seed, (int, np.integer)):
            seeds: list[int | None] | None = [int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = None if seed is None else list(seed)
        self._games.reset(mask, seeds, number, board)
        self._seeded = True
        self._over = self._over & ~mask if mask is not None else np.zeros_like(self._over)
        observation, masks, scores = self._games.observe()
        return observation, self._info(masks, scores, self._all if mask is None else mask)

    def step(
        self, actions: npt.NDArray[np.integer[Any]]
    ) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        before = self.boards if callable(self._reward) else None
        observation, points, terminated, masks, scores, finals = self._games.step(actions)
        infos = self._info(masks, scores, self._all)
        if finals is not None:
            infos.update(self._final_infos(*finals[:4]))
        rewards = self._rewards(points, before, finals)
        self._over = terminated
        return observation, rewards, terminated, np.zeros(self.num_envs, np.bool_), infos

    def _rewards(self, points: npt.NDArray[np.float64], before: Any, finals: Any) -> npt.NDArray[Any]:
        if self._reward == "score":
            return points
        if self._reward == "log":
            return np.log2(1 + points)
        assert callable(self._reward)
        after = self.boards
        if finals is not None:
            after[finals[0]] = finals[4]
        rewards = np.array(self._reward(points, before, after), np.float64)
        if rewards.shape != (self.num_envs,):
            raise ValueError(f"the reward function returned the shape {rewards.shape}, not ({self.num_envs},)")
        if self._mode == AutoresetMode.NEXT_STEP:
            rewards[self._over] = 0
        return rewards

    def _final_infos(
        self, index: npt.NDArray[np.int64], observations: Any, masks: Any, scores: Any
    ) -> dict[str, Any]:
        """Gymnasium's entries for episodes that ended in this step and were followed by others."""
        which = np.zeros(self.num_envs, np.bool_)
        which[index] = True
        final = np.full(self.num_envs, None, dtype=object)
        for i, env in enumerate(index):
            if isinstance(observations, dict):
                final[env] = {key: value[i] for key, value in observations.items()}
            else:
                final[env] = observations[i]
        all_masks = np.zeros((self.num_envs, 4), np.int8)
        all_masks[index] = masks
        all_scores = np.zeros(self.num_envs, np.int64)
        all_scores[index] = scores
        return {
            "final_obs": final,
            "_final_obs": which,
            "final_info": self._info(all_masks, all_scores, which),
            "_final_info": which,
        }

    def render(self) -> tuple[Any, ...] | None:
        if self.render_mode == "rgb_array":
            return tuple(picture(board) for board in self.boards)
        if self.render_mode == "ansi":
            return tuple(_native.draw(board, True) for board in self.boards)
        return None


class VectorAfterstateGame2048(VectorGame2048):
    """Many games where the agents observe the results of their moves."""

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        super().__init__(num_envs, observation="afterstates", **options)


_AUTORESET = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}


def register() -> None:
    """Register the environments with Gymnasium."""
    for name, one, many in [
        ("Afterstate/2048-v0", "Game2048", "VectorGame2048"),
        ("Afterstate/2048-Afterstates-v0", "AfterstateGame2048", "VectorAfterstateGame2048"),
    ]:
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point=f"{__name__}:{one}",
                vector_entry_point=f"{__name__}:{many}",
            )
