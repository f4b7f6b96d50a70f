// Review: a game graded move by move, with the lessons to learn from it.

import { hash } from "./address.js";
import { get, listenTo } from "./api.js";
import { Board, keyMove } from "./board.js";
import { LineChart } from "./chart.js";
import { choice, field, isPolicy, missingModel, modelPath, models, noModel, panel, playerSelects, wanted } from "./controls.js";
import { button, h, icon, percent, short, toast, whole } from "./dom.js";
import { command, downloads } from "./export.js";
import { textOf } from "./game.js";
import { understand } from "./importer.js";
import { Lesson } from "./lessons.js";
import { onward } from "./onward.js";
import { face, format, parse, slide } from "./rules.js";
import { games, puzzles, recall, remember, texts } from "./store.js";
import { GRADES, MoveValues } from "./values.js";

export const title = "Review";
export const shortcuts = [["← →", "a move back, forward"], ["J K", "next, previous mistake"], ["Home End", "the first, the last position"], ["L", "learn from the mistakes"]];

const ROWS = 300; // of the list of moves, around the current one

export function mount(root, params, app) {
  const view = new Review(root, params, app);
  app.attempt(() => view.start());
  return view;
}

class Review {
  constructor(root, params, app) {
    Object.assign(this, { root, params, app });
    this.at = 0;
    this.only = "all";
  }

  async start() {
    // A policy cannot say what a move has lost.
    this.models = (await models()).filter((model) => !isPolicy(model));
    if (this.gone) return;
    if (this.models.length === 0) return this.root.append(noModel());
    try {
      wanted(this.models, this.params.model);
    } catch (error) {
      return missingModel(this.root, error, this.params.model, () => this.gone || this.app.attempt(() => this.start()));
    }
    this.root.replaceChildren();
    this.build();
    this.named();
  }

  /** The game that the address names, if any. */
  named() {
    const { game, record, moves, text } = this.params;
    const kept = game && games.find(game);
    if (kept) this.text.value = textOf(kept);
    else if (record) this.text.value = `afterstate game ${record.replaceAll("-", " ")}\n${moves ?? ""}\n`;
    else if (text) this.text.value = texts.find(text) ?? "";
    if (this.text.value) return this.grade();
    if (game || text) toast("This game is no longer in this browser", "error");
  }

  build() {
    this.text = h("textarea", { rows: 7, spellcheck: "false", placeholder: "afterstate game 1 42 4\nulurdl…" });
    this.file = h("input", { type: "file", accept: ".txt,.log,.json,text/plain,application/json", onchange: () => this.upload(), hidden: true });
    Object.assign(this, playerSelects(this.models, { model: this.params.model ?? recall("model"), search: this.params.search ?? recall("review") ?? "3ply", onchange: () => this.again() }));
    this.submit = button("search", "Grade the game", () => this.pasted(), { kind: "primary" });
    this.progress = h("progress", { max: 1, hidden: true, "aria-label": "Moves that are graded" });
    const sources = h("div", { class: "actions" }, button("", "Choose a file", () => this.file.click()), this.file, button("", "Use an example", () => this.app.attempt(() => this.example())));
    const form = panel("A game to review",
      field("Paste a game", this.text, "wide"),
      h("p", { class: "note" }, "A record or an export of this program, lines of a board and a move, a board followed by moves with the new tiles, or a replay of 2048verse. Games from Play and Watch get here by their Review button."),
      sources,
      h("div", { class: "setup" }, field("Model", this.model), field("Search", this.search), this.submit), this.progress);
    this.stage = h("div", { class: "stage", hidden: true });
    this.side = h("div", { class: "side" }, form, this.puzzlePanel());
    this.root.append(this.stage, this.side);
    this.root.classList.add("unreviewed");
  }

  /** Positions of the user's games in which a better move was missed. */
  puzzlePanel() {
    const open = puzzles.list().filter(({ solved }) => !solved);
    const start = button("hint", `Solve ${whole(Math.min(10, open.length))} of ${whole(open.length)}`, () => this.train(open.slice(0, 10)), { kind: "primary" });
    return panel("Puzzles from your games", open.length ? start : h("p", { class: "note" }, "Reviews of your games collect the most costly moves here."));
  }

