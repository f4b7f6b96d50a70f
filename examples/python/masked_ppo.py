"""Masked PPO with stable-baselines3 and sb3-contrib.

    pip install sb3-contrib
    python masked_ppo.py --steps 2000000

The policy sees one plane for each kind of tile; illegal moves are masked, so that it never makes one.
"""

import argparse

import numpy as np
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import VecMonitor

from afterstate_2048.stable_baselines3 import Sb3VecEnv


def play(model: MaskablePPO, games: int, seed: int) -> list[int]:
    """The scores of so many games at once, played by the most probable moves."""
    env = Sb3VecEnv(games, observation="one-hot", illegal="error")
    env.seed(seed)
    observation, scores = env.reset(), {}
    while len(scores) < games:
        actions, _ = model.predict(observation, action_masks=get_action_masks(env), deterministic=True)
        observation, _, dones, infos = env.step(actions)
        for i in np.flatnonzero(dones):
            scores.setdefault(int(i), infos[i]["score"])
    return list(scores.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2_000_000)
    parser.add_argument("--envs", type=int, default=64)
    options = parser.parse_args()

    env = VecMonitor(Sb3VecEnv(options.envs, observation="one-hot", reward="log", illegal="error"))
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=128,
        batch_size=1024,
        gamma=0.997,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [256, 256]},
        verbose=1,
        seed=1,
    )
    print(f"before: mean score {np.mean(play(model, 100, seed=1000)):,.0f}")
    model.learn(options.steps)
    print(f"after {options.steps:,} steps: mean score {np.mean(play(model, 100, seed=1000)):,.0f}")


if __name__ == "__main__":
    main()
