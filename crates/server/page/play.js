// Play: the game itself, with hints, and the share of the chance of the next large tile that each move kept.

import { hash } from "./address.js";
import { advise, listen, post } from "./api.js";
import { Board, keyMove } from "./board.js";
import { choice, field, figures, isPolicy, missingModel, models, panel, playerSelects, wanted } from "./controls.js";
import { announce, button, h, percent, toast, whole } from "./dom.js";
import { PlayedGame, accuracyOf, bestScore } from "./game.js";
import { gamesPanel } from "./games.js";
import { onward } from "./onward.js";
import { face, format, parse, slide } from "./rules.js";
import { set, setting } from "./settings.js";
import { forget, games, recall, remember } from "./store.js";
import { Stream } from "./tiles.js";
import { MoveValues, lossOf } from "./values.js";

export const title = "Play";
export const shortcuts = [["↑ → ↓ ←", "move (or W A S D)"], ["U", "undo a move"], ["H", "hint"], ["P", "the model plays on"], ["N", "new game"]];

const LETTERS = { w: "up", d: "right", s: "down", a: "left" };
const AT_STAKE = 5; // moves that can be abandoned without a question

export function mount(root, params, app) {
  const view = new Play(root, params, app);
  app.attempt(() => view.start());
  return view;
}

class Play {
  constructor(root, params, app) {
    Object.assign(this, { root, params, app });
    this.confirming = Promise.resolve();
    this.grading = Promise.resolve();
    this.board = null;
    const cells = params.board ? parse(params.board) : null;
    this.side = cells ? Math.sqrt(cells.length) : Number(params.side) === 3 ? 3 : 4;
  }

  async start() {
    const list = await models().catch(() => null);
    if (this.gone) return;
    this.models = list ?? [];
    try {
      // Without the server the models are unknown, and the game continues without one.
      if (list) wanted(list, this.params.model);
    } catch (error) {
      return missingModel(this.root, error, this.params.model, () => this.start());
    }
    this.root.replaceChildren();
    this.build();
    await this.begin();
  }

  /** The game of the address, or by default the current game. */
  async begin() {
    const { game, board, stream, score, open } = this.params;
    const current = PlayedGame.current(this.side);
    const number = game === undefined ? undefined : Number(game);
    if (open) return this.take(PlayedGame.restore(games.find(open)) ?? current ?? new PlayedGame({ side: this.side }), current);
    if (board) {
      const cells = parse(board);
      const start = { cells, stream: stream && Stream.parse(stream), score: Number(score) || 0 };
      const same = current?.start?.board === format(cells, "") && (!stream || current.start.stream === stream);
      return this.take(same ? current : new PlayedGame({ start }), current);
    }
    if (current && (number === undefined || current.number === number)) return this.take(current);
    this.take(new PlayedGame({ side: this.side, number }), current);
  }

  build() {
    this.board = new Board({ label: "Your board", onmove: (move) => this.move(move) });
    this.figures = figures({ score: "Score", best: "Your best", moves: "Moves", accuracy: "Accuracy" });
    this.values = new MoveValues({ onmove: (move) => this.move(move), chances: true });
    this.strip = h("div", { class: "strip", role: "list", "aria-label": "Your moves, by what they kept" });
    this.auto = button("auto", "Let the model play", () => this.autoPlay(), { key: "P" });
    this.game = h("input", { type: "number", min: 0, max: 999999999, inputmode: "numeric", onchange: () => this.numbered() });
    this.undoButton = button("undo", "Undo", () => this.undo(), { key: "U" });
    this.hintButton = button("hint", "Hint", () => this.hint(true), { key: "H" });
    const actions = h("div", { class: "actions" }, this.undoButton, this.hintButton, button("fresh", "New game", () => this.newGame(), { key: "N" }));
    this.keep = h("input", { type: "checkbox", checked: setting("hints") === "on", onchange: () => this.keepHints() });
    const sizes = choice("Board", [[4, "4×4"], [3, "3×3"]], this.side, (side) => (location.hash = hash("play", { side: side === 3 ? 3 : undefined })));
    const setup = h("div", { class: "setup" }, field("Game", this.game, "narrow"), sizes, button("link", "Share", () => this.share(), { label: "Copy a link to this game" }), button("search", "Review", () => this.review(), { label: "Review this game" }));
    this.advice = h("div", {}, this.values.element, h("label", { class: "check" }, this.keep, "show the values all the time"), h("div", { class: "setup" }, this.playerFields()));
    this.onward = onward("play", () => ({ cells: this.played.frame.cells, stream: this.played.frame.stream, score: this.played.frame.score, ...this.player }));
    this.mark = h("p", { class: "note" });
    this.history = gamesPanel({ onchange: () => this.showFigures() });
    this.root.append(
      h("div", { class: "stage" }, this.figures.element, this.board.element, actions, this.onward.element),
      h("div", { class: "side" }, panel("Values of the moves", this.advice), panel("Your moves", this.strip, this.moveNote = h("p", { class: "note" })), panel("This game", setup, this.mark), this.history.element),
    );
    this.playerChanged();
  }

