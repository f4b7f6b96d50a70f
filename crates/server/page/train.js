// Train: runs and their live learning curves; start one, stop it, watch what it has learned.

import { hash } from "./address.js";
import { get, listen, post, remove, session } from "./api.js";
import { LineChart } from "./chart.js";
import { choice, field, figures, panel } from "./controls.js";
import { button, duration, h, percent, quietly, short, toast, whole } from "./dom.js";
import { command, downloads } from "./export.js";

export const title = "Train";
export const shortcuts = [["J K", "next, previous run"]];

// The most useful recipes, before those of the papers. The server measures how long they take here.
const CHOICES = [
  ["quick", "A minute", "A player that learns to make the 2048-tile from scratch, while you watch."],
  ["best-first", "An hour or two", "Eight large tuples: most games reach 8192."],
  ["best", "The strongest", "One training after the other; each can be stopped and resumed."],
];
const MOST_COMPARED = 5;

export function mount(root, params, app) {
  const view = new Train(root, params, app);
  app.attempt(() => view.start());
  return view;
}

export function bytes(n) {
  return n >= 1e9 ? `${(n / 1e9).toFixed(1)} GB` : n >= 1e6 ? `${Math.round(n / 1e6)} MB` : `${Math.max(1, Math.round(n / 1e3))} kB`;
}

/** Why a recipe cannot be started, and what to do about it; empty if it can. */
function troubleOf({ needs, memory, available_memory: free, disk, available_disk: room }) {
  if (needs) return needs;
  if (free !== null && memory > free) return `It needs ${bytes(memory)} of memory, and ${bytes(free)} are free: close other programs, or take a smaller network.`;
  if (room !== null && disk > room) return `It needs up to ${bytes(disk)} of disk, and ${bytes(room)} are free: make room, or start the server with --runs DIR on a larger disk.`;
  return "";
}

/** What a recipe makes, including the training itself. */
function stepsText({ trainings, collections }) {
  const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  return collections ? `${count(trainings, "training")} and ${count(collections, "collection")} of positions` : count(trainings, "training");
}

class Train {
  constructor(root, params, app) {
    Object.assign(this, { root, params, app });
    this.redraw = quietly(30, () => this.gone || this.draw());
    this.compared = new Map(); // name -> {log, evaluations}
    this.axis = "actions";
    this.log = false;
    this.times = new Map(); // recipe -> how long it takes here
  }

  async start() {
    const [{ recipes }, { training }] = await Promise.all([get("/recipes"), session()]);
    if (this.gone) return;
    this.recipes = recipes;
    this.allowed = training;
    this.list = h("div", { class: "runs" });
    this.detail = h("div", { class: "stage wide-stage" });
    const save = downloads("runs", { csv: () => this.runs, json: () => this.runs });
    this.root.append(h("div", { class: "side" }, this.form(), panel("Runs", this.list, save, command("afterstate runs --json").element)), this.detail);
    await this.refresh();
    this.timer = setInterval(() => this.refresh().catch(() => {}), 4000);
    const named = this.params.run && this.runs.find((run) => run.name === this.params.run);
    if (this.params.run && !named) toast(`There is no run “${this.params.run}”`, "error");
    const first = named ?? (this.params.recipe ? null : this.runs.find((run) => run.state === "running") ?? this.runs[0]);
    if (first) await this.select(first.name);
    else this.welcome();
  }

