// A board whose tiles slide, merge and appear. It receives boards, and derives which tile went where.

import { h, icon } from "./dom.js";
import { MOVES, emptyBoard, face, moveBetween, same, sideOf, slide, spoken } from "./rules.js";
import { calm } from "./settings.js";

const SLIDE_MS = 110;

export class Board {
  /** `onmove` receives swipes; `label` is the accessible name of the board. */
  constructor({ side = 4, onmove, label = "Board" } = {}) {
    this.label = label;
    this.cells = emptyBoard(side);
    this.grid = h("div", { class: "cells", "aria-hidden": "true" });
    this.layer = h("div", { class: "tiles", "aria-hidden": "true" });
    this.cover = h("div", { class: "cover", hidden: true });
    this.square = h("div", { class: "square" }, this.grid, this.layer, this.cover);
    this.arrows = Object.fromEntries(MOVES.map((move) => [move, h("span", { class: `edge edge-${move}` }, icon(move))]));
    this.element = h("div", { class: "board", role: "group", tabindex: -1 }, this.square, Object.values(this.arrows));
    this.tiles = new Map(); // cell -> element
    this.speed(SLIDE_MS);
    this.#rebuild(side);
    if (onmove) swipes(this.element, onmove);
  }

  /** The duration of a slide in milliseconds; 0 for none. */
  speed(ms) {
    this.ms = ms;
    this.element.style.setProperty("--slide", `${ms}ms`);
  }

  /** Shows a board; if one move and a spawn lead there, the tiles slide. */
  show(cells, move) {
    if (sideOf(cells) !== this.side) this.#rebuild(sideOf(cells));
    if (!same(cells, this.cells) || this.tiles.size === 0) {
      const by = this.ms > 0 && !calm() ? (move ?? moveBetween(this.cells, cells)) : null;
      if (by) this.#animate(cells, by);
      else this.#draw(cells);
    }
    this.cells = [...cells];
    this.element.setAttribute("aria-label", `${this.label}: ${spoken(cells)}`);
  }

  /** The arrows at the edges: the best move stands out, illegal ones are hidden. */
  advise(values, best) {
    for (const [move, arrow] of Object.entries(this.arrows)) {
      arrow.classList.toggle("possible", values?.[move] !== null && values?.[move] !== undefined);
      arrow.classList.toggle("best", move === best);
    }
  }

  /** Overlays a message on the board, or removes it. */
  message(...children) {
    this.cover.hidden = children.length === 0;
    this.cover.replaceChildren(...children);
  }

  /** Shakes the board: this move is illegal. */
  refuse(move) {
    if (calm()) return;
    const way = { up: "0, -5px", down: "0, 5px", left: "-5px, 0", right: "5px, 0" }[move];
    this.layer.animate([{ transform: "none" }, { transform: `translate(${way})` }, { transform: "none" }], 140);
  }

  /** Small fireworks for a new largest tile. */
  celebrate(tile) {
    if (calm()) return;
    const piece = (_, i) => h("i", { vars: { "--n": tile - (i % 5), "--turn": `${i * 15}deg`, "--far": `${28 + ((i * 37) % 30)}cqw` } });
    const burst = h("div", { class: "burst", "aria-hidden": "true" }, h("b", {}, String(face(tile))), Array.from({ length: 24 }, piece));
    this.square.append(burst);
    setTimeout(() => burst.remove(), 1600);
  }

  #rebuild(side) {
    this.side = side;
    this.cells = emptyBoard(side);
    this.element.style.setProperty("--side", side);
    this.grid.replaceChildren(...this.cells.map(() => h("div", { class: "cell" })));
    this.layer.replaceChildren();
    this.tiles.clear();
  }

  #draw(cells) {
    const fresh = cells.map((tile, cell) => {
      if (!tile) return null;
      const old = this.tiles.get(cell);
      return old && this.cells[cell] === tile ? old : makeTile(tile, this.#at(cell));
    });
    this.tiles = new Map(fresh.flatMap((element, cell) => (element ? [[cell, element]] : [])));
    for (const element of this.tiles.values()) element.className = "tile";
    this.layer.replaceChildren(...this.tiles.values());
  }

  #animate(cells, move) {
    this.layer.querySelectorAll(".gone").forEach((element) => element.remove());
    const { cells: after, tracks } = slide(this.cells, move);
    const next = new Map();
    for (const { from, to, merges } of tracks) {
      const element = this.tiles.get(from);
      element.className = "tile moving";
      place(element, this.#at(to));
      if (!merges) {
        next.set(to, element);
        continue;
      }
      this.#vanish(next.get(to));
      this.#vanish(element);
      next.set(to, this.#add(after[to], to, "tile merged"));
    }
    cells.forEach((tile, cell) => {
      if (tile && tile !== after[cell]) next.set(cell, this.#add(tile, cell, "tile new"));
    });
    this.tiles = next;
  }

  #add(tile, cell, kind) {
    const element = makeTile(tile, this.#at(cell));
    element.className = kind;
    this.layer.append(element);
    return element;
  }

  #vanish(element) {
    element.classList.add("gone");
    setTimeout(() => element.remove(), this.ms);
  }

  #at(cell) {
    return [cell % this.side, Math.floor(cell / this.side)];
  }
}

function makeTile(tile, at) {
  const text = String(face(tile));
  const element = h("div", { class: "tile", vars: { "--n": tile } }, h("div", { class: `face digits-${text.length}${tile >= 11 ? " proud" : ""}` }, text));
  place(element, at);
  return element;
}

function place(element, [x, y]) {
  element.style.setProperty("--x", x);
  element.style.setProperty("--y", y);
}

/** A small static board. */
export function miniature(cells) {
  const side = sideOf(cells);
  const tile = (n) => h("div", { class: n ? "mini-tile" : "mini-tile empty", vars: { "--n": n } }, n ? String(face(n)) : "");
  return h("div", { class: "miniature", role: "img", "aria-label": spoken(cells), vars: { "--side": side } }, cells.map(tile));
}

/** Swipes on an element, by finger, pen or mouse; also over its buttons, which are then not clicked. */
function swipes(element, onmove) {
  let start = null;
  let swiped = false;
  element.classList.add("swipeable");
  element.addEventListener("pointerdown", (event) => {
    swiped = false;
    if (!event.target.closest(".cover, a")) start = [event.clientX, event.clientY];
  });
  element.addEventListener("pointercancel", () => (start = null));
  element.addEventListener("pointermove", (event) => {
    if (!event.buttons) start = null; // released elsewhere
    if (!start) return;
    const [dx, dy] = [event.clientX - start[0], event.clientY - start[1]];
    if (Math.max(Math.abs(dx), Math.abs(dy)) < 28) return;
    start = null;
    swiped = true;
    onmove(Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? "right" : "left") : dy > 0 ? "down" : "up");
  });
  element.addEventListener("pointerup", () => (start = null));
  element.addEventListener("click", (event) => {
    if (!swiped) return;
    swiped = false;
    event.stopPropagation();
    event.preventDefault();
  }, true);
}

/** The move of a key, or undefined. */
export const keyMove = (event) => ({ ArrowUp: "up", ArrowRight: "right", ArrowDown: "down", ArrowLeft: "left" })[event.key];
