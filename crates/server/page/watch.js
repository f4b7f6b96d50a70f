// Watch: a model plays, and shows its evaluation.

import { hash } from "./address.js";
import { advise, listen } from "./api.js";
import { Board, keyMove } from "./board.js";
import { LineChart } from "./chart.js";
import { field, figures, isPolicy, missingModel, modelPath, models, noModel, panel, playerSelects, wanted } from "./controls.js";
import { announce, button, h, icon, short, toast, whole } from "./dom.js";
import { command } from "./export.js";
import { onward } from "./onward.js";
import { format, isOver, maxTile, parse, sideOf } from "./rules.js";
import { recall, remember, texts } from "./store.js";
import { Stream, firstBoard, freshStream, someNumber } from "./tiles.js";
import { MoveValues } from "./values.js";

export const title = "Watch";
export const shortcuts = [["Space", "play, pause"], ["→", "one move forward"], ["←", "one move back"], ["+ −", "faster, slower"], ["N", "next game"]];

// Milliseconds between moves; 0 is full speed.
const SPEEDS = [[1000, "1 move/s"], [500, "2 moves/s"], [250, "4 moves/s"], [125, "8 moves/s"], [60, "16 moves/s"], [30, "33 moves/s"], [10, "100 moves/s"], [0, "as fast as it goes"]];
const NEXT_GAME_MS = 6000;

let left = null; // the last watched game, kept for when the user returns

export function mount(root, params, app) {
  const view = new Watch(root, params, app);
  app.attempt(() => view.start());
  return view;
}

class Watch {
  constructor(root, params, app) {
    Object.assign(this, { root, params, app });
    this.frames = []; // {cells, stream, score, advice?, move?}: the positions of this game
    this.at = 0;
    this.speed = Number(recall("speed") ?? 3);
    this.gone = false;
  }

  async start() {
    const list = await models();
    if (this.gone) return;
    if (list.length === 0) return this.root.append(noModel());
    try {
      wanted(list, this.params.model);
    } catch (error) {
      return missingModel(this.root, error, this.params.model, () => this.gone || this.app.attempt(() => this.start()));
    }
    this.root.replaceChildren();
    this.build(list);
    this.begin();
  }

  /** The game of the address: one left earlier, one from a position, or a numbered one. */
  begin() {
    const { board, stream, score, game } = this.params;
    const isSame = left?.key === this.identity || (!board && game === undefined && (!this.params.model || this.params.model === left?.model));
    if (left && isSame && left.frames[0].cells.length === this.side ** 2) {
      Object.assign(this, { frames: left.frames, first: left.first });
      this.game.value = this.first.game ?? "";
      this.show(left.at);
      this.address();
      this.setToggle(false);
      return this.think();
    }
    if (!board) return this.newGame(game);
    const cells = parse(board);
    this.open({ board: format(cells, ""), stream: String((stream && Stream.parse(stream)) || freshStream()), score: Number(score) || 0 }, cells);
  }

  /** The identity of this game. */
  get identity() {
    const { board, stream, game } = this.params;
    return board ? `${board} ${stream ?? ""}` : `game ${game ?? this.first?.game} ${this.side}`;
  }

  get side() {
    return this.models[this.model.value].side;
  }

