// Variations: positions that follow from one another by moves and new tiles, as a navigable tree.

import { h, icon } from "./dom.js";
import { MOVES, face, format, same, sideOf, slide } from "./rules.js";

/** A position: a root, the result of a slide (`move`), or that of a new tile (`tile: {cell, exponent}`). */
class Node {
  constructor(cells, parent = null, step = {}) {
    Object.assign(this, { cells, parent, children: [] }, step);
  }

  get waits() {
    return this.move !== undefined; // for a new tile
  }
}

export class Tree {
  constructor(cells) {
    this.at = new Node(cells);
  }

  get root() {
    let node = this.at;
    while (node.parent) node = node.parent;
    return node;
  }

  /** Slides: to a known variation, or to a new one. False if the move is illegal. */
  slide(move) {
    const slid = slide(this.at.cells, move);
    if (!slid.legal) return false;
    this.at = this.#child(slid.cells, (node) => node.move === move, { move });
    return true;
  }

  /** Places a tile, as part of the line after a slide; otherwise the board is set up anew. */
  place(cell, exponent) {
    const cells = [...this.at.cells];
    cells[cell] = exponent;
    if (!this.at.waits || this.at.cells[cell] || (exponent !== 1 && exponent !== 2)) return this.setUp(cells);
    this.at = this.#child(cells, (node) => same(node.cells, cells), { tile: { cell, exponent } });
  }

  /** Goes to a board: along the line if a move or a tile leads there, otherwise to a new tree. */
  reach(cells) {
    for (const move of MOVES) {
      const slid = slide(this.at.cells, move);
      if (!slid.legal || slid.cells.length !== cells.length) continue;
      const differing = cells.flatMap((tile, cell) => (tile === slid.cells[cell] ? [] : [cell]));
      if (differing.length > 1 || differing.some((cell) => slid.cells[cell] || cells[cell] > 2)) continue;
      this.slide(move);
      if (differing.length) this.place(differing[0], cells[differing[0]]);
      return move;
    }
    this.setUp(cells);
    return null;
  }

  /** A board without a predecessor: the root of a new tree. */
  setUp(cells) {
    if (same(cells, this.at.cells)) return;
    this.earlier = [...(this.earlier ?? []), this.at];
    this.at = new Node(cells);
  }

  /** A step back in the line, or to the tree before the board was set up. */
  back() {
    if (this.at.parent) this.at = this.at.parent;
    else if (this.earlier?.length) this.at = this.earlier.pop();
    else return false;
    return true;
  }

  /** A step forward along the last visited line. */
  forward() {
    if (!this.at.children.length) return false;
    this.at = this.at.last ?? this.at.children[0];
    return true;
  }

  #child(cells, isIt, step) {
    let child = this.at.children.find(isIt);
    if (!child) this.at.children.push((child = new Node(cells, this.at, step)));
    this.at.last = child;
    return child;
  }
}

/** The tree as clickable text; `onpick` receives the node. */
export function drawTree(tree, onpick) {
  const side = sideOf(tree.at.cells);
  const label = (node) => (node.tile ? `+${face(node.tile.exponent)} at row ${Math.floor(node.tile.cell / side) + 1}, column ${(node.tile.cell % side) + 1}` : node.move ?? "start");
  const step = (node) => h("button", { type: "button", class: `step ${node.tile ? "tile-step" : ""}`, "aria-label": label(node), "aria-current": node === tree.at ? "true" : undefined, title: format(node.cells), onclick: () => onpick(node) },
    node.move ? icon(node.move) : node.tile ? `+${face(node.tile.exponent)}` : "start");
  // The first child continues the line; the others are indented lines of their own.
  const line = (node) => {
    const steps = [];
    const others = [];
    for (let at = node; at; at = at.children[0]) {
      steps.push(step(at));
      others.push(...at.children.slice(1));
    }
    return h("li", {}, h("span", { class: "steps" }, steps), others.length ? h("ul", {}, others.map(line)) : null);
  };
  return h("ul", { class: "tree" }, line(tree.root));
}
