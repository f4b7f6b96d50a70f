// Play: the game itself, with hints, and what each move lost against the best one.

import { advise, listen, post } from "./api.js";
import { Board, keyMove } from "./board.js";
import { choice, field, figures, isPolicy, models, panel, playerSelects, recall, remember } from "./controls.js";
import { button, h, short, whole } from "./dom.js";
import { format, isOver, maxTile, parse, sideOf, slide } from "./rules.js";
import { MoveValues, lossOf, nearness, quality } from "./values.js";

export const title = "Play";
export const shortcuts = [["↑ → ↓ ←", "move (or W A S D)"], ["U", "take a move back"], ["H", "hint"], ["P", "the model plays on"], ["N", "new game"]];

const LETTERS = { w: "up", d: "right", s: "down", a: "left" };

export function mount(root, params, app) {
  const view = new Play(root, params, app);
  app.attempt(() => view.start());
  return view;
}

class Play {
  constructor(root, params, app) {
    Object.assign(this, { root, params, app });
    this.frames = []; // {cells, stream, score, move?, loss?, worth?}
    this.queue = Promise.resolve();
    this.grading = Promise.resolve();
    this.side = Number(params.side) === 3 ? 3 : 4;
  }

  async start() {
    this.models = await models().catch(() => []);
    if (this.gone) return;
    this.build();
    await this.newGame(this.params.game);
  }

  build() {
    this.board = new Board({ label: "Your board", onmove: (move) => this.move(move) });
    this.figures = figures({ score: "Score", best: "Your best", moves: "Moves", accuracy: "Accuracy" });
    this.values = new MoveValues({ onmove: (move) => this.move(move) });
    this.strip = h("div", { class: "strip", role: "list", "aria-label": "Your moves, by what they lost" });
    this.auto = button("auto", "Let the model play", () => this.autoPlay(), { key: "P" });
    this.game = h("input", { type: "number", min: 0, max: 999999999, inputmode: "numeric", onchange: () => this.app.attempt(() => this.newGame(this.game.value)) });
    const actions = h("div", { class: "actions" }, button("undo", "Undo", () => this.undo(), { key: "U" }), this.hintButton = button("hint", "Hint", () => this.hint(), { key: "H" }), button("fresh", "New game", () => this.app.attempt(() => this.newGame()), { key: "N" }));
    this.keep = h("input", { type: "checkbox", checked: recall("values") === "on", onchange: () => this.keepHints() });
    const sizes = choice("Board", [[4, "4×4"], [3, "3×3"]], this.side, (side) => this.resize(side));
    const setup = h("div", { class: "setup" }, field("Game", this.game, "narrow"), sizes, button("link", "Share", () => this.app.share(), { label: "Copy a link to this game" }));
    this.advice = h("div", {}, this.values.element, h("label", { class: "check" }, this.keep, "show the values all the time"), h("div", { class: "setup" }, this.playerFields()));
    this.root.append(
      h("div", { class: "stage" }, this.figures.element, this.board.element, actions),
      h("div", { class: "side" }, panel("Values of the moves", this.advice), panel("Your moves", this.strip, this.moveNote = h("p", { class: "note" })), panel("This game", setup)),
    );
    this.playerChanged();
  }

  playerFields() {
    const fitting = this.models.filter((model) => model.side === this.side);
    if (fitting.length === 0) return h("p", { class: "note" }, "There is no model for this board: ", h("a", { href: "#train/recipe/quick" }, "train one"), " to get hints and grades.");
    const chosen = { model: this.params.model ?? recall("model"), search: recall("hints") ?? "2ply" };
    Object.assign(this, playerSelects(fitting, { ...chosen, onchange: () => this.playerChanged() }));
    return [field("Model", this.model), field("Search", this.search), this.auto];
  }

  get player() {
    return this.model ? { model: this.model.value, search: this.search.value } : null;
  }

  /** A policy does not say what a move loses. */
  get canGrade() {
    return this.model && !isPolicy(this.models.find(({ name }) => name === this.model.value));
  }

  playerChanged() {
    this.hintButton.disabled = this.auto.disabled = !this.player;
    if (this.player) remember("hints", this.search.value);
    this.values.clear(this.player ? "H shows what each move is worth" : "");
    if (!this.frames.length) return;
    this.drawStrip();
    if (this.keep.checked) this.hint();
  }

  resize(side) {
    location.hash = side === 3 ? "#play/side/3" : "#play";
  }

  async newGame(game) {
    this.stopAuto();
    const fresh = await post("/api/game", { side: this.side, game: game === undefined || game === "" ? undefined : Number(game) });
    if (this.gone) return;
    this.record = { seed: fresh.seed, game: fresh.game };
    this.frames = [{ cells: parse(fresh.board), stream: fresh.stream, score: 0 }];
    this.game.value = fresh.game;
    this.celebrated = 9; // tiles up to 512 pass without a word
    this.app.remember("play", { side: this.side === 4 ? undefined : this.side, game: fresh.game });
    this.show();
  }

  get frame() {
    return this.frames[this.frames.length - 1];
  }

  show(move) {
    const { cells, score } = this.frame;
    this.board.show(cells, move);
    this.board.message();
    this.board.advise(null);
    const best = Math.max(score, Number(recall(`best.${this.side}`) ?? 0));
    remember(`best.${this.side}`, best);
    this.figures.score.set(whole(score));
    this.figures.best.set(whole(best));
    this.figures.moves.set(whole(this.frames.length - 1));
    this.drawStrip();
    this.values.clear(this.player ? "H shows what each move is worth" : "");
    if (isOver(cells)) return this.over();
    if (this.keep.checked && !this.close) this.hint();
  }