  form() {
    const known = (name) => this.recipes.find((recipe) => recipe.name === name);
    this.recipe = known(this.params.recipe) ?? known("quick") ?? this.recipes[0];
    this.about = h("div", { class: "about" });
    this.seconds = h("input", { type: "number", min: 1, inputmode: "numeric", name: "seconds" });
    this.name = h("input", { type: "text", name: "name", spellcheck: "false", autocomplete: "off", maxlength: 200 });
    this.begin = button("play", "Start training", () => this.app.attempt(() => this.launch()), { kind: "primary" });
    this.command = command("");
    this.cards = h("div", { class: "cards", role: "radiogroup", "aria-label": "What to train" }, CHOICES.flatMap(([name, title, text]) => (known(name) ? [this.card(known(name), title, text)] : [])));
    this.found = h("div", { class: "found" });
    const search = h("input", { type: "search", placeholder: "a paper, a table, a network", oninput: () => this.find(search.value) });
    const all = h("details", {}, h("summary", {}, `All ${this.recipes.length} recipes, by paper`), field("Search", search, "wide"), this.found);
    all.addEventListener("toggle", () => this.find(search.value));
    this.choose(this.recipe);
    const start = this.allowed
      ? h("div", { class: "setup" }, field("Seconds", this.seconds, "narrow"), field("Name", this.name), this.begin)
      : h("p", { class: "notice-text" }, "To start trainings here, open the address that ", h("code", {}, "afterstate serve"), " has printed in the terminal: it holds the token. Runs that are started in the terminal appear here too.");
    return panel("Train a model", this.cards, all, this.about, start, this.command.element);
  }

  card(recipe, title, text) {
    const input = h("input", { type: "radio", name: "recipe", value: recipe.name, onchange: () => this.choose(recipe) });
    const steps = recipe.steps.length ? `${stepsText(recipe)}. ` : "";
    const facts = h("small", { class: "card-facts" }, this.clock(recipe), ` · ${bytes(recipe.memory)} of memory · up to ${bytes(recipe.disk)} of disk`);
    return h("label", { class: "card" }, input, h("span", {}, h("b", {}, title), h("small", {}, steps, text), facts));
  }

  /** How long a recipe takes on this machine, in words, once the server has measured it. */
  clock(recipe) {
    const text = h("span", { class: "clock" }, "measuring the time…");
    this.time(recipe).then((words) => (text.textContent = words), () => (text.textContent = "time not known"));
    return text;
  }

  time(recipe) {
    const { name, steps, budget } = recipe;
    if (!budget) return Promise.resolve("until it is stopped");
    if (!steps.length && budget.seconds) return Promise.resolve(duration(budget.seconds));
    // A recipe that lacks memory or disk cannot be timed either.
    if (troubleOf(recipe)) return Promise.resolve("time not known");
    if (!this.times.has(name)) this.times.set(name, get(`/recipes/${encodeURIComponent(name)}`).then(({ seconds }) => (seconds === null ? "time not known" : `about ${duration(seconds)} on this machine`)));
    return this.times.get(name);
  }

