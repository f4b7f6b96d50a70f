// The frame around the views: addresses, keys, settings, help.

import { hash, parseHash, troubleOf } from "./address.js";
import { announce, complain, h, icon, toast } from "./dom.js";
import { remember } from "./store.js";
import { apply, isDark, onChange, set, settingsForm } from "./settings.js";
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

/** The view and parameters of the address; without a name if it is invalid. */
function route() {
  const { name, params } = parseHash(location.hash) ?? { params: {} };
  return { name: name === "" ? "watch" : Object.hasOwn(VIEWS, name ?? "") ? name : null, params };
}

const app = {
  /** Puts a state into the address, so that it can be shared, without leaving the view. */
  remember(name, params) {
    if (current.name === name) history.replaceState(null, "", hash(name, params));
  },

  /** Copies the current address. */
  async share(address = location.href) {
    try {
      await navigator.clipboard.writeText(new URL(address, location.href).href);
      toast("Link copied");
    } catch {
      toast(new URL(address, location.href).href);
    }
  },

  /** Runs something that may fail, and shows the error if it does. */
  async attempt(task) {
    try {
      return await task();
    } catch (error) {
      complain(error);
      return undefined;
    }
  },

  /** Asks a question in a dialog; true if the answer is yes. */
  ask(question, yes) {
    const dialog = document.getElementById("question");
    const answer = (value, text, kind) => h("button", { class: `button ${kind}`, value }, text);
    dialog.replaceChildren(h("h2", { id: "question-title" }, question), h("form", { method: "dialog", class: "actions" }, answer("no", "Cancel", ""), answer("yes", yes, "primary")));
    dialog.returnValue = "no";
    dialog.showModal();
    return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
  },
};

function open(event) {
  current.view?.unmount?.();
  // The old view may have replaced the new address with its own.
  if (event && event.newURL !== location.href) history.replaceState(null, "", event.newURL);
  const { name, params } = route();
  current = { name };
  document.title = `${VIEWS[name]?.title ?? "Not found"} · Afterstate`;
  for (const link of document.querySelectorAll("#views a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const root = h("div", { class: `view view-${name ?? "nowhere"}` });
  main.replaceChildren(h("h1", { class: "unseen" }, VIEWS[name]?.title ?? "There is nothing at this address"), root);
  if (event) announce(VIEWS[name]?.title ?? "There is nothing at this address");
  // Games in Review are stored in this browser, and have names.
  const trouble = name && name !== "review" ? troubleOf(params) : "";
  if (!name || trouble) return root.append(nowhere(trouble || undefined));
  try {
    current.view = VIEWS[name].mount(root, params, app);
  } catch (error) {
    complain(error);
  }
}

/** The page for an invalid address. */
function nowhere(text = "The page has no such address; a part of it may be missing.") {
  const links = Object.entries(VIEWS).map(([name, { title }]) => h("a", { class: "button", href: `#${name}` }, title));
  return h("section", { class: "panel" }, h("h2", {}, "There is nothing at this address"), h("p", {}, text), h("div", { class: "actions start" }, links));
}

const toggleTheme = () => set("theme", isDark() ? "light" : "dark");

function dialogOf(id, title, ...children) {
  const dialog = document.getElementById(id);
  if (dialog.open) return dialog.close();
  dialog.replaceChildren(h("h2", { id: `${id}-title` }, title), ...children, h("form", { method: "dialog" }, h("button", { class: "button primary" }, "Close")));
  dialog.showModal();
}

function help() {
  const list = (rows) => h("dl", { class: "keys" }, rows.map(([keys, what]) => h("div", {}, h("dt", {}, keys.split(" ").map((key) => (key === "…" ? "…" : h("kbd", {}, key)))), h("dd", {}, what))));
  const { title, shortcuts } = VIEWS[current.name] ?? { title: "", shortcuts: [] };
  dialogOf("shortcuts", "Keyboard shortcuts", ...(shortcuts.length ? [h("h3", {}, title), list(shortcuts)] : []), h("h3", {}, "Everywhere"), list(COMMON),
    h("p", { class: "note" }, h("a", { href: "/api-docs.html" }, "The API, for programs")));
}

const settings = () => dialogOf("settings", "Settings", ...settingsForm(toast));

const TYPED = "input:not([type=range], [type=radio], [type=checkbox]), select, textarea, dialog[open]";

/** Whether the focused control handles a key itself. */
function isTaken(target, name) {
  if (!target.closest) return false;
  if (target.closest(TYPED)) return true;
  const isArrow = name.startsWith("Arrow");
  if (target.closest("input[type=range], input[type=radio]")) return isArrow || name === " " || name === "Home" || name === "End";
  return (name === " " || name === "Enter") && target.closest("button, a, summary, input") !== null;
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target, event.key)) return;
  const names = Object.keys(VIEWS);
  if (event.key === "?") help();
  else if (event.key === "t" || event.key === "T") toggleTheme();
  else if (names[Number(event.key) - 1]) location.hash = names[Number(event.key) - 1];
  else if (!current.view?.key?.(event)) return;
  event.preventDefault();
}

/** Skips the header, to the board or its equivalent in the view. */
function skip(event) {
  event.preventDefault();
  (main.querySelector(".board") ?? main).focus();
}

/** Takes the token from the address; it stays in the browser. */
function takeToken() {
  const token = /^#token\/([0-9a-f]{32})$/.exec(location.hash)?.[1];
  if (!token) return;
  remember("token", token);
  history.replaceState(null, "", "#");
}

document.getElementById("views").append(...Object.entries(VIEWS).map(([name, { title }]) => h("a", { href: `#${name}`, "data-view": name }, title)));
const tool = (id, name, onclick) => {
  document.getElementById(id).append(icon(name));
  document.getElementById(id).addEventListener("click", onclick);
};
tool("help", "help", help);
tool("settings-button", "settings", settings);
tool("theme", "moon", toggleTheme);
onChange(() => document.getElementById("theme").replaceChildren(icon(isDark() ? "sun" : "moon")));
document.querySelector(".skip").addEventListener("click", skip);
addEventListener("hashchange", open);
addEventListener("keydown", key);
takeToken();
apply();
open(null);
if (location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)) {
  navigator.serviceWorker?.register("/worker.js").catch(() => {});
}
