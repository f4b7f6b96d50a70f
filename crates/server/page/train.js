// Train: runs and their learning curves as they are written; start one, stop it, watch what it has learned.

import { get, listen, post, session } from "./api.js";
import { LineChart } from "./chart.js";
import { field, figures, panel } from "./controls.js";
import { button, duration, h, percent, quietly, short, whole } from "./dom.js";

export const title = "Train";
export const shortcuts = [["J K", "next, previous run"]];

export function mount(root, params, app) {
  const view = new Train(root, params, app);
  app.attempt(() => view.start());
  return view;
}

class Train {
  constructor(root, params, app) {
    Object.assign(this, { root, params, app });
    this.redraw = quietly(30, () => this.gone || this.draw());
  }

  async start() {
    const [{ recipes }, { training, token }] = await Promise.all([get("/api/recipes"), session()]);
    if (this.gone) return;
    this.recipes = recipes;
    this.allowed = Boolean(training && token);
    this.list = h("div", { class: "runs", role: "list" });
    this.detail = h("div", { class: "stage wide-stage" });
    this.root.append(h("div", { class: "side" }, this.form(), panel("Runs", this.list)), this.detail);
    await this.refresh();
    this.timer = setInterval(() => this.refresh().catch(() => {}), 4000);
    const first = this.runs.find((run) => run.name === this.params.run) ?? (this.params.recipe ? null : this.runs.find((run) => run.state === "running") ?? this.runs[0]);
    if (first) await this.select(first.name);
    else this.welcome();
  }

  form() {
    this.recipe = h("select", { name: "recipe", onchange: () => this.describe() }, this.groups());
    if (this.recipes.some((recipe) => recipe.name === this.params.recipe)) this.recipe.value = this.params.recipe;
    this.about = h("p", { class: "note" });
    this.seconds = h("input", { type: "number", min: 1, inputmode: "numeric", name: "seconds" });
    this.name = h("input", { type: "text", name: "name", spellcheck: "false", autocomplete: "off" });
    this.begin = button("play", "Start training", () => this.app.attempt(() => this.launch()), { kind: "primary" });
    this.describe();
    if (!this.allowed) return panel("Train a model", h("p", {}, "Trainings can be started from this machine only, and where the server was told that they may be. Runs started in the terminal appear here: "), h("pre", {}, "afterstate train quick"));
    return panel("Train a model", field("Recipe", this.recipe, "wide"), this.about, h("div", { class: "setup" }, field("Seconds", this.seconds, "narrow"), field("Name", this.name), this.begin));
  }

  groups() {
    const byPaper = new Map();
    for (const recipe of this.recipes) {
      const paper = recipe.name.includes("/") ? recipe.name.split("/")[0] : "";
      byPaper.set(paper, [...(byPaper.get(paper) ?? []), recipe]);
    }
    const option = ({ name }) => h("option", { value: name }, name);
    return [...byPaper].map(([paper, list]) => (paper ? h("optgroup", { label: paper }, list.map(option)) : list.map(option)));
  }

  describe() {
    const recipe = this.recipes.find(({ name }) => name === this.recipe.value);
    this.about.textContent = recipe ? [recipe.description, budgetText(recipe.budget)].filter(Boolean).join(". ") : "";
    this.seconds.placeholder = recipe?.budget?.seconds ?? "budget";
    this.name.placeholder = recipe?.name.replaceAll("/", "-") ?? "";
  }

  async launch() {
    this.begin.disabled = true;
    try {
      const { name } = await post("/api/runs", { recipe: this.recipe.value, name: this.name.value || undefined, seconds: Number(this.seconds.value) || undefined });
      await this.refresh();
      await this.select(name);
    } finally {
      this.begin.disabled = false;
    }
  }

  async refresh() {
    const { runs } = await get("/api/runs");
    if (this.gone) return;
    this.runs = runs;
    const item = (run) => h("button", { type: "button", role: "listitem", class: `run ${run.state}`, "aria-current": run.name === this.chosen ? "true" : undefined, onclick: () => this.app.attempt(() => this.select(run.name)) },
      h("span", { class: "run-name" }, run.name), h("span", { class: "run-score" }, run.mean ? whole(run.mean) : "–"),
      h("span", { class: "run-about" }, [run.state, run.actions ? `${short(run.actions)} moves` : null, run.seconds ? duration(run.seconds) : null].filter(Boolean).join(" · ")));
    this.list.replaceChildren(...(runs.length ? runs.map(item) : [h("p", { class: "note" }, "No runs yet.")]));
  }

  welcome() {
    this.detail.replaceChildren(panel("From nothing to 2048 in about a minute",
      h("p", {}, "A network starts with zeros everywhere and learns by playing against itself, millions of moves a second: after each move it corrects what it thought the position was worth by what it sees next."),
      h("p", {}, "Start the recipe ", h("code", {}, "quick"), " and watch its score grow. When it is done, it plays in Watch, and gives hints in Play.")));
  }

