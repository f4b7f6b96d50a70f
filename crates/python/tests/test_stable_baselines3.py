"""The adapter to stable-baselines3."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402

from afterstate_2048.environments import Game2048  # noqa: E402
from afterstate_2048.stable_baselines3 import Sb3VecEnv  # noqa: E402
from test_examples import EXAMPLES, run  # noqa: E402


def test_it_does_what_their_own_adapter_does():
    ours, theirs = Sb3VecEnv(4, size=3), DummyVecEnv([lambda: Game2048(size=3)] * 4)
    ours.seed(7), theirs.seed(7)
    assert (ours.reset() == theirs.reset()).all()
    rng, ended = np.random.default_rng(1), 0
    for _ in range(400):
        actions = rng.integers(0, 4, 4)
        observation, rewards, dones, infos = ours.step(actions)
        reference, their_rewards, their_dones, their_infos = theirs.step(actions)
        assert (observation == reference).all() and (rewards == their_rewards).all()
        assert rewards.dtype == their_rewards.dtype and (dones == their_dones).all()
        assert (np.stack(ours.env_method("action_masks")) == np.stack(theirs.env_method("action_masks"))).all()
        for i in np.flatnonzero(dones):
            assert (infos[i]["terminal_observation"] == their_infos[i]["terminal_observation"]).all()
            ended += 1
    assert ended > 5


def test_maskable_ppo_takes_it():
    sb3_contrib = pytest.importorskip("sb3_contrib")
    env = Sb3VecEnv(8, observation="one-hot", reward="log", illegal="error")
    sb3_contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1).learn(512)


def test_the_example_of_masked_ppo(tmp_path):
    pytest.importorskip("sb3_contrib")
    output = run(EXAMPLES / "masked_ppo.py", "--steps", 1, "--envs", 4, cwd=tmp_path)
    assert "before: mean score" in output and "after 1 steps: mean score" in output
