// @ts-check
/**
 * Positions of a statechart's boxes and arrows: a small layered layout (the steps of Sugiyama, Tagawa and Toda 1981),
 * one level of nesting at a time, from the inside out. Pure: machine in, numbers out.
 *
 * What would clutter a drawing of this size is written into the boxes instead of drawn: an event that leaves a state
 * where it is, and an event that leads here from every state around. An arrow's label takes a place of its own between
 * two layers, so that labels never overlap; all events between the same two states share one arrow.
 */

import { arrange } from "./ranks.js";
import { placeOf, treeOf } from "./tree.js";

/** @typedef {import("./types.ts").Machine} Machine */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./ranks.js").Link} Link */
/** @typedef {import("./ranks.js").Point} Point */
/** @typedef {{ event: string, guard: string | null, note: string }} Line one event of a label */
/** @typedef {Line & { sort: "stay" | "any" }} Row */
/**
 * @typedef {object} Box
 * @property {string} id
 * @property {string} label
 * @property {string} type
 * @property {boolean} initial
 * @property {string | null} parent
 * @property {Row[]} rows
 * @property {boolean} nested whether it holds other boxes
 * @property {number} x left
 * @property {number} y top
 * @property {number} w
 * @property {number} h
 */
/**
 * @typedef {object} Arrow
 * @property {string} from
 * @property {string} to
 * @property {string | null} level the box that holds both ends
 * @property {Line[]} lines
 * @property {string} path of the SVG attribute `d`
 * @property {number} x middle of the label
 * @property {number} y middle of the label
 * @property {number} w
 * @property {number} h
 */
/** @typedef {{ width: number, height: number, boxes: Box[], arrows: Arrow[] }} Layout */

export const TITLE = 15;
export const SMALL = 12.5;
export const LINE = 18;
/** Width of a character of a monospaced font, in parts of its size. */
const CHARACTER = 0.605;
export const HEAD = 35;
const PAD = 14;
const NARROWEST = 112;
const ROW_LENGTH = 30;

/** @param {string} text @param {number} size */
const widthOf = (text, size) => text.length * size * CHARACTER;

/** @param {string} text @param {number} [most] */
export const clip = (text, most = ROW_LENGTH) => text.length > most ? text.slice(0, most - 1) + "…" : text;

/** The event of an edge as it is written. @param {string} event */
export const eventName = (event) => event === "" ? "always" : event;

/**
 * Lays a machine out.
 * @param {Machine} machine
 * @returns {Layout}
 */
export function layout(machine) {
  const tree = treeOf(machine);
  /** @type {Map<string, Box>} */
  const boxes = new Map();
  for (const node of machine.nodes) {
    if (node.id === tree.root) continue;
    boxes.set(node.id, {
      id: node.id,
      label: node.label,
      type: node.type,
      initial: node.initial,
      parent: tree.parent(node.id),
      rows: [],
      nested: (tree.children.get(node.id) ?? []).length > 0,
      x: 0,
      y: 0,
      w: 0,
      h: 0,
    });
  }
  /** @type {Map<string, Link>} */
  const links = new Map();
  for (const edge of machine.edges) {
    const place = placeOf(tree, edge);
    const line = { event: eventName(edge.event), guard: edge.guard, note: place.note };
    if (place.sort !== "arrow") boxes.get(place.at)?.rows.push({ ...line, sort: place.sort });
    else {
      const key = JSON.stringify([place.from, place.to]);
      const link = links.get(key);
      if (link) link.lines.push(line);
      else {links.set(key, {
          from: place.from,
          to: place.to,
          level: place.level,
          lines: [line],
          w: 0,
          h: 0,
          points: [],
        });}
    }
  }
  for (const box of boxes.values()) box.rows = distinct(box.rows);
  for (const link of links.values()) {
    link.lines = distinct(link.lines);
    link.w = Math.max(...link.lines.flatMap(labelTexts).map((text) => widthOf(text, SMALL))) + 8;
    link.h = link.lines.flatMap(labelTexts).length * LINE;
  }
  const whole = level(tree, boxes, [...links.values()], null);
  return {
    width: Math.ceil(whole.w),
    height: Math.ceil(whole.h),
    boxes: [...boxes.values()],
    arrows: [...links.values()].map((link) => ({
      from: link.from,
      to: link.to,
      level: link.level,
      lines: link.lines,
      path: pathOf(link.points),
      x: link.label?.x ?? 0,
      y: link.label?.y ?? 0,
      w: link.w,
      h: link.h,
    })),
  };
}

