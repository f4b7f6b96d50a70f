"""Environments of other programs for conformance.py. Each needs its package: gymnasium-2048, pgx or open_spiel."""


class Gymnasium2048:
    """gymnasium-2048 from PyPI."""

    def __init__(self):
        import gymnasium
        import gymnasium_2048  # noqa: F401, registers the environment

        self.env = gymnasium.make("gymnasium_2048/TwentyFortyEight-v0").unwrapped
        self.env.reset(seed=1)

    def set(self, board):
        import numpy

        self.env.board = numpy.array(board, dtype=numpy.uint8).reshape(4, 4)

    def legal(self):
        return [self.env.apply_action(self.env.board, action)[2] for action in range(4)]

    def step(self, action):
        _, reward, _, _, info = self.env.step(action)
        return [int(exponent) for exponent in info["board"].ravel()], int(reward)


class Pgx:
    """pgx from PyPI: 2048."""

    ACTIONS = [1, 2, 3, 0]  # its actions are left, up, right, down

    def __init__(self):
        import jax
        import pgx
        from pgx.play2048 import _legal_action_mask

        self.jax, self.env = jax, pgx.make("2048")
        self.key = jax.random.PRNGKey(1)
        self.first = self.env.init(self.key)
        self.jitted, self.mask = jax.jit(self.env.step), jax.jit(_legal_action_mask)

    def set(self, board):
        exponents = self.jax.numpy.array(board, dtype=self.jax.numpy.int32)
        mask = self.mask(exponents.reshape(4, 4))
        self.state = self.first.replace(_board=exponents, legal_action_mask=mask)

    def legal(self):
        return [bool(self.state.legal_action_mask[action]) for action in self.ACTIONS]

    def step(self, action):
        self.key, key = self.jax.random.split(self.key)
        self.state = self.jitted(self.state, self.ACTIONS[action], key)
        return [int(exponent) for exponent in self.state._board], int(self.state.rewards[0])


class OpenSpiel:
    """OpenSpiel from PyPI: boards cannot be set, but its chance nodes take the tiles of a recorded game."""

    set = None

    def __init__(self):
        import pyspiel

        self.game = pyspiel.load_game("2048")

    def replay(self, game):
        state = self.game.new_initial_state()
        for tile in game["start"]:
            self.spawn(state, tile)
        for move in game["moves"]:
            legal = [action in state.legal_actions() for action in range(4)]
            state.apply_action(move["action"])
            board = [int(tile).bit_length() - 1 if tile else 0 for tile in map(int, str(state).split())]
            yield legal, board, int(state.rewards()[0])
            self.spawn(state, move["spawn"])

    @staticmethod
    def spawn(state, tile):
        outcomes = dict(state.chance_outcomes())
        action = 2 * tile["cell"] + tile["exponent"] - 1
        twos = [outcomes[a] for a in outcomes if a % 2 == 0]
        fours = [outcomes[a] for a in outcomes if a % 2 == 1]
        assert abs(sum(twos) - 0.9) < 1e-6 and abs(sum(fours) - 0.1) < 1e-6, (sum(twos), sum(fours))
        state.apply_action(action)
