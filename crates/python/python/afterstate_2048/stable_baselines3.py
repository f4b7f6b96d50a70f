"""The adapter to stable-baselines3: native environments as a ``VecEnv``.

::

    from sb3_contrib import MaskablePPO
    from afterstate_2048.stable_baselines3 import Sb3VecEnv

    MaskablePPO("MlpPolicy", Sb3VecEnv(64, observation="one-hot", reward="log")).learn(100_000)
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

from .environments import VectorGame2048


class Sb3VecEnv(VecEnv):  # type: ignore[misc, unused-ignore]
    """Many games as a ``VecEnv``. The options are those of ``VectorGame2048``."""

    def __init__(self, num_envs: int, **options: Any) -> None:
        self.games = VectorGame2048(num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **options)
        # The constructor of the base class queries the render mode.
        self._begin()
        super().__init__(
            num_envs, self.games.single_observation_space, self.games.single_action_space
        )

    def _begin(self) -> None:
        count = self.games.num_envs
        self._actions: npt.NDArray[Any] = np.zeros(count, np.int64)
        self._masks: npt.NDArray[np.bool_] = np.ones((count, 4), np.bool_)
        self._returns, self._lengths = np.zeros(count), np.zeros(count, np.int64)
        self._start = time.monotonic()

    def reset(self) -> Any:
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        observation, info = self.games.reset(seed=seeds)
        self._begin()
        self._masks = info["action_mask"].astype(np.bool_)
        self._reset_seeds()
        self._reset_options()
        return observation

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        observation, rewards, dones, _, info = self.games.step(self._actions)
        self._masks = info["action_mask"].astype(np.bool_)
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones):
            seconds = round(time.monotonic() - self._start, 6)
            infos[i]["terminal_observation"] = info["final_obs"][i]
            infos[i]["episode"] = {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": seconds}
            infos[i]["score"] = int(info["final_info"]["score"][i])
        self._returns[dones], self._lengths[dones] = 0, 0
        return observation, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        self.games.close()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions of each environment."""
        return self._masks

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        if attr_name == "action_masks":
            return [lambda i=i: self._masks[i] for i in self._chosen(indices)]
        value = getattr(self.games, attr_name)
        return [value for _ in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError(f"{attr_name} cannot be set: native environments have no attributes")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        if method_name == "action_masks":
            return [self._masks[i] for i in self._chosen(indices)]
        raise AttributeError(f"native environments have no method {method_name}")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        return [False for _ in self._chosen(indices)]

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        images = self.games.render()
        return images if images is not None else [None] * self.num_envs

    def _chosen(self, indices: int | Iterable[int] | None) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [indices] if isinstance(indices, int) else list(indices)
