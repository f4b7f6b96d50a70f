// Review: a game that was played, graded move by move.

import { get, post } from "./api.js";
import { Board, keyMove } from "./board.js";
import { LineChart } from "./chart.js";
import { field, isPolicy, models, noModel, panel, playerSelects, recall } from "./controls.js";
import { button, h, icon, short, whole } from "./dom.js";
import { parse } from "./rules.js";
import { GRADES, MoveValues } from "./values.js";

export const title = "Review";
export const shortcuts = [["← →", "a move back, on"], ["J K", "next, previous mistake"], ["Home End", "the first, the last move"]];

export function mount(root, params, app) {
  const view = new Review(root, app);
  app.attempt(() => view.start());
  return view;
}

class Review {
  constructor(root, app) {
    Object.assign(this, { root, app });
    this.at = 0;
  }

  async start() {
    // A policy cannot say what a move has lost.
    this.models = (await models()).filter((model) => !isPolicy(model));
    if (this.gone) return;
    if (this.models.length === 0) return this.root.append(noModel());
    this.build();
    const handed = sessionStorage.getItem("afterstate.review");
    if (!handed) return;
    sessionStorage.removeItem("afterstate.review");
    this.text.value = handed;
    await this.grade();
  }

  build() {
    this.text = h("textarea", { rows: 7, spellcheck: "false", placeholder: "afterstate game 1 42 4\nulurdl…" });
    this.file = h("input", { type: "file", accept: ".txt,.log,.json,text/plain", onchange: () => this.upload(), hidden: true });
    Object.assign(this, playerSelects(this.models, { model: recall("model"), search: "2ply" }));
    this.submit = button("search", "Grade the game", () => this.app.attempt(() => this.grade()), { kind: "primary" });
    const sources = h("div", { class: "actions" }, button("", "Choose a file", () => this.file.click()), this.file, button("", "Use an example", () => this.app.attempt(() => this.example())));
    const form = panel("A game to review",
      field("Paste a game", this.text, "wide"),
      h("p", { class: "note" }, "A record of this program, lines of a board and a move, or a board followed by moves with the tiles that appeared. A finished game in Play brings itself here."),
      sources,
      h("div", { class: "setup" }, field("Model", this.model), field("Search", this.search), this.submit));
    this.stage = h("div", { class: "stage", hidden: true });
    this.side = h("div", { class: "side" }, form);
    this.root.append(this.stage, this.side);
    this.root.classList.add("unreviewed");
  }

  async example() {
    this.text.value = (await get("/api/review/example")).text;
    await this.grade();
  }

  async upload() {
    if (!this.file.files[0]) return;
    this.text.value = await this.file.files[0].text();
    await this.app.attempt(() => this.grade());
  }

  async grade() {
    this.submit.disabled = true;
    this.submit.classList.add("busy");
    try {
      this.result = await post("/api/review", { text: this.text.value, model: this.model.value, search: this.search.value });
    } finally {
      this.submit.disabled = false;
      this.submit.classList.remove("busy");
    }
    if (!this.gone) this.show();
  }

  show() {
    const { result } = this;
    this.root.classList.remove("unreviewed");
    this.board ??= new Board({ label: "The position" });
    this.values ??= new MoveValues();
    this.caption = h("p", { class: "caption", "aria-live": "polite" });
    this.where = h("output", { class: "pace" });
    const walk = h("div", { class: "transport" },
      button("back", "", () => this.go(this.at - 1), { label: "One move back", key: "←", kind: "round" }),
      button("step", "", () => this.go(this.at + 1), { label: "One move on", key: "→", kind: "round" }),
      button("left", "Mistake", () => this.mistake(-1), { label: "Previous mistake", key: "K" }),
      button("right", "Mistake", () => this.mistake(1), { label: "Next mistake", key: "J" }),
      this.where);
    this.stage.hidden = false;
    this.stage.replaceChildren(this.caption, this.board.element, walk);
    this.chart = new LineChart({ title: "What each move lost", height: 150, x: "moves", unit: "move", low: 0, onpick: (x) => this.go(x - 1) });
    this.worst = h("ol", { class: "worst" }, result.worst.slice(0, 8).map((i) => this.worstItem(i)));
    this.verdict?.forEach((part) => part.remove());
    this.verdict = [panel("", this.summary(), this.chart.element), panel("This position", this.values.element), panel("Worst moves", this.worst)];
    this.side.prepend(...this.verdict);
    this.mistakes = result.moves.flatMap((move, i) => (this.gradeOf(move) >= 2 ? [i] : []));
    this.go(result.worst[0] ?? 0);
    this.board.element.scrollIntoView({ block: "nearest" });
  }

  gradeOf(move) {
    return Math.max(0, GRADES.indexOf(move.grade ?? "best"));
  }

  summary() {
    const { accuracy, score, moves, grades } = this.result;
    const count = (name) => h("div", { class: `count grade-${name}` }, h("b", {}, whole(grades?.[name] ?? 0)), name);
    const ring = h("div", { class: "ring", vars: { "--share": `${accuracy}%` } }, h("b", {}, `${accuracy.toFixed(1)}%`), h("span", {}, "accuracy"));
    return h("div", { class: "summary" }, ring, h("div", {}, h("p", {}, `${whole(moves.length)} moves, ${whole(score)} points`), h("div", { class: "counts" }, GRADES.map(count))));
  }

  worstItem(i) {
    const move = this.result.moves[i];
    return h("li", {}, h("button", { type: "button", class: "link-button", onclick: () => this.go(i) }, `move ${whole(i + 1)}: `, icon(move.played), " instead of ", icon(move.best), `, lost ${short(move.loss)}`));
  }

  go(i) {
    const { moves } = this.result;
    this.at = Math.max(0, Math.min(moves.length - 1, i));
    const move = moves[this.at];
    this.board.show(parse(move.board));
    this.board.advise(move.values, move.best);
    this.values.show(move, move.played);
    this.where.textContent = `move ${whole(this.at + 1)} of ${whole(moves.length)}`;
    this.root.dataset.at = this.at;
    const grade = GRADES[this.gradeOf(move)];
    this.caption.className = `caption grade-${grade}`;
    this.caption.replaceChildren(...(move.played === move.best
      ? ["Played ", icon(move.played), `${move.played}: the best move`]
      : ["Played ", icon(move.played), `${move.played}, `, h("b", {}, grade === "best" ? "as good as the best" : grade), `: ${move.best} is worth ${short(move.loss)} more`]));
    this.chart.set([{ name: "loss", points: moves.map((m, k) => [k + 1, m.loss ?? 0]) }], this.at + 1);
  }

  mistake(way) {
    const found = way > 0 ? this.mistakes.find((i) => i > this.at) : this.mistakes.findLast((i) => i < this.at);
    if (found !== undefined) this.go(found);
  }

  key(event) {
    if (!this.result) return false;
    const name = event.key.toLowerCase();
    const move = keyMove(event);
    if (move === "left") this.go(this.at - 1);
    else if (move === "right") this.go(this.at + 1);
    else if (name === "j") this.mistake(1);
    else if (name === "k") this.mistake(-1);
    else if (name === "home") this.go(0);
    else if (name === "end") this.go(Infinity);
    else return false;
    return true;
  }

  unmount() {
    this.gone = true;
  }
}