  /** Moves are made one after another, however fast the keys come. */
  move(move) {
    this.stopAuto();
    this.queue = this.queue.then(() => this.app.attempt(() => this.makeMove(move)));
  }

  async makeMove(move) {
    const before = this.frame;
    if (!slide(before.cells, move).legal) return this.board.refuse(move);
    const answer = await post("/api/move", { board: format(before.cells), move, stream: before.stream });
    if (this.gone || !answer.legal || this.frame !== before) return;
    this.push(answer, move);
    this.grade(before);
  }

  push({ board, stream, reward }, move) {
    this.frame.move = move;
    this.frames.push({ cells: parse(board), stream, score: this.frame.score + reward });
    this.show(move);
    this.celebrate();
  }

  // How much the move lost: asked after it was made, one move at a time, so that no move waits for it.
  grade(frame) {
    if (this.canGrade) this.grading = this.grading.then(() => this.gradeNow(frame));
  }

  async gradeNow(frame) {
    if (this.gone || !this.frames.includes(frame)) return;
    const advice = await advise({ board: format(frame.cells), ...this.player }).catch(() => null);
    if (!advice || advice.probabilities || this.gone || !this.frames.includes(frame)) return;
    frame.loss = lossOf(advice, frame.move);
    frame.worth = advice.values[advice.best];
    frame.choice = Object.values(advice.values).filter((value) => value !== null).length > 1;
    this.drawStrip();
  }

  drawStrip() {
    const graded = this.frames.filter((frame) => frame.loss !== undefined && frame.loss !== null);
    const cell = (frame) => {
      const near = nearness(frame.loss, frame.worth);
      const text = frame.loss === 0 ? `${frame.move}: best` : `${frame.move}: lost ${short(frame.loss)}`;
      return h("span", { class: "grade", role: "listitem", title: text, "aria-label": text, vars: { "--near": near.toFixed(3), "--height": `${30 + 70 * (1 - near)}%` } });
    };
    this.strip.replaceChildren(...graded.slice(-60).map(cell));
    const chosen = graded.filter((frame) => frame.choice);
    const accuracy = chosen.reduce((sum, frame) => sum + quality(frame.loss, frame.worth), 0) / chosen.length;
    this.figures.accuracy.set(chosen.length ? `${(100 * accuracy).toFixed(0)}%` : "–");
    const last = graded[graded.length - 1];
    const promise = this.canGrade === false ? "This model says how probable moves are, not what they lose: it grades none." : "Each move is graded from green to red by what it lost against the best one.";
    this.moveNote.textContent = !last ? promise : last.loss === 0 ? "The last move was the best one." : `The last move lost ${short(last.loss)} points of what was to be expected.`;
  }

  hint() {
    if (!this.player) return;
    const frame = this.frame;
    return this.app.attempt(async () => {
      const advice = await advise({ board: format(frame.cells), ...this.player });
      if (this.gone || this.frame !== frame || !advice.best) return;
      this.values.show(advice);
      this.board.advise(advice.values, advice.best);
    });
  }

  keepHints() {
    remember("values", this.keep.checked ? "on" : "off");
    if (this.keep.checked) this.hint();
  }

  /** Takes a move back, once those before it have been made. */
  undo() {
    this.stopAuto();
    this.queue = this.queue.then(() => this.takeBack());
  }

  takeBack() {
    if (this.gone || this.frames.length < 2) return;
    this.frames.pop();
    delete this.frame.loss;
    this.show();
  }

  autoPlay() {
    if (this.close) return this.stopAuto();
    if (!this.player || isOver(this.frame.cells)) return;
    this.auto.classList.add("active");
    const { cells, stream } = this.frame;
    this.close = listen("/api/watch", { ...this.player, board: format(cells), stream, delay: 160 }, {
      move: (event) => {
        this.push({ board: event.next, stream: event.stream, reward: event.reward }, event.move);
        this.values.show(event);
      },
      end: (_, close) => {
        close();
        this.stopAuto();
      },
    }, () => this.stopAuto());
  }

  stopAuto() {
    this.close?.();
    this.close = null;
    this.auto.classList.remove("active");
  }

  over() {
    this.stopAuto();
    const { score, cells } = this.frame;
    this.board.message(
      h("strong", {}, "Game over"),
      h("span", {}, `${whole(score)} points, best tile ${whole(maxTile(cells))}`),
      h("div", { class: "actions" }, button("undo", "Undo", () => this.undo()), this.player && button("search", "Review", () => this.review()), button("fresh", "New game", () => this.app.attempt(() => this.newGame()), { kind: "primary" })),
    );
  }

  /** Takes the game to the review as a record. */
  review() {
    const letters = this.frames.flatMap((frame) => (frame.move ? [frame.move[0]] : [])).join("");
    sessionStorage.setItem("afterstate.review", `afterstate game ${this.record.seed} ${this.record.game} ${sideOf(this.frame.cells)}\n${letters}\n`);
    location.hash = "#review";
  }

  celebrate() {
    const top = Math.max(...this.frame.cells);
    if (top <= this.celebrated) return;
    this.celebrated = top;
    this.board.celebrate(top);
  }

  key(event) {
    if (!this.board) return false;
    const name = event.key.toLowerCase();
    const move = keyMove(event) ?? LETTERS[name];
    if (move) this.move(move);
    else if (name === "u" || name === "backspace") this.undo();
    else if (name === "h") this.hint();
    else if (name === "p") this.autoPlay();
    else if (name === "n") this.app.attempt(() => this.newGame());
    else return false;
    return true;
  }

  unmount() {
    this.gone = true;
    if (this.board) this.stopAuto();
  }
}
