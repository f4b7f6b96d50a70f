// The part of the rules of 2048 that the page needs: texts, slides, and where each tile goes.
// Boards are arrays of exponents, row by row: 0 is empty, 1 is a 2, 11 is a 2048.

export const MOVES = ["up", "right", "down", "left"];
const DIGITS = "0123456789abcdefgh";

export const sideOf = (cells) => Math.sqrt(cells.length);
export const face = (exponent) => (exponent ? 2 ** exponent : 0);
export const emptyBoard = (side) => new Array(side * side).fill(0);
export const maxTile = (cells) => face(Math.max(...cells));
export const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

/** The text of a board; `between` separates its rows. */
export function format(cells, between = "/") {
  const side = sideOf(cells);
  const text = cells.map((x) => DIGITS[x]).join("");
  return Array.from({ length: side }, (_, row) => text.slice(row * side, (row + 1) * side)).join(between);
}

/**
 * Parses a board, given as exponents (`0123/…`) or as face values (`2 4 0 …`); null if it is neither. As on the server,
 * the number of words tells them apart: one word a cell is face values, whole rows are exponents.
 */
export function parse(text) {
  const words = text.trim().toLowerCase().replace(/[.·_]/g, "0").split(/[\s/|,;]+/).filter(Boolean);
  const compact = words.join("");
  const side = words.length === 1 ? Math.sqrt(compact.length) : words.length;
  const areRows = [2, 3, 4].includes(side) && words.every((word) => words.length === 1 || word.length === side) && /^[0-9a-h]+$/.test(compact);
  const isSmallest = words.length === 4 && !areRows; // the four face values of 2×2
  if (areRows) return possible([...compact].map((c) => DIGITS.indexOf(c)));
  if (!isSmallest && ![9, 16].includes(words.length)) return null;
  const exponents = words.map((word) => (/^\d+$/.test(word) ? (Number(word) === 0 ? 0 : Math.log2(Number(word))) : NaN));
  return exponents.every((x) => Number.isInteger(x) && x <= 17) && !words.includes("1") ? possible(exponents) : null;
}

/** The board if a game can reach its tiles together, or null. */
const possible = (cells) => (cells.reduce((sum, tile) => sum + face(tile), 0) <= 2 ** 18 - 4 ? cells : null);

/** A board rotated by a quarter turn clockwise. */
export function rotated(cells) {
  const side = sideOf(cells);
  return cells.map((_, i) => cells[(side - 1 - (i % side)) * side + Math.floor(i / side)]);
}

/** A board with left and right swapped. */
export function flipped(cells) {
  const side = sideOf(cells);
  return cells.map((_, i) => cells[Math.floor(i / side) * side + side - 1 - (i % side)]);
}

/** The cells of line `i`, in the order in which tiles pile up when sliding. */
function line(side, move, i) {
  const forward = move === "up" || move === "left";
  return Array.from({ length: side }, (_, k) => {
    const j = forward ? k : side - 1 - k;
    return move === "left" || move === "right" ? i * side + j : j * side + i;
  });
}

/** Slides a board: the afterstate, the reward, and the origin and destination of each tile. */
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

/** A board in words, for screen readers. */
export function spoken(cells) {
  const side = sideOf(cells);
  const row = (r) => cells.slice(r * side, (r + 1) * side).map((x) => face(x) || "empty").join(", ");
  return Array.from({ length: side }, (_, r) => `row ${r + 1}: ${row(r)}`).join("; ");
}
