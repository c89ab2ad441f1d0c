// @ts-check
/// <reference lib="dom" />
/** The page: reads openapi.json beside it and shows every endpoint; what is shown is text of the document and never markup. */
import { endpointsOf, fits, shapeOf } from "./shape.js";

/** @typedef {import("./shape.js").Endpoint} Endpoint @typedef {import("./shape.js").Content} Content */

/** @param {string} tag @param {Record<string, string>} attributes @param {...(Node | string)} children */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Text with what stands in backticks as code. @param {string} text */
const prose = (text) => text.split("`").map((part, i) => i % 2 === 1 ? element("code", {}, part) : part);

/** @param {string} id */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @type {import("./shape.js").Schemas} */
let schemas = {};

/** @param {string} title @param {Content | undefined} of */
function contents(title, of) {
  return Object.entries(of?.content ?? {}).flatMap(([type, { schema }]) => [
    element("h3", {}, `${title} · ${type}`),
    element("pre", {}, shapeOf(schema, schemas)),
  ]);
}

/** @param {Endpoint} endpoint */
function body({ operation }) {
  const { description, parameters = [], requestBody, responses } = operation;
  const statuses = Object.entries(responses);
  const good = statuses.filter(([status]) => status.startsWith("2"));
  const refusals = statuses.filter(([status]) => !status.startsWith("2"));
  const made = element("div");
  if (description !== undefined) made.append(element("p", {}, ...prose(description)));
  if (parameters.length > 0) {
    const list = element("dl");
    for (const { in: where, name, required, description: about = "", schema } of parameters) {
      list.append(
        element("dt", {}, name + (required ? "" : "?")),
        element("dd", {}, `${where}, ${shapeOf(schema, schemas)}${about === "" ? "" : ": "}`, ...prose(about)),
      );
    }
    made.append(element("h3", {}, "Parameters"), list);
  }
  made.append(...contents("Body", requestBody));
  for (const [status, of] of good) {
    const shown = contents(`Answer ${status}`, of);
    made.append(...(shown.length > 0 ? shown : [element("h3", {}, `Answer ${status}, without a body`)]));
  }
  const list = element("dl");
  for (const [status, { description: why = "" }] of refusals) {
    list.append(element("dt", {}, status), element("dd", {}, ...prose(why)));
  }
  if (refusals.length > 0) made.append(element("h3", {}, "Refusals"), list);
  return made;
}

/** @param {Endpoint} endpoint */
function shown(endpoint) {
  const { method, path, operation } = endpoint;
  const made = element(
    "details",
    { id: operation.operationId ?? `${method}${path}` },
    element(
      "summary",
      {},
      element("span", { class: `method ${method}` }, method.toUpperCase()),
      element("code", {}, path),
      element("span", {}, ...prose(operation.summary ?? "")),
    ),
  );
  // most are never looked into
  made.addEventListener("toggle", () => made.childElementCount === 1 && made.append(body(endpoint)), { once: true });
  return made;
}

async function start() {
  const response = await fetch("openapi.json");
  if (!response.ok) throw new Error(`the document is answered with ${response.status}`);
  const { info, servers = [], paths, components } = await response.json();
  schemas = components?.schemas ?? {};
  document.title = info.title;
  place("title").textContent = `${info.title} ${info.version}`;
  const { url: base } = servers[0] ?? { url: "" };
  place("about").append(
    ...prose(`${info.description ?? ""} ${base === "" ? "" : `All paths begin with \`${base}\`.`}`),
  );
  const endpoints = endpointsOf(paths);
  const sections = new Map(
    [...new Set(endpoints.map(({ group }) => group))].map((group) => [
      group,
      element("section", { id: `group-${group}` }, element("h2", {}, `/${group}`)),
    ]),
  );
  const all = endpoints.map((endpoint) => ({ endpoint, made: shown(endpoint) }));
  for (const { endpoint, made } of all) sections.get(endpoint.group)?.append(made);
  place("endpoints").replaceChildren(...sections.values());
  for (const group of sections.keys()) place("groups").append(element("a", { href: `#group-${group}` }, group));

  const filter = /** @type {HTMLInputElement} */ (place("filter"));
  const choose = () => {
    let count = 0;
    for (const { endpoint, made } of all) {
      made.hidden = !fits(endpoint, filter.value);
      if (!made.hidden) count++;
    }
    for (const section of sections.values()) section.hidden = section.querySelector("details:not([hidden])") === null;
    place("count").textContent = count === all.length ? `${count} endpoints` : `${count} of ${all.length} endpoints`;
  };
  filter.addEventListener("input", choose);
  choose();
  const linked = location.hash === "" ? null : document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (linked instanceof HTMLDetailsElement) linked.open = true;
  linked?.scrollIntoView();
}

start().catch((error) => {
  place("count").textContent = `The document cannot be shown: ${error instanceof Error ? error.message : error}.`;
});
