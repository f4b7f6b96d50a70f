// A game in progress: its positions, its record, and whether it counts.

import { format, isOver, maxTile, parse, sideOf, slide } from "./rules.js";
import { recallJson, rememberJson, games, newId } from "./store.js";
import { Stream, firstBoard, freshStream, someNumber } from "./tiles.js";

const LEAST_AT_STAKE = 0.01; // of the chance: below that, an accuracy is meaningless
const LETTER = { u: "up", r: "right", d: "down", l: "left" };

export class PlayedGame {
  /** A numbered game from its first board, or from some position with a stream. */
  constructor({ side, number, start }) {
    this.id = newId();
    this.date = new Date().toISOString();
    this.undone = 0;
    this.helped = 0;
    if (start) {
      this.start = { board: format(start.cells, ""), stream: String(start.stream ?? freshStream()), score: start.score ?? 0 };
      this.frames = [{ cells: start.cells, stream: Stream.parse(this.start.stream), score: this.start.score }];
    } else {
      this.number = number ?? someNumber();
      this.frames = [{ ...firstBoard(side, this.number), score: 0 }];
    }
  }

  get side() {
    return sideOf(this.frames[0].cells);
  }

  get frame() {
    return this.frames[this.frames.length - 1];
  }

  get count() {
    return this.frames.length - 1;
  }

  get letters() {
    return this.frames.slice(0, -1).map((frame) => frame.move[0]).join("");
  }

  get over() {
    return isOver(this.frame.cells);
  }

  /** Whether its score counts: no move was undone or made by the model, and it began with its first board. */
  get counts() {
    return this.undone === 0 && this.helped === 0 && !this.start;
  }

  /** Makes a move: the tiles slide and the next one appears. False if it is illegal. */
  move(move) {
    const slid = slide(this.frame.cells, move);
    if (!slid.legal) return false;
    this.frame.move = move;
    this.frames.push({ ...this.frame.stream.spawn(slid.cells), score: this.frame.score + slid.reward });
    return true;
  }

  undo() {
    if (!this.count) return false;
    this.frames.pop();
    const { cells, stream, score } = this.frame;
    this.frames[this.frames.length - 1] = { cells, stream, score };
    this.undone++;
    return true;
  }

  /** The game in a text format that a review reads. */
  get text() {
    if (!this.start) return `afterstate game 1 ${this.number} ${this.side}\n${this.letters}\n`;
    return this.frames.slice(0, -1).map(({ cells, move }) => `${format(cells)} ${move}`).join("\n");
  }

  /** The entry for the list of games. */
  get summary() {
    const { id, date, side, number, start, undone, helped } = this;
    const kept = { id, date, side, undone, helped, score: this.frame.score, tile: maxTile(this.frame.cells), count: this.count, over: this.over, accuracy: this.accuracy ?? null, moves: this.letters };
    return start ? { ...kept, start } : { ...kept, seed: 1, game: number };
  }

  /** Stores it as the current game on boards of its side. */
  save() {
    const judged = this.frames.map(({ kept, grade, lost }) => (kept === undefined ? null : [kept, grade, lost?.by_move, lost?.at_random]));
    rememberJson(`play.${this.side}`, { ...this.summary, judged });
  }

  /** Saves it, and adds it to the list of games. */
  keep() {
    this.save();
    if (this.count) games.put(this.summary);
  }

  /** The current game on boards of a side, or null. */
  static current(side) {
    return PlayedGame.restore(recallJson(`play.${side}`, null));
  }

  /** Restores a stored game; null if it is damaged. */
  static restore(kept) {
    const cells = kept?.start ? parse(String(kept.start.board)) : null;
    const stream = kept?.start ? Stream.parse(String(kept.start.stream)) : null;
    if (!kept || typeof kept.moves !== "string" || (kept.start && !(cells && stream))) return null;
    if (!kept.start && !(Number.isSafeInteger(kept.game) && [2, 3, 4].includes(kept.side))) return null;
    const start = kept.start && { cells, stream, score: Number(kept.start.score) || 0 };
    const game = new PlayedGame({ side: kept.side, number: kept.game, start });
    for (const letter of kept.moves) if (!game.move(LETTER[letter])) return null;
    kept.judged?.forEach((judged, i) => judged && game.frames[i] && Object.assign(game.frames[i], { kept: judged[0], grade: judged[1], lost: judged[3] === undefined ? undefined : { by_move: judged[2], at_random: judged[3] } }));
    return Object.assign(game, { id: kept.id ?? game.id, date: kept.date ?? game.date, undone: kept.undone ?? 0, helped: kept.helped ?? 0, accuracy: kept.accuracy });
  }
}

/** The share in percent of the chance lost by random moves that these moves kept; null if little was at stake. */
export function accuracyOf(frames) {
  const sum = (name) => frames.reduce((all, { lost }) => all + (lost?.[name] ?? 0), 0);
  return sum("at_random") >= LEAST_AT_STAKE ? 100 * Math.max(0, 1 - sum("by_move") / sum("at_random")) : null;
}

/** The text of a listed game, for a review. */
export function textOf(kept) {
  return kept.text ?? PlayedGame.restore(kept)?.text ?? "";
}

/** The best score on boards of a game's side among other games that count; the list may hold an older state of this one. */
export function bestScore({ side, id }) {
  const counting = games.list().filter((game) => game.side === side && game.id !== id && !game.text && !game.start && !game.undone && !game.helped);
  return Math.max(0, ...counting.map(({ score }) => score));
}
