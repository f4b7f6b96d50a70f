// Controls that several views share: model and search selection, boxed figures, and the notice without a model.

import { get } from "./api.js";
import { h } from "./dom.js";

const SEARCHES = [
  ["1ply", "1-ply (greedy)"],
  ["2ply", "2-ply"],
  ["3ply", "3-ply"],
  ["4ply", "4-ply"],
  ["adaptive=20000", "adaptive, 20,000 nodes"],
  ["10ms", "10 ms a move"],
  ["100ms", "100 ms a move"],
  ["1s", "1 s a move"],
];

// The strongest search that answers within 50 ms, and is deterministic.
export const STRONG = "adaptive=20000";

// A policy does not look ahead: it evaluates the eight symmetric boards, or the board alone.
const POLICY_SEARCHES = [
  ["majority", "majority vote"],
  ["sum", "mean of 8"],
  ["plain", "one board"],
];

// Other searches of a network that an address may name.
const SEARCH = /^(\d+ply|[\d.]+m?s|\d+nodes|adaptive=\d+)(\+[\w=.]+)*$/;

let fieldCount = 0;

/** A control with its label. */
export function field(label, control, kind = "") {
  control.id ||= `field-${++fieldCount}`;
  return h("div", { class: `field ${kind}` }, h("label", { for: control.id }, label), control);
}

/** The server's models for boards of a side. */
export async function models() {
  return (await get("/models")).models;
}

/** The model that an address names: never silently another one. */
export function wanted(list, name) {
  if (!name || list.some((model) => model.name === name)) return name;
  throw Object.assign(new Error(`There is no model “${name}”`), { hint: "it may not have been saved yet, or its run was deleted" });
}

/** Shown if the model of the address does not exist; the view waits for a run that is being trained. */
export function missingModel(root, error, name, retry) {
  const note = h("p", { class: "note", role: "status" });
  const link = (hash, text) => h("a", { class: "button", href: hash }, text);
  root.append(panel(error.message, h("p", {}, `Perhaps ${error.hint}.`), note, h("div", { class: "actions start" }, link(location.hash.replace(/\/model\/[^/]*/, ""), "Use the default model"), link("#train", "Train"))));
  const look = async () => {
    const run = (await get("/runs")).runs.find((one) => one.name === name);
    if (!root.isConnected || !run) return;
    if (run.has_model) return retry();
    if (run.state !== "running") return;
    note.textContent = "This run is being trained and has not saved a model yet. It starts here as soon as it has.";
    setTimeout(() => look().catch(() => {}), 1000);
  };
  look().catch(() => {});
}

/** The name of a model on the command line. */
export const modelPath = ({ name, kind }) => ({ run: `runs/${name}`, file: `models/${name}.safetensors` })[kind] ?? name;

/** Whether a model gives probabilities of moves, rather than values. */
export const isPolicy = (model) => model?.network === "policy";

/** The searches that a model supports. */
function searchesOf(model) {
  if (isPolicy(model)) return POLICY_SEARCHES;
  return model?.network === "value" ? SEARCHES.slice(0, 1) : SEARCHES;
}

function modelSelect(list, value, onchange) {
  const option = (model) => h("option", { value: model.name }, model.side === 4 ? model.name : `${model.name} (${model.side}×${model.side})`);
  const select = h("select", { onchange, name: "model" }, list.map(option));
  const chosen = list.find((model) => model.name === value) ?? list.find((model) => model.default) ?? list[0];
  if (chosen) select.value = chosen.name;
  return select;
}

/** Selects for a model and a supported search, with initial choices if these exist; `exact` adds the solver's values, `deepen` an iterative search. */
export function playerSelects(list, { model, search, exact = false, deepen = false, onchange = () => {} }) {
  const models = modelSelect(list, model, () => {
    offer(searches.value);
    onchange();
  });
  const searches = h("select", { onchange, name: "search" });
  const offer = (value) => {
    const known = searchesOf(list.find(({ name }) => name === models.value));
    const running = deepen && known === SEARCHES ? [["deepen", "deeper and deeper"]] : [];
    const isNamed = ([name]) => name === value;
    const named = known === SEARCHES && SEARCH.test(value) && !known.some(isNamed) ? [[value, value]] : [];
    const all = [...running, ...known, ...named, ...(exact ? [["exact", "exact (solved)"]] : [])];
    searches.replaceChildren(...all.map(([name, text]) => h("option", { value: name }, text)));
    const usual = deepen && known === SEARCHES ? "deepen" : known === SEARCHES ? STRONG : known[0][0];
    searches.value = all.some(isNamed) ? value : usual;
  };
  offer(search);
  return { model: models, search: searches };
}

/** A figure in a box. */
export class Figure {
  constructor(name, value = "–") {
    this.number = h("dd", {}, value);
    this.element = h("div", { class: "figure" }, h("dt", {}, name), this.number);
  }

  set(value) {
    this.number.textContent = value;
  }
}

/** A row of figures: `figures({score: "Score"})` has `.element`, and each figure by its key. */
export function figures(names) {
  const made = Object.fromEntries(Object.entries(names).map(([key, name]) => [key, new Figure(name)]));
  const element = h("dl", { class: "figures" }, Object.values(made).map((figure) => figure.element));
  return { ...made, element };
}

/** A titled part of a view. */
export function panel(title, ...children) {
  return h("section", { class: "panel" }, title && h("h2", {}, title), ...children);
}

/** Shown if there is no model to play with. */
export function noModel() {
  return panel(
    "There is no model yet",
    h("p", {}, "A model is a network that has learned 2048 by playing against itself. Training one takes about a minute, and you can watch it learn."),
    h("p", {}, h("a", { class: "button primary", href: "#train/recipe/quick" }, "Train one now"), " ", h("a", { class: "button", href: "#play" }, "Play by yourself")),
  );
}

/** A row of buttons, one of which is selected. */
export function choice(label, options, value, onchange) {
  const name = `choice-${++fieldCount}`;
  const one = ([key, text]) => h("label", {}, h("input", { type: "radio", name, value: key, checked: String(key) === String(value), onchange: () => onchange(key) }), h("span", {}, text));
  return h("div", { class: "choice", role: "radiogroup", "aria-label": label }, options.map(one));
}