  async select(name) {
    this.close?.();
    const run = await get(`/api/runs/${encodeURIComponent(name)}`);
    if (this.gone) return;
    this.chosen = name;
    this.run = run;
    this.app.remember("train", { run: name });
    this.build();
    this.draw();
    this.refresh().catch(() => {});
    if (run.state !== "running") return;
    this.close = listen(`/api/runs/${encodeURIComponent(name)}/events`, { after: run.log_lines, after_evaluations: run.evaluation_lines }, {
      log: (line) => this.add(run.log, line),
      evaluation: (line) => this.add(run.evaluations, line),
      state: (state, close) => this.became(state.state ?? state, close),
    }, () => this.became("stopped", () => {}));
  }

  add(list, line) {
    const last = list[list.length - 1];
    if (last && line.actions <= last.actions) return; // seen already
    list.push(line);
    this.redraw();
  }

  became(state, close) {
    this.run.state = state;
    if (state !== "running") close();
    this.redraw();
    this.refresh().catch(() => {});
  }

  build() {
    this.figures = figures({ score: "Score", tile: "2048-tile", rate: "Moves/s", time: "Time" });
    this.stop = button("stop", "Stop and save", () => this.app.attempt(() => post(`/api/runs/${encodeURIComponent(this.chosen)}/stop`, {})), { kind: "warn" });
    this.progress = h("progress", { max: 1, "aria-label": "Share of the budget" });
    this.state = h("span", { class: "state" });
    this.score = new LineChart({ title: "Mean score", height: 240, x: "moves", unit: "moves", low: 0 });
    this.tiles = new LineChart({ title: "Share of games that reach a tile", height: 200, x: "moves", unit: "moves", low: 0, high: 1, y: percent });
    this.pace = new LineChart({ title: "Moves a second", height: 130, x: "moves", unit: "moves", low: 0 });
    const link = (view, text) => h("a", { class: "button", href: `#${view}/model/${encodeURIComponent(this.chosen)}` }, text);
    this.detail.replaceChildren(
      panel(this.chosen, h("div", { class: "run-head" }, this.state, this.progress, this.stop, link("watch", "Watch it play"), link("play", "Play with it")), this.figures.element, this.score.element),
      panel("", this.tiles.element), panel("", this.pace.element),
      h("details", { class: "panel" }, h("summary", {}, "Recipe"), h("pre", {}, this.run.recipe)));
  }

  draw() {
    const { log, evaluations, state } = this.run;
    const running = state === "running";
    this.state.textContent = state;
    this.state.className = `state ${state}`;
    this.stop.hidden = !running || !this.allowed;
    const last = log[log.length - 1];
    this.progress.hidden = !running;
    this.progress.value = last?.budget_share ?? 0;
    if (!last) return;
    const curve = (of) => log.flatMap((line) => (of(line) === undefined || of(line) === null ? [] : [[line.actions, of(line)]]));
    const judged = evaluations.map((line) => [line.actions, line.score.mean, line.score.ci95]);
    this.score.set([{ name: "while learning", points: curve((line) => line.mean_score) }, ...(judged.length ? [{ name: "evaluated, with 95% interval", points: judged, dots: true }] : [])]);
    this.tiles.set(interesting(last.tiles).map((tile) => ({ name: tile, points: curve((line) => line.tiles?.[tile] ?? implied(line.tiles, tile)) })));
    this.pace.set([{ name: "moves/s", points: curve((line) => line.moves_per_second) }]);
    const best = judged[judged.length - 1]?.[1];
    this.figures.score.set(last.mean_score || best ? whole(Math.max(last.mean_score ?? 0, running ? 0 : best ?? 0)) : "–");
    this.figures.tile.set(last.tiles ? percent(last.tiles["2048"] ?? implied(last.tiles, "2048")) : "–");
    this.figures.rate.set(short(last.moves_per_second ?? 0));
    this.figures.time.set(duration(last.seconds));
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

// The tiles worth a line: the five largest that some game has reached.
function interesting(tiles = {}) {
  const reached = Object.keys(tiles).filter((tile) => tiles[tile] > 0);
  return reached.sort((a, b) => a - b).slice(-5);
}

// The log leaves out small tiles that every game reaches, and large ones that none has.
function implied(tiles = {}, tile) {
  const known = Object.keys(tiles).map(Number);
  return known.length && Number(tile) < Math.min(...known) ? 1 : 0;
}

function budgetText(budget) {
  if (!budget) return "";
  if (typeof budget !== "object") return `Budget: ${budget}`;
  return `Budget: ${Object.entries(budget).map(([unit, n]) => `${short(n)} ${unit}`).join(", ")}`;
}
