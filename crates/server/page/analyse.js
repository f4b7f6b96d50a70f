// Analyse: any board, edited by hand or pasted, and what each move on it is worth.

import { advise } from "./api.js";
import { Board, keyMove, miniature } from "./board.js";
import { choice, field, models, noModel, panel, playerSelects, recall, remember } from "./controls.js";
import { button, h, icon, quietly, toast } from "./dom.js";
import { emptyBoard, face, format, isOver, parse, sideOf, slide } from "./rules.js";
import { MoveValues } from "./values.js";

export const title = "Analyse";
export const shortcuts = [["↑ → ↓ ←", "slide, without a new tile"], ["R", "a random new tile"], ["U", "undo"], ["C", "clear the board"]];

const FIRST = "0123/1235/0146/0002";
const BRUSHES = [null, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

export function mount(root, params, app) {
  const view = new Analyse(root, params, app);
  app.attempt(() => view.start());
  return view;
}

class Analyse {
  constructor(root, params, app) {
    Object.assign(this, { root, params, app });
    this.past = [];
    this.cells = parse(params.board ?? recall("analysed") ?? FIRST) ?? parse(FIRST);
    this.brush = null;
    this.ask = quietly(60, () => this.question());
  }

  async start() {
    this.models = await models();
    if (this.gone) return;
    this.build();
    this.set(this.cells, { keep: false });
  }

  build() {
    this.board = new Board({ label: "The board to analyse", onmove: (move) => this.slide(move) });
    this.hands = h("div", { class: "hands" });
    this.board.square.append(this.hands);
    this.text = h("input", { type: "text", class: "board-text", spellcheck: "false", autocomplete: "off", oninput: () => this.pasted(), "aria-describedby": "text-help" });
    this.values = new MoveValues({ onmove: (move) => this.slide(move) });
    this.line = h("div", { class: "continuation" });
    this.player = h("div", { class: "setup" });
    const brushes = h("div", { class: "brushes", role: "radiogroup", "aria-label": "What a click on a cell does" }, BRUSHES.map((n) => this.brushButton(n)));
    this.sizes = h("div", {});
    const actions = h("div", { class: "actions" }, button("undo", "Undo", () => this.undo(), { key: "U" }), button("fresh", "New tile", () => this.spawn(), { key: "R", label: "A random new tile" }), button("", "Clear", () => this.set(emptyBoard(sideOf(this.cells))), { key: "C" }), button("link", "Share", () => this.app.share(), { label: "Copy a link to this board" }));
    this.root.append(
      h("div", { class: "stage" }, this.board.element, brushes, actions),
      h("div", { class: "side" },
        panel("Values of the moves", this.values.element, this.player),
        panel("How it may go on", this.line),
        panel("The board as text", field("Board", this.text, "wide"), h("p", { class: "note", id: "text-help" }, "One character a cell: 0 is empty, 1 is a 2, 2 is a 4, … b is a 2048. Or the numbers on the tiles, with spaces between them."), this.sizes)),
    );
    this.chooseBrush(null);
  }

  brushButton(n) {
    const text = n === null ? "cycle" : n === 0 ? "empty" : String(face(n));
    return h("button", { type: "button", role: "radio", class: `brush digits-${text.length}${n ? " filled" : ""}`, "data-brush": n ?? "cycle", title: n === null ? "A click doubles a tile, with shift it halves it" : undefined, vars: { "--n": n ?? 0 }, onclick: () => this.chooseBrush(n) }, text);
  }

  chooseBrush(n) {
    this.brush = n;
    for (const one of this.root.querySelectorAll(".brush")) one.setAttribute("aria-checked", String(one.dataset.brush === String(n ?? "cycle")));
  }

  /** Shows another board, asks for its values, and puts it into the address. */
  set(cells, { keep = true, move, typed = false } = {}) {
    const resized = sideOf(cells) !== this.fieldsFor;
    if (keep) this.past.push(this.cells);
    this.cells = cells;
    this.board.show(cells, move);
    if (!typed) this.text.value = format(cells);
    this.text.removeAttribute("aria-invalid");
    if (resized) this.resized();
    this.drawHands();
    remember("analysed", format(cells));
    this.app.remember("analyse", { board: format(cells, "") });
    this.ask();
  }

  resized() {
    const side = sideOf(this.cells);
    this.fieldsFor = side;
    this.sizes.replaceChildren(choice("Board", [[4, "4×4"], [3, "3×3"], [2, "2×2"]], side, (next) => this.set(emptyBoard(Number(next)))));
    const fitting = this.models.filter((model) => model.side === side);
    const search = fitting.length ? (this.search?.value ?? recall("depth")) : "exact";
    Object.assign(this, playerSelects(fitting, { model: recall("model"), search, exact: side < 4, onchange: () => this.searchChanged() }));
    if (!fitting.length) this.model = null;
    if (!this.model && side === 4) return this.player.replaceChildren(noModel());
    this.player.replaceChildren(...[this.model && field("Model", this.model), field("Search", this.search)].filter(Boolean));
  }

  searchChanged() {
    remember("depth", this.search.value);
    this.ask();
  }

  drawHands() {
    const side = sideOf(this.cells);
    if (this.hands.children.length !== this.cells.length) {
      this.hands.replaceChildren(...this.cells.map((_, cell) => h("button", { type: "button", onclick: (event) => this.paint(cell, event.shiftKey), oncontextmenu: (event) => { event.preventDefault(); this.paint(cell, true); } })));
    }
    [...this.hands.children].forEach((hand, cell) => hand.setAttribute("aria-label", `row ${Math.floor(cell / side) + 1}, column ${(cell % side) + 1}: ${face(this.cells[cell]) || "empty"}`));
  }

  // Without a brush a click makes the tile larger, with shift or the other button smaller.
  paint(cell, down) {
    const cells = [...this.cells];
    cells[cell] = this.brush ?? (cells[cell] + (down ? 17 : 1)) % 18;
    this.set(cells);
  }

  pasted() {
    const cells = parse(this.text.value);
    if (cells) this.set(cells, { typed: true });
    else this.text.setAttribute("aria-invalid", "true");
  }

  slide(move) {
    const slid = slide(this.cells, move);
    if (slid.legal) this.set(slid.cells, { move });
    else this.board.refuse(move);
  }

  spawn() {
    const free = this.cells.flatMap((tile, cell) => (tile ? [] : [cell]));
    if (!free.length) return toast("There is no empty cell for a new tile");
    const cells = [...this.cells];
    cells[free[Math.floor(Math.random() * free.length)]] = Math.random() < 0.1 ? 2 : 1;
    this.set(cells);
  }

  undo() {
    if (this.past.length) this.set(this.past.pop(), { keep: false });
  }

  async question() {
    const { cells } = this;
    this.running?.abort();
    this.running = new AbortController();
    this.board.advise(null);
    if (isOver(cells)) {
      this.values.clear(cells.some(Boolean) ? "No move is possible: the game is over here." : "An empty board has no moves.");
      return this.line.replaceChildren();
    }
    if (!this.model && this.search.value !== "exact") return this.values.clear("There is no model for this board.");
    try {
      const question = { board: format(cells), search: this.search.value, model: this.search.value === "exact" ? undefined : this.model?.value };
      const advice = await advise(question, this.running.signal);
      if (this.gone || this.cells !== cells) return;
      this.values.show(advice);
      this.board.advise(advice.values, advice.best);
      this.drawLine(advice.line ?? []);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.values.clear([error.message, error.hint].filter(Boolean).join(": "));
      this.line.replaceChildren();
    }
  }

  drawLine(line) {
    const step = ({ move, next }) => {
      const cells = parse(next);
      return h("button", { type: "button", class: "continuation-step", "aria-label": `${move}, then the likeliest tile: go there`, onclick: () => this.set(cells) }, h("span", { class: "continuation-move" }, icon(move), move), miniature(cells));
    };
    this.line.replaceChildren(...line.map(step));
  }

  key(event) {
    if (!this.board) return false;
    const name = event.key.toLowerCase();
    const move = keyMove(event);
    if (move) this.slide(move);
    else if (name === "r") this.spawn();
    else if (name === "u") this.undo();
    else if (name === "c") this.set(emptyBoard(sideOf(this.cells)));
    else return false;
    return true;
  }

  unmount() {
    this.gone = true;
    this.running?.abort();
  }
}
