// Creating elements, formatting numbers, and small messages.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "vars") for (const [name, v] of Object.entries(value)) element.style.setProperty(name, v);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element: `h("p", {class: "note", onclick: f}, "text", child)`. */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** An SVG element, created like HTML by `h`. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

const ICONS = {
  up: "M12 20V5M5.5 11.5 12 5l6.5 6.5",
  right: "M4 12h15M12.5 5.5 19 12l-6.5 6.5",
  down: "M12 4v15M5.5 12.5 12 19l6.5-6.5",
  left: "M20 12H5M11.5 5.5 5 12l6.5 6.5",
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M8.5 5.5v13M15.5 5.5v13",
  step: "M6.5 6v12l8.5-6zM18 6v12",
  back: "M17.5 6v12L9 12zM6 6v12",
  undo: "M8.5 5 4 9.5 8.5 14M4 9.5h9.5a5.5 5.5 0 0 1 0 11H10",
  fresh: "M12 5v14M5 12h14",
  hint: "M9.5 20h5M12 3.5a6 6 0 0 0-3.2 11c.5.4.7 1 .7 1.7h5c0-.7.2-1.3.7-1.7A6 6 0 0 0 12 3.5z",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1-1",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  moon: "M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5z",
  auto: "M12 4.5A7.5 7.5 0 0 1 19.5 12H22M12 19.5A7.5 7.5 0 0 1 4.5 12H2M12 8.5v4l2.5 1.5",
  help: "M9 9.2a3 3 0 1 1 4.2 2.7c-.9.5-1.2 1-1.2 2.1M12 17.6v.2",
  stop: "M7 7h10v10H7z",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.8v4.4M9 14.8v4.4",
  rotate: "M19 12a7 7 0 1 1-2.3-5.2M19 4v4h-4",
  flip: "M12 4v16M9 7 4 17h5zM15 7l5 10h-5z",
  close: "M6 6l12 12M18 6 6 18",
  trash: "M5 7h14M10 7V5h4v2M7 7l1 13h8l1-13",
  search: "M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15 15l5 5",
};

/** An icon by name. */
export function icon(name) {
  return svg("svg", { class: `icon icon-${name}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/** A button with an icon, a text, and a keyboard shortcut in its tooltip. */
export function button(name, text, onclick, { key, kind = "", label } = {}) {
  const title = key ? `${label ?? text} (${key})` : label;
  const caption = text && h("span", {}, text);
  return h("button", { type: "button", class: `button ${kind}`, title, "aria-label": text ? undefined : label, onclick }, name && icon(name), caption);
}

const WHOLE = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });

/** 102345.6 as 102,346. There is no negative zero. */
export const whole = (x) => WHOLE.format(Math.round(x) || 0);

/** 1234567 as 1.23M. */
export function short(x) {
  const size = Math.abs(x);
  const scaled = (by, unit) => `${Number((x / by).toPrecision(3))}${unit}`;
  if (size >= 9.995e8) return scaled(1e9, "B");
  if (size >= 999500) return scaled(1e6, "M");
  if (size >= 10000) return scaled(1e3, "k");
  return size >= 100 || Number.isInteger(x) ? whole(x) : String(Number(x.toPrecision(3)) || 0);
}

/** 0.957 as 95.7%. */
export const percent = (x) => `${Number((100 * x).toFixed(1)) || 0}%`;

/** Seconds in a suitable unit. */
export function duration(seconds) {
  if (seconds < 1e-3) return `${Math.max(1, Math.round(seconds * 1e6))} µs`;
  if (seconds < 1) return `${Number((seconds * 1e3).toPrecision(2))} ms`;
  if (seconds < 90) return `${Number(seconds.toPrecision(2))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Announces a text to screen readers. Texts in quick succession are announced together. */
export function announce(text) {
  const box = document.getElementById("announcer");
  box.pending = box.pending ? `${box.pending}. ${text}` : text;
  clearTimeout(box.timer);
  box.timer = setTimeout(() => {
    box.textContent = box.pending;
    box.pending = "";
  }, 120);
}

/** Shows a message at the bottom of the page for a few seconds. */
export function toast(text, kind = "") {
  announce(text);
  const box = document.getElementById("toasts");
  const item = h("div", { class: `toast ${kind}` }, text);
  box.append(item);
  while (box.children.length > 3) box.firstChild.remove();
  setTimeout(() => item.remove(), kind === "error" ? 8000 : 3500);
}

/** Shows an error with its hint. */
export function complain(error) {
  if (error.name === "AbortError") return;
  toast(error.hint ? `${error.message} (${error.hint})` : error.message, "error");
}

/** Calls `f` after `ms` without further calls. */
export function quietly(ms, f) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...args), ms);
  };
}