  playerFields() {
    const fitting = this.models.filter((model) => model.side === this.side);
    if (fitting.length === 0) return h("p", { class: "note" }, "There is no model for this board: ", h("a", { href: "#train/recipe/quick" }, "train one"), " to get hints and grades.");
    const chosen = { model: this.params.model ?? recall("model"), search: this.params.search ?? recall("hints") };
    Object.assign(this, playerSelects(fitting, { ...chosen, onchange: () => this.playerChanged() }));
    return [field("Model", this.model), field("Search", this.search), this.auto];
  }

  get player() {
    return this.model ? { model: this.model.value, search: this.search.value } : null;
  }

  /** A policy does not say what a move loses. */
  get canGrade() {
    return Boolean(this.model) && !isPolicy(this.models.find(({ name }) => name === this.model.value));
  }

  playerChanged() {
    this.hintButton.disabled = this.auto.disabled = !this.player;
    if (this.player) {
      remember("hints", this.search.value);
      remember("model", this.model.value);
    }
    this.values.clear(this.player ? "Hint shows what each move is worth" : "");
    if (!this.played) return;
    this.address();
    this.drawStrip();
    if (this.keep.checked) this.hint();
  }

  /** The address: the game, and the model that gives hints. */
  address() {
    const { number, start } = this.played;
    const what = start ? { board: start.board, stream: start.stream, score: start.score || undefined } : { side: this.side === 4 ? undefined : this.side, game: number };
    this.app.remember("play", { ...what, ...this.player });
  }

  async newGame() {
    if (!(await this.mayLeave())) return;
    this.take(new PlayedGame({ side: this.side }), this.played);
    this.board.element.focus();
  }

  async numbered() {
    const number = Number(this.game.value);
    if (!Number.isSafeInteger(number) || number < 0 || this.game.value === "") {
      this.game.value = this.played.number ?? "";
      return toast("Game numbers start at 0", "error");
    }
    if (await this.mayLeave()) this.take(new PlayedGame({ side: this.side, number }), this.played);
    else this.game.value = this.played.number ?? "";
    this.board.element.focus();
  }

  async mayLeave() {
    if (this.played.over || this.played.count < AT_STAKE || setting("confirm") === "off") return true;
    const question = `Give up this game of ${whole(this.played.frame.score)} points? Undo brings it back.`;
    return this.app.ask(question, "New game");
  }

  /** Continues a game; `before` is the one that Undo can bring back. */
  take(game, before) {
    this.stopAuto();
    this.played = game;
    if (before && before !== game) {
      before.keep();
      remember(`before.${this.side}`, before.id);
    }
    this.game.value = game.number ?? "";
    this.celebrated = Math.max(9, ...game.frame.cells); // tiles up to 512 are not celebrated
    game.save();
    this.address();
    this.history.draw();
    this.show();
  }

  show(move) {
    const { cells } = this.played.frame;
    this.board.show(cells, move);
    this.board.message();
    this.board.advise(null);
    this.showFigures();
    this.drawStrip();
    this.onward.update();
    this.values.clear(this.player ? "Hint shows what each move is worth" : "");
    if (this.played.over) return this.over();
    if (this.keep.checked && !this.close) this.hint();
  }

