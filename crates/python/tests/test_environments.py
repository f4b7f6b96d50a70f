"""The environments of Gymnasium."""

import copy
import os
import pickle
import re
import warnings

import numpy as np
import oracle
import pytest
from common import ROOT, as_tuples

import afterstate_2048 as a2

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

ID = "afterstate_2048:Afterstate/2048-v0"
AFTERSTATES = "afterstate_2048:Afterstate/2048-Afterstates-v0"
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]


@pytest.mark.parametrize("name", [ID, AFTERSTATES])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_checker_has_nothing_to_say(name, size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name, size=size).unwrapped)


@pytest.mark.parametrize(
    "options",
    [{"observation": "one-hot"}, {"observation": "faces"}, {"reward": "log"}, {"illegal": "end"}, {"four": 0.5}],
)
def test_the_checker_has_nothing_to_say_of_options(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(ID, **options).unwrapped)


def episode(env, seed, rng):
    """Plays an episode with random actions: everything that came out."""
    observation, info = env.reset(seed=seed)
    seen = [(observation, 0.0, False, info["action_mask"])]
    done = False
    while not done:
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, done, truncated, info = env.step(action)
        assert not truncated
        seen.append((observation, reward, done, info["action_mask"], action))
    return seen


@pytest.mark.parametrize("size", [2, 3, 4])
def test_an_episode_follows_the_rules(size):
    env = gymnasium.make(ID, size=size)
    seen = episode(env, 5, np.random.default_rng(size))
    game = a2.Game(5, 0, size=size)
    assert (seen[0][0] == game.board).all()
    board = as_tuples(seen[0][0])
    for observation, reward, done, mask, action in seen[1:]:
        after, points, moved = oracle.slide(board, action)
        assert moved and reward == points
        game.play(action)
        assert (observation == game.board).all(), "the tiles of the numbered game"
        board = as_tuples(observation)
        assert board in [state for state, _ in oracle.spawns(after)]
        assert list(mask) == [int(oracle.slide(board, a)[2]) for a in range(4)] and mask.dtype == np.int8
        assert done == (not mask.any())
    assert env.unwrapped.score == game.score


def test_resets_with_numbers_boards_and_nothing():
    env = gymnasium.make(ID).unwrapped
    first, _ = env.reset(seed=3)
    second, _ = env.reset()
    assert (second == a2.Game(3, 1).board).all() and not (first == second).all()
    assert (env.reset(options={"game": 0})[0] == first).all()
    assert (env.reset()[0] == second).all(), "the one after it"
    for board in ("1234/0000/0000/0000", a2.from_text("1234/0000/0000/0000")):
        observation, info = env.reset(seed=1, options={"board": board})
        assert a2.to_text(observation) == "1234/0000/0000/0000"
        assert info["action_mask"].tolist() == [0, 0, 1, 0]
        assert env.action_masks().tolist() == [False, False, True, False]
    with pytest.raises(ValueError, match="no move is possible"):
        env.reset(options={"board": "1212/2121/1212/2121"})
    with pytest.raises(ValueError, match="unknown options"):
        env.reset(options={"bord": 1})
    other = gymnasium.make(ID).unwrapped
    assert not all((env.reset()[0] == other.reset()[0]).all() for _ in range(9)), "unseeded games differ"


def test_observations():
    board = a2.from_text("gh00/1b00/0000/0000")
    see = lambda **options: gymnasium.make(ID, **options).reset(seed=1, options={"board": board})[0]  # noqa: E731
    assert (see() == board).all()
    one_hot = see(observation="one-hot")
    assert (one_hot.argmax(axis=2) == board).all() and (one_hot.sum(axis=2) == 1).all()
    assert see(observation="faces")[0].tolist() == [65536, 131072, 0, 0]
    env = gymnasium.make(AFTERSTATES)
    observation, info = env.reset(seed=1, options={"board": board})
    afterstates, rewards, legal = a2.slides(board)
    assert (observation["afterstates"] == afterstates).all() and (observation["rewards"] == rewards).all()
    assert (info["action_mask"] == legal).all()


