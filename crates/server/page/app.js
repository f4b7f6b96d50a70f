// The frame around the views: addresses, keys, theme, help.

import { complain, h, icon, toast } from "./dom.js";
import { recall, remember } from "./controls.js";
import * as watch from "./watch.js";
import * as play from "./play.js";
import * as analyse from "./analyse.js";
import * as review from "./review.js";
import * as train from "./train.js";
import * as results from "./results.js";

// A view has `title`, `shortcuts` and `mount(root, params, app)`, which returns `{unmount?, key?}`.
const VIEWS = { watch, play, analyse, review, train, results };
const COMMON = [["1 … 6", "go to a view"], ["T", "light, dark"], ["?", "this help"]];

const main = document.getElementById("main");
let current = { name: null };

/** `#play/game/7` as `{name: "play", params: {game: "7"}}`. */
function route() {
  const [name, ...rest] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const params = {};
  for (let i = 0; i + 1 < rest.length; i += 2) {
    params[rest[i]] = rest[i] === "board" ? rest.slice(i + 1).join("/") : rest[i + 1];
    if (rest[i] === "board") break; // its rows may be apart by slashes
  }
  return { name: name in VIEWS ? name : "watch", params };
}

const app = {
  /** Puts a state into the address, so that it can be shared, without leaving the view. */
  remember(name, params) {
    if (current.name !== name) return;
    const parts = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
    history.replaceState(null, "", `#${[name, ...parts.flat()].map(encodeURIComponent).join("/")}`);
  },

  /** Copies the address of what is shown. */
  async share() {
    try {
      await navigator.clipboard.writeText(location.href);
      toast("Link copied");
    } catch {
      toast(location.href);
    }
  },

  /** Runs something that may fail, and says so when it does. */
  async attempt(task) {
    try {
      return await task();
    } catch (error) {
      complain(error);
      return undefined;
    }
  },
};

function open(event) {
  current.view?.unmount?.();
  // The old view may have put its own address over the new one since.
  if (event && event.newURL !== location.href) history.replaceState(null, "", event.newURL);
  const { name, params } = route();
  current = { name };
  document.title = `${VIEWS[name].title} · Afterstate`;
  for (const link of document.querySelectorAll("#views a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const root = h("div", { class: `view view-${name}` });
  main.replaceChildren(root);
  try {
    current.view = VIEWS[name].mount(root, params, app);
  } catch (error) {
    complain(error);
  }
}

function theme(next) {
  if (next) remember("theme", next);
  const chosen = recall("theme");
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").replaceChildren(icon(dark ? "sun" : "moon"));
  return dark;
}

const toggleTheme = () => theme(theme() ? "light" : "dark");

function help() {
  const dialog = document.getElementById("shortcuts");
  if (dialog.open) return dialog.close();
  const list = (rows) => h("dl", { class: "keys" }, rows.map(([keys, what]) => h("div", {}, h("dt", {}, keys.split(" ").map((key) => (key === "…" ? "…" : h("kbd", {}, key)))), h("dd", {}, what))));
  const { title, shortcuts } = VIEWS[current.name];
  dialog.replaceChildren(
    h("h2", { id: "shortcuts-title" }, "Keyboard shortcuts"),
    ...(shortcuts.length ? [h("h3", {}, title), list(shortcuts)] : []),
    h("h3", {}, "Everywhere"),
    list(COMMON),
    h("form", { method: "dialog" }, h("button", { class: "button primary" }, "Close")),
  );
  dialog.showModal();
}

const typing = (target) => target.closest("input:not([type=range], [type=radio], [type=checkbox]), select, textarea, dialog[open]") !== null;

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || (event.target.closest && typing(event.target))) return;
  const names = Object.keys(VIEWS);
  if (event.key === "?") help();
  else if (event.key === "t" || event.key === "T") toggleTheme();
  else if (names[Number(event.key) - 1]) location.hash = names[Number(event.key) - 1];
  else if (!current.view?.key?.(event)) return;
  event.preventDefault();
}

document.getElementById("views").append(...Object.entries(VIEWS).map(([name, { title }]) => h("a", { href: `#${name}`, "data-view": name }, title)));
document.getElementById("help").append(icon("help"));
document.getElementById("help").addEventListener("click", help);
document.getElementById("theme").addEventListener("click", toggleTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme());
addEventListener("hashchange", open);
addEventListener("keydown", key);
theme();
open(null);
