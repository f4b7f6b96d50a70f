// From any position to the other views: analyse it, continue playing it, watch a model continue it.

import { hash } from "./address.js";
import { button, h } from "./dom.js";
import { format, isOver } from "./rules.js";

const VIEWS = { analyse: ["search", "Analyse"], play: ["play", "Play from here"], watch: ["auto", "Watch from here"] };

/**
 * Links to the views other than `from` for the position that `position()` gives: `{cells, stream?, score?, model?, search?}`.
 */
export function onward(from, position) {
  const go = (view) => {
    const { cells, stream, score, model, search } = position();
    const start = view === "analyse" ? { from } : { stream: stream && String(stream), score: score || undefined };
    location.hash = hash(view, { board: format(cells, ""), ...start, model, search });
  };
  const parts = Object.entries(VIEWS).filter(([view]) => view !== from).map(([view, [name, text]]) => [view, button(name, text, () => go(view), { kind: "small" })]);
  const element = h("div", { class: "actions onward", role: "group", "aria-label": "Open this position elsewhere" }, parts.map(([, one]) => one));
  /** A finished game cannot be continued. */
  const update = () => {
    const over = isOver(position().cells);
    for (const [view, one] of parts) one.disabled = over && view !== "analyse";
  };
  return { element, update };
}