  async example() {
    this.text.value = (await get("/review/example")).text;
    this.pasted();
  }

  async upload() {
    if (!this.file.files[0]) return;
    this.text.value = await this.file.files[0].text();
    this.pasted();
  }

  /** A text that was typed, pasted or opened gets its own address. */
  pasted() {
    return this.app.attempt(() => {
      const found = understand(this.text.value);
      if (found.added !== undefined) return toast(`${found.added} games were added to your games`);
      if (found.board) return void (location.hash = hash("analyse", { from: "review", board: format(found.board, "") }));
      this.text.value = found.text;
      const numbers = /^\s*afterstate game (\d+) (\d+) (\d)\s/.exec(found.text);
      const letters = found.text.split("\n").slice(1).join("").replace(/\s/g, "");
      this.params = numbers ? { record: numbers.slice(1).join("-"), moves: letters } : { text: texts.keep(found.text) };
      this.grade();
    });
  }

  again() {
    remember("review", this.search.value);
    if (this.result) this.grade();
  }

  address() {
    const { game, record, text, moves } = this.params;
    this.app.remember("review", { game, record, text, model: this.model.value, search: this.search.value, at: this.at || undefined, moves });
  }

  grade() {
    this.close?.();
    this.submit.disabled = true;
    this.submit.classList.add("busy");
    this.progress.hidden = false;
    this.progress.value = 0;
    const done = () => {
      this.submit.disabled = false;
      this.submit.classList.remove("busy");
      this.progress.hidden = true;
    };
    this.close = listenTo("/review", { text: this.text.value, model: this.model.value, search: this.search.value }, {
      progress: ({ moves, of }) => (this.progress.value = moves / of),
      result: (result, close) => {
        close();
        done();
        this.result = result;
        this.learnFrom(result);
        this.show();
      },
    }, (error) => {
      done();
      this.app.attempt(() => Promise.reject(error));
    });
  }

  /** Updates the user's own game: its accuracy in the list, its errors as puzzles. */
  learnFrom({ accuracy }) {
    const own = this.params.game && games.find(this.params.game);
    if (!own) return;
    games.update(own.id, { accuracy, reviewed: own.count });
    if (!own.helped) puzzles.add(this.errors().map((error) => ({ ...error, from: own.id })));
  }

  /** The moves to learn from, worst first. */
  errors() {
    const grave = this.result.moves.filter((move) => move.chance && this.gradeOf(move) >= 3);
    return grave.sort((a, b) => a.kept - b.kept).slice(0, 20).map(({ board, played, best, chance }) => ({ board, played, best, chance }));
  }

  show() {
    const { result } = this;
    this.root.classList.remove("unreviewed");
    this.board ??= new Board({ label: "The position", onmove: (move) => this.lesson?.try(move) });
    this.values ??= new MoveValues({ chances: true });
    this.caption = h("p", { class: "caption" });
    this.where = h("output", { class: "pace" });
    const walk = h("div", { class: "transport" },
      button("back", "", () => this.go(this.at - 1), { label: "One move back", key: "←", kind: "round" }),
      button("step", "", () => this.go(this.at + 1), { label: "One move on", key: "→", kind: "round" }),
      button("left", "Mistake", () => this.mistake(-1), { label: "Previous mistake", key: "K" }),
      button("right", "Mistake", () => this.mistake(1), { label: "Next mistake", key: "J" }),
      this.where);
    this.onward = onward("review", () => ({ cells: this.cells, score: this.scores[this.at], model: this.model.value, search: this.search.value }));
    this.stage.hidden = false;
    this.stage.replaceChildren(this.caption, this.board.element, walk, this.onward.element);
    this.chart = new LineChart({ title: "Expected final score; dots are graded moves", height: 170, x: "moves", unit: "move", low: 0, onpick: (x) => this.go(x) });
    this.verdict?.forEach((part) => part.remove());
    this.verdict = [panel("", this.summary(), this.chart.element), panel("This position", this.values.element), this.movePanel()];
    this.side.prepend(...this.verdict);
    let score = 0;
    this.scores = [0, ...result.moves.map((move) => (score += slide(parse(move.board), move.played).reward))];
    this.mistakes = result.moves.flatMap((move, i) => (this.gradeOf(move) >= 2 ? [i] : []));
    const last = Number(this.params.at);
    this.go(Number.isInteger(last) ? last : result.worst[0] ?? 0);
    this.board.element.scrollIntoView({ block: "nearest" });
  }

