"""Plays `afterstate play` in a pseudo-terminal: python3 play.py AFTERSTATE DIRECTORY."""
import codecs, fcntl, os, pty, re, select, struct, sys, termios, time

PATIENCE = 120  # seconds for anything to appear
ROWS, COLUMNS = 30, 90


class Terminal:
    """A program in a terminal, and the characters on its screen."""

    def __init__(self, *arguments):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            os.environ["TERM"] = "xterm-256color"
            os.execv(AFTERSTATE, [AFTERSTATE, "play", "--games", GAMES, "--search", "1ply", *arguments])
        self.decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.rest, self.everything, self.ended = "", "", False
        self.clear()

    def clear(self):
        self.cells, self.row, self.column = [[" "] * COLUMNS for _ in range(ROWS)], 0, 0

    def text(self):
        return "\n".join("".join(row) for row in self.cells)

    def read(self, seconds):
        if not select.select([self.file], [], [], seconds)[0]:
            return
        try:
            data = os.read(self.file, 1 << 16)
        except OSError:  # the program has ended
            data = b""
        self.ended = not data
        text = self.decode(data)
        self.everything += text
        self.show(self.rest + text)

    def show(self, text):
        """Follows the few sequences that the program sends."""
        i = 0
        while i < len(text):
            if text[i] == "\x1b":
                sequence = re.match(r"\x1b(\[([?0-9;]*)([A-Za-z])|[^\[])", text[i:])
                if not sequence:
                    break  # the rest of it is still to come
                numbers, letter = sequence.group(2), sequence.group(3)
                if letter == "H":
                    row, column = (numbers.split(";") + ["1", "1"])[:2] if numbers else ("1", "1")
                    self.row, self.column = int(row) - 1, int(column) - 1
                elif letter == "J":
                    self.clear()
                i += sequence.end()
                continue
            if text[i] == "\r":
                self.column = 0
            elif text[i] == "\n":
                self.row = min(self.row + 1, ROWS - 1)
            elif self.row < ROWS and self.column < COLUMNS:
                self.cells[self.row][self.column] = text[i]
                self.column += 1
            i += 1
        self.rest = text[i:]

    def type(self, keys):
        os.write(self.file, keys.encode())

    def until(self, pattern):
        """Waits until the screen shows it."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.text())):
            assert time.monotonic() < end and not self.ended, f"no `{pattern}` on\n{self.text()}"
            self.read(0.2)
        return found

    def moves(self):
        return int(self.until(r"moves (\d+) ").group(1))

    def board(self):
        """The rows of the board, once the screen has come to rest."""
        shown = None
        while shown != self.everything:
            shown = self.everything
            self.read(0.3)
        rows = [line.split() for line in self.text().split("\n") if re.fullmatch(r"\s*((·|\d+)\s+){3}(·|\d+)\s*", line)]
        assert len(rows) == 4, self.text()
        return rows

    def slide(self):
        """Makes a move that is possible."""
        before, rows = self.moves(), self.board()
        columns = [list(column) for column in zip(*rows)]

        def moves(line):  # towards its beginning
            return any(b != "·" and a in ("·", b) for a, b in zip(line, line[1:]))

        keys = {"\x1b[D": rows, "w": columns, "\x1b[C": [r[::-1] for r in rows], "s": [c[::-1] for c in columns]}
        self.type(next(key for key, lines in keys.items() if any(map(moves, lines))))
        self.until(rf"moves {before + 1} ")

    def echoes(self):
        return bool(termios.tcgetattr(self.file)[3] & termios.ECHO)

    def leave(self, key="q"):
        """Leaves, and gives what stays on the terminal."""
        self.type(key)
        end = time.monotonic() + PATIENCE
        while not self.ended:
            assert time.monotonic() < end, f"it does not end:\n{self.text()}"
            self.read(0.2)
        _, status = os.waitpid(self.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, self.everything
        os.close(self.file)
        return self.everything.split("\x1b[?1049l")[-1]


AFTERSTATE, GAMES = sys.argv[1:3]

# Nothing that is typed while the model loads is echoed, and it is not lost either.
game = Terminal("--game", "7")
while "loading" not in game.everything:
    assert not game.ended, game.everything
    game.read(PATIENCE)
assert not game.echoes(), "keys would be echoed"
game.type("h")
game.until(r"game 7")
game.until(r"(up|right|down|left) +\d+")
for number in range(1, 4):
    game.slide()
    assert game.moves() == number
game.type("h")
game.until(r"(up|right|down|left) +\d+")
game.type("u")
game.until(r"moves 2 ")
told = game.leave()
assert "Game 7: " in told and "2 moves" in told and "`afterstate play` continues it" in told, told

# The next session goes on with it, and can still take its moves back.
game = Terminal()
game.until(r"moves 2 ")
game.type("u")
game.until(r"moves 1 ")
game.slide()
game.slide()
told = game.leave("\x03")
assert "Game 7: " in told and "3 moves" in told, told

# A board of one's own.
game = Terminal("--from", "2 4 8 16  0 0 2 4  0 0 0 2  0 0 0 0")
game.until(r"best tile 16 ")
game.slide()
told = game.leave()
assert "afterstate review" in told and "goes on" not in told, told

# The model plays, faster and slower.
game = Terminal("--watch", "--game", "3")
game.type("+")
game.until(r"a move every 40 ms")
game.type("-")
game.until(r"a move every 100 ms")
game.until(r"moves [1-9]\d ")
game.type("p")
game.until(r"h hint")
told = game.leave()
assert "play it again: afterstate play --game 3" in told, told

# What was played since has not taken the place of the unfinished game.
game = Terminal()
game.until(r"moves 3 ")
game.leave()
