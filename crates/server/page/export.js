// Downloads: texts, tables as CSV, charts as SVG.

import { button, h } from "./dom.js";

/** Downloads a text as a file. */
export function download(name, text, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const cell = (value) => (value === null || value === undefined ? "" : /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

/** Rows of objects as CSV, with their keys in the first line. */
export function csv(rows) {
  const keys = [...new Set(rows.flatMap(Object.keys))];
  return [keys, ...rows.map((row) => keys.map((key) => row[key]))].map((line) => line.map(cell).join(",")).join("\n") + "\n";
}

/** Download buttons: `{csv: () => rows, json: () => value, svg: () => text, text: () => text}`; `name` is that of the files. */
export function downloads(name, { csv: rows, json, svg, text }) {
  const one = (kind, type, make) => button("", kind, () => download(`${typeof name === "function" ? name() : name}.${kind.toLowerCase()}`, make(), type), { kind: "small", label: `Save as ${kind}` });
  return h("div", { class: "downloads" },
    rows && one("CSV", "text/csv", () => csv(rows())),
    json && one("JSON", "application/json", () => JSON.stringify(json(), null, 1)),
    svg && one("SVG", "image/svg+xml", svg),
    text && one("TXT", "text/plain", text));
}

/** A drawing of the page as a standalone file, with the styles of the style sheet inlined. */
export function svgText(picture) {
  const copy = picture.cloneNode(true);
  const [there, here] = [copy.querySelectorAll("*"), picture.querySelectorAll("*")];
  here.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-style"]) there[i].style.setProperty(name, style.getPropertyValue(name));
    there[i].style.setProperty("font-family", "sans-serif");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.style.background = getComputedStyle(document.documentElement).getPropertyValue("--surface");
  return new XMLSerializer().serializeToString(copy);
}

/** The command that gives the same result, with a button that copies it. */
export function command(text) {
  const code = h("code", {}, text);
  const copy = button("", "Copy", () => navigator.clipboard?.writeText(code.textContent), { kind: "small", label: "Copy the command" });
  return { element: h("p", { class: "command" }, h("span", {}, "The command that makes this: "), code, " ", copy), set: (next) => (code.textContent = next) };
}
