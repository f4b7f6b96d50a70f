"""The stubs are what the package is, and mypy is content."""

import inspect
import subprocess
import sys

import pytest

import afterstate_2048 as a2

mypy = pytest.importorskip("mypy")

PROGRAM = """
import numpy as np
import afterstate_2048 as a2

boards = a2.from_text(["0000/0010/0100/0000"])
reveal_type(a2.slides(boards)[1])
reveal_type(a2.load().values(boards))
reveal_type(a2.Game(1, 2).score)
a2.slides([1, 2])
a2.load().advise(boards, search=3)
"""


def run(*arguments, cwd):
    return subprocess.run([sys.executable, "-m", "mypy", *arguments], capture_output=True, text=True, cwd=cwd)


def test_the_package_is_typed(tmp_path):
    result = run("--strict", "--ignore-missing-imports", "-p", "afterstate_2048", cwd=tmp_path)
    assert result.returncode == 0, result.stdout


def test_programs_are_checked(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    output = run("program.py", cwd=tmp_path).stdout
    assert "signedinteger[numpy._typing._nbit_base._32Bit]" in output or "int32" in output
    assert "floating[numpy._typing._nbit_base._32Bit]" in output or "float32" in output
    assert 'program.py:8: note: Revealed type is "builtins.int"' in output or '"int"' in output
    assert "program.py:9: error" in output and "program.py:10: error" in output


def test_the_stub_names_what_there_is(tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "afterstate_2048._native", "--ignore-missing-stub"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stdout


def test_everything_public_is_there_and_has_a_text():
    for name in a2.__all__:
        value = getattr(a2, name)
        assert not callable(value) or inspect.getdoc(value), name
