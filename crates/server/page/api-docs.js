// The description of the API, in readable form.

import { h } from "./dom.js";
import { apply } from "./settings.js";

/** A schema in a few words. */
function kind(schema, all, deep = 0) {
  if (!schema) return "";
  if (schema.$ref) return kind(named(schema.$ref, all), all, deep);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.oneOf || schema.anyOf) return (schema.oneOf ?? schema.anyOf).map((one) => kind(one, all, deep)).join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items, all, deep) || "values"}`;
  if (schema.type === "object" && schema.properties && deep < 1) return `{ ${Object.keys(schema.properties).join(", ")} }`;
  return [schema.type].flat().filter(Boolean).join(" or ");
}

const named = (ref, all) => ref.split("/").slice(1).reduce((value, part) => value?.[part], all);
const resolved = (value, all) => (value?.$ref ? named(value.$ref, all) : value);

function fields(rows, of) {
  if (!rows.length) return "";
  const row = ([name, type, required, text]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, name)), h("td", {}, type), h("td", {}, required ? "yes" : ""), h("td", { class: "words" }, text ?? ""));
  return h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": of }, h("table", { class: "fields" }, h("thead", {}, h("tr", {}, ["Name", "What", "Needed", "Meaning"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows.map(row))));
}

function properties(schema, all) {
  const { properties: known = {}, required = [] } = resolved(schema, all) ?? {};
  return Object.entries(known).map(([name, one]) => [name, kind(one, all), required.includes(name), resolved(one, all).description]);
}

function operation(path, method, described, all) {
  const { summary, description, parameters = [], requestBody, responses } = described;
  const body = resolved(requestBody, all)?.content?.["application/json"]?.schema;
  const asked = parameters.map((one) => resolved(one, all)).map(({ name, schema, required, description: text }) => [name, kind(schema, all), required, text]);
  const answers = Object.entries(responses).map(([status, one]) => h("li", {}, h("b", {}, status), ` ${resolved(one, all).description ?? ""}`));
  const good = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const answer = resolved(good, all)?.content?.["application/json"]?.schema;
  return h("section", { class: "panel", id: `${method}${path.replaceAll("/", "-")}` }, h("h2", {}, h("code", {}, `${method.toUpperCase()} ${path}`)), h("p", {}, summary ?? ""), description && h("p", { class: "note" }, description),
    asked.length ? [h("h3", {}, "Parameters"), fields(asked, `Parameters of ${method} ${path}`)] : "", body ? [h("h3", {}, "Body, as JSON"), fields(properties(body, all), `Body of ${method} ${path}`)] : "", answer ? [h("h3", {}, "Answer"), fields(properties(answer, all), `Answer of ${method} ${path}`)] : "", h("h3", {}, "Statuses"), h("ul", {}, answers));
}

apply();
const main = document.getElementById("main");
try {
  const all = await (await fetch("/api/v1/openapi.json")).json();
  const operations = Object.entries(all.paths).flatMap(([path, methods]) => Object.entries(methods).filter(([method]) => ["get", "post", "delete"].includes(method)).map(([method, described]) => operation(path, method, described, all)));
  main.replaceChildren(h("h1", {}, `${all.info.title} ${all.info.version}`), h("p", {}, all.info.description ?? ""), h("p", {}, "For machines: ", h("a", { href: "/api/v1/openapi.json" }, "openapi.json")), h("div", { class: "view view-results" }, operations));
} catch {
  main.replaceChildren(h("h1", {}, "The server does not answer"));
}
