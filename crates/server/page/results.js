// Results: evaluations side by side, and new ones.

import { get, listen, session } from "./api.js";
import { BarChart, histogram } from "./chart.js";
import { field, models, panel, playerSelects } from "./controls.js";
import { button, h, percent, whole } from "./dom.js";

export const title = "Results";
export const shortcuts = [];

const TILES = ["1024", "2048", "4096", "8192", "16384", "32768", "65536"];
const MOST = 4; // compared at once

export function mount(root, params, app) {
  const view = new Results(root, app);
  app.attempt(() => view.start());
  return view;
}

class Results {
  constructor(root, app) {
    Object.assign(this, { root, app });
    this.chosen = new Set();
  }

  async start() {
    const [{ evaluations }, list, known] = await Promise.all([get("/api/evaluations"), models(), session()]);
    if (this.gone) return;
    this.evaluations = evaluations.sort((a, b) => b.score.mean - a.score.mean);
    this.models = list;
    this.token = known.token;
    this.table = h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "Evaluations" });
    this.scores = new BarChart({ title: "Scores: share of games", height: 230, y: percent });
    this.tiles = new BarChart({ title: "Share of games that reach a tile", height: 230, y: percent, high: 1 });
    this.charts = h("div", { class: "pair" }, panel("", this.scores.element), panel("", this.tiles.element));
    this.root.append(panel("Evaluations", this.table), this.charts, this.form());
    for (const evaluation of this.evaluations.slice(0, 2)) this.chosen.add(evaluation);
    this.draw();
  }

  form() {
    if (!this.models.length) return panel("Evaluate a model", h("p", {}, "There is no model yet. ", h("a", { href: "#train/recipe/quick" }, "Train one"), "."));
    Object.assign(this, playerSelects(this.models, { search: "1ply" }));
    this.games = h("input", { type: "number", min: 1, value: 100, inputmode: "numeric", name: "games" });
    this.seed = h("input", { type: "number", min: 0, value: 1, inputmode: "numeric", name: "seed" });
    this.go = button("play", "Evaluate", () => this.evaluate(), { kind: "primary" });
    this.go.disabled = !this.token;
    this.note = h("p", { class: "note", "aria-live": "polite" }, "The games of a seed are numbered: every model plays the same ones.");
    return panel("Evaluate a model", h("div", { class: "setup" }, field("Model", this.model), field("Search", this.search), field("Games", this.games, "narrow"), field("Seed", this.seed, "narrow"), this.go), this.note);
  }

  draw() {
    const { evaluations } = this;
    if (!evaluations.length) {
      this.charts.hidden = true;
      return this.table.replaceChildren(h("p", { class: "note" }, "Nothing has been evaluated yet. Runs evaluate themselves as they learn; or let a model play below."));
    }
    const columns = TILES.filter((tile) => evaluations.some((e) => (e.tiles[tile] ?? 0) > 0));
    const head = h("tr", {}, ["", "Model", "Search", "Mean score", "Games", "Median", "Largest", ...columns].map((name) => h("th", { scope: "col" }, name)));
    this.table.replaceChildren(h("table", {}, h("thead", {}, head), h("tbody", {}, evaluations.map((e) => this.row(e, columns)))));
    this.drawCharts();
  }

  row(e, columns) {
    const tick = h("input", { type: "checkbox", checked: this.chosen.has(e), "aria-label": `Compare ${nameOf(e)}`, onchange: () => this.choose(e) });
    const share = (tile) => h("td", { class: "share", vars: { "--share": shareOf(e, tile).toFixed(3) } }, percent(shareOf(e, tile)));
    const order = [...this.chosen].indexOf(e);
    const cells = [h("td", { class: order >= 0 ? `key key-${order}` : "" }, tick), h("th", { scope: "row" }, e.model), h("td", {}, e.search),
      h("td", { class: "mean" }, h("b", {}, whole(e.score.mean)), e.score.ci95 ? h("span", { class: "margin" }, ` ± ${whole(e.score.ci95)}`) : null),
      h("td", {}, whole(e.games)), h("td", {}, whole(e.score.median)), h("td", {}, whole(e.score.max)), ...columns.map(share)];
    return h("tr", {}, cells);
  }

  choose(e) {
    if (this.chosen.has(e)) this.chosen.delete(e);
    else this.chosen.add(e);
    if (this.chosen.size > MOST) this.chosen.delete([...this.chosen][0]);
    this.draw();
  }

  drawCharts() {
    const chosen = [...this.chosen];
    this.charts.hidden = chosen.length === 0;
    const withScores = chosen.filter((e) => e.scores?.length);
    this.scores.element.parentElement.hidden = withScores.length === 0;
    if (withScores.length) {
      const { names, shares } = histogram(withScores.map((e) => e.scores), 24);
      this.scores.set(names, withScores.map((e, i) => ({ name: nameOf(e), values: shares[i], slot: chosen.indexOf(e) })));
    }
    const tiles = TILES.filter((tile) => chosen.some((e) => shareOf(e, tile) > 0));
    this.tiles.set(tiles, chosen.map((e) => ({ name: nameOf(e), values: tiles.map((tile) => shareOf(e, tile)) })));
  }

  evaluate() {
    this.close?.();
    this.go.disabled = true;
    let shown = null;
    const show = (result) => {
      this.evaluations = [result, ...this.evaluations.filter((e) => e !== shown)];
      if (this.chosen.delete(shown) || !shown) this.chosen.add(result);
      shown = result;
      this.draw();
    };
    const done = (text) => {
      this.go.disabled = false;
      this.note.textContent = text;
    };
    const question = { model: this.model.value, search: this.search.value, games: this.games.value, seed: this.seed.value, token: this.token };
    this.close = listen("/api/evaluate", question, {
      progress: (part) => {
        this.note.textContent = `${whole(part.games)} of ${whole(Number(this.games.value))} games`;
        if (part.games > 0) show(part);
      },
      result: (result, close) => {
        close();
        show(result);
        const found = `${nameOf(result)}: ${whole(result.score.mean)} ± ${whole(result.score.ci95 ?? 0)} in ${whole(result.games)} games.`;
        done(result.warning ? `${found} But ${result.warning}.` : found);
      },
    }, (error) => done([error.message, error.hint].filter(Boolean).join(": ")));
  }

  unmount() {
    this.gone = true;
    this.close?.();
  }
}

// Results leave out small tiles that every game reached, and large ones that none did.
function shareOf({ tiles }, tile) {
  return tiles[tile] ?? (Number(tile) < Math.min(...Object.keys(tiles).map(Number)) ? 1 : 0);
}

const nameOf = (e) => `${e.model}, ${e.search}`;
