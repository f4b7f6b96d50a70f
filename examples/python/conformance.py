"""Checks an implementation of 2048 against the test vectors of `afterstate conformance`.

    afterstate conformance > vectors.jsonl
    python conformance.py vectors.jsonl conformance_adapters:Gymnasium2048

The second argument names a class with
    set(board)          puts sixteen exponents on the board, row by row (or `set = None` where that is impossible)
    legal()             whether each of up, right, down, left is legal, or None where the environment does not tell
    step(action)        makes a move and lets a tile appear; gives the board and the reward (or None for it)
    replay(game)        plays a recorded game with its tiles, and yields (legal, afterstate, reward) for each move, where it can
"""
import importlib, json, math, sys
from collections import Counter

SAMPLES = 4000  # new tiles for each afterstate whose spawns are counted

def check_move(env, vector):
    env.set(vector["board"])
    legal = env.legal()
    if legal is not None and bool(legal[vector["action"]]) != vector["legal"]:
        return f"says that the move is {'legal' if legal[vector['action']] else 'illegal'}"
    if not vector["legal"]:
        return None
    board, reward = env.step(vector["action"])
    if reward is not None and reward != vector["reward"]:
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
    if set(counts) - set(expected):
        return f"puts tiles where none can be: {sorted(set(counts) - set(expected))}"
    chi2, freedom = sum((counts[o] - n) ** 2 / n for o, n in expected.items()), len(expected) - 1
    # Wilson and Hilferty: the cube root of chi-squared is nearly normal.
    z = ((chi2 / freedom) ** (1 / 3) - 1 + 2 / (9 * freedom)) / math.sqrt(2 / (9 * freedom))
    p = math.erfc(z / math.sqrt(2)) / 2
    return f"has other frequencies of new tiles: chi-squared {chi2:.1f}, p = {p:.1e}" if p < 1e-4 else None

def check_game(env, vector):
    for number, (move, (legal, afterstate, reward)) in enumerate(zip(vector["moves"], env.replay(vector), strict=True)):
        if (list(legal), list(afterstate), reward) != (move["legal"], move["afterstate"], move["reward"]):
            return f"differs at move {number}: {legal}, {afterstate}, {reward} where {move} is right"

def main(path, adapter):
    module, name = adapter.split(":")
    env = getattr(importlib.import_module(module), name)()
    checks = {"game": check_game} if env.set is None else {"move": check_move, "spawn": check_spawn}
    checked, wrong = Counter(), Counter()
    for vector in map(json.loads, open(path)):
        if check := checks.get(vector["kind"]):
            checked[vector["kind"]] += 1
            try:
                problem = check(env, vector)
            except Exception as error:  # what an environment cannot do is a fault of it, and no reason to stop
                problem = f"raises {error!r}"
            if problem:
                wrong[vector["kind"]] += 1
                print(f"{vector['why']}: {vector.get('board', '')} action {vector.get('action', '')}: {problem}")
    print(f"{name}: " + ", ".join(f"{n - wrong[kind]} of {n} {kind} vectors right" for kind, n in checked.items()))
    return 1 if wrong or not checked else 0

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