/** The lines of text that one event of a label takes. @param {Line} line */
export function labelTexts(line) {
  return [clip(line.event + (line.note && ` ${line.note}`)), ...(line.guard === null ? [] : [clip(`[${line.guard}]`)])];
}

/** What a row says, with its sign. @param {Row} row */
export function rowText(row) {
  return clip(`${row.sort === "stay" ? "↻" : "⇥"} ${row.event}${row.note && ` ${row.note}`}`);
}

/** @template {Line} T @param {T[]} lines @returns {T[]} */
function distinct(lines) {
  /** @type {Map<string, T>} */
  const by = new Map();
  for (const line of lines) {
    const key = JSON.stringify([line.event, line.note]);
    const held = by.get(key);
    // The same event under several conditions is one line; without any where one of them has none.
    if (!held) by.set(key, { ...line });
    else held.guard = held.guard === null || line.guard === null ? null : `${held.guard}, ${line.guard}`;
  }
  return [...by.values()];
}

/**
 * Lays out the contents of a box (or of the top level) from 0, 0 on, and gives their size.
 * @param {Tree} tree @param {Map<string, Box>} boxes @param {Link[]} links @param {string | null} at
 * @returns {{ w: number, h: number }}
 */
function level(tree, boxes, links, at) {
  const inside = (tree.children.get(at) ?? []).map((id) => /** @type {Box} */ (boxes.get(id)));
  for (const box of inside) {
    const text = Math.max(widthOf(box.label, TITLE) + 8, ...box.rows.map((row) => widthOf(rowText(row), SMALL)));
    box.w = Math.max(box.type === "history" ? 36 : NARROWEST, Math.ceil(text) + 2 * PAD);
    box.h = HEAD + (box.rows.length > 0 ? box.rows.length * LINE + 8 : 0);
    if (box.nested) {
      const size = level(tree, boxes, links, box.id);
      const left = Math.max(PAD, (box.w - size.w) / 2);
      move(tree, boxes, links, box.id, left, box.h);
      box.w = Math.max(box.w, size.w + 2 * PAD);
      box.h += size.h + PAD;
    }
  }
  const size = arrange(inside, links.filter((link) => link.level === at));
  // What a box holds was laid out from its own corner.
  for (const box of inside) if (box.nested) move(tree, boxes, links, box.id, box.x, box.y);
  return size;
}

/**
 * Moves the contents of a box.
 * @param {Tree} tree @param {Map<string, Box>} boxes @param {Link[]} links @param {string} at @param {number} dx @param
 * {number} dy
 */
function move(tree, boxes, links, at, dx, dy) {
  for (const id of tree.children.get(at) ?? []) {
    const box = /** @type {Box} */ (boxes.get(id));
    box.x += dx;
    box.y += dy;
    move(tree, boxes, links, id, dx, dy);
  }
  for (const link of links) {
    if (link.level !== at) continue;
    link.points = link.points.map(({ x, y }) => ({ x: x + dx, y: y + dy }));
    if (link.label) link.label = { x: link.label.x + dx, y: link.label.y + dy };
  }
}

/** @param {Point[]} points */
function pathOf(points) {
  const [start, ...rest] = points;
  if (!start) return "";
  let at = start;
  let path = `M${round(at.x)} ${round(at.y)}`;
  for (const point of rest) {
    if (Math.abs(point.x - at.x) < 0.5) path += `L${round(point.x)} ${round(point.y)}`;
    else {
      const middle = round((at.y + point.y) / 2);
      path += `C${round(at.x)} ${middle} ${round(point.x)} ${middle} ${round(point.x)} ${round(point.y)}`;
    }
    at = point;
  }
  return path;
}

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;
