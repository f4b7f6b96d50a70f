"""Ctrl-C ends what takes long, and other threads run meanwhile."""

import signal
import sys
import threading
import time

import numpy as np
import pytest
from common import random_boards

import afterstate_2048 as a2

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")


class Stop(Exception):
    pass


def interrupted(call, seconds=0.02):
    """Calls something until a signal handler raises, after so much processor time: what it took of that altogether.

    The clock would go on while other processes run, and the signal might come before the call has begun.
    """

    def handler(*_):
        raise Stop

    previous = signal.signal(signal.SIGPROF, handler)
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        with pytest.raises(Stop):
            call()
            while True:
                pass
        return time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def ends_early(call):
    """Fast processors need not much more for all of it than the timer's tick: the best of three tries counts."""

    def whole_call():
        start = time.process_time()
        call()
        return time.process_time() - start

    whole = min(whole_call() for _ in range(2))
    found = min(interrupted(call) for _ in range(3))
    assert found < 0.75 * whole, f"it went on to its end: {found} of {whole} s"


def test_what_does_not_look_at_signals_goes_on_to_its_end():
    """The measure itself, with a call that numpy completes."""
    numbers = np.random.default_rng(1).random(4_000_000)  # a stable sort of so many takes a while everywhere
    with pytest.raises(AssertionError, match="went on"):
        ends_early(lambda: np.sort(numbers, kind="stable"))


@pytest.fixture(scope="module")
def many():
    return np.tile(random_boards(1000), (8000, 1, 1))


@pytest.fixture(scope="module")
def exact():
    return a2.solve(2)


# Made before the clock runs; what is 0 takes no memory.
EMPTY = np.zeros((8_000_000, 4, 4), np.uint8)
BITS, ACTIONS = np.zeros(8_000_000, np.uint64), np.zeros(8_000_000, np.int64)
ONES = np.ones((3_000_000, 2, 2), np.uint8)
SMALL = a2.Learner("2x4")

