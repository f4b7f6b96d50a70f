// The list of the user's games: each can be opened, reviewed, or deleted.

import { hash } from "./address.js";
import { panel } from "./controls.js";
import { button, h, whole } from "./dom.js";
import { csv, download } from "./export.js";
import { textOf } from "./game.js";
import { games } from "./store.js";

const SHOWN = 8;

/** A panel with the games; `onchange` is called when one is deleted. */
export function gamesPanel({ onchange = () => {} } = {}) {
  const list = h("div", { class: "games" });
  let shown = SHOWN;
  const draw = () => {
    const all = games.list();
    const rows = all.slice(0, shown).map((game) => row(game, () => {
      games.remove(game.id);
      draw();
      onchange();
    }));
    const more = all.length > shown && button("", `Show ${whole(Math.min(50, all.length - shown))} more`, () => {
      shown += 50;
      draw();
    }, { kind: "small" });
    list.replaceChildren(...(rows.length ? [h("ul", {}, rows), ...(more ? [more] : [])] : [h("p", { class: "note" }, "Games that you play are kept here.")]));
  };
  const save = h("div", { class: "downloads" },
    button("", "CSV", () => download("my-games.csv", csv(games.list().map(({ text, judged, start, ...rest }) => rest)), "text/csv"), { kind: "small", label: "Save the list as CSV" }),
    button("", "JSON", () => download("my-games.json", JSON.stringify(games.list(), null, 1), "application/json"), { kind: "small", label: "Save the games as JSON" }),
    button("", "TXT", () => download("my-games.txt", games.list().map(textOf).join("\n"), "text/plain"), { kind: "small", label: "Save the games as text" }));
  draw();
  return { element: panel("Your games", list, save), draw };
}

function row(game, remove) {
  const { id, title, date, score, tile, count, accuracy, side } = game;
  const when = new Date(date).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
  const marks = [game.over ? null : "unfinished", side === 4 ? null : `${side}×${side}`, game.undone ? "with undo" : null, game.helped ? "with the model" : null, game.start ? "from a position" : null, title].filter(Boolean);
  const facts = [`tile ${tile}`, `${whole(count)} moves`, Number.isFinite(accuracy) ? `accuracy ${accuracy.toFixed(0)}%` : null, when, ...marks].filter(Boolean);
  const links = [
    count > 0 && h("a", { class: "button small", href: hash("review", { game: id }) }, "Review"),
    game.text ? null : h("a", { class: "button small", href: hash("play", { side: side === 4 ? undefined : side, open: id }) }, game.over ? "Open" : "Play on"),
    button("trash", "", remove, { kind: "small", label: `Delete the game of ${whole(score)} points` }),
  ];
  return h("li", { class: "game" }, h("b", {}, whole(score)), h("span", { class: "facts" }, facts.join(" · ")), h("span", { class: "game-links" }, links));
}
