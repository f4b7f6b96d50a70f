// Browser storage: settings, current games, past games, puzzles. None of it is sent to the server.

const PREFIX = "afterstate.";
const MOST_GAMES = 1000;

export const recall = (key) => localStorage.getItem(PREFIX + key);

/** Stores a text; returns whether there was space for it. */
export function remember(key, value) {
  try {
    localStorage.setItem(PREFIX + key, value);
    return true;
  } catch {
    return false;
  }
}

export const forget = (key) => localStorage.removeItem(PREFIX + key);

/** Reads stored JSON, or a default if it is missing or damaged. */
export function recallJson(key, otherwise) {
  try {
    return JSON.parse(recall(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export const rememberJson = (key, value) => remember(key, JSON.stringify(value));

export const newId = () => `${Date.now().toString(36)}${Math.floor(Math.random() * 46656).toString(36)}`;

/**
 * Past games, latest first. A game is `{id, date, title?, side, seed?, game?, moves?, start?, text?, score, tile, count,
 * accuracy, undone, helped, over}`: a record with its number and moves, or the text that was imported.
 */
export const games = {
  list: () => recallJson("games", []),
  find: (id) => games.list().find((game) => game.id === id),

  /** Adds a game or updates its entry. The oldest games are dropped when space runs out. */
  put(game) {
    const old = games.find(game.id);
    // A review of the whole game is more reliable than the grades during play.
    if (old?.reviewed && old.reviewed === game.count) Object.assign(game, { accuracy: old.accuracy, reviewed: old.reviewed });
    const list = [game, ...games.list().filter(({ id }) => id !== game.id)].slice(0, MOST_GAMES);
    while (!rememberJson("games", list) && list.length > 1) list.pop();
  },

  /** Changes some fields of an existing entry, without moving it. */
  update(id, changes) {
    rememberJson("games", games.list().map((game) => (game.id === id ? { ...game, ...changes } : game)));
  },

  remove: (id) => rememberJson("games", games.list().filter((game) => game.id !== id)),
};

/** Positions of the user's games with a missed better move: `{board, played, best, tile, from, chances, solved?}`. */
export const puzzles = {
  list: () => recallJson("puzzles", []),

  add(found) {
    const known = puzzles.list();
    const fresh = found.filter(({ board }) => known.every((puzzle) => puzzle.board !== board));
    rememberJson("puzzles", [...fresh, ...known].slice(0, 300));
    return fresh.length;
  },

  solve(board, solved) {
    rememberJson("puzzles", puzzles.list().map((puzzle) => (puzzle.board === board ? { ...puzzle, solved } : puzzle)));
  },
};

/** All stored data, as one object to be saved in a file. */
export function exportAll() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX) && key !== `${PREFIX}token`);
  const entries = keys.sort().map((key) => [key.slice(PREFIX.length), localStorage.getItem(key)]);
  return { afterstate: 1, exported: new Date().toISOString(), kept: Object.fromEntries(entries) };
}

const IN_PLAY = "play.";

/**
 * Imports the result of `exportAll`. Games and puzzles are added to the existing ones, settings are replaced. An existing
 * current game stays; that of the file is added to the list.
 */
export function importAll(file) {
  const kept = file?.afterstate === 1 && file.kept;
  if (!kept || typeof kept !== "object") throw new Error("this is not an export of this page");
  const known = new Set(games.list().map(({ id }) => id));
  const isGame = (game) => typeof game?.id === "string" && Number.isFinite(game.score);
  const brought = parsed(kept.games).filter((game) => isGame(game) && !known.has(game.id));
  for (const [key, value] of Object.entries(kept)) {
    const [game] = key.startsWith(IN_PLAY) ? parsed(`[${value}]`) : [];
    const isHere = game && [recallJson(key, null), ...games.list(), ...brought].some((one) => one?.id === game.id);
    if (isGame(game) && game.count > 0 && !isHere) brought.push(game);
  }
  const all = [...games.list(), ...brought].sort((a, b) => String(b.date).localeCompare(String(a.date)));
  if (!rememberJson("games", all.slice(0, MOST_GAMES))) throw new Error("the browser has no space for so many games");
  puzzles.add(parsed(kept.puzzles).filter((puzzle) => typeof puzzle?.board === "string"));
  for (const [key, value] of Object.entries(kept)) {
    const isKept = ["games", "puzzles", "token"].includes(key) || (key.startsWith(IN_PLAY) && recall(key) !== null);
    if (typeof value === "string" && !isKept) remember(key, value);
  }
  return brought.length;
}

function parsed(text) {
  try {
    const list = JSON.parse(text ?? "[]");
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

/** Games of others to be reviewed: the last few texts, by an id for the address. */
export const texts = {
  keep(text) {
    const id = newId();
    const list = [{ id, text }, ...recallJson("texts", []).filter((one) => one.text !== text)].slice(0, 10);
    while (!rememberJson("texts", list) && list.length > 1) list.pop();
    return id;
  },
  find: (id) => recallJson("texts", []).find((one) => one.id === id)?.text,
};