  build(list) {
    this.models = Object.fromEntries(list.map((model) => [model.name, model]));
    const chosen = { model: this.params.model ?? recall("model"), search: this.params.search ?? recall("search") };
    Object.assign(this, playerSelects(list, { ...chosen, onchange: () => this.changePlayer() }));
    this.meaning = h("p", { class: "note" });
    this.game = h("input", { type: "number", min: 0, max: 999999999, inputmode: "numeric", onchange: () => this.numbered() });
    this.board = new Board({ label: "The model's board" });
    this.values = new MoveValues();
    this.figures = figures({ score: "Score", moves: "Moves", tile: "Best tile", rate: "Moves/s" });
    this.chart = new LineChart({ title: "Score, and what the model expects it to become", height: 170, x: "moves", unit: "moves", low: 0, onpick: (x) => this.jump(x) }).saveable(() => `game-${this.first.game ?? this.first.board}`);
    this.command = command("");
    this.toggle = button("pause", "", () => this.playPause(), { key: "Space", kind: "primary round", label: "Pause" });
    this.slider = h("input", { type: "range", min: 0, max: SPEEDS.length - 1, value: this.speed, "aria-label": "Speed", oninput: () => this.setSpeed(Number(this.slider.value)) });
    this.pace = h("output", { class: "pace" });
    const back = button("back", "", () => this.back(), { key: "←", kind: "round", label: "One move back" });
    const step = button("step", "", () => this.step(), { key: "→", kind: "round", label: "One move on" });
    const transport = h("div", { class: "transport" }, back, this.toggle, step, h("div", { class: "speed" }, this.slider, this.pace));
    this.onward = onward("watch", () => ({ ...this.frames[this.at], model: this.model.value, search: this.search.value }));
    const setup = h("div", { class: "setup" }, field("Model", this.model), field("Search", this.search), field("Game", this.game, "narrow"),
      h("div", { class: "actions" }, button("fresh", "Next game", () => this.next(), { key: "N" }), button("search", "Review", () => this.review(), { label: "Review this game" }), button("link", "Share", () => this.app.share(), { label: "Copy a link to this game" })));
    this.root.append(
      h("div", { class: "stage" }, this.figures.element, this.board.element, transport, this.onward.element),
      h("div", { class: "side" }, panel("What the model thinks", this.values.element, this.meaning), panel("", this.chart.element, this.command.element), panel("", setup)),
    );
    this.explain();
    this.setSpeed(this.speed);
    this.hidden = () => this.visibility();
    document.addEventListener("visibilitychange", this.hidden);
  }

  explain() {
    this.meaning.textContent = isPolicy(this.models[this.model.value])
      ? "For each move, how probable it is that a strong player would make it."
      : "For each move, the points that it still expects to make.";
  }

  // In a hidden tab the model pauses.
  visibility() {
    if (document.hidden && this.close) {
      this.pause();
      this.resting = true;
    } else if (!document.hidden && this.resting) {
      this.resting = false;
      this.play();
    }
  }

  numbered() {
    const number = Number(this.game.value);
    if (this.game.value === "" || !Number.isSafeInteger(number) || number < 0) {
      this.game.value = this.first.game ?? "";
      return toast("Game numbers start at 0", "error");
    }
    this.newGame(number);
    this.board.element.focus();
  }

  newGame(game) {
    const number = game === undefined || game === "" ? someNumber() : Number(game);
    const seed = Number(this.params.seed ?? 1);
    const { cells, stream } = firstBoard(this.side, number, Number.isSafeInteger(seed) && seed >= 0 ? seed : 1);
    this.open({ game: number, stream: String(stream), score: 0 }, cells);
  }

  open(first, cells) {
    this.stop();
    clearTimeout(this.waiting);
    this.first = first;
    this.frames = [{ cells, stream: first.stream, score: first.score, over: isOver(cells) }];
    this.game.value = first.game ?? "";
    this.board.message();
    this.values.clear();
    this.address();
    this.show(0);
    this.play();
  }

  /** The address: the game, the model and the search. */
  address() {
    const { game, board, stream, score } = this.first;
    const { seed } = this.params;
    const what = board ? { board, stream, score: score || undefined } : { game, seed };
    Object.assign(this.params, { game: undefined, board: undefined, stream: undefined }, what);
    this.app.remember("watch", { ...what, model: this.model.value, search: this.search.value });
    const begin = board ? `--from ${board}` : `--game ${game}${seed && seed !== "1" ? ` --seed ${seed}` : ""}`;
    this.command.set(`afterstate play --watch ${begin} --model ${modelPath(this.models[this.model.value])} --search ${this.search.value}`);
  }

