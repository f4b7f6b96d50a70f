// Results: evaluations side by side, new ones, and comparisons of two models.

import { hash } from "./address.js";
import { advise, get, listen, listenTo, session } from "./api.js";
import { BarChart, histogram } from "./chart.js";
import { Board, miniature } from "./board.js";
import { field, modelPath, models, panel, playerSelects } from "./controls.js";
import { button, h, icon, percent, short, whole } from "./dom.js";
import { command, downloads } from "./export.js";
import { onward } from "./onward.js";
import { format, parse } from "./rules.js";
import { firstBoard } from "./tiles.js";

export const title = "Results";
export const shortcuts = [];

const TILES = ["1024", "2048", "4096", "8192", "16384", "32768", "65536"];
const MOST = 4; // compared at once
const SAMPLED = 300; // positions on which two models are compared

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
    const [{ evaluations }, list, known] = await Promise.all([get("/evaluations"), models(), session()]);
    if (this.gone) return;
    this.evaluations = evaluations.sort((a, b) => b.score.mean - a.score.mean);
    this.models = list;
    this.known = known;
    this.table = h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "Evaluations" });
    this.scores = new BarChart({ title: "Scores: share of games", height: 230, y: percent }).saveable("scores");
    this.scores.onpick = (bin, series) => this.pick(bin, series);
    this.tiles = new BarChart({ title: "Share of games that reach a tile", height: 230, y: percent, high: 1 }).saveable("tiles");
    this.steps = new BarChart({ title: "Survival by step: of the games with a tile, the share that reach the next", height: 230, y: percent, high: 1 }).saveable("steps");
    this.ranked = h("div", { class: "ranked" });
    this.gameList = h("div", { class: "found" });
    this.replay = h("div", { class: "replay" });
    this.commands = ["table", "scores", "tiles", "steps"].map(() => command(""));
    const [table, scores, tiles, steps] = this.commands.map(({ element }) => element);
    this.charts = h("div", { class: "pair" }, panel("", this.scores.element, h("p", { class: "note" }, "A click on a bar lists its games."), this.ranked, this.gameList, this.replay, scores), panel("", this.tiles.element, tiles), panel("", this.steps.element, steps));
    const save = downloads("evaluations", { csv: () => this.evaluations.map(flat), json: () => this.evaluations });
    this.root.append(panel("Evaluations", this.table, save, table), this.charts, this.form(), this.disagreements());
    for (const evaluation of this.evaluations.slice(0, 2)) this.chosen.add(evaluation);
    this.draw();
  }

  form() {
    if (!this.models.length) return panel("Evaluate a model", h("p", {}, "There is no model yet. ", h("a", { href: "#train/recipe/quick" }, "Train one"), "."));
    Object.assign(this, playerSelects(this.models, { search: "1ply", onchange: () => this.told() }));
    this.rival = playerSelects(this.models, { search: "1ply", onchange: () => this.told() });
    this.both = h("input", { type: "checkbox", onchange: () => this.told() });
    this.games = h("input", { type: "number", min: 1, max: this.known.limits.max_games, value: 100, inputmode: "numeric", name: "games", oninput: () => this.told() });
    this.seed = h("input", { type: "number", min: 0, value: 1, inputmode: "numeric", name: "seed", oninput: () => this.told() });
    this.go = button("play", "Evaluate", () => this.app.attempt(() => this.evaluate()), { kind: "primary" });
    this.cancel = button("stop", "Cancel", () => this.stopped(), { kind: "warn" });
    this.cancel.hidden = true;
    this.go.disabled = !this.known.trusted;
    this.note = h("p", { class: "note", role: "status" }, this.known.trusted ? "The games of a seed are numbered: every model plays the same ones." : ["To evaluate models here, open the address that ", h("code", {}, "afterstate serve"), " has printed in the terminal."]);
    this.difference = h("p", { class: "verdict" });
    this.against = h("div", { class: "setup", hidden: true }, field("Against", this.rival.model), field("Its search", this.rival.search));
    this.command = command("");
    const parts = panel("Evaluate a model", h("div", { class: "setup" }, field("Model", this.model), field("Search", this.search), field("Games", this.games, "narrow"), field("Seed", this.seed, "narrow"), this.go, this.cancel),
      h("label", { class: "check" }, this.both, "compare with another model in the same games"), this.against, this.note, this.difference, this.command.element);
    this.told();
    return parts;
  }

  /** The equivalent command. */
  told() {
    this.against.hidden = !this.both.checked;
    const rest = `--games ${this.games.value} --seed ${this.seed.value}`;
    const [one, other] = [this.model, this.rival.model].map(({ value }) => this.path(value));
    this.command.set(this.both.checked
      ? `afterstate eval --compare ${one} ${other} --search ${this.search.value} --search ${this.rival.search.value} ${rest}`
      : `afterstate eval ${one} --search ${this.search.value} ${rest}`);
  }

  /** The name of a model on the command line; a deleted one, as the run that it was. */
  path(name) {
    return modelPath(this.models.find((model) => model.name === name) ?? { name, kind: "run" });
  }

  draw() {
    const { evaluations } = this;
    if (!evaluations.length) {
      this.charts.hidden = this.commands[0].element.hidden = true;
      return this.table.replaceChildren(h("p", { class: "note" }, "Nothing has been evaluated yet. Runs are evaluated as they learn; or let a model play below."));
    }
    const columns = TILES.filter((tile) => evaluations.some((e) => (e.tiles[tile] ?? 0) > 0));
    const head = h("tr", {}, ["Shown", "Model", "Search", "Mean score", "Games", "Median", "Largest", ...columns].map((name) => h("th", { scope: "col" }, name)));
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
    const how = chosen.map((e) => `afterstate eval ${this.path(e.model)} --search ${e.search} --games ${e.games} --seed ${e.seed}`).join("; ");
    for (const { element, set } of this.commands) {
      element.hidden = !how;
      set(how);
    }
    const withScores = chosen.filter((e) => e.scores?.length);
    this.scores.element.parentElement.hidden = withScores.length === 0;
    this.withScores = withScores;
    this.gameList.replaceChildren();
    this.closeReplay?.();
    this.replay.replaceChildren();
    this.ranked.replaceChildren(...withScores.map((e) => this.ranks(e)));
    if (withScores.length) {
      this.bins = histogram(withScores.map((e) => e.scores), 24);
      this.scores.set(this.bins.names, withScores.map((e, i) => ({ name: nameOf(e), values: this.bins.shares[i], slot: chosen.indexOf(e) })));
    }
    const tiles = TILES.filter((tile) => chosen.some((e) => shareOf(e, tile) > 0));
    this.tiles.set(tiles, chosen.map((e) => ({ name: nameOf(e), values: tiles.map((tile) => shareOf(e, tile)) })));
    const survival = (e, i) => (shareOf(e, tiles[i]) > 0 ? shareOf(e, tiles[i + 1]) / shareOf(e, tiles[i]) : 0);
    this.steps.set(tiles.slice(1).map((tile, i) => `${short(Number(tiles[i]))} → ${short(Number(tile))}`), chosen.map((e) => ({ name: nameOf(e), values: tiles.slice(1).map((_, i) => survival(e, i)) })));
  }

  /** Some games of an evaluation, without a click on a bar. */
  ranks(e) {
    const numbers = e.scores.map((_, number) => number).sort((a, b) => e.scores[a] - e.scores[b]);
    const one = ([name, rank]) => button("", name, () => this.app.attempt(() => this.playAgain(e, numbers[rank], e.scores[numbers[rank]])), { kind: "small" });
    const places = [["lowest score", 0], ["middle score", Math.floor(numbers.length / 2)], ["highest score", numbers.length - 1]];
    return h("div", { class: "actions start", role: "group", "aria-label": `Games of ${nameOf(e)}` }, h("span", { class: "note" }, `${nameOf(e)}, the game with the`), places.map(one));
  }

  /** The games of a bar: they are numbered, and can be replayed. */
  pick(bin, series) {
    const e = this.withScores[series];
    const games = e.scores.flatMap((score, number) => (this.bins.binOf(score) === bin ? [[number, score]] : []));
    const one = ([number, score]) => button("", `game ${whole(number)}: ${whole(score)}`, () => this.app.attempt(() => this.playAgain(e, number, score)), { kind: "small" });
    this.gameList.replaceChildren(h("h3", {}, `${nameOf(e)}: ${games.length} ${games.length === 1 ? "game" : "games"}${games.length > 40 ? ", of which 40 are listed" : ""}`), h("div", { class: "actions start" }, games.slice(0, 40).map(one)));
  }

  /** Replays a game of an evaluation: each of its positions links to the other views. */
  playAgain(e, number, score) {
    this.closeReplay?.();
    const model = this.models.find(({ name }) => name === e.model);
    if (!model) throw Object.assign(new Error(`The model “${e.model}” no longer exists`), { hint: "its games cannot be played again" });
    const { cells, stream } = firstBoard(model.side, number, e.seed);
    const frames = [{ cells, stream: String(stream), score: 0 }];
    const note = h("p", { class: "note", role: "status" }, `Game ${whole(number)} is played again…`);
    this.replay.replaceChildren(note);
    const take = (moves) => {
      for (const { move, next, stream: after, reward } of moves) {
        const last = frames[frames.length - 1];
        last.move = move;
        frames.push({ cells: parse(next), stream: after, score: last.score + reward });
      }
      note.textContent = `Game ${whole(number)} is played again: ${whole(frames.length - 1)} moves`;
    };
    const failed = (error) => (note.textContent = [error.message, error.hint].filter(Boolean).join(": "));
    this.closeReplay = listen("/watch", { model: e.model, search: e.search, board: format(cells), stream: String(stream) }, {
      move: (one) => take([one]),
      moves: take,
      end: (_, close) => {
        close();
        this.showGame(e, number, score, frames);
      },
    }, failed);
  }

  showGame(e, number, score, frames) {
    const last = frames.length - 1;
    const found = frames[last].score;
    const side = Math.sqrt(frames[0].cells.length);
    let at = Math.max(0, last - 1); // the last position with a legal move
    const board = new Board({ side, label: `Game ${number}` });
    const where = h("output", { class: "pace" });
    const slider = h("input", { type: "range", min: 0, max: last, value: at, "aria-label": "Move", oninput: () => show(Number(slider.value)) });
    // A model's own downgrading applies wherever it plays.
    const way = onward("results", () => ({ ...frames[at], model: e.model, search: e.search.split("+")[0] }));
    const show = (next) => {
      at = next;
      board.show(frames[at].cells);
      where.textContent = `move ${whole(at)} of ${whole(last)}, ${whole(frames[at].score)} points`;
      way.update();
    };
    const moves = frames.slice(0, -1).map(({ move }) => move[0]).join("");
    const review = h("a", { class: "button small", href: hash("review", { record: `${e.seed}-${number}-${side}`, model: e.model, moves }) }, "Review");
    const begin = e.seed === 1 && h("a", { class: "button small", href: hash("play", { side: side === 4 ? undefined : side, game: number }) }, "Play it from the beginning");
    const changed = found === score ? "" : ` It scored ${whole(score)} points then: the model has learned since, or its searches are limited by time.`;
    const title = h("p", { class: "note", role: "status" }, `Game ${whole(number)} of ${nameOf(e)}: ${whole(found)} points.${changed}`);
    this.replay.replaceChildren(title, board.element, h("div", { class: "speed" }, slider, where), way.element, h("div", { class: "actions" }, review, begin));
    show(at);
  }

  evaluate() {
    const [games, seed, most] = [Number(this.games.value), Number(this.seed.value), this.known.limits.max_games];
    if (!Number.isInteger(games) || games < 1 || games > most) throw new Error(`Choose from 1 to ${whole(most)} games`);
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error("A seed is a whole number of at least 0");
    this.close?.();
    this.running(true);
    this.difference.textContent = "";
    let shown = null;
    const show = (result) => {
      this.evaluations = [result, ...this.evaluations.filter((e) => e !== shown)];
      if (this.chosen.delete(shown) || !shown) this.chosen.add(result);
      shown = result;
      this.draw();
    };
    const against = this.both.checked ? { model: this.rival.model.value, search: this.rival.search.value } : undefined;
    let turn = 0;
    this.close = listenTo("/evaluate", { model: this.model.value, search: this.search.value, games, seed, against }, {
      progress: (part) => {
        if (part.turn !== turn) [turn, shown] = [part.turn, null];
        this.note.textContent = `${nameOf(part)}: ${whole(part.games)} of ${whole(games)} games`;
        if (part.games > 0) show(part);
      },
      result: (result, close) => {
        close();
        if (result.against) {
          this.chosen = new Set([...this.chosen].filter((e) => e.games === e.scores?.length && e.turn === undefined));
          this.evaluations = this.evaluations.filter((e) => e.turn === undefined);
          shown = null;
          show(result.against);
          shown = null;
        }
        show(result);
        this.running(false);
        const found = `${nameOf(result)}: ${whole(result.score.mean)} ± ${whole(result.score.ci95 ?? 0)} in ${whole(result.games)} games.`;
        this.note.textContent = result.warning ? `${found} But ${result.warning}.` : found;
        if (result.difference) this.drawDifference(result);
      },
    }, (error) => {
      this.running(false);
      this.note.textContent = [error.message, error.hint].filter(Boolean).join(": ");
    });
  }

  drawDifference({ difference, against, ...result }) {
    const { mean, ci95, better } = difference;
    const sign = mean > 0 ? "more" : "less";
    const sure = ci95 !== null && Math.abs(mean) > ci95 ? "the difference is beyond chance (95%)" : "this many games do not tell them apart";
    this.difference.textContent = `In the same games ${nameOf(result)} makes ${whole(Math.abs(mean))} ± ${whole(ci95 ?? 0)} points ${sign} than ${nameOf(against)}; it has the higher score in ${percent(better)} of them: ${sure}.`;
  }

  running(is) {
    this.go.disabled = is;
    this.cancel.hidden = !is;
  }

  stopped() {
    this.close?.();
    this.running(false);
    this.evaluations = this.evaluations.filter((e) => e.turn === undefined);
    this.chosen = new Set([...this.chosen].filter((e) => e.turn === undefined));
    this.draw();
    this.note.textContent = "Cancelled; nothing was saved.";
  }

  /** Positions in which two models would move differently. */
  disagreements() {
    const square = this.models.filter((model) => model.side === 4);
    if (square.length < 1) return "";
    const [first, second] = ["1ply", "3ply"].map((search) => playerSelects(square, { search, onchange: () => tell() }));
    const note = h("p", { class: "note", role: "status" }, `The first model plays a game; both are asked about ${SAMPLED} of its positions.`);
    const list = h("div", { class: "continuation" });
    const how = command("");
    const player = ({ model, search }) => `afterstate advise - --model ${this.path(model.value)} --search ${search.value} --json < disagreements.txt`;
    const tell = () => how.set(`${player(first)}; ${player(second)}`);
    let found = [];
    const run = button("search", "Find them", () => this.app.attempt(async () => {
      run.disabled = true;
      try {
        note.textContent = "The first model plays…";
        found = await this.disagree({ model: first.model.value, search: first.search.value }, { model: second.model.value, search: second.search.value });
        note.textContent = `They differ in ${whole(found.length)} of ${whole(found.asked)} positions${found.length ? "; the most costly by the second model come first" : ""}.`;
        list.replaceChildren(...found.slice(0, 24).map(({ board, a, b, loss }) => h("a", { class: "continuation-step", href: hash("analyse", { from: "results", board: format(parse(board), ""), model: second.model.value }) }, h("span", { class: "continuation-move" }, icon(a), "or", icon(b), short(loss)), miniature(parse(board)))));
      } finally {
        run.disabled = false;
      }
    }));
    tell();
    return panel("Where two models disagree", h("div", { class: "setup" }, field("First", first.model), field("Its search", first.search), field("Second", second.model), field("Its search", second.search), run), note, list, downloads("disagreements", { csv: () => found, json: () => found, text: () => (found.sample ?? []).map((board) => `${board}\n`).join("") }), h("p", { class: "note" }, "The text file has these positions, for the command."), how.element);
  }

  async disagree(first, second) {
    const boards = await new Promise((resolve, reject) => {
      const all = [];
      const take = (moves) => all.push(...moves.map(({ board }) => board));
      this.close = listen("/watch", { model: first.model, search: "1ply", game: 1, moves: 20000 }, { move: (one) => take([one]), moves: take, end: (_, close) => (close(), resolve(all)) }, reject);
    });
    const step = Math.max(1, Math.floor(boards.length / SAMPLED));
    const sample = boards.filter((_, i) => i % step === 0).slice(0, SAMPLED);
    const ask = async (player) => (await advise({ boards: sample, ...player })).advice;
    const [a, b] = [await ask(first), await ask(second)];
    const differing = sample.flatMap((board, i) => (a[i].best === b[i].best ? [] : [{ board, a: a[i].best, b: b[i].best, loss: b[i].values[b[i].best] - (b[i].values[a[i].best] ?? 0) }]));
    return Object.assign(differing.sort((x, y) => y.loss - x.loss), { asked: sample.length, sample });
  }

  unmount() {
    this.gone = true;
    this.close?.();
    this.closeReplay?.();
  }
}

/** An evaluation as a table row. */
function flat({ model, search, games, seed, score, tiles, seconds }) {
  return { model, search, games, seed, mean: score.mean, ci95: score.ci95, median: score.median, min: score.min, max: score.max, ...Object.fromEntries(Object.entries(tiles).map(([tile, share]) => [`tile_${tile}`, share])), seconds };
}

// Results omit small tiles that every game reached, and large ones that none did.
function shareOf({ tiles }, tile) {
  return tiles[tile] ?? (Number(tile) < Math.min(...Object.keys(tiles).map(Number)) ? 1 : 0);
}

const nameOf = (e) => `${e.model}, ${e.search}`;
