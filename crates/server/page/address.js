// Addresses within the page: `#play/game/7` is the view `play` with the parameter `game`.

import { parse } from "./rules.js";

/** The address with these parameters, without unset ones. */
export function hash(name, params = {}) {
  const parts = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return `#${[name, ...parts.flat()].map(encodeURIComponent).join("/")}`;
}

/** Parses the name and the parameters of an address; null if it is invalid. */
export function parseHash(text) {
  let parts;
  try {
    parts = text.replace(/^#/, "").split("/").map(decodeURIComponent);
  } catch {
    return null;
  }
  const [name, ...rest] = parts;
  const params = {};
  for (let i = 0; i + 1 < rest.length; i += 2) {
    const key = rest[i];
    params[key] = rest[i + 1];
    // The rows of a board may be separated by slashes.
    while (key === "board" && /^[0-9a-h]{2,4}$/i.test(rest[i + 2] ?? "") && params.board.length < 16) params.board += rest[++i + 1];
  }
  return { name, params };
}

/** Why the board or the game of an address is invalid; empty if both are valid. */
export function troubleOf({ board, game }) {
  if (board && !parse(board)) return `“${board}” is not a board. A board has 16, 9 or 4 cells: 0 is empty, 1 is a 2, b is a 2048.`;
  const number = Number(game ?? 0);
  return Number.isSafeInteger(number) && number >= 0 ? "" : `There is no game “${game}”. Game numbers start at 0.`;
}