CALLS = {
    "slide": lambda boards, _: a2.slide(boards, ACTIONS),
    "slides": lambda boards, _: a2.slides(boards[:4_000_000]),
    "legal_mask": lambda boards, _: a2.legal_mask(boards),
    "symmetries": lambda boards, _: a2.symmetries(boards[:1_000_000]),
    "canonical": lambda boards, _: a2.canonical(boards[:2_000_000]),
    "spawn": lambda boards, _: a2._native.spawn(EMPTY, BITS, 0.1),
    "spawns": lambda boards, _: a2.spawns(EMPTY[:100_000]),
    "to_text": lambda boards, _: a2._native.to_text(boards[:1_500_000]),
    "values of a solution": lambda _, exact: exact.values(EMPTY.reshape(-1, 2, 2)[:8_000_000]),
    "values of moves": lambda _, exact: exact.move_values(ONES),
    "values of a learner": lambda boards, _: SMALL.values(boards[:4_000_000]),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_end_early(name, many, exact):
    ends_early(lambda: CALLS[name](many, exact))


def test_what_was_written_before_the_signal_stays(many):
    out = np.full((len(many), 4), 7, np.uint8).view(np.bool_)
    interrupted(lambda: a2.legal_mask(many, out=out))
    written = out.view(np.uint8)[:, 0] != 7
    assert written[0] and not written[-1] and (np.diff(written.astype(np.int8)) <= 0).all()
    assert (out[written] == a2.legal_mask(many[written])).all()


def test_updates_learn_the_boards_before_the_signal(many):
    boards, targets = many[:400_000], np.ones(400_000, np.float32)
    learner, twin = a2.Learner("2x4"), a2.Learner("2x4")
    interrupted(lambda: learner.update(boards, targets))
    # Blocks of 4,096: the same as an update of so many boards.
    done, values = 0, learner.values(boards[:1000])
    while not (twin.values(boards[:1000]) == values).all():
        assert done < 400_000, "the values are those of some blocks"
        twin.update(boards[done : done + 4096], targets[done : done + 4096])
        done += 4096
    assert 0 < done < 400_000
    learner.update(boards[:10], targets[:10])


def test_a_bad_board_late_in_an_array_teaches_nothing():
    boards, targets = np.zeros((10_000, 4, 4), np.uint8), np.ones(10_000, np.float32)
    boards[9_999, 0, 0] = 18
    learner = a2.Learner("2x4")
    with pytest.raises(ValueError, match="board 9999: cell 0"):
        learner.update(boards, targets)
    assert (learner.values(boards[:10]) == 0).all()


def test_errors_name_the_board_of_later_blocks():
    boards = np.zeros((10_000, 4, 4), np.uint8)
    boards[5_000, 0, 0] = 18
    for call in (a2.slides, a2.legal_mask, a2.symmetries, a2.canonical, a2.spawns, a2.to_text):
        with pytest.raises(ValueError, match="board 5000: cell 0"):
            call(boards)
    with pytest.raises(ValueError, match="board 5000: cell 0"):
        a2.slide(boards, np.zeros(10_000, np.int64))
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="board 5000: cell 0"):
        a2.spawn(boards, rng)
    boards[5_000] = 1
    with pytest.raises(ValueError, match="afterstate 5000 has no empty cell"):
        a2.spawn(boards, rng)
    with pytest.raises(ValueError, match="afterstate 5000 has no empty cell"):
        a2.spawns(boards)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model of 256 MB, as a model file and as one of TDL2048+."""
    directory = tmp_path_factory.mktemp("large")
    learner = a2.Learner("4x6")
    boards = random_boards(2000)
    learner.update(boards, np.ones(2000, np.float32))
    learner.save(directory / "large.safetensors")
    a2.load(directory / "large.safetensors").export(directory / "large.w")
    yield learner, directory
    for file in directory.iterdir():
        file.unlink()


@pytest.mark.parametrize("name", ["save", "export", "export of a learner", "import"])
def test_files_stay_as_they_were(name, files):
    learner, directory = files
    target, loaded = directory / "target", a2.load(directory / "large.safetensors")
    calls = {
        "save": lambda: learner.save(target),
        "export": lambda: loaded.export(target),
        "export of a learner": lambda: learner.model().export(target),
        "import": lambda: a2.import_model(directory / "large.w", target),
    }
    target.write_text("as it was")
    before = sorted(directory.iterdir())
    interrupted(calls[name])
    assert target.read_text() == "as it was" and sorted(directory.iterdir()) == before, "no temporary file either"
    calls[name]()
    assert target.stat().st_size > 1 << 28


@pytest.mark.parametrize("name", ["large.safetensors", "large.w"])
def test_loading_ends_early(name, files):
    ends_early(lambda: a2.load(files[1] / name))


LEARNER = a2.Learner("4x6")
SHORT = {
    "slides": lambda boards, env: a2.slides(boards),
    "legal_mask": lambda boards, env: a2.legal_mask(boards),
    "values": lambda boards, env: LEARNER.values(boards[:8]),
    "update": lambda boards, env: LEARNER.update(boards[:8], np.zeros(8, np.float32)),
    "step": lambda boards, env: env.step(np.zeros(200, np.int64)),
    "reset": lambda boards, env: env.reset(None, list(range(200)), None, None),
    "boards": lambda boards, env: env.observe(),
}


@pytest.mark.parametrize("name", SHORT)
def test_other_threads_run_during_what_takes_more_than_a_microsecond(name):
    """Nobody takes the interpreter's lock away here: another thread runs only when the call gives it away."""
    # Looking at 200 environments is three short pieces of work.
    count = 2000 if name == "boards" else 200
    env = a2._native.Environments(
        count, size=4, four=0.1, observation="exponents", illegal="ignore", autoreset="next-step", threads=1
    )
    boards, call = random_boards(200), SHORT[name]
    gate, ran, calls = threading.Lock(), [], 0
    gate.acquire()

    def other():
        with gate:
            ran.append(True)

    thread = threading.Thread(target=other)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread.start()
        gate.release()
        deadline = time.monotonic() + 30
        while not ran and time.monotonic() < deadline:
            call(boards, env)
            calls += 1
        assert ran, f"{calls} calls have kept the lock"
    finally:
        sys.setswitchinterval(interval)
        thread.join()
