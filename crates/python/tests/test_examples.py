"""The examples run, with small budgets, where what they import is installed."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from common import ROOT, command

import afterstate_2048 as a2

EXAMPLES = ROOT / "examples" / "python"

needs_command = pytest.mark.skipif(command() is None, reason="the command has not been built")

#: What the notebook's cell of parameters is replaced by.
SMALL = {"seconds": 5, "counts": {"1ply": 20, "2ply": 5, "3ply": 1}}

#: Our environment as `conformance.py` wants it.
ADAPTER = """
import gymnasium
import numpy as np
import afterstate_2048 as a2

class Ours:
    def __init__(self):
        self.env = gymnasium.make("afterstate_2048:Afterstate/2048-v0").unwrapped
        self.env.reset(seed=1)

    def set(self, board):
        board = np.array(board, np.uint8).reshape(4, 4)
        # An episode cannot begin on a board without a legal move.
        self.over = not a2.legal_mask(board).any()
        if not self.over:
            self.env.reset(options={"board": board})

    def legal(self):
        return [False] * 4 if self.over else self.env.action_masks()

    def step(self, action):
        observation, reward, *_ = self.env.step(action)
        return observation.ravel().tolist(), reward
"""


def run(script, *arguments, cwd, path=None):
    paths = [str(path)] * (path is not None) + os.environ.get("PYTHONPATH", "").split(os.pathsep)
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    result = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        timeout=600,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def imported(name):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_td_on_afterstates(tmp_path):
    pytest.importorskip("matplotlib")
    output = run(EXAMPLES / "td_afterstates.py", "--moves", 40_000, "--tuples", "2x4", cwd=tmp_path)
    assert "40,000 moves" in output and (tmp_path / "curve.svg").read_text().count("<path") > 3


def test_the_notebook(tmp_path):
    """Its code cells one after the other, with less time to learn."""
    pytest.importorskip("matplotlib")
    cells = json.loads((EXAMPLES / "td_learning.ipynb").read_text())["cells"]
    code, replaced = [], 0
    for cell in cells:
        if cell["cell_type"] == "code":
            code.append("".join(cell["source"]))
            if "parameters" in cell["metadata"].get("tags", []):
                code += [f"{name} = {value!r}" for name, value in SMALL.items()]
                assert all(f"{name} = " in code[-1 - len(SMALL)] for name in SMALL)
                replaced += 1
    assert replaced == 1, "a cell is tagged as that of the parameters"
    (tmp_path / "notebook.py").write_text("\n\n".join(code))
    output = run(tmp_path / "notebook.py", cwd=tmp_path)
    assert "games in 5 seconds" in output and "3ply: mean score" in output


def test_policies_against_exact_values():
    """Those of the example, on 2×2: solving 3×3 takes too long here."""
    example, solution = imported("exact_values"), a2.solve(2)
    for policy in (example.corner, example.most_points, example.most_empty_cells):
        found = solution.evaluate(policy)
        assert 0 < found["score"] <= solution.expected + 0.01
        assert found["regret"] == pytest.approx(solution.expected - found["score"], abs=0.01)


@needs_command
def test_records(tmp_path):
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    subprocess.run(
        [command(), "record", "--games", "2", "--search", "1ply", "--out", tmp_path / "records"],
        check=True,
        capture_output=True,
    )
    output = run(EXAMPLES / "records.py", tmp_path / "records", cwd=tmp_path)
    assert "correlation" in output and all(move in output for move in a2.MOVES)


@needs_command
def test_our_environment_conforms(tmp_path):
    pytest.importorskip("gymnasium")
    vectors = subprocess.run([command(), "conformance"], check=True, capture_output=True).stdout
    (tmp_path / "vectors.jsonl").write_bytes(vectors)
    (tmp_path / "adapter.py").write_text(ADAPTER)
    output = run(
        EXAMPLES / "conformance.py", tmp_path / "vectors.jsonl", "adapter:Ours", cwd=tmp_path, path=tmp_path
    )
    counts = [json.loads(line)["kind"] for line in vectors.splitlines()]
    assert f"{counts.count('move')} of {counts.count('move')}" in output, output


def test_speed(tmp_path):
    pytest.importorskip("gymnasium")
    small = ["--seconds", 0.02, "--envs", 1, 64]
    output = run(EXAMPLES / "speed.py", "--threads", 1, "--boards", 2000, *small, cwd=tmp_path)
    assert "an empty step" in output and "ratio of times" in output
    assert "2 threads" in run(EXAMPLES / "speed.py", "--threads", 2, *small, cwd=tmp_path)