  gradeOf(move) {
    return Math.max(0, GRADES.indexOf(move.grade ?? "best"));
  }

  /** The displayed board: before a move, or the last one. */
  get cells() {
    const { moves, last } = this.result;
    return parse(moves[this.at]?.board ?? last ?? moves[moves.length - 1].board);
  }

  summary() {
    const { accuracy, score, moves, grades, tile } = this.result;
    const count = (name) => h("div", { class: `count grade-${name}` }, h("b", {}, whole(grades?.[name] ?? 0)), name);
    const known = Number.isFinite(accuracy);
    const ring = h("div", { class: "ring", vars: { "--share": `${known ? accuracy : 0}%` } }, h("b", {}, known ? `${accuracy.toFixed(1)}%` : "–"), h("span", {}, "accuracy"));
    const words = known ? `These moves lost ${percent(1 - accuracy / 100)} of the chances of the next large tile that moves at random would have lost here; the best moves lose none.` : "Accuracy is known for games of some ten moves and more on 4×4.";
    const errors = this.errors();
    const learn = errors.length ? button("hint", `Learn from ${errors.length === 1 ? "the mistake" : `${errors.length} mistakes`}`, () => this.train(errors), { key: "L", kind: "primary" }) : null;
    return h("div", { class: "summary" }, ring, h("div", {}, h("p", {}, `${whole(moves.length)} moves, ${whole(score)} points, tile ${tile}`), h("p", { class: "note" }, words), h("div", { class: "counts" }, GRADES.map(count)), learn));
  }

  movePanel() {
    this.list = h("ol", { class: "moves" });
    const which = choice("Which moves", [["all", "all moves"], ["errors", "errors only"]], this.only, (only) => {
      this.only = only;
      this.drawMoves();
    });
    const rows = () => this.result.moves.map(({ board, played, best, loss, grade, kept, chance }, i) => ({ move: i + 1, board, played, best, grade, kept, loss, tile: chance?.tile, chance_best: chance?.moves[best], chance_played: chance?.moves[played] }));
    const save = downloads("review", { csv: rows, json: () => this.result, text: () => this.result.moves.map(({ board, played }) => `${board} ${played}`).join("\n"), svg: () => this.chart.svg });
    return panel("Moves", which, this.list, save, command(`afterstate review GAME.txt --model ${modelPath(this.models.find(({ name }) => name === this.model.value))} --search ${this.result.search}`).element);
  }

  drawMoves() {
    const { moves } = this.result;
    const numbers = this.only === "all" ? moves.map((_, i) => i) : this.mistakes;
    const near = numbers.findIndex((i) => i >= this.at);
    const from = Math.max(0, Math.min((near < 0 ? numbers.length : near) - ROWS / 2, numbers.length - ROWS));
    const row = (i) => {
      const { played, best, grade, kept } = moves[i];
      const cost = kept < 1 && kept !== null ? `keeps ${percent(kept)}` : "";
      return h("li", { class: `grade-${grade ?? "best"}`, value: i + 1 }, h("button", { type: "button", class: "link-button", "aria-current": i === this.at ? "true" : undefined, onclick: () => this.go(i) }, icon(played), ` ${played} `, h("b", {}, grade ?? ""), played === best ? "" : ` (best ${best}) `, cost));
    };
    this.list.replaceChildren(...numbers.slice(from, from + ROWS).map(row));
    const current = this.list.querySelector("[aria-current]");
    if (current) this.list.scrollTop = current.offsetTop - this.list.clientHeight / 2;
  }