  showFigures() {
    const { frame, count, counts } = this.played;
    this.figures.score.set(whole(frame.score));
    this.figures.best.set(whole(Math.max(bestScore(this.played), counts ? frame.score : 0)));
    this.figures.moves.set(whole(count));
    this.undoButton.disabled = count === 0 && !recall(`before.${this.side}`);
    const { undone, helped, start } = this.played;
    const why = [undone && "moves were undone", helped && "the model played some of it", start && "it began from a position"].filter(Boolean);
    this.mark.textContent = why.length ? `This game does not count for your best score: ${why.join(", ")}.` : "";
  }

  /** Makes a move at once; the server confirms it. */
  move(move) {
    if (!this.played || this.gone) return;
    this.stopAuto();
    const before = this.played.frame;
    if (!this.played.move(move)) return this.board.refuse(move);
    this.moved(move);
    this.confirm(before, move);
    this.grade(before);
  }

  moved(move) {
    this.played.save();
    this.show(move);
    this.celebrate();
    this.tell(move);
  }

  /** Announces the result of the move to screen readers. */
  tell(move) {
    const { frames, side } = this.played;
    const [before, now] = frames.slice(-2);
    const after = slide(before.cells, move).cells;
    const cell = now.cells.findIndex((tile, i) => tile !== after[i]);
    const gained = now.score - before.score;
    announce([`${move}${gained ? `, ${gained} points` : ""}`, `new ${face(now.cells[cell])} in row ${Math.floor(cell / side) + 1}, column ${(cell % side) + 1}`, `score ${now.score}`].join("; "));
  }

  // The page draws the same tiles as the server; if they ever differ, the server is right.
  confirm(before, move) {
    const { played } = this;
    const next = played.frame;
    this.confirming = this.confirming.then(async () => {
      if (this.gone || !played.frames.includes(next)) return;
      const answer = await post("/move", { board: format(before.cells), move, stream: String(before.stream) }).catch(() => null);
      if (!answer || answer.board === format(next.cells) || this.gone || !played.frames.includes(next)) return;
      played.frames.length = played.frames.indexOf(next);
      played.frames.push({ cells: parse(answer.board), stream: Stream.parse(answer.stream), score: before.score + answer.reward });
      toast("The server has another tile for this move: its board is shown now", "error");
      this.show();
    });
  }

  // The grade of a move is requested after it was made, one at a time, so that no move waits for it.
  grade(frame) {
    if (this.canGrade) this.grading = this.grading.then(() => this.gradeNow(frame));
  }

  async gradeNow(frame) {
    if (this.gone || !this.played.frames.includes(frame) || !frame.move) return;
    const advice = await advise({ board: format(frame.cells), ...this.player, played: frame.move }).catch(() => null);
    if (!advice?.best || advice.probabilities || this.gone || !this.played.frames.includes(frame)) return;
    Object.assign(frame, { loss: lossOf(advice, frame.move), kept: advice.judged?.kept, lost: advice.judged?.lost, grade: advice.judged?.grade, better: advice.best, chance: advice.chance });
    this.drawStrip();
    this.played.save();
  }

  drawStrip() {
    const { frames } = this.played ?? { frames: [] };
    const graded = frames.filter((frame) => frame.kept !== undefined && frame.kept !== null);
    const cell = ({ kept, grade, move }) => {
      const text = `${move}: ${grade}${kept < 1 ? `, kept ${percent(kept)} of the chance` : ""}`;
      return h("span", { class: `grade grade-${grade}`, role: "listitem", title: text, "aria-label": text, vars: { "--height": `${30 + 70 * Math.min(1, 4 * (1 - kept))}%` } });
    };
    this.strip.replaceChildren(...graded.slice(-60).map(cell));
    const accuracy = accuracyOf(frames);
    if (this.played) this.played.accuracy = accuracy;
    this.figures.accuracy.set(accuracy === null ? "–" : `${accuracy.toFixed(0)}%`);
    this.moveNote.textContent = this.lastNote(graded[graded.length - 1]);
  }

