// Settings, in one place: appearance, animation and requests of the page.

import { h } from "./dom.js";
import { exportAll, importAll, recallJson, rememberJson } from "./store.js";
import { download } from "./export.js";

const CHOICES = {
  theme: ["Colours of the page", [["system", "as the system"], ["light", "light"], ["dark", "dark"]]],
  palette: ["Colours of the tiles", [["standard", "standard"], ["safe", "safe for colour blindness"]]],
  contrast: ["Contrast", [["normal", "normal"], ["high", "high"]]],
  animation: ["Tiles slide", [["on", "always"], ["off", "never"]]],
  hints: ["Values of moves in Play", [["off", "when asked"], ["on", "all the time"]]],
  confirm: ["Ask before a game is abandoned", [["on", "yes"], ["off", "no"]]],
};

const DEFAULTS = Object.fromEntries(Object.entries(CHOICES).map(([key, [, options]]) => [key, options[0][0]]));

const listeners = new Set();

/** A setting by its name. */
export function setting(name) {
  const value = recallJson("settings", {})[name];
  return CHOICES[name][1].some(([known]) => known === value) ? value : DEFAULTS[name];
}

export function set(name, value) {
  rememberJson("settings", { ...recallJson("settings", {}), [name]: value });
  apply();
}

/** Calls `f` whenever a setting has changed; returns a function that unsubscribes. */
export function onChange(f) {
  listeners.add(f);
  return () => listeners.delete(f);
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

export const isDark = () => (setting("theme") === "system" ? prefersDark.matches : setting("theme") === "dark");

/** Whether to disable the motion of tiles and celebrations. */
export const calm = () => setting("animation") === "off" || matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Applies the settings. */
export function apply() {
  const { dataset } = document.documentElement;
  dataset.theme = isDark() ? "dark" : "light";
  dataset.palette = setting("palette");
  dataset.contrast = setting("contrast");
  dataset.animation = setting("animation");
  for (const listener of listeners) listener();
}

prefersDark.addEventListener("change", apply);

/** The settings as a dialog form. `done` receives the result of an import. */
export function settingsForm(done) {
  const row = ([key, [label, options]]) => {
    const select = h("select", { id: `setting-${key}`, name: key, onchange: () => set(key, select.value) }, options.map(([value, text]) => h("option", { value }, text)));
    select.value = setting(key);
    return h("div", { class: "setting" }, h("label", { for: select.id }, label), select);
  };
  const file = h("input", { type: "file", accept: ".json,application/json", hidden: true, onchange: () => take(file, done) });
  return [
    ...Object.entries(CHOICES).map(row),
    h("h3", {}, "Your games, puzzles and settings"),
    h("p", { class: "note" }, "They are stored in this browser. A file transfers them to another one."),
    h("div", { class: "actions start" },
      h("button", { type: "button", class: "button", onclick: () => download("afterstate-games.json", JSON.stringify(exportAll(), null, 1), "application/json") }, "Save as a file"),
      h("button", { type: "button", class: "button", onclick: () => file.click() }, "Load from a file"), file),
  ];
}

async function take(file, done) {
  try {
    const count = importAll(JSON.parse(await file.files[0].text()));
    apply();
    done(`${count} ${count === 1 ? "game was" : "games were"} added`);
  } catch (error) {
    done(error instanceof SyntaxError ? "This file is not an export of this page." : `Nothing was imported: ${error.message}.`, "error");
  }
}