  go(i) {
    if (this.lesson) return;
    const { moves } = this.result;
    this.at = Math.max(0, Math.min(moves.length, i));
    const move = moves[this.at];
    this.board.show(this.cells);
    this.board.advise(move?.values, move?.best);
    if (move) this.values.show(move, move.played);
    else this.values.clear("The last position of the game.");
    this.where.textContent = move ? `move ${whole(this.at + 1)} of ${whole(moves.length)}` : `the end, ${whole(moves.length)} moves`;
    this.root.dataset.at = this.at;
    this.drawCaption(move);
    this.drawChart();
    this.drawMoves();
    this.onward.update();
    this.address();
  }

  drawCaption(move) {
    if (!move) {
      this.caption.className = "caption";
      return this.caption.replaceChildren(`The end: ${whole(this.scores[this.at])} points, best tile ${face(Math.max(...this.cells))}`);
    }
    const { played, best, chance, loss } = move;
    const grade = GRADES[this.gradeOf(move)];
    this.caption.className = `caption grade-${grade}`;
    if (played === best) return this.caption.replaceChildren("Played ", icon(played), `${played}: the best move`);
    const cost = chance ? `: the chance of a ${chance.tile} is ${percent(chance.moves[played])}; with ${best} it was ${percent(chance.moves[best])}` : `: ${best} is worth ${short(loss)} points more`;
    this.caption.replaceChildren("Played ", icon(played), `${played}, `, h("b", {}, grade === "best" ? "as good as the best" : grade), cost);
  }

  drawChart() {
    const { moves } = this.result;
    const points = moves.map((move, i) => [i, this.scores[i] + (move.expected ?? 0)]);
    const dots = moves.flatMap((move, i) => (this.gradeOf(move) >= 2 ? [[...points[i], move.grade]] : []));
    this.chart.set([{ name: "expected", points, graded: dots }, { name: "score", points: this.scores.map((score, i) => [i, score]) }], this.at);
  }

  /** Goes through errors: shows the board before each, and asks for a better move. */
  train(errors) {
    if (!errors.length || this.lesson) return;
    this.board ??= new Board({ label: "The position", onmove: (move) => this.lesson?.try(move) });
    const before = [...this.stage.children];
    const [wasHidden, wasBare] = [this.stage.hidden, this.root.classList.contains("unreviewed")];
    this.lesson = new Lesson(this.board, errors, {
      onsolve: ({ board }) => puzzles.solve(board, true),
      onend: (found) => {
        this.lesson = null;
        if (found !== undefined) toast(`${found} of ${errors.length} found`);
        this.stage.replaceChildren(...before);
        this.stage.hidden = wasHidden;
        this.root.classList.toggle("unreviewed", wasBare);
        if (this.result) this.go(this.at);
      },
    });
    this.root.classList.remove("unreviewed");
    this.stage.hidden = false;
    this.stage.replaceChildren(this.lesson.element, this.board.element);
    this.board.element.focus();
  }

  mistake(way) {
    const found = way > 0 ? this.mistakes.find((i) => i > this.at) : this.mistakes.findLast((i) => i < this.at);
    if (found !== undefined) this.go(found);
  }

  key(event) {
    const name = event.key.toLowerCase();
    const move = keyMove(event);
    if (this.lesson) return move ? this.lesson.try(move) : false;
    if (!this.result) return false;
    if (move === "left") this.go(this.at - 1);
    else if (move === "right") this.go(this.at + 1);
    else if (name === "j") this.mistake(1);
    else if (name === "k") this.mistake(-1);
    else if (name === "l") this.train(this.errors());
    else if (name === "home") this.go(0);
    else if (name === "end") this.go(Infinity);
    else return false;
    return true;
  }

  unmount() {
    this.gone = true;
    this.close?.();
  }
}
