// The values of the four moves: bars beside the board with a labelled scale, the best one highlighted.

import { duration, h, icon, percent, short, whole } from "./dom.js";
import { MOVES } from "./rules.js";

/** The grades of moves in a review, from good to bad. */
export const GRADES = ["best", "good", "inaccuracy", "mistake", "blunder"];

/** What a move lost against the best one, in points; null if its value is unknown. */
export function lossOf(advice, move) {
  const value = advice.values[move];
  return value === null || value === undefined || !advice.best ? null : Math.max(0, advice.values[advice.best] - value);
}

// The possible starts of the bars, as shares of the best value: close moves need a finer scale.
const SCALES = [0.99, 0.9, 0];

/** The narrowest scale that holds all values of an advice. */
function scaleOf(advice) {
  const best = advice.values[advice.best];
  if (!(best > 0)) return 0;
  const least = Math.min(...MOVES.map((move) => advice.values[move] ?? best)) / best;
  return SCALES.find((scale) => least >= scale) ?? 0;
}

export class MoveValues {
  /** `chances` receives the effect of the moves on the chance by which they are graded. */
  constructor({ onmove, chances = false } = {}) {
    this.chances = chances;
    this.rows = Object.fromEntries(MOVES.map((move) => [move, row(move, onmove)]));
    this.scale = h("div", { class: "scale" }, h("span", {}), h("span", {}), h("span", {}));
    this.chance = h("p", { class: "note chance" });
    this.note = h("p", { class: "note effort" });
    this.endgame = h("p", { class: "note endgame" });
    this.element = h("div", { class: "values", role: "group", "aria-label": "Values of the four moves" }, MOVES.map((move) => this.rows[move].element), this.scale, this.chance, this.endgame, this.note);
    this.clear();
  }

  /** Shows advice from the server; `played` is marked if it differs from the best move. */
  show(advice, played) {
    const scale = scaleOf(advice);
    for (const move of MOVES) fillRow(this.rows[move], advice, move, played, scale);
    this.#showScale(advice, scale);
    this.chance.textContent = this.chances ? chanceText(advice, played) : "";
    const effort = [
      advice.plies ? `${advice.plies}-ply` : null,
      advice.evaluated ? `${whole(advice.evaluated)} ${advice.evaluated === 1 ? "position" : "positions"}` : null,
      advice.seconds !== undefined ? duration(advice.seconds) : null,
    ];
    this.note.textContent = effort.filter(Boolean).join(" · ");
    this.endgame.textContent = advice.endgame ? `${advice.endgame.name}: ${percent(advice.endgame.best)}` : "";
  }

  #showScale(advice, scale) {
    const marks = advice.probabilities ? ["0%", "probability", "100%"] : advice.best ? [short(scale * advice.values[advice.best]), scale ? `bars from ${percent(scale)} of the best value` : "bars from 0", short(advice.values[advice.best])] : ["", "", ""];
    [...this.scale.children].forEach((mark, i) => (mark.textContent = marks[i]));
  }

  clear(text = "") {
    for (const { element, bar, value, diff } of Object.values(this.rows)) {
      element.className = "value-row";
      bar.style.setProperty("--width", "0%");
      value.textContent = "–";
      diff.textContent = "";
    }
    for (const mark of this.scale.children) mark.textContent = "";
    this.chance.textContent = "";
    this.note.textContent = text;
    this.endgame.textContent = "";
  }
}

/** The effect of the moves on the chance of the next large tile, in words; it is not the model's own chance. */
function chanceText({ chance, best }, played) {
  if (!chance || !best) return "";
  const better = `Chance of a ${chance.tile} in games of players of all strengths: ${percent(chance.moves[best])} with ${best}`;
  return played && played !== best ? `${better}, ${percent(chance.moves[played])} with ${played}.` : `${better}.`;
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

function fillRow({ element, bar, value, diff }, advice, move, played, scale) {
  const worth = advice.values[move];
  const loss = lossOf(advice, move);
  element.className = "value-row";
  if (loss === null) element.classList.add("impossible");
  element.classList.toggle("is-best", move === advice.best);
  element.classList.toggle("is-played", move === played && move !== advice.best);
  if (advice.probabilities && loss !== null) return fillShare({ bar, value, diff }, advice, move);
  const best = advice.values[advice.best];
  const share = loss === null ? 0 : best > 0 ? (worth / best - scale) / (1 - scale) : 1;
  bar.style.setProperty("--width", `${(100 * Math.max(0, share)).toFixed(1)}%`);
  value.textContent = loss === null ? "–" : shown(worth);
  diff.textContent = loss === null ? "" : move === advice.best ? "best" : less(loss, best);
}

/** How much less a move is worth, as a share if the best value allows one. */
function less(loss, best) {
  if (loss === 0) return "equal";
  const share = best > 0 ? (100 * loss) / best : 0;
  if (best <= 0) return `−${shown(loss)}`;
  if (share < 0.001) return "≈ equal";
  return `−${share < 0.1 ? Number(share.toPrecision(1)) : share < 10 ? Number(share.toFixed(1)) : whole(share)}%`;
}

/** A policy's row: the probability of the move, and the number of symmetric boards, out of eight, that vote for it. */
function fillShare({ bar, value, diff }, { probabilities, votes, best }, move) {
  bar.style.setProperty("--width", `${100 * probabilities[move]}%`);
  value.textContent = percent(probabilities[move]);
  diff.textContent = votes ? `${votes[move]} of 8` : move === best ? "best" : "";
}

/** Small figures get a decimal; there is no negative zero. */
const shown = (x) => (Math.abs(x) < 100 && !Number.isInteger(x) ? String(Number(x.toFixed(1)) || 0) : whole(x));
