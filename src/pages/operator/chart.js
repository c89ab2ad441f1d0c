// @ts-check
/// <reference lib="dom" />
/** A statechart drawn as SVG, with the current state lit and the arrow of each transition run along as it is taken. */
import { h, svg } from "./dom.js";
import { eventName, HEAD, labelTexts, layout, LINE, rowText } from "./layout.js";
import { leavesOf, placeOf, treeOf } from "./tree.js";

/** @typedef {import("./types.ts").Machine} Machine */

const EDGE = 10;

/** An event in kebab case, as subscribers get it. @param {string} event */
export const kebab = (event) =>
  event.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/[^A-Za-z0-9]+/g, "-").toLowerCase();

/**
 * @typedef {object} Chart
 * @property {HTMLElement} element
 * @property {(state: string) => void} light lights a state
 * @property {(from: string, to: string, transition: string) => void} take shows a transition (in kebab case) and lights
 * where it led
 */

/** @param {Machine} machine @returns {Chart} */
export function drawChart(machine) {
  const tree = treeOf(machine);
  const { width, height, boxes, arrows } = layout(machine);
  /** @type {Map<string, SVGElement>} */
  const states = new Map();
  /** @type {Map<string, SVGElement>} */
  const drawn = new Map();
  /** Arrows in boxes. @type {[arrow: SVGElement, box: string][]} */
  const inner = [];
  const name = svg("title");
  const picture = svg("svg", {
    class: "chart",
    role: "img",
    width: width + 2 * EDGE,
    height: height + 2 * EDGE,
    viewBox: `${-EDGE} ${-EDGE} ${width + 2 * EDGE} ${height + 2 * EDGE}`,
  }, name);
  // Smaller than this it is not shrunk but scrolled.
  picture.style.minWidth = `${Math.round(0.82 * width)}px`;
  const head = svg("marker", {
    id: "head",
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerWidth: 8,
    markerHeight: 8,
    markerUnits: "userSpaceOnUse",
    orient: "auto",
  }, svg("path", { d: "M0 .6 8 4 0 7.4Z" }));
  picture.append(svg("defs", {}, head));

  for (const box of boxes) {
    const state = svg("g", { class: `state ${box.type}`, transform: `translate(${box.x} ${box.y})` });
    const radius = box.type === "history" ? box.h / 2 : 9;
    if (box.type === "final") {
      state.append(
        svg("rect", { class: "around", x: -3.5, y: -3.5, width: box.w + 7, height: box.h + 7, rx: radius + 3 }),
      );
    }
    state.append(svg("rect", { class: "body", width: box.w, height: box.h, rx: radius }));
    const compound = box.nested;
    state.append(svg("text", {
      class: "name",
      x: compound ? 14 : box.w / 2,
      y: 23,
      "text-anchor": compound ? "start" : "middle",
    }, box.label));
    box.rows.forEach((row, i) => {
      const text = svg("text", { class: "row", x: 14, y: HEAD + 11 + i * LINE }, rowText(row));
      if (row.guard !== null) text.append(svg("title", {}, `if ${row.guard}`));
      drawn.set(JSON.stringify([row.sort, box.id, row.event]), text);
      state.append(text);
    });
    if (box.initial) {
      const x = compound ? 24 : Math.min(20, box.w / 4);
      state.append(
        svg("circle", { class: "begin", cx: x, cy: -18, r: 4 }),
        svg("path", { class: "line", d: `M${x} -14V-1`, "marker-end": "url(#head)" }),
      );
    }
    states.set(box.id, state);
    picture.append(state);
  }
  for (const arrow of arrows) {
    const run = svg("path", { class: "run", d: arrow.path, pathLength: 1 });
    const group = svg(
      "g",
      { class: "arrow" },
      svg("path", { class: "line", d: arrow.path, "marker-end": "url(#head)" }),
      run,
      svg("rect", {
        class: "back",
        x: arrow.x - arrow.w / 2,
        y: arrow.y - arrow.h / 2,
        width: arrow.w,
        height: arrow.h,
      }),
    );
    let y = arrow.y - arrow.h / 2 + 13;
    for (const line of arrow.lines) {
      const texts = labelTexts(line);
      const label = svg("g", { class: "label" });
      texts.forEach((text, i) => {
        label.append(svg("text", { class: i === 0 ? "event" : "guard", x: arrow.x, y, "text-anchor": "middle" }, text));
        y += LINE;
      });
      if (line.guard !== null) label.append(svg("title", {}, `if ${line.guard}`));
      group.append(label);
    }
    drawn.set(JSON.stringify(["arrow", arrow.from, arrow.to]), group);
    if (arrow.level !== null) inner.push([group, arrow.level]);
    picture.append(group);
  }

  /** @type {SVGElement | undefined} */
  let last;
  const holder = h("div", { class: "chart-scroll", tabindex: 0, role: "group", "aria-label": "Statechart" });
  holder.append(picture);

  /** @param {string} state */
  const light = (state) => {
    const active = new Set(leavesOf(state).flatMap((leaf) => tree.chain(leaf)));
    for (const [id, element] of states) {
      element.classList.toggle("lit", active.has(id));
      if (active.has(id)) element.setAttribute("data-lit", id);
      else element.removeAttribute("data-lit");
    }
    for (const [arrow, box] of inner) arrow.classList.toggle("within", active.has(box));
    name.textContent = `Statechart of the machine ${machine.kind}; the state is ${state}.`;
    reveal(leavesOf(state)[0] ?? "");
  };

  /** Scrolls the drawing (and nothing else) to a state where it does not fit. @param {string} id */
  const reveal = (id) => {
    const box = boxes.find((one) => one.id === id);
    if (!box || holder.scrollWidth <= holder.clientWidth) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    holder.scrollTo({
      left: EDGE + box.x + box.w / 2 - holder.clientWidth / 2,
      behavior: still ? "auto" : "smooth",
    });
  };

  /** What is drawn for a transition. @param {string} from @param {string} to @param {string} transition */
  const find = (from, to, transition) => {
    const source = new Set(leavesOf(from).flatMap((leaf) => tree.chain(leaf)));
    const target = new Set(leavesOf(to).flatMap((leaf) => tree.chain(leaf)));
    const fitting = machine.edges.filter((edge) =>
      kebab(eventName(edge.event)) === transition &&
      (source.has(edge.from) || tree.chain(edge.from).length === 0) &&
      (target.has(edge.to) || (edge.from === edge.to && source.has(edge.to)))
    );
    // The innermost state decides, and what it says comes before what the machine says for all states.
    fitting.sort((a, b) => tree.chain(b.from).length - tree.chain(a.from).length);
    const [edge] = fitting;
    if (!edge) return undefined;
    const place = placeOf(tree, edge);
    return drawn.get(
      place.sort === "arrow"
        ? JSON.stringify(["arrow", place.from, place.to])
        : JSON.stringify([place.sort, place.at, eventName(edge.event)]),
    );
  };

  return {
    element: holder,
    light,
    take: (from, to, transition) => {
      const next = find(from, to, transition);
      // An event that the machine ignores, such as a late reply of a node, is no arrow: the last one stays lit.
      if (!next && from === to) return light(to);
      last?.classList.remove("taken", "now");
      last = next;
      if (last) {
        last.classList.remove("now");
        // Read, so that the same arrow runs again.
        void last.getBoundingClientRect();
        last.classList.add("taken", "now");
      }
      light(to);
    },
  };
}

/** The machine's transitions as a table, for readers without the drawing. @param {Machine} machine */
export function listTransitions(machine) {
  return h(
    "details",
    { class: "as-list" },
    h("summary", {}, "As a list"),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...["From", "Event", "If", "To"].map((text) => h("th", { scope: "col" }, text)))),
        h(
          "tbody",
          {},
          ...machine.edges.map((edge) =>
            h(
              "tr",
              {},
              h("td", {}, edge.from === "*" ? "any state" : edge.from),
              h("td", {}, eventName(edge.event)),
              h("td", {}, edge.guard ?? ""),
              h("td", {}, edge.to),
            )
          ),
        ),
      ),
    ),
  );
}
