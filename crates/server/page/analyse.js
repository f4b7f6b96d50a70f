// Analyse: any board, edited by hand or pasted, with the values of its moves and the variations that follow.

import { advise, get, listen, post, session } from "./api.js";
import { Board, keyMove, miniature } from "./board.js";
import { choice, field, missingModel, modelPath, models, noModel, panel, playerSelects, wanted } from "./controls.js";
import { announce, button, h, icon, percent, quietly, toast } from "./dom.js";
import { command, downloads } from "./export.js";
import { onward } from "./onward.js";
import { emptyBoard, face, flipped, format, isOver, parse, rotated, sideOf } from "./rules.js";
import { recall, remember } from "./store.js";
import { Tree, drawTree } from "./tree.js";
import { MoveValues } from "./values.js";

export const title = "Analyse";
export const shortcuts = [["↑ → ↓ ←", "slide"], ["R", "a random new tile"], ["U", "back"], [". ,", "forward, back along the line"], ["C", "clear the board"]];

const FIRST = "0123/1235/0146/0002";
const BRUSHES = [null, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
const CHANCES_FROM = {
  model: "If the built-in model plays on: the shares of its games that reached these tiles from positions of this value.",
  exact: "With optimal play: exact.",
  games: "With optimal play: the shares of 500 games from here.",
};
const ENOUGH = 4; // seconds after which a running analysis does not deepen further

let kept = null; // the tree, kept for when the user returns

export function mount(root, params, app) {
  const view = new Analyse(root, params, app);
  app.attempt(() => view.start());
  return view;
}

class Analyse {
  constructor(root, params, app) {
    Object.assign(this, { root, params, app });
    const cells = parse(params.board ?? recall("analysed") ?? FIRST);
    this.tree = kept && format(kept.at.cells) === format(cells ?? []) ? kept : new Tree(cells ?? parse(FIRST));
    this.brush = null;
    this.ask = quietly(60, () => this.question());
  }

  get cells() {
    return this.tree.at.cells;
  }

  async start() {
    this.models = await models().catch(() => []);
    if (this.gone) return;
    try {
      wanted(this.models, this.params.model);
    } catch (error) {
      return missingModel(this.root, error, this.params.model, () => this.gone || this.app.attempt(() => this.start()));
    }
    this.root.replaceChildren();
    this.build();
    this.show();
  }

  build() {
    this.board = new Board({ label: "The board to analyse", onmove: (move) => this.slide(move) });
    this.hands = h("div", { class: "hands" });
    this.board.square.append(this.hands);
    this.text = h("input", { type: "text", class: "board-text", spellcheck: "false", autocomplete: "off", oninput: () => this.pasted(), onkeydown: (event) => event.key === "Enter" && this.board.element.focus(), "aria-describedby": "text-help" });
    this.values = new MoveValues({ onmove: (move) => this.slide(move) });
    this.tiles = h("div", { class: "chances" });
    this.line = h("div", { class: "continuation" });
    this.variations = h("div", { class: "variations" });
    this.player = h("div", { class: "setup" });
    this.exact = h("div", {});
    this.waiting = h("p", { class: "note" });
    this.sizes = h("div", {});
    this.command = command("");
    this.brushes = h("fieldset", { class: "brushes" }, h("legend", { class: "unseen" }, "What a click on a cell does"), BRUSHES.map((n) => this.brushOption(n)));
    this.onward = onward("analyse", () => ({ cells: this.cells, model: this.model?.value, search: this.search?.value === "exact" || this.search?.value === "deepen" ? undefined : this.search?.value }));
    const turn = (name, label, how) => button(name, "", () => this.change((tree) => tree.setUp(how(this.cells))), { label, kind: "round" });
    const actions = h("div", { class: "actions" }, this.params.from && button("left", "Back", () => history.back(), { label: `Back to ${this.params.from}` }),
      button("undo", "Undo", () => this.undo(), { key: "U" }), button("fresh", "New tile", () => this.spawn(), { key: "R", label: "A random new tile" }), button("", "Clear", () => this.clear(), { key: "C" }),
      turn("rotate", "Rotate the board", rotated), turn("flip", "Flip the board", flipped), button("link", "Share", () => this.app.share(), { label: "Copy a link to this board" }));
    const save = downloads("analysis", { json: () => ({ board: format(this.cells), ...this.advice }), csv: () => ["up", "right", "down", "left"].map((move) => ({ move, value: this.advice?.values[move], chance: this.advice?.chance?.moves[move] })), text: () => `${format(this.cells)}\n` });
    this.root.append(
      h("div", { class: "stage" }, this.board.element, this.waiting, this.brushes, actions, this.onward.element),
      h("div", { class: "side" },
        panel("Values of the moves", this.values.element, this.player, this.exact, save, this.command.element),
        panel("Chances of the next tiles", this.tiles),
        panel("Variations", h("p", { class: "note" }, "Slide, then place the new tile: a click on an empty cell is a 2, with shift a 4."), this.variations),
        panel("How the game may continue", this.line),
        panel("The board as text", field("Board", this.text, "wide"), h("p", { class: "note", id: "text-help" }, "The numbers on the tiles with spaces between them, 0 for empty; or one character a cell: 0 is empty, 1 is a 2, 2 is a 4, … b is a 2048."), this.sizes)),
    );
  }

  brushOption(n) {
    const text = n === null ? "cycle" : n === 0 ? "empty" : String(face(n));
    const input = h("input", { type: "radio", name: "brush", value: n ?? "cycle", checked: n === this.brush, onchange: () => (this.brush = n) });
    return h("label", { class: `brush digits-${text.length}${n ? " filled" : ""}`, title: n === null ? "A click doubles a tile, with shift it halves it" : undefined, vars: { "--n": n ?? 0 } }, input, h("span", {}, text));
  }

  /** Changes the tree and shows its current board. */
  change(how, move) {
    how(this.tree);
    this.show({ move });
  }

  show({ move, typed = false } = {}) {
    const { cells } = this;
    kept = this.tree;
    this.board.show(cells, move);
    if (!typed) this.text.value = format(cells);
    this.text.removeAttribute("aria-invalid");
    if (sideOf(cells) !== this.fieldsFor) this.resized();
    this.drawHands();
    this.waiting.textContent = this.tree.at.waits ? "Place the new tile: a click is a 2, with shift a 4; R places a random one." : "";
    this.variations.replaceChildren(drawTree(this.tree, (node) => this.change((tree) => (tree.at = node))));
    this.onward.update();
    remember("analysed", format(cells));
    this.address();
    this.ask();
  }

  address() {
    this.app.remember("analyse", { from: this.params.from, board: format(this.cells, ""), model: this.model?.value, search: this.search?.value });
  }

  resized() {
    const side = sideOf(this.cells);
    this.fieldsFor = side;
    this.sizes.replaceChildren(choice("Board", [[4, "4×4"], [3, "3×3"], [2, "2×2"]], side, (next) => this.change((tree) => tree.setUp(emptyBoard(Number(next))))));
    const fitting = this.models.filter((model) => model.side === side);
    const search = fitting.length ? (this.search?.value ?? this.params.search ?? recall("depth")) : "exact";
    Object.assign(this, playerSelects(fitting, { model: this.params.model ?? recall("model"), search, exact: side < 4, deepen: true, onchange: () => this.searchChanged() }));
    if (!fitting.length) this.model = null;
    this.exact.replaceChildren();
    if (!this.model && side === 4) return this.player.replaceChildren(noModel());
    this.player.replaceChildren(...[this.model && field("Model", this.model), field("Search", this.search)].filter(Boolean));
  }

  searchChanged() {
    remember("depth", this.search.value);
    if (this.model) remember("model", this.model.value);
    this.address();
    this.ask();
  }

  drawHands() {
    const side = sideOf(this.cells);
    if (this.hands.children.length !== this.cells.length) {
      this.hands.replaceChildren(...this.cells.map((_, cell) => h("button", { type: "button", onclick: (event) => this.paint(cell, event.shiftKey), oncontextmenu: (event) => { event.preventDefault(); this.paint(cell, true); } })));
    }
    [...this.hands.children].forEach((hand, cell) => hand.setAttribute("aria-label", `row ${Math.floor(cell / side) + 1}, column ${(cell % side) + 1}: ${face(this.cells[cell]) || "empty"}`));
  }

  // After a slide a click places the new tile. Otherwise, without a brush, it enlarges the tile, with shift it reduces it.
  paint(cell, down) {
    const places = this.tree.at.waits && this.brush === null && !this.cells[cell];
    const exponent = this.brush ?? (places ? (down ? 2 : 1) : (this.cells[cell] + (down ? 17 : 1)) % 18);
    this.change((tree) => tree.place(cell, exponent));
  }

  pasted() {
    const cells = parse(this.text.value);
    if (!cells) return this.text.setAttribute("aria-invalid", "true");
    this.tree.setUp(cells);
    this.show({ typed: true });
  }

  slide(move) {
    if (!this.tree.slide(move)) return this.board.refuse(move);
    this.show({ move });
    announce(`${move}; place the new tile`);
  }

  spawn() {
    const free = this.cells.flatMap((tile, cell) => (tile ? [] : [cell]));
    if (!free.length) return toast("There is no empty cell for a new tile");
    this.change((tree) => tree.place(free[Math.floor(Math.random() * free.length)], Math.random() < 0.1 ? 2 : 1));
  }

  clear() {
    this.change((tree) => tree.setUp(emptyBoard(sideOf(this.cells))));
  }

  undo() {
    if (this.tree.back()) this.show();
  }

  async question() {
    const { cells } = this;
    this.tell(this.search.value);
    this.running?.abort();
    this.running = new AbortController();
    this.board.advise(null);
    this.advice = null;
    this.exact.replaceChildren();
    if (isOver(cells)) {
      this.values.clear(cells.some(Boolean) ? "No move is possible: the game is over here." : "An empty board has no moves.");
      this.tiles.replaceChildren();
      return this.line.replaceChildren();
    }
    const search = this.search.value;
    if (!this.model && search !== "exact") return this.values.clear("There is no model for this board.");
    try {
      if (search !== "deepen") return void (await this.look(cells, search));
      const { limits } = await session();
      for (let plies = 1; plies <= limits.max_plies; plies++) {
        const advice = await this.look(cells, `${plies}ply`);
        if (!advice || advice.seconds > ENOUGH / 8) return; // each further depth takes about ten times as long
      }
    } catch (error) {
      this.failed(error, search);
    }
  }

  /** Requests advice once and shows it, unless the board has changed meanwhile. */
  async look(cells, search) {
    const advice = await advise({ board: format(cells), search, model: search === "exact" ? undefined : this.model?.value }, this.running.signal);
    if (this.gone || this.cells !== cells) return null;
    this.advice = advice;
    this.tell(search);
    this.values.show(advice);
    this.board.advise(advice.values, advice.best);
    this.drawLine(advice.line ?? []);
    this.drawChances(advice);
    return advice;
  }

  /** The command that gives the same advice. */
  tell(search) {
    const model = this.models.find(({ name }) => name === this.model?.value);
    const how = search === "exact" ? `--exact${sideOf(this.cells) === 3 ? "=models/3x3.solution" : ""}` : `${model ? `--model ${modelPath(model)} ` : ""}--search ${search === "deepen" ? "1ply" : search}`;
    this.command.set(`afterstate advise ${format(this.cells)} ${how}`);
  }

  failed(error, search) {
    if (error.name === "AbortError" || this.advice) return; // the result of a shallower analysis stays
    this.values.clear([error.message, error.hint].filter(Boolean).join(": "));
    this.line.replaceChildren();
    this.tiles.replaceChildren();
    if (search === "exact" && error.status === 404 && sideOf(this.cells) === 3) this.offerSolution();
  }

  /** 3×3 has no solution yet: it can be computed here. */
  offerSolution() {
    const note = h("p", { class: "note", role: "status" }, "The exact values of 3×3 can be computed once, in the background: about 40 seconds, or more if other programs are running.");
    const bar = h("progress", { max: 1, hidden: true, "aria-label": "Solving 3×3" });
    const follow = () => {
      bar.hidden = false;
      this.stopSolving = listen("/solution/events", {}, {
        progress: ({ share, step }) => {
          bar.value = share;
          note.textContent = `${step}: ${percent(share)}`;
        },
        end: ({ error }, close) => {
          close();
          note.textContent = error ?? "Solved.";
          if (!error) this.ask();
        },
      }, (error) => (note.textContent = error.message));
    };
    const start = button("play", "Solve 3×3 now", () => this.app.attempt(async () => {
      start.disabled = true;
      try {
        await post("/solution", {});
        follow();
      } catch (error) {
        start.disabled = false;
        throw error;
      }
    }), { kind: "primary" });
    this.exact.replaceChildren(note, bar, start);
    get("/solution").then(({ state }) => state === "solving" && ((start.disabled = true), follow())).catch(() => {});
  }

  drawChances({ tiles, tiles_from: from, endgame }) {
    const row = (name, chance) => h("div", { class: "chance-row" }, h("span", {}, name), h("span", { class: "track" }, h("span", { class: "bar", vars: { "--width": `${100 * chance}%` } })), h("span", { class: "value" }, chance > 0 && chance < 0.001 ? "<0.1%" : chance > 0.9995 && chance < 1 - 1e-6 ? ">99.9%" : percent(chance)));
    const rows = Object.entries(tiles ?? {}).map(([tile, chance]) => row(tile, chance));
    const known = endgame && typeof endgame.best === "number" ? [h("p", { class: "note" }, `Exact, by an endgame table: ${endgame.name}`), row("", endgame.best)] : [];
    const note = rows.length || known.length ? CHANCES_FROM[from] ?? "" : "Known on 4×4 with a model of values, and on small boards with exact values.";
    this.tiles.replaceChildren(h("p", { class: "note" }, note), ...rows, ...known);
  }

  drawLine(line) {
    const step = ({ move, next }) => {
      const cells = parse(next);
      return h("button", { type: "button", class: "continuation-step", title: "Go there", onclick: () => this.change((tree) => tree.reach(cells)) }, h("span", { class: "continuation-move" }, icon(move), move), miniature(cells));
    };
    this.line.replaceChildren(...line.map(step));
  }

  key(event) {
    if (!this.board) return false;
    const name = event.key.toLowerCase();
    const move = keyMove(event);
    if (move) this.slide(move);
    else if (name === "r") this.spawn();
    else if (name === "u" || name === ",") this.undo();
    else if (name === ".") this.tree.forward() && this.show();
    else if (name === "c") this.clear();
    else return false;
    return true;
  }

  unmount() {
    this.gone = true;
    this.running?.abort();
    this.stopSolving?.();
  }
}
