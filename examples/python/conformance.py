"""Checks an implementation of 2048 against the test vectors of `afterstate conformance`.

    afterstate conformance > vectors.jsonl
    python conformance.py vectors.jsonl conformance_adapters:Gymnasium2048

The second argument names a class with `set(board)`, which puts sixteen exponents on the board, or `set = None`; `legal()`,
whether up, right, down and left are legal, or None; `step(action)`, which gives the board and the reward (or None for it);
and where `set` is None, `replay(game)`, which yields (legal, afterstate, reward) for the moves of a recorded game.
"""
import importlib, json, math, sys
from collections import Counter

SAMPLES = 4000  # new tiles for each afterstate whose spawns are counted

def check_move(env, vector):
    env.set(vector["board"])
    legal = env.legal()
    if legal is not None and bool(legal[vector["action"]]) != vector["legal"]:
        return f"says that the move is {'il' if vector['legal'] else ''}legal"
    if vector["legal"]:
        board, reward = env.step(vector["action"])
        if reward not in (None, vector["reward"]):
            return f"gives a reward of {reward}, which should be {vector['reward']}"
        changed = [i for i in range(16) if board[i] != vector["afterstate"][i]]
        if len(changed) != 1 or changed[0] not in vector["spawn_cells"] or board[changed[0]] not in (1, 2):
            return f"comes to {board}, which should be {vector['afterstate']} with one new 2 or 4"

def check_spawn(env, vector):
    counts = Counter()
    for _ in range(SAMPLES):
        env.set(vector["board"])
        board, _ = env.step(vector["action"])
        counts.update((i, board[i]) for i in range(16) if board[i] != vector["afterstate"][i])
    expected = {(o["cell"], o["exponent"]): SAMPLES * o["probability"] for o in vector["outcomes"]}
    if impossible := sorted(counts.keys() - expected.keys()):
        return f"puts tiles where none can be: {impossible}"
    chi2, freedom = sum((counts[o] - n) ** 2 / n for o, n in expected.items()), len(expected) - 1
    # Wilson and Hilferty: the cube root of chi-squared is nearly normal.
    z = ((chi2 / freedom) ** (1 / 3) - 1 + 2 / (9 * freedom)) / math.sqrt(2 / (9 * freedom))
    if (p := math.erfc(z / math.sqrt(2)) / 2) < 1e-4:
        return f"has other frequencies of new tiles: chi-squared {chi2:.1f}, p = {p:.1e}"

def check_game(env, vector):
    for number, (right, found) in enumerate(zip(vector["moves"], env.replay(vector), strict=True)):
        if [*map(list, found[:2]), found[2]] != [right["legal"], right["afterstate"], right["reward"]]:
            return f"differs at move {number}: {found} where {right} is right"

def main(path, adapter):
    module, name = adapter.split(":")
    env = getattr(importlib.import_module(module), name)()
    checks = {"game": check_game} if env.set is None else {"move": check_move, "spawn": check_spawn}
    checked, right = Counter(), Counter()
    for vector in map(json.loads, open(path)):
        if check := checks.get(kind := vector["kind"]):
            try:
                problem = check(env, vector)
            except Exception as error:  # what an environment cannot do is a fault of it, and no reason to stop
                problem = f"raises {error!r}"
            checked[kind], right[kind] = checked[kind] + 1, right[kind] + (not problem)
            if problem:
                print(f"{vector['why']}: {vector.get('board', '')} action {vector.get('action', '')}: {problem}")
    print(f"{name}: " + ", ".join(f"{right[kind]} of {n} {kind} vectors right" for kind, n in checked.items()))
    return 0 if checked and right == checked else 1

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