  next() {
    this.app.attempt(() => this.newGame(this.first.game === undefined ? undefined : this.first.game + 1));
  }

  changePlayer() {
    remember("model", this.model.value);
    remember("search", this.search.value);
    this.explain();
    if (this.side !== this.board.side) return this.next();
    this.address();
    if (this.close) this.play();
    else this.think();
  }

  /** Opens the game so far in the review. */
  review() {
    const played = this.frames.filter((frame) => frame.move);
    if (!played.length) return toast("There is no move to review yet");
    const model = isPolicy(this.models[this.model.value]) ? undefined : this.model.value;
    const { game } = this.first;
    if (game !== undefined) location.hash = hash("review", { record: `${this.params.seed ?? 1}-${game}-${sideOf(played[0].cells)}`, model, moves: played.map(({ move }) => move[0]).join("") });
    else location.hash = hash("review", { text: texts.keep(played.map(({ cells, move }) => `${format(cells)} ${move}`).join("\n")), model });
  }

  // Continues from the displayed position; later positions are dropped.
  play(moves) {
    this.stop();
    this.resting = document.hidden;
    if (this.resting) return;
    const frame = this.frames[this.at];
    this.frames.length = this.at + 1;
    delete frame.advice;
    this.setToggle(true);
    this.begun = { time: performance.now(), move: this.at };
    const question = { model: this.model.value, search: this.search.value, board: format(frame.cells), stream: frame.stream, moves, delay: SPEEDS[this.speed][0] };
    this.close = listen("/watch", question, {
      move: (move) => this.take([move]),
      moves: (list) => this.take(list),
      end: ({ over }, close) => {
        close();
        this.ended(over);
      },
    }, (error) => this.broken(error));
  }

  broken(error) {
    this.pause();
    this.app.attempt(() => Promise.reject(error));
  }

  // Moves arrive: first the model's evaluation, then, if there is time to look at it, the move itself.
  take(list) {
    for (const event of list) {
      const last = this.frames[this.frames.length - 1];
      last.advice = event;
      last.move = event.move;
      this.frames.push({ cells: parse(event.next), stream: event.stream, score: last.score + event.reward, over: event.over });
    }
    this.celebrate();
    const pause = Math.min(300, SPEEDS[this.speed][0] * 0.4);
    if (list.length > 1 || pause < 90) return this.draw();
    this.showAdvice(this.frames[this.frames.length - 2]);
    clearTimeout(this.lag);
    this.lag = setTimeout(() => this.draw(), pause);
  }

  // Celebrates each new largest tile from 2048, at visible speeds.
  celebrate() {
    const [before, now] = this.frames.slice(-2).map(({ cells }) => Math.max(...cells));
    if (now > before && now >= 11 && SPEEDS[this.speed][0] >= 60) this.board.celebrate(now);
  }

