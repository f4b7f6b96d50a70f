"""Training by recipes."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import afterstate_2048 as a2

SMALL = {
    "network": {"tuples": "2x4"},
    "learning": {"step_size": "tc", "beta": 1.0},
    "parallel": {"threads": 1},
    "budget": {"actions": 200_000},
    "evaluation": {"every": 100_000, "games": 20},
}


def log(directory):
    return [json.loads(line) for line in (Path(directory) / "log.jsonl").read_text().splitlines()]


def test_a_recipe_as_a_dict(tmp_path):
    events = []
    training = a2.train(SMALL, callback=events.append, out=tmp_path / "run", seed=3)
    outcome = training.wait()
    assert outcome["finished"] and outcome["actions"] == 200_000 and training.done
    assert training.directory == tmp_path / "run" and "2x4" in training.recipe and "seed = 3" in training.recipe
    kinds = {event["kind"] for event in events}
    assert {"progress", "evaluation"} <= kinds
    assert training.progress["actions"] == 200_000
    evaluations = [event for event in events if event["kind"] == "evaluation"]
    assert outcome["evaluation"]["score"] == evaluations[-1]["score"]
    report = a2.evaluate(tmp_path / "run", games=20)
    assert report["score"] == evaluations[-1]["score"], "the model that was saved is the one that was evaluated"


def test_stop_and_resume_come_to_the_same_model(tmp_path):
    whole = a2.train(SMALL, out=tmp_path / "whole").wait()
    training = a2.train(SMALL, set={"log.every_seconds": 1}, out=tmp_path / "parts")
    while not training.progress and not training.done:
        time.sleep(0.001)
    training.stop()
    training.wait()
    resumed = a2.train(tmp_path / "parts", resume=True).wait()
    assert whole["finished"] and resumed["finished"]
    one, other = ((tmp_path / run / "model.safetensors").read_bytes() for run in ("whole", "parts"))
    assert one == other


def test_what_a_callback_raises_ends_the_training(tmp_path):
    def callback(event):
        raise LookupError("enough")

    training = a2.train(SMALL, callback=callback, out=tmp_path / "run")
    with pytest.raises(LookupError, match="enough"):
        training.wait()
    assert training.done


def test_wait_with_a_timeout_and_with(tmp_path):
    with a2.train(SMALL, set={"budget": {"actions": 10**12}}, out=tmp_path / "run") as training:
        assert training.wait(0.05) is None and not training.done
        with pytest.raises(ValueError, match="another process is training|already holds a run"):
            a2.train(SMALL, out=tmp_path / "run")
    assert training.done and (tmp_path / "run" / "model.safetensors").exists()


def test_recipes_by_name(tmp_path):
    assert "quick" in a2.recipes()
    training = a2.train("quick", set={"budget.actions": 30_000, "network.tuples": "2x4"}, out=tmp_path / "run")
    assert training.wait()["actions"] >= 30_000


def test_the_interpreter_saves_what_it_trains_when_it_exits(tmp_path):
    program = f"""
import afterstate_2048 as a2
training = a2.train({{**{SMALL!r}, "budget": {{"actions": 10**12}}}}, out={str(tmp_path / "run")!r}, callback=lambda event: None)
while not training.progress: pass
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
    assert (tmp_path / "run" / "model.safetensors").exists()
