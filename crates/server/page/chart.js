// Small hand-written SVG charts: lines with bands, and histograms. Colours come from the style sheet.

import { h, short, svg } from "./dom.js";
import { downloads, svgText } from "./export.js";

const LEFT = 46;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 26;

/** Round numbers that divide a range into about `count` parts. */
export function ticks(low, high, count) {
  const span = high - low || 1;
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 2.5, 5, 10].find((m) => m * power >= raw);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

class Chart {
  constructor({ title, height = 180, x = "", y = short, low = null, high = null, unit = "" }) {
    Object.assign(this, { height, low, high, unit });
    this.formatY = y;
    this.labelX = x;
    this.picture = svg("svg", { class: "chart", role: "img", "aria-label": title });
    this.legend = h("div", { class: "legend" });
    this.reading = h("div", { class: "reading", "aria-hidden": "true" });
    const head = h("figcaption", {}, h("span", { class: "chart-title" }, title), this.reading);
    this.element = h("figure", { class: "chart-box" }, head, this.picture, this.legend);
    this.series = [];
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** The drawing as a standalone file. */
  get svg() {
    return svgText(this.picture);
  }

  /** Adds buttons that save the figures and the drawing. */
  saveable(name) {
    this.element.append(downloads(name, { csv: () => this.rows, json: () => this.rows, svg: () => this.svg }));
    return this;
  }

  /** Shows the legend if there are several series. */
  setLegend(series) {
    const entry = ({ name, slot }, i) => h("span", { class: `key key-${slot ?? i}` }, name);
    this.legend.replaceChildren(...(series.length > 1 ? series.map(entry) : []));
  }

  /** Draws the axes and returns the maps from values to pixels. */
  frame([x0, x1], [y0, y1], formatX = short) {
    const width = Math.max(200, this.element.clientWidth || 400);
    const { height } = this;
    const place = this.log ? (x) => (Math.log10(Math.max(x, x0)) - Math.log10(x0)) / (Math.log10(x1) - Math.log10(x0) || 1) : (x) => (x - x0) / (x1 - x0 || 1);
    const sx = (x) => LEFT + place(x) * (width - LEFT - RIGHT);
    const sy = (y) => height - BOTTOM - ((y - y0) / (y1 - y0 || 1)) * (height - TOP - BOTTOM);
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const parts = [];
    for (const y of ticks(y0, y1, height < 130 ? 2 : 4)) {
      parts.push(svg("line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: sy(y), y2: sy(y) }));
      parts.push(svg("text", { class: "tick", x: LEFT - 6, y: sy(y) + 4, "text-anchor": "end" }, this.formatY(y)));
    }
    const marks = this.log ? powers(x0, x1) : ticks(x0, x1, Math.max(3, Math.floor(width / 110)));
    for (const x of marks.filter((t) => sx(t) < width - 24 - 7 * this.labelX.length)) {
      parts.push(svg("text", { class: "tick", x: sx(x), y: height - 8, "text-anchor": "middle" }, formatX(x)));
    }
    parts.push(svg("text", { class: "tick axis", x: width - RIGHT, y: height - 8, "text-anchor": "end" }, this.labelX));
    this.picture.replaceChildren(...parts);
    return { sx, sy, width };
  }
}

/** Lines over a common axis. A series is `{name, points: [[x, y, margin?]], dots?}`; margins are drawn as bands. */
export class LineChart extends Chart {
  constructor(options) {
    super(options);
    this.onpick = options.onpick;
    this.picture.addEventListener("pointermove", (event) => this.#read(event));
    this.picture.addEventListener("pointerleave", () => this.#unread());
    if (this.onpick) {
      this.picture.classList.add("pickable");
      this.picture.addEventListener("click", (event) => this.near(event) && this.onpick(this.near(event).x));
    }
  }

  set(series, mark) {
    this.series = series;
    this.mark = mark;
    this.setLegend(series);
    this.draw();
  }

  draw() {
    const all = this.series.flatMap((s) => s.points);
    this.picture.setAttribute("data-points", all.length);
    if (all.length === 0) return this.picture.replaceChildren();
    const xs = range(all.map((p) => p[0]).filter((x) => !this.log || x > 0));
    const ys = range(all.flatMap((p) => [p[1] - (p[2] ?? 0), p[1] + (p[2] ?? 0)]));
    const low = this.low ?? ys[0];
    const high = this.high ?? (ys[1] + 0.05 * (ys[1] - low || Math.abs(ys[1])) || 10);
    Object.assign(this, this.frame(xs, [low, high]));
    this.series.forEach((s, i) => this.picture.append(...this.#line(s, i)));
    if (this.mark !== undefined && this.mark !== null) {
      this.picture.append(svg("line", { class: "mark", x1: this.sx(this.mark), x2: this.sx(this.mark), y1: TOP, y2: this.height - BOTTOM }));
    }
  }

  /** The values of all lines, a row for each point. */
  get rows() {
    return this.series.flatMap(({ name, points }) => points.map(([x, y, margin]) => ({ series: name, x, y, ...(margin === undefined ? {} : { margin }) })));
  }

  #line({ points, dots, graded = [] }, i) {
    const thin = thinned(points, this.width);
    const at = ([x, y]) => `${this.sx(x).toFixed(1)},${this.sy(y).toFixed(1)}`;
    const drawn = [];
    if (thin.some((p) => p[2])) {
      const upper = thin.map(([x, y, m]) => at([x, y + m]));
      const lower = thin.map(([x, y, m]) => at([x, y - m])).reverse();
      drawn.push(svg("polygon", { class: `band band-${i}`, points: [...upper, ...lower].join(" ") }));
    }
    const shown = this.log ? thin.filter(([x]) => x > 0) : thin;
    drawn.push(svg("polyline", { class: `line line-${i}`, points: shown.map(at).join(" ") }));
    const marked = dots || thin.length === 1 ? thin : [];
    const verdicts = graded.map(([x, y, grade]) => svg("circle", { class: `graded grade-${grade}`, cx: this.sx(x), cy: this.sy(y), r: 4 }, svg("title", {}, `move ${x + 1}: ${grade}`)));
    return drawn.concat(marked.map(([x, y]) => svg("circle", { class: `dot dot-${i}`, cx: this.sx(x), cy: this.sy(y), r: 3 })), verdicts);
  }

  /** Shows the values nearest to the pointer. */
  near(event) {
    if (!this.sx || this.series.every((s) => s.points.length === 0)) return null;
    const box = this.picture.getBoundingClientRect();
    const pixel = ((event.clientX - box.left) / box.width) * this.width;
    const nearest = (points) => points.reduce((a, b) => (Math.abs(this.sx(b[0]) - pixel) < Math.abs(this.sx(a[0]) - pixel) ? b : a));
    const found = this.series.filter((s) => s.points.length).map((s) => ({ name: s.name, point: nearest(s.points) }));
    return { x: found[0].point[0], found };
  }

  #read(event) {
    const near = this.near(event);
    if (!near) return;
    const values = near.found.map(({ name, point }) => (this.series.length > 1 ? `${name} ${this.formatY(point[1])}` : this.formatY(point[1])));
    this.reading.textContent = `${short(near.x)} ${this.unit}: ${values.join(", ")}`;
    this.picture.querySelector(".cursor")?.remove();
    const x = this.sx(near.x);
    this.picture.append(svg("line", { class: "cursor", x1: x, x2: x, y1: TOP, y2: this.height - BOTTOM }));
  }

  #unread() {
    this.reading.textContent = "";
    this.picture.querySelector(".cursor")?.remove();
  }
}

/** Bars over categories, one group of bars a category: `set(["512", …], [{name, values: […], slot?}])`; a slot is a colour. */
export class BarChart extends Chart {
  set(categories, series) {
    Object.assign(this, { categories, series });
    this.setLegend(series);
    this.draw();
  }

  get rows() {
    return this.categories.flatMap((category, c) => this.series.map(({ name, values }) => ({ series: name, category, value: values[c] })));
  }

  draw() {
    if (!this.categories?.length) return this.picture.replaceChildren();
    const most = this.high ?? Math.max(...this.series.flatMap((s) => s.values), 1e-9) * 1.05;
    const count = this.categories.length;
    const { sx, sy, width } = this.frame([0, count], [0, most], () => "");
    const every = Math.ceil((count * 52) / (width - LEFT - RIGHT));
    const bar = (sx(1) - sx(0)) * (count > 12 ? 0.94 : 0.76);
    this.categories.forEach((name, c) => {
      if (c % every === 0) this.picture.append(svg("text", { class: "tick", x: sx(c + 0.5), y: this.height - 8, "text-anchor": "middle" }, name));
      this.series.forEach((s, i) => {
        const w = bar / this.series.length;
        const top = sy(s.values[c]);
        const box = { x: sx(c + 0.5) - bar / 2 + i * w, y: top, width: Math.max(1, w - 1), height: Math.max(0, this.height - BOTTOM - top) };
        const pick = this.onpick && (() => this.onpick(c, i));
        this.picture.append(svg("rect", { class: `column column-${s.slot ?? i}${pick ? " pickable" : ""}`, rx: 2, onclick: pick, ...box }, svg("title", {}, `${s.name}, ${name}: ${this.formatY(s.values[c])}`)));
      });
    });
  }
}

/** Powers of ten, and if there are few of them, also 2 and 5 times these. */
function powers(low, high) {
  const all = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) all.push(power, 2 * power, 5 * power);
  const tens = all.filter((_, i) => i % 3 === 0);
  return (tens.length > 4 ? tens : all).filter((x) => x >= low && x <= high);
}

function range(numbers) {
  return numbers.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
}

/** At most two points per pixel: long games have tens of thousands. */
function thinned(points, width) {
  const every = Math.ceil(points.length / (2 * width));
  return every <= 1 ? points : points.filter((_, i) => i % every === 0 || i === points.length - 1);
}

/** Counts numbers in `bins` equal parts of their common range. */
export function histogram(samples, bins) {
  const [low, high] = range(samples.flat());
  const marks = ticks(low, high, bins);
  const step = marks.length > 1 ? marks[1] - marks[0] : high - low || 1;
  const first = Math.floor(low / step) * step;
  const count = Math.floor((high - first) / step) + 1;
  const names = Array.from({ length: count }, (_, i) => short(first + i * step));
  const binOf = (x) => Math.floor((x - first) / step);
  const shares = samples.map((list) => {
    const bin = new Array(count).fill(0);
    for (const x of list) bin[binOf(x)] += 1 / list.length;
    return bin;
  });
  return { names, shares, binOf };
}