def test_rewards():
    board = a2.from_text("1100/0000/0000/0022")
    rewards = {
        "score": 4.0 + 8.0,
        "log": np.log2(13),
        lambda points, before, after: (
            points + 100 * (before > 0).sum((-2, -1)) + 1000 * (after > 0).sum((-2, -1))
        ): 12 + 400 + 3000,
    }
    for reward, expected in rewards.items():
        env = gymnasium.make(ID, reward=reward)
        env.reset(seed=1, options={"board": board})
        assert env.step(a2.LEFT)[1] == pytest.approx(expected)
        many = gymnasium.make_vec(ID, num_envs=3, reward=reward)
        many.reset(seed=1, options={"board": board})
        assert many.step(np.full(3, a2.LEFT))[1] == pytest.approx([expected] * 3)


def test_illegal_moves():
    board = a2.from_text("1230/0000/0000/0000")
    env = gymnasium.make(ID).unwrapped
    env.reset(seed=1, options={"board": board})
    observation, reward, terminated, _, info = env.step(a2.UP)
    assert (observation == board).all() and (reward, terminated) == (0, False) and info["action_mask"].any()
    env = gymnasium.make(ID, illegal="end").unwrapped
    env.reset(seed=1, options={"board": board})
    observation, reward, terminated, _, _ = env.step(a2.UP)
    assert (observation == board).all() and (reward, terminated) == (0, True)
    with pytest.raises(ValueError, match="reset it first"):
        env.step(a2.DOWN)
    env = gymnasium.make(ID, illegal="error").unwrapped
    env.reset(seed=1, options={"board": board})
    with pytest.raises(ValueError, match="up is illegal"):
        env.step(a2.UP)
    many = gymnasium.make_vec(ID, num_envs=3, illegal="error")
    many.reset(seed=1, options={"board": board})
    with pytest.raises(ValueError, match="illegal in environment 1"):
        many.step(np.array([a2.DOWN, a2.UP, a2.DOWN]))
    assert (many.unwrapped.boards == board).all(), "nothing has moved"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", [{}, {"observation": "one-hot", "illegal": "end"}, {"afterstates": True}])
def test_many_do_what_gymnasium_makes_of_one(mode, options):
    """The native vector environment against Gymnasium's own, step by step."""
    options = dict(options)
    name = AFTERSTATES if options.pop("afterstates", False) else ID
    count, rng = 5, np.random.default_rng(1)
    make = lambda: gymnasium.make(name, size=3, **options).unwrapped  # noqa: E731
    theirs = SyncVectorEnv([make] * count, autoreset_mode=mode)
    ours = gymnasium.make_vec(
        name, num_envs=count, vectorization_mode="vector_entry_point", size=3, autoreset_mode=mode, **options
    )
    assert ours.metadata["autoreset_mode"] == mode
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    same(ours.reset(seed=11), theirs.reset(seed=11))
    ended = 0
    for _ in range(600):
        actions = rng.integers(0, 4, count)
        found, expected = ours.step(actions), theirs.step(actions)
        same(found, expected)
        ended += found[2].sum()
        if mode == AutoresetMode.DISABLED and found[2].any():
            mask = found[2]
            observation, info = ours.reset(options={"reset_mask": mask})
            reference, _ = theirs.reset(options={"reset_mask": mask})
            same(observation, reference)
    assert ended > 10


