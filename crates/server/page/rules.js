// The rules of 2048 as far as the page needs them: texts, slides, and where each tile goes.
// Boards are arrays of exponents, row by row: 0 is empty, 1 is a 2, 11 is a 2048.

export const MOVES = ["up", "right", "down", "left"];
const DIGITS = "0123456789abcdefgh";

export const sideOf = (cells) => Math.sqrt(cells.length);
export const face = (exponent) => (exponent ? 2 ** exponent : 0);
export const emptyBoard = (side) => new Array(side * side).fill(0);
export const maxTile = (cells) => face(Math.max(...cells));
export const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

/** The text of a board; `between` goes between its rows. */
export function format(cells, between = "/") {
  const side = sideOf(cells);
  const text = cells.map((x) => DIGITS[x]).join("");
  return Array.from({ length: side }, (_, row) => text.slice(row * side, (row + 1) * side)).join(between);
}

/** A board from its text, as exponents (`0123/…`) or as face values (`2 4 0 …`); null when it is neither. */
export function parse(text) {
  const compact = text.trim().toLowerCase().replace(/[\s/|]+/g, "");
  if (/^[0-9a-h]+$/.test(compact) && [4, 9, 16].includes(compact.length)) return [...compact].map((c) => DIGITS.indexOf(c));
  const numbers = text.replace(/[.·_-]/g, "0").match(/\d+/g)?.map(Number) ?? [];
  if (![4, 9, 16].includes(numbers.length)) return null;
  const exponents = numbers.map((n) => (n === 0 ? 0 : Math.log2(n)));
  return exponents.every((x) => Number.isInteger(x) && x <= 17) && !numbers.includes(1) ? exponents : null;
}

/** The cells of line `i` in the order in which tiles pile up when sliding. */
function line(side, move, i) {
  const forward = move === "up" || move === "left";
  return Array.from({ length: side }, (_, k) => {
    const j = forward ? k : side - 1 - k;
    return move === "left" || move === "right" ? i * side + j : j * side + i;
  });
}

/** Slides a board: the afterstate, the reward, and for each tile where it comes from and goes to. */
export function slide(cells, move) {
  const side = sideOf(cells);
  const after = emptyBoard(side);
  const tracks = [];
  let reward = 0;
  for (let i = 0; i < side; i++) {
    const order = line(side, move, i);
    let next = 0;
    let open = false; // whether the last tile placed may still merge
    for (const from of order) {
      const tile = cells[from];
      if (!tile) continue;
      const last = order[next - 1];
      if (open && after[last] === tile) {
        after[last] = tile + 1;
        reward += face(tile + 1);
        tracks.push({ from, to: last, merges: true });
        open = false;
      } else {
        tracks.push({ from, to: order[next], merges: false });
        after[order[next++]] = tile;
        open = true;
      }
    }
  }
  return { cells: after, reward, tracks, legal: !same(cells, after) };
}

export const isOver = (cells) => MOVES.every((move) => !slide(cells, move).legal);

/** The move that leads from one board to another with at most one new tile, or null. */
export function moveBetween(before, after) {
  if (before.length !== after.length) return null;
  return MOVES.find((move) => {
    const slid = slide(before, move);
    return slid.legal && after.filter((x, i) => x !== slid.cells[i]).length <= 1 && after.every((x, i) => x === slid.cells[i] || !slid.cells[i]);
  }) ?? null;
}

/** A board in words, for those who listen to it. */
export function spoken(cells) {
  const side = sideOf(cells);
  const row = (r) => cells.slice(r * side, (r + 1) * side).map((x) => face(x) || "empty").join(", ");
  return Array.from({ length: side }, (_, r) => `row ${r + 1}: ${row(r)}`).join("; ");
}
