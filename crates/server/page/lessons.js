// Learning from mistakes: shows the board before an error, and asks for a better move.

import { announce, button, h, icon, percent } from "./dom.js";
import { parse } from "./rules.js";

/** A move that keeps this share of the best chance is also accepted. */
const AS_GOOD = 0.995;

/**
 * Goes through errors one by one. An error is `{board, played, best, chance: {tile, moves}}`; `board` is the board element,
 * `onsolve` is called for each solved one, `onend` when all are done.
 */
export class Lesson {
  constructor(board, errors, { onsolve = () => {}, onend }) {
    Object.assign(this, { board, errors, onsolve, onend });
    this.at = 0;
    this.found = 0;
    this.text = h("p", { class: "caption" });
    this.show = button("hint", "Show the answer", () => this.reveal());
    this.next = button("right", "Next", () => this.step());
    this.element = h("div", { class: "lesson" }, this.text, h("div", { class: "actions" }, this.show, this.next, button("close", "Leave", () => this.onend())));
    this.ask();
  }

  get error() {
    return this.errors[this.at];
  }

  ask() {
    const { played, chance } = this.error;
    this.answered = false;
    this.board.show(parse(this.error.board));
    this.board.advise(null);
    this.next.hidden = true;
    this.show.hidden = false;
    const cost = chance ? `, which left a chance of ${percent(chance.moves[played])} of a ${chance.tile}` : "";
    this.say("", `${this.at + 1} of ${this.errors.length}: here ${played} was played${cost}. Find a better move.`);
  }

  /** An attempt: true if the lesson handled the move. */
  try(move) {
    if (this.answered) return true;
    const { best, chance, played } = this.error;
    const isGood = move === best || (chance && chance.moves[move] >= AS_GOOD * chance.moves[best]);
    if (isGood) {
      this.found++;
      this.onsolve(this.error);
      this.reveal(move);
    } else if (chance && chance.moves[move] === null) this.board.refuse(move);
    else this.say("grade-mistake", move === played ? "That is what was played. There is a better move." : `${move} is not the best either${chance ? `: ${percent(chance.moves[move] ?? 0)}` : ""}. Try again.`);
    return true;
  }

  reveal(found) {
    const { best, chance, played } = this.error;
    this.answered = true;
    this.board.advise(chance?.moves ?? { [best]: 1 }, best);
    const gain = chance ? `: the chance of a ${chance.tile} is ${percent(chance.moves[best])} in place of ${percent(chance.moves[played])}` : "";
    this.say("grade-best", found ? `Yes, ${found}${gain}.` : `The best move is ${best}${gain}.`);
    this.text.prepend(icon(best), " ");
    this.show.hidden = true;
    this.next.hidden = false;
    this.next.focus();
  }

  step() {
    this.at++;
    if (this.at < this.errors.length) return this.ask();
    this.say("grade-best", `Done: ${this.found} of ${this.errors.length} found.`);
    this.onend(this.found);
  }

  say(kind, text) {
    this.text.className = `caption ${kind}`;
    this.text.textContent = text;
    announce(text);
  }
}