  /** The recipes whose name, table or description contain all the words. */
  find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ name, description, table }) => words.every((word) => `${name} ${description} ${table}`.toLowerCase().includes(word));
    const groups = Map.groupBy(this.recipes.filter(fits), ({ name }) => (name.includes("/") ? name.split("/")[0] : "this program"));
    const item = (recipe) => h("button", { type: "button", class: "link-button", title: recipe.description, onclick: () => this.choose(recipe) }, recipe.name, recipe.steps.length ? ` (${stepsText(recipe)})` : "");
    this.found.replaceChildren(...[...groups].map(([paper, list]) => h("div", {}, h("h3", {}, paper), list.map(item))), ...(groups.size ? [] : [h("p", { class: "note" }, "No recipe matches these words.")]));
  }

  choose(recipe) {
    this.recipe = recipe;
    for (const input of this.cards.querySelectorAll("input")) input.checked = input.value === recipe.name;
    const { steps } = recipe;
    const facts = [["Recipe", recipe.name], ["Time", this.clock(recipe)], ["Budget", budgetText(recipe.budget)], ["Memory", bytes(recipe.memory)], ["Disk", `up to ${bytes(recipe.disk)}`], ["Makes first", steps.length ? steps.map((step) => step.replace(/^runs\//, "")).join(", ") : "nothing"]];
    const trouble = troubleOf(recipe);
    this.about.replaceChildren(h("p", { class: "note" }, recipe.description), h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))), trouble ? h("p", { class: "trouble" }, trouble) : "");
    this.begin.disabled = trouble !== "";
    this.seconds.placeholder = recipe.budget?.seconds ?? "budget";
    this.name.placeholder = recipe.name.replaceAll("/", "-");
    this.command.set(`afterstate train ${recipe.name}`);
  }

  async launch() {
    const seconds = this.seconds.value === "" ? undefined : Number(this.seconds.value);
    if (seconds !== undefined && !(seconds >= 1)) throw new Error("A training takes at least a second");
    this.begin.disabled = true;
    try {
      const { name } = await post("/runs", { recipe: this.recipe.name, name: this.name.value || undefined, seconds });
      await this.refresh();
      await this.select(name);
    } finally {
      this.begin.disabled = false;
    }
  }

  async refresh() {
    const { runs } = await get("/runs");
    if (this.gone) return;
    this.runs = runs;
    const item = (run) => h("div", { role: "listitem", class: `run ${run.state}`, "aria-current": run.name === this.chosen ? "true" : undefined },
      h("input", { type: "checkbox", checked: this.compared.has(run.name), "aria-label": `Compare ${run.name}`, onchange: () => this.app.attempt(() => this.compare(run.name)) }),
      h("button", { type: "button", onclick: () => this.app.attempt(() => this.select(run.name)) }, h("span", { class: "run-name" }, run.name), h("span", { class: "run-score" }, run.mean ? whole(run.mean) : "–"),
        h("span", { class: "run-about" }, [run.saving ? `saving ${bytes(run.saving)}` : run.state, run.actions ? `${short(run.actions)} moves` : null, run.seconds ? duration(run.seconds) : null, bytes(run.bytes)].filter(Boolean).join(" · "))));
    if (this.list.contains(document.activeElement)) return; // a list with keyboard focus is not rebuilt
    if (runs.length) this.list.setAttribute("role", "list");
    else this.list.removeAttribute("role");
    this.list.replaceChildren(...(runs.length ? runs.map(item) : [h("p", { class: "note" }, "No runs yet.")]));
  }

  /** Adds a run to the curves that are drawn together, or removes it. */
  async compare(name) {
    if (!this.compared.delete(name)) {
      if (this.compared.size >= MOST_COMPARED) this.compared.delete([...this.compared.keys()][0]);
      this.compared.set(name, await get(`/runs/${encodeURIComponent(name)}`));
    }
    if (this.run) this.draw();
    this.refresh().catch(() => {});
  }

  welcome() {
    this.detail.replaceChildren(panel("From scratch to 2048 in about a minute",
      h("p", {}, "A network starts with zeros everywhere and learns by playing against itself, millions of moves a second: after each move it corrects its value of the position by what it sees next."),
      h("p", {}, "Start the recipe ", h("code", {}, "quick"), " and watch its score grow. When it is done, it plays in Watch, and gives hints in Play.")));
  }

  async select(name) {
    this.close?.();
    const run = await get(`/runs/${encodeURIComponent(name)}`);
    if (this.gone) return;
    this.chosen = name;
    this.run = run;
    this.app.remember("train", { run: name });
    this.build();
    this.draw();
    this.refresh().catch(() => {});
    if (run.state === "running") this.follow();
  }

  follow() {
    const { run } = this;
    this.close = listen(`/runs/${encodeURIComponent(run.name)}/events`, { after: run.log_lines, after_evaluations: run.evaluation_lines }, {
      log: (line) => this.add(run.log, line),
      evaluation: (line) => this.add(run.evaluations, line),
      state: ({ state, saving, chain }, close) => this.became({ state, saving, chain }, close),
    }, () => this.became({ state: "stopped", saving: null }, () => {}));
  }

  add(list, line) {
    const last = list[list.length - 1];
    if (last && line.actions <= last.actions) return; // seen already
    list.push(line);
    this.redraw();
  }

  became(change, close) {
    Object.assign(this.run, change);
    if (change.state !== "running") {
      close();
      this.stopping = false;
    }
    this.redraw();
    this.refresh().catch(() => {});
  }

  build() {
    this.figures = figures({ score: "Score", tile: "2048-tile", rate: "Moves/s", time: "Time" });
    this.stop = button("stop", "Stop and save", () => this.app.attempt(() => this.halt()), { kind: "warn" });
    this.resume = button("play", "Resume", () => this.app.attempt(() => this.goOn()));
    this.rename = button("", "Rename", () => this.app.attempt(() => this.giveName()));
    this.delete = button("trash", "Delete", () => this.app.attempt(() => this.drop()), { kind: "warn" });
    this.progress = h("progress", { max: 1, "aria-label": "Share of the budget" });
    this.state = h("span", { class: "state", role: "status" });
    const axis = choice("Axis", [["actions", "by moves"], ["seconds", "by time"]], this.axis, (next) => this.redrawWith({ axis: next }));
    const scale = choice("Scale", [["linear", "linear"], ["log", "logarithmic"]], this.log ? "log" : "linear", (next) => this.redrawWith({ log: next === "log" }));
    const chart = (title, options) => new LineChart({ title, ...options });
    this.score = chart("Mean score", { height: 240, low: 0 }).saveable(() => `${this.chosen.replaceAll("/", "-")}-score`);
    this.tiles = chart("Share of games that reach a tile", { height: 200, low: 0, high: 1, y: percent }).saveable(() => `${this.chosen.replaceAll("/", "-")}-tiles`);
    // A policy gives the moves of the records that teach it, a network of values has an error alone.
    this.taught = this.run.recipe.includes("\n[dcnn]\n");
    this.measure = this.taught && this.run.recipe.includes('\nnetwork = "policy"\n') ? "accuracy" : "error";
    const [title, range] = this.measure === "accuracy" ? ["Share of the records' moves that are right", { high: 1, y: percent }] : ["Error on records", {}];
    this.fit = chart(title, { height: 200, low: 0, ...range }).saveable(() => `${this.chosen.replaceAll("/", "-")}-fit`);
    this.pace = chart("Moves a second", { height: 130, low: 0 }).saveable(() => `${this.chosen.replaceAll("/", "-")}-pace`);
    const report = () => command(`afterstate report runs/${this.chosen} -o report.html`).element;
    const link = (view, text) => h("a", { class: "button", href: hash(view, { model: this.chosen }) }, text);
    this.detail.replaceChildren(
      panel(this.chosen, h("div", { class: "run-head" }, this.state, this.progress, this.stop, this.resume, link("watch", "Watch it play"), link("play", "Play with it"), this.rename, this.delete), this.figures.element,
        h("div", { class: "setup" }, axis, scale, h("p", { class: "note" }, "Tick other runs in the list to draw them too.")), this.score.element, report()),
      panel("", (this.taught ? this.fit : this.tiles).element, report()), panel("", this.pace.element, report()),
      h("details", { class: "panel" }, h("summary", {}, "Recipe"), h("pre", {}, this.run.recipe)));
  }

  redrawWith(change) {
    Object.assign(this, change);
    this.draw();
  }

  async halt() {
    this.stopping = true;
    this.draw();
    await post(`/runs/${encodeURIComponent(this.chosen)}/stop`, {});
  }

  async goOn() {
    await post(`/runs/${encodeURIComponent(this.chosen)}/resume`, {});
    await this.select(this.chosen);
  }

  async giveName() {
    const name = prompt("The new name of this run", this.chosen);
    if (!name || name === this.chosen) return;
    await post(`/runs/${encodeURIComponent(this.chosen)}/rename`, { name });
    await this.refresh();
    await this.select(name);
  }

  async drop() {
    if (!(await this.app.ask(`Delete “${this.chosen}” with its model and its log? That frees ${bytes(this.run.bytes)}.`, "Delete"))) return;
    const { bytes: freed } = await remove(`/runs/${encodeURIComponent(this.chosen)}`);
    toast(`${bytes(freed)} are free again`);
    this.close?.();
    this.compared.delete(this.chosen);
    this.chosen = this.run = null;
    this.app.remember("train", {});
    await this.refresh();
    if (this.runs.length) await this.select(this.runs[0].name);
    else this.welcome();
  }

  draw() {
    const { log, evaluations, state, saving, chain } = this.run;
    const running = state === "running";
    const step = chain ? `, step ${chain.number} of ${chain.steps.length}: ${chain.steps[chain.number - 1]}` : "";
    this.state.textContent = (saving ? `saving ${bytes(saving)}` : this.stopping && running ? "stopping" : state) + step;
    this.state.className = `state ${state}`;
    this.stop.hidden = !running || !this.allowed || !this.run.ours;
    this.stop.disabled = Boolean(this.stopping);
    this.resume.hidden = state !== "stopped" || !this.allowed;
    this.rename.hidden = this.delete.hidden = running || !this.allowed;
    const last = log[log.length - 1];
    this.progress.hidden = !running;
    // A training that is saving does not report progress.
    if (running && this.stopping) this.progress.removeAttribute("value");
    else this.progress.value = last?.budget_share ?? 0;
    if (!last) return;
    this.drawCurves(log, evaluations, last);
    // The results of the first search of the last evaluation.
    const judged = evaluations.findLast((line) => line.search === evaluations[0].search)?.score.mean;
    this.figures.score.set(last.mean_score || judged ? whole(Math.max(last.mean_score ?? 0, running ? 0 : judged ?? 0)) : "–");
    const tiles = this.taught ? evaluations.at(-1)?.tiles : last.tiles;
    this.figures.tile.set(tiles ? percent(tiles["2048"] ?? implied(tiles, "2048")) : "–");
    this.figures.rate.set(short(last.moves_per_second ?? 0));
    this.figures.time.set(duration(last.seconds));
  }

  drawCurves(log, evaluations, last) {
    const { axis } = this;
    for (const chart of [this.score, this.tiles, this.fit, this.pace]) Object.assign(chart, { log: this.log, labelX: axis === "actions" ? "moves" : "seconds", unit: axis === "actions" ? "moves" : "s" });
    const x = (line) => line[axis] ?? line.actions;
    const curve = (lines, of) => lines.flatMap((line) => (of(line) === undefined || of(line) === null ? [] : [[x(line), of(line)]]));
    // Evaluations store their number of moves; the log has the time of these.
    const when = (line, lines) => (axis === "actions" ? line.actions : lines.find((other) => other.actions >= line.actions)?.seconds ?? last.seconds);
    const searches = [...new Set(evaluations.map((line) => line.search))];
    const judged = searches.map((search) => ({
      name: `evaluated${searches.length > 1 ? ` ${search}` : ""}, with 95% interval`, dots: true,
      points: evaluations.filter((line) => line.search === search).map((line) => [when(line, log), line.score.mean, line.score.ci95]) }));
    const others = [...this.compared].filter(([name]) => name !== this.chosen);
    const own = others.length ? this.chosen : "while learning";
    this.score.set([{ name: own, points: curve(log, (line) => line.mean_score) }, ...(others.length ? [] : judged),
      ...others.map(([name, run]) => ({ name, points: curve(run.log, (line) => line.mean_score) }))]);
    this.tiles.set(interesting(last.tiles).map((tile) => ({ name: tile, points: curve(log, (line) => line.tiles?.[tile] ?? implied(line.tiles, tile)) })));
    this.fit.set([["learned", ""], ["held out", "held_out_"]].map(([name, of]) => ({ name, points: curve(log, (line) => line[`${of}${this.measure}`]) })));
    this.pace.set([{ name: "moves/s", points: curve(log, (line) => line.moves_per_second) }]);
  }

  key(event) {
    const way = { j: 1, k: -1 }[event.key.toLowerCase()];
    if (!way || !this.runs?.length) return false;
    const at = this.runs.findIndex((run) => run.name === this.chosen);
    this.app.attempt(() => this.select(this.runs[(at + way + this.runs.length) % this.runs.length].name));
    return true;
  }

  unmount() {
    this.gone = true;
    clearInterval(this.timer);
    this.close?.();
  }
}

// The tiles worth a line: the five largest that any game has reached.
function interesting(tiles = {}) {
  const reached = Object.keys(tiles).filter((tile) => tiles[tile] > 0);
  return reached.sort((a, b) => a - b).slice(-5);
}

// The log omits small tiles that every game reaches, and large ones that none has.
function implied(tiles = {}, tile) {
  const known = Object.keys(tiles).map(Number);
  return known.length && Number(tile) < Math.min(...known) ? 1 : 0;
}

function budgetText(budget) {
  if (!budget) return "until it is stopped";
  if (budget.seconds) return duration(budget.seconds);
  return Object.entries(budget).map(([unit, n]) => `${short(n)} ${unit === "actions" ? "moves" : unit === "episodes" ? "games" : unit}`).join(", ");
}