def same(found, expected):
    """Whether two nests of arrays are equal, with the same types."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            same(found[key], expected[key])
    elif isinstance(expected, tuple):
        assert len(found) == len(expected)
        for pair in zip(found, expected):
            same(*pair)
    elif isinstance(expected, np.ndarray) and expected.dtype == object:
        assert [f is None for f in found] == [e is None for e in expected]
        for f, e in zip(found, expected):
            if e is not None:
                same(f, e)
    else:
        found, expected = np.asarray(found), np.asarray(expected)
        assert found.dtype == expected.dtype and np.array_equal(found, expected)


#: Enough for four threads.
MANY = 40_000


def games_of(count, threads, steps=100):
    env = gymnasium.make_vec(ID, num_envs=count, threads=threads)
    _, info = env.reset(seed=100)
    seen = []
    for step in range(steps):
        # What is played depends on the environment alone: one of its legal actions after another.
        legal_first = np.argsort(-info["action_mask"], axis=1, kind="stable")
        turn = step % np.maximum(info["action_mask"].sum(axis=1), 1)
        actions = legal_first[np.arange(count), turn]
        observation, reward, done, _, info = env.step(actions)
        seen.append((observation.copy(), reward, done))
    return seen


def test_the_same_games_for_any_number_of_environments_and_threads():
    one, many, threaded = games_of(1, 1), games_of(MANY, 1), games_of(MANY, 4)
    for single, first, second in zip(one, many, threaded):
        for a, b, c in zip(single, first, second):
            assert (a[0] == b[0]).all() and (b == c).all()


def test_disabled_autoreset_needs_a_reset():
    env = gymnasium.make_vec(ID, num_envs=2, size=2, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    while not (done := env.step(rng.integers(0, 4, 2))[2]).any():
        pass
    with pytest.raises(ValueError, match="reset it first"):
        env.step(np.zeros(2, np.int64))
    for bad, error in [
        (np.ones(3, np.bool_), ValueError),
        (np.ones(2, np.int8), TypeError),
        ([True, True], TypeError),
    ]:
        with pytest.raises(error, match="reset_mask"):
            env.reset(options={"reset_mask": bad})
    env.reset(options={"reset_mask": done})
    env.step(np.zeros(2, np.int64))


def test_pickles_and_copies_go_on_in_the_same_way():
    env = gymnasium.make(ID).unwrapped
    env.reset(seed=4)
    [env.step(a % 4) for a in range(30)]
    many = gymnasium.make_vec(ID, num_envs=6, size=3).unwrapped
    many.reset(seed=4)
    [many.step(np.full(6, a % 4)) for a in range(80)]
    for twin in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        original = pickle.loads(pickle.dumps(env))
        for a in range(40):
            same(twin.step(a % 4)[:3], original.step(a % 4)[:3])
    for twin in (pickle.loads(pickle.dumps(many)), copy.deepcopy(many)):
        original = pickle.loads(pickle.dumps(many))
        for a in range(200):
            same(twin.step(np.full(6, a % 4)), original.step(np.full(6, a % 4)))
        same(twin.reset(), original.reset())
    with pytest.raises(ValueError, match="not pickled"):
        a2._native.Environments.restored(b"{}")


def native_threads():
    """The number of threads of this process, where the system tells."""
    tasks = "/proc/self/task"
    return len(os.listdir(tasks)) if os.path.exists(tasks) else None


def test_few_environments_are_stepped_by_one_thread():
    env = gymnasium.make_vec(ID, num_envs=64, threads=3)
    env.reset(seed=1)
    before = native_threads()
    env.step(np.zeros(64, np.int64))
    assert native_threads() == before


def test_threads_after_a_fork():
    """Threads do not survive a fork; the environments do."""
    env = gymnasium.make_vec(ID, num_envs=MANY, threads=3)
    env.reset(seed=1)
    before = native_threads()
    env.step(np.zeros(MANY, np.int64))
    assert before is None or native_threads() == before + 2, "two beside the caller's"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        env.step(np.ones(MANY, np.int64))
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_pictures(capsys):
    board = a2.from_text("0123/4567/89ab/cdeg")
    env = gymnasium.make(ID, render_mode="rgb_array")
    env.reset(seed=1, options={"board": board})
    image = env.render()
    assert image.dtype == np.uint8 and image.shape[2] == 3 and image.shape[0] == image.shape[1]
    # Every tile has a colour of its own.
    side = image.shape[0] // 4
    assert len({image[r * side + 14, c * side + 14].tobytes() for r in range(4) for c in range(4)}) == 16
    env = gymnasium.make(ID, render_mode="ansi")
    env.reset(seed=1, options={"board": board})
    assert "16384" in env.render()
    env = gymnasium.make(ID, render_mode="human")
    env.reset(seed=1, options={"board": board})
    assert "16384" in capsys.readouterr().out
    many = gymnasium.make_vec(ID, num_envs=2, render_mode="rgb_array")
    many.reset(seed=1)
    assert [picture.shape for picture in many.render()] == [image.shape] * 2


def test_the_colours_are_those_of_the_page():
    from afterstate_2048 import render

    # Red and green as the CSS specification writes them.
    assert render._srgb(0.627955, 0.257683, 29.2339).tolist() == [255, 0, 0]
    assert render._srgb(0.86644, 0.294827, 142.4953).tolist() == [0, 255, 0]
    style = (ROOT / "crates/server/page/style.css").read_text()
    light = dict(re.findall(r"--([a-z-]+): (.*?);", style[: style.index("[data-theme=")]))
    ramp = [float(light[f"tile-{name}"]) for name in ("light", "step", "room", "turning", "hue", "turn")]
    assert ramp == [render.LIGHT, render.STEP, render.ROOM, render.TURNING, render.HUE, render.TURN]
    for name, colour in (("well", render.WELL), ("hole", render.HOLE)):
        assert light[name] == f"oklch({' '.join(map(str, colour))})"
    image = render.picture(a2.from_text("b000/0000/0000/0000"))
    lightness = 0.93 - 11 * 0.0365
    tile = render._srgb(lightness, min(0.028 + 11 * 0.0105, (1 - lightness) * 0.9), 172 + 11 * 11.5)
    assert image[14, 14].tolist() == tile.tolist() and image[0, 0].tolist() == render._srgb(*render.WELL).tolist()
    figures = image[10 : 10 + render.CELL, 10 : 10 + render.CELL]
    assert (figures == 255).all(axis=2).any(), "white figures on a dark tile"


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"size": 5}, ValueError, "size must be 2, 3 or 4"),
        ({"observation": "x"}, ValueError, 'observation must be one of "exponents"'),
        ({"illegal": "x"}, ValueError, "illegal must be one of"),
        ({"reward": "x"}, ValueError, "reward must be"),
        ({"four": -1}, ValueError, "probability"),
        ({"render_mode": "x"}, ValueError, "render_mode"),
    ],
)
def test_bad_options(options, error, text):
    from afterstate_2048.environments import Game2048, VectorGame2048

    for make in (Game2048, lambda **options: VectorGame2048(2, **options)):
        with pytest.raises(error, match=text):
            make(**options)


def test_bad_actions():
    env = gymnasium.make(ID).unwrapped
    env.reset(seed=1)
    for action, error in [(4, ValueError), (-1, ValueError), (1.5, TypeError), ("up", TypeError), (None, TypeError)]:
        with pytest.raises(error):
            env.step(action)
    many = gymnasium.make_vec(ID, num_envs=2).unwrapped
    many.reset(seed=1)
    for actions, error in [
        (np.array([0, 4]), ValueError),
        (np.zeros(3, np.int64), ValueError),
        (np.zeros(2), TypeError),
        ([0, 1], TypeError),
    ]:
        with pytest.raises(error):
            many.step(actions)
    many.step(np.array([0, 1], np.uint8))
    with pytest.raises(ValueError, match="a seed for each"):
        many.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match="not from 0"):
        many.reset(seed=[1, -2])


def test_wrappers_of_gymnasium_work():
    env = gymnasium.make_vec(ID, num_envs=4, size=2)
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    lengths = []
    for _ in range(200):
        info = env.step(rng.integers(0, 4, 4))[4]
        if "episode" in info:
            lengths += info["episode"]["l"][info["_episode"]].tolist()
    assert lengths and min(lengths) > 1
