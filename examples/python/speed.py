"""Steps per second of the environments, beside those of other packages that are installed.

    python speed.py --threads 1
    python speed.py --threads 2

Actions are random, legal ones where a package has masks, and choosing them is part of the time. The process is
bound to as many cores as there are threads.
"""

import argparse
import importlib
import os
import time
from collections.abc import Callable

import numpy as np

SECONDS = 1.0


def rate(step: Callable[[], int]) -> float:
    """Calls a function, which says how many steps it made, for some time: the best of three rates."""
    step()
    best = 0.0
    for _ in range(3):
        steps, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < SECONDS:
            steps += step()
        best = max(best, steps / elapsed)
    return best


def ours(count: int, threads: int) -> float:
    import gymnasium

    import afterstate_2048 as a2

    env = gymnasium.make_vec("afterstate_2048:Afterstate/2048-v0", num_envs=count, threads=threads)
    _, info = env.reset(seed=1)
    mask, rng = info["action_mask"], np.random.default_rng(1)

    def step() -> int:
        nonlocal mask
        for _ in range(10):
            mask = env.step(a2.random_actions(mask, rng))[4]["action_mask"]
        return 10 * count

    return rate(step)


def ours_single(make: bool) -> float:
    """One environment, with uniform actions chosen beforehand."""
    import gymnasium

    import afterstate_2048  # noqa: F401

    env = gymnasium.make("afterstate_2048:Afterstate/2048-v0")
    env = env if make else env.unwrapped
    env.reset(seed=1)
    actions = np.random.default_rng(1).integers(0, 4, 4096).tolist()

    def step() -> int:
        for action in actions:
            if env.step(action)[2]:
                env.reset()
        return len(actions)

    return rate(step)


def empty_single() -> float:
    """What Python itself takes: an environment whose step does nothing but make its tuple and its dict."""

    class Empty:
        observation, mask = np.zeros((4, 4), np.uint8), np.zeros(4, np.int8)

        def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, np.ndarray | int]]:
            return self.observation, 0.0, False, False, {"action_mask": self.mask, "score": 0}

    env, actions = Empty(), np.random.default_rng(1).integers(0, 4, 4096).tolist()

    def step() -> int:
        for action in actions:
            if env.step(action)[2]:
                pass
        return len(actions)

    return rate(step)


def gymnasium_2048(count: int) -> float:
    import gymnasium
    import gymnasium_2048  # noqa: F401
    from gymnasium.vector import SyncVectorEnv

    make = lambda: gymnasium.make("gymnasium_2048/TwentyFortyEight-v0").unwrapped  # noqa: E731
    env = SyncVectorEnv([make] * count)
    env.reset(seed=1)
    rng = np.random.default_rng(1)

    def step() -> int:
        env.step(rng.integers(0, 4, count))
        return count

    return rate(step)


def pgx(count: int) -> float:
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("2048")
    stepped = jax.vmap(auto_reset(env.step, env.init))

    def turn(carry, _):
        state, key = carry
        key, choose, spawn = jax.random.split(key, 3)
        logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
        actions = jax.random.categorical(choose, logits, axis=1)
        return (stepped(state, actions, jax.random.split(spawn, count)), key), None

    run = jax.jit(lambda state, key: jax.lax.scan(turn, (state, key), None, length=32)[0])
    key = jax.random.PRNGKey(1)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, count))

    def step() -> int:
        nonlocal state, key
        state, key = jax.block_until_ready(run(state, key))
        return 32 * count

    return rate(step)


def jumanji(count: int) -> float:
    import jax
    import jax.numpy as jnp
    import jumanji
    from jumanji.wrappers import VmapAutoResetWrapper

    env = VmapAutoResetWrapper(jumanji.make("Game2048-v1"))

    def turn(carry, _):
        state, mask, key = carry
        key, choose = jax.random.split(key)
        actions = jax.random.categorical(choose, jnp.log(mask.astype(jnp.float32)), axis=1)
        state, timestep = env.step(state, actions)
        return (state, timestep.observation.action_mask, key), None

    run = jax.jit(lambda *carry: jax.lax.scan(turn, carry, None, length=32)[0])
    key = jax.random.PRNGKey(1)
    state, timestep = jax.jit(env.reset)(jax.random.split(key, count))
    carry = (state, timestep.observation.action_mask, key)

    def step() -> int:
        nonlocal carry
        carry = jax.block_until_ready(run(*carry))
        return 32 * count

    return rate(step)


def values(count: int) -> None:
    """``model.values`` on many boards beside the same loop in Rust."""
    import afterstate_2048 as a2

    model, rng = a2.load(), np.random.default_rng(1)
    states = a2.spawn(np.zeros((count, 4, 4), np.uint8), rng)
    for _ in range(60):
        afterstates, _, legal = a2.slides(states)
        actions = a2.random_actions(legal, rng)
        states = a2.spawn(np.ascontiguousarray(afterstates[np.arange(len(states)), actions]), rng)
        states[~a2.legal_mask(states).any(axis=1)] = a2.from_text("1000/0000/0000/0000")
    boards = states
    out = np.empty(len(boards), np.float32)
    python, rust = [], []
    for _ in range(7):
        start = time.perf_counter()
        model.values(boards, out)
        python.append(time.perf_counter() - start)
        rust.append(model._batch_seconds(boards))
    print(
        f"\nvalues of {count:,} boards, one thread: Python {count / min(python) / 1e6:.2f} M/s,"
        f" Rust {count / min(rust) / 1e6:.2f} M/s,"
        f" ratio of times {min(python) / min(rust):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--envs", type=int, nargs="+", default=[1, 64, 1024, 16384])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each of three rounds")
    parser.add_argument("--boards", type=int, default=1_000_000, help="whose values are computed")
    options = parser.parse_args()
    global SECONDS
    SECONDS = options.seconds
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))[: options.threads]
        os.sched_setaffinity(0, cores)

    measures: dict[str, Callable[[int], float]] = {"afterstate_2048": lambda n: ours(n, options.threads)}
    peers = {"gymnasium_2048": gymnasium_2048, "pgx": pgx, "jumanji": jumanji}
    for name, measure in peers.items():
        try:
            importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed")
        else:
            measures[name] = measure
    print(f"steps per second, {options.threads} thread{'s' * (options.threads > 1)}")
    print(f"{'':<18}" + "".join(f"{count:>14,}" for count in options.envs))
    for name, measure in measures.items():
        print(f"{name:<18}", end="", flush=True)
        for count in options.envs:
            # A Python loop over 16,384 environments says nothing that 1,024 did not.
            skipped = name == "gymnasium_2048" and count > 1024
            print(f"{'–' if skipped else format(round(measure(count)), ',d'):>14}", end="", flush=True)
        print()
    if options.threads == 1:
        print(f"\none environment: {ours_single(False):,.0f} steps per second, {ours_single(True):,.0f} as made by gymnasium.make")
        print(f"an empty step: {empty_single():,.0f} per second")
        values(options.boards)


if __name__ == "__main__":
    main()
