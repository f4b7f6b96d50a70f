// The random stream of a numbered game, the same as the server's: xoshiro256++ seeded through SplitMix64. It lets a new
// tile appear at once; the server confirms it a moment later.

const WORD = (1n << 64n) - 1n;
const FOUR = BigInt(Math.floor(0.1 * 2 ** 32)); // if the lower half of a number is below this, the tile is a 4
const SEED = 1;

const rotate = (x, by) => ((x << by) | (x >> (64n - by))) & WORD;

function* splitMix(state) {
  for (;;) {
    state = (state + 0x9e3779b97f4a7c15n) & WORD;
    let z = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & WORD;
    yield z ^ (z >> 31n);
  }
}

const scatter = (x) => splitMix(x).next().value;

/** A position in a game's stream, `SEED-GAME-DRAWN`. Immutable: drawing returns the next position. */
export class Stream {
  constructor(seed, game, drawn, state) {
    Object.assign(this, { seed, game, drawn, state });
  }

  /** The beginning of a numbered game's stream. */
  static of(seed, game) {
    const words = splitMix(scatter((scatter(BigInt(seed)) + BigInt(game)) & WORD));
    return new Stream(seed, game, 0, [0, 1, 2, 3].map(() => words.next().value));
  }

  /** Parses a stream; null if it is invalid. */
  static parse(text) {
    const numbers = /^(\d{1,16})-(\d{1,16})-(\d{1,6})$/.exec(text)?.slice(1).map(Number);
    if (!numbers || !numbers.every(Number.isSafeInteger)) return null;
    let stream = Stream.of(numbers[0], numbers[1]);
    for (let i = 0; i < numbers[2]; i++) stream = stream.draw().stream;
    return stream;
  }

  toString() {
    return `${this.seed}-${this.game}-${this.drawn}`;
  }

  draw() {
    const [a, b, c, d] = this.state;
    const bits = (rotate((a + d) & WORD, 23n) + a) & WORD;
    const [x, y] = [c ^ a, d ^ b];
    const state = [a ^ y, b ^ x, x ^ ((b << 17n) & WORD), rotate(y, 45n)];
    return { bits, stream: new Stream(this.seed, this.game, this.drawn + 1, state) };
  }

  /** Adds the next tile to a board: returns the board and the stream after it. */
  spawn(cells) {
    const { bits, stream } = this.draw();
    const free = cells.flatMap((tile, cell) => (tile ? [] : [cell]));
    const next = [...cells];
    next[free[Number(((bits >> 32n) * BigInt(free.length)) >> 32n)]] = (bits & 0xffffffffn) < FOUR ? 2 : 1;
    return { cells: next, stream };
  }
}

/** A number for a game requested without one. */
export const someNumber = () => Math.floor(Math.random() * 1e6);

/** A stream for continuing from some position. */
export const freshStream = () => Stream.of(SEED, someNumber());

/** The first board of a numbered game, and its stream. */
export function firstBoard(side, game, seed = SEED) {
  const one = Stream.of(seed, game).spawn(new Array(side * side).fill(0));
  return one.stream.spawn(one.cells);
}
