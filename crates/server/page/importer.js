// What users paste or open: games as text, exports of this page, saved games of the original 2048, positions of 2048verse.

import { format, parse } from "./rules.js";
import { importAll } from "./store.js";

/**
 * Recognizes a text: `{text}` to review, `{board}` to analyse, or `{added}` games that were added to the list.
 */
export function understand(input) {
  const text = input.trim();
  const position = /2048verse\.com\/p\/([0-9a-f]{16})\b/i.exec(text);
  if (position) return { board: parse(position[1]) };
  if (!text.startsWith("{")) return parse(text) ? { board: parse(text) } : { text: input };
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error("This JSON is damaged.");
  }
  if (json.afterstate === 1) return { added: importAll(json) };
  if (Array.isArray(json.moves) && json.moves.every((move) => move?.board && move?.played)) return { text: json.moves.map(({ board, played }) => `${board} ${played}`).join("\n") };
  if (Array.isArray(json.grid?.cells)) return { board: saved(json.grid.cells) };
  throw new Error("This JSON is neither a review, nor an export of this page, nor a saved game of the original 2048.");
}

/** The board of a saved game of the original: columns of cells with values. */
function saved(columns) {
  const side = columns.length;
  const cells = Array.from({ length: side * side }, (_, i) => Math.log2(columns[i % side]?.[Math.floor(i / side)]?.value || 1));
  return parse(format(cells)) ?? null;
}