  lastNote(last) {
    if (!this.model) return "";
    if (!this.canGrade) return "This model gives probabilities of moves, not their losses: it cannot grade moves.";
    if (this.side !== 4) return "Moves are graded on 4×4.";
    if (!last) return "Each move is graded by how much of your chance of the next large tile it kept.";
    if (last.grade === "best" || !last.chance) return last.grade === "best" ? "The last move was the best one." : `The last move was graded: ${last.grade}.`;
    const { tile, moves } = last.chance;
    return `The last move, ${last.grade}: the chance of a ${tile} is ${percent(moves[last.move])}; with ${last.better} it was ${percent(moves[last.better])}.`;
  }

  hint(asked = false) {
    if (!this.player || !this.played) return;
    const { frame } = this.played;
    return this.app.attempt(async () => {
      const advice = await advise({ board: format(frame.cells), ...this.player });
      if (this.gone || this.played.frame !== frame || !advice.best) return;
      this.values.show(advice);
      this.board.advise(advice.values, advice.best);
      if (asked) announce(`The best move is ${advice.best}`);
    });
  }

  keepHints() {
    set("hints", this.keep.checked ? "on" : "off");
    if (this.keep.checked) this.hint();
  }

  /** Undoes a move; before the first one, the previous game comes back. */
  undo() {
    if (!this.played) return;
    this.stopAuto();
    if (this.played.undo()) {
      this.played.save();
      this.show();
      announce(`Move taken back; score ${this.played.frame.score}`);
      return;
    }
    const before = PlayedGame.restore(games.find(recall(`before.${this.side}`)));
    if (!before) return;
    forget(`before.${this.side}`);
    this.take(before);
    toast("Back in the previous game");
  }

  autoPlay() {
    if (this.close) return this.stopAuto();
    if (!this.player || this.played.over) return;
    this.auto.classList.add("active");
    const { cells, stream } = this.played.frame;
    this.close = listen("/watch", { ...this.player, board: format(cells), stream: String(stream), delay: 160 }, {
      move: (event) => {
        this.played.helped++;
        this.played.move(event.move);
        this.moved(event.move);
        this.values.show(event);
      },
      end: (_, close) => {
        close();
        this.stopAuto();
      },
    }, (error) => {
      this.stopAuto();
      this.app.attempt(() => Promise.reject(error));
    });
  }

  stopAuto() {
    this.close?.();
    this.close = null;
    this.auto?.classList.remove("active");
  }

  over() {
    this.stopAuto();
    this.played.keep();
    this.history.draw();
    const { frame } = this.played;
    const text = `${whole(frame.score)} points, best tile ${face(Math.max(...frame.cells))}`;
    announce(`Game over: ${text}`);
    this.board.message(
      h("strong", {}, "Game over"),
      h("span", {}, text),
      h("div", { class: "actions" }, button("undo", "Undo", () => this.undo()), this.player && button("search", "Review", () => this.review()), button("fresh", "New game", () => this.newGame(), { kind: "primary" })),
      button("close", "See the board", () => this.board.message(), { kind: "small" }),
    );
  }

  /** Opens the game in the review, finished or not. */
  review() {
    if (!this.played.count) return toast("There is no move to review yet");
    this.played.keep();
    location.hash = hash("review", { game: this.played.id, model: this.canGrade ? this.model.value : undefined });
  }

  /** A link to the game's beginning: the same number gives the same tiles. */
  share() {
    const { number, start } = this.played;
    this.app.share(start ? hash("play", start) : hash("play", { side: this.side === 4 ? undefined : this.side, game: number }));
  }

  celebrate() {
    const top = Math.max(...this.played.frame.cells);
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
    else if (name === "h") this.hint(true);
    else if (name === "p") this.autoPlay();
    else if (name === "n") this.newGame();
    else return false;
    return true;
  }

  unmount() {
    this.gone = true;
    this.stopAuto();
    this.played?.keep();
  }
}
