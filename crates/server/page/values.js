// What each of the four moves is worth: bars beside the board, the best one highlighted.

import { duration, h, icon, percent, whole } from "./dom.js";
import { MOVES } from "./rules.js";

/** The grades of moves in a review, from good to bad. */
export const GRADES = ["best", "good", "inaccuracy", "mistake", "blunder"];

/** What a move lost against the best one; null where its value is not known. */
export function lossOf(advice, move) {
  const value = advice.values[move];
  return value === null || value === undefined || !advice.best ? null : Math.max(0, advice.values[advice.best] - value);
}

/** The quality of a move as reviews count it, from 1 for the best down to 0 for one that loses a tenth of what is to come. */
export const quality = (loss, worth) => 1 - Math.min(1, loss / (0.1 * Math.max(16, Math.abs(worth))));

/** The same for the eye, with more room for small losses. */
export const nearness = (loss, worth) => 1 - Math.sqrt(1 - quality(loss, worth));

export class MoveValues {
  constructor({ onmove } = {}) {
    this.rows = Object.fromEntries(MOVES.map((move) => [move, row(move, onmove)]));
    this.note = h("p", { class: "note effort" });
    this.element = h("div", { class: "values", role: "group", "aria-label": "Values of the four moves" }, MOVES.map((move) => this.rows[move].element), this.note);
    this.clear();
  }

  /** Shows advice as the server gives it; `played` is marked where it differs from the best move. */
  show(advice, played) {
    for (const move of MOVES) fillRow(this.rows[move], advice, move, played);
    const effort = [
      advice.plies ? `${advice.plies}-ply` : null,
      advice.evaluated ? `${whole(advice.evaluated)} ${advice.evaluated === 1 ? "position" : "positions"}` : null,
      advice.seconds !== undefined ? duration(advice.seconds) : null,
    ];
    this.note.textContent = effort.filter(Boolean).join(" · ");
  }

  clear(text = "") {
    for (const { element, bar, value, diff } of Object.values(this.rows)) {
      element.className = "value-row";
      bar.style.setProperty("--width", "0%");
      value.textContent = "–";
      diff.textContent = "";
    }
    this.note.textContent = text;
  }
}

function row(move, onmove) {
  const bar = h("span", { class: "bar" });
  const value = h("span", { class: "value" });
  const diff = h("span", { class: "diff" });
  const parts = [icon(move), h("span", { class: "name" }, move), h("span", { class: "track" }, bar), value, diff];
  const element = onmove
    ? h("button", { type: "button", class: "value-row", "data-move": move, onclick: () => onmove(move) }, parts)
    : h("div", { class: "value-row", "data-move": move }, parts);
  return { element, bar, value, diff };
}

function fillRow({ element, bar, value, diff }, advice, move, played) {
  const worth = advice.values[move];
  const loss = lossOf(advice, move);
  element.className = "value-row";
  if (loss === null) element.classList.add("impossible");
  element.classList.toggle("is-best", move === advice.best);
  element.classList.toggle("is-played", move === played && move !== advice.best);
  bar.style.setProperty("--width", loss === null ? "0%" : `${Math.max(3, 100 * nearness(loss, advice.values[advice.best]))}%`);
  if (advice.probabilities && loss !== null) return fillShare({ bar, value, diff }, advice, move);
  value.textContent = loss === null ? "–" : shown(worth);
  diff.textContent = loss === null ? "" : move === advice.best ? "best" : `−${shown(loss)}`;
}

/** A policy's row: how probable the move is, and how many of the eight symmetric boards are for it. */
function fillShare({ bar, value, diff }, { probabilities, votes, best }, move) {
  bar.style.setProperty("--width", `${100 * probabilities[move]}%`);
  value.textContent = percent(probabilities[move]);
  diff.textContent = votes ? `${votes[move]} of 8` : move === best ? "best" : "";
}

/** Small figures deserve a fraction. */
const shown = (x) => (Math.abs(x) < 100 && !Number.isInteger(x) ? x.toFixed(1) : whole(x));