  // At most once per frame, however fast the moves arrive.
  draw() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      if (!this.gone) this.show(this.frames.length - 1);
    });
  }

  show(at) {
    this.at = at;
    const frame = this.frames[at];
    this.board.show(frame.cells, this.frames[at - 1]?.move);
    const thought = frame.advice ?? (this.close ? this.frames[at - 1]?.advice : null);
    if (thought) this.showAdvice(frame.advice ? frame : this.frames[at - 1]);
    this.figures.score.set(whole(frame.score));
    this.figures.moves.set(whole(at));
    this.figures.tile.set(whole(maxTile(frame.cells)));
    this.onward.update();
    this.drawChart();
    this.showRate();
  }

  showAdvice({ advice }) {
    this.values.show(advice);
    this.board.advise(advice.values, advice.best);
  }

  drawChart() {
    const known = this.frames.flatMap((frame, i) => (Number.isFinite(frame.advice?.expected) ? [[i, frame.score + frame.advice.expected]] : []));
    const scores = this.frames.map((frame, i) => [i, frame.score]);
    // A policy expects no score.
    const expected = isPolicy(this.models[this.model.value]) ? [] : [{ name: "expected", points: known }];
    this.chart.set([...expected, { name: "score", points: scores }], this.at < this.frames.length - 1 ? this.at : null);
  }

  showRate() {
    const seconds = (performance.now() - (this.begun?.time ?? 0)) / 1000;
    if (this.close && seconds > 0.15) this.figures.rate.set(short(Number(((this.at - this.begun.move) / seconds).toPrecision(3))));
  }

  ended(over) {
    this.close = null;
    this.setToggle(false);
    if (!over) return this.think();
    announce("The game is over");
    const { score, cells } = this.frames[this.frames.length - 1];
    this.board.message(h("strong", {}, `${whole(score)} points`), h("span", {}, `best tile ${maxTile(cells)}, ${whole(this.frames.length - 1)} moves`), h("div", { class: "actions" }, button("search", "Review", () => this.review()), button("fresh", "Next game", () => this.next(), { kind: "primary" })), button("close", "See the board", () => this.see(), { kind: "small" }));
    this.waiting = setTimeout(() => this.next(), NEXT_GAME_MS);
  }

  /** The last board, without an overlay. */
  see() {
    clearTimeout(this.waiting);
    this.board.message();
  }

  // While the game is paused, shows the model's evaluation of the displayed position.
  think() {
    const frame = this.frames[this.at];
    if (frame.over) return;
    if (frame.advice) return this.showAdvice(frame);
    this.app.attempt(async () => {
      const advice = await advise({ board: format(frame.cells), model: this.model.value, search: this.search.value });
      if (this.gone || this.frames[this.at] !== frame) return;
      frame.advice = advice;
      this.showAdvice(frame);
    });
  }

  stop() {
    this.close?.();
    this.close = null;
    clearTimeout(this.lag);
    clearTimeout(this.waiting);
    if (this.pending) cancelAnimationFrame(this.pending);
    this.pending = null;
  }

  pause() {
    this.stop();
    this.setToggle(false);
    this.show(this.frames.length - 1);
    this.think();
  }

  playPause() {
    if (this.close) return this.pause();
    if (this.frames[this.at].over) return this.next();
    this.board.message();
    this.play();
  }

  step() {
    if (this.close) this.pause();
    if (this.at < this.frames.length - 1) return this.jump(this.at + 1);
    if (!this.frames[this.at].over) this.play(1);
  }

  back() {
    this.jump(this.at - 1);
  }

  jump(at) {
    if (this.close) this.pause();
    clearTimeout(this.waiting);
    this.board.message();
    this.show(Math.max(0, Math.min(at, this.frames.length - 1)));
    this.think();
  }

  setToggle(playing) {
    this.toggle.replaceChildren(icon(playing ? "pause" : "play"));
    this.toggle.setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  setSpeed(speed) {
    this.speed = Math.max(0, Math.min(SPEEDS.length - 1, speed));
    const [delay, text] = SPEEDS[this.speed];
    this.slider.value = this.speed;
    this.slider.setAttribute("aria-valuetext", text);
    this.pace.textContent = text;
    this.board.speed(delay >= 60 ? Math.min(110, delay * 0.8) : 0);
    remember("speed", this.speed);
    if (this.close) {
      this.show(this.frames.length - 1);
      this.play();
    }
  }

  key(event) {
    if (!this.board) return false;
    const move = keyMove(event);
    const name = event.key.toLowerCase();
    if (name === " ") this.playPause();
    else if (move === "right") this.step();
    else if (move === "left") this.back();
    else if (name === "+" || name === "=") this.setSpeed(this.speed + 1);
    else if (name === "-") this.setSpeed(this.speed - 1);
    else if (name === "n") this.next();
    else return false;
    return true;
  }

  unmount() {
    this.gone = true;
    if (this.frames.length > 1) left = { key: this.identity, model: this.model.value, frames: this.frames, at: this.at, first: this.first };
    this.stop();
    document.removeEventListener("visibilitychange", this.hidden);
  }
}
