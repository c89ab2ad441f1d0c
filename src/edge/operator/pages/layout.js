// @ts-check
/**
 * Where a statechart's boxes and arrows lie: a small layered layout (the steps of Sugiyama, Tagawa and Toda 1981), one level of nesting at a
 * time, from the inside out. Pure: machine in, numbers out.
 *
 * What would clutter a drawing of this size is written into the boxes instead of drawn: an event that leaves a state where it is, and an
 * event that leads here from every state around. An arrow's label takes a place of its own between two layers, so that labels never
 * lie upon one another; all events between the same two states share one arrow.
 */

/** @typedef {import("./types.ts").Machine} Machine */
/** @typedef {Machine["edges"][number]} MachineEdge */
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
const DOT_ROOM = 24;
const NODE_GAP = 30;
const RANK_GAP = 20;
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
 * @typedef {object} Tree
 * @property {string | null} root id of the machine itself where it is among the nodes
 * @property {Map<string | null, string[]>} children
 * @property {(id: string) => string | null} parent null at the top
 * @property {(id: string) => string[]} chain from the top down to the id itself; empty for the machine itself
 */

/** @param {Machine} machine @returns {Tree} */
export function treeOf(machine) {
  const parents = new Map(machine.nodes.map((node) => [node.id, node.parent]));
  const tops = machine.nodes.filter((node) => node.parent === null || !parents.has(node.parent));
  const only = tops.length === 1 ? tops[0] : undefined;
  // A state's name never starts with the machine's own, so a top whose children leave its name out is the machine.
  const root = only && machine.nodes.some((node) => node.parent === only.id && !node.id.startsWith(`${only.id}.`))
    ? only.id
    : null;
  /** @param {string} id */
  const parent = (id) => {
    const above = parents.get(id) ?? null;
    return above === root || above === null || !parents.has(above) ? null : above;
  };
  /** @type {Map<string | null, string[]>} */
  const children = new Map();
  for (const node of machine.nodes) {
    if (node.id === root) continue;
    const above = parent(node.id);
    children.set(above, [...(children.get(above) ?? []), node.id]);
  }
  return {
    root,
    children,
    parent,
    chain: (id) => {
      if (id === root || !parents.has(id)) return [];
      /** @type {string[]} */
      const chain = [];
      for (let at = /** @type {string | null} */ (id); at !== null; at = parent(at)) chain.unshift(at);
      return chain;
    },
  };
}

/**
 * Where an edge of the machine is drawn: an arrow between two boxes of one level, or a line in a box.
 * @param {Tree} tree
 * @param {MachineEdge} edge
 * @returns {{ sort: "stay" | "any", at: string, note: string } | { sort: "arrow", from: string, to: string, level: string | null, note: string }}
 */
export function placeOf(tree, { from, to }) {
  const source = tree.chain(from);
  const target = tree.chain(to);
  let shared = 0;
  while (shared < source.length && shared < target.length && source[shared] === target[shared]) shared++;
  const a = source[shared];
  const b = target[shared];
  if (b === undefined) {
    const inward = source.length === target.length || target.length === 0;
    return { sort: "stay", at: from, note: inward ? "" : `→ ${to}` };
  }
  if (a === undefined) return { sort: "any", at: to, note: source.length === 0 ? "" : `from ${from}` };
  const notes = [a === from ? "" : `from ${leaf(from)}`, b === to ? "" : `→ ${leaf(to)}`];
  return {
    sort: "arrow",
    from: a,
    to: b,
    level: shared === 0 ? null : /** @type {string} */ (source[shared - 1]),
    note: notes.filter((note) => note !== "").join(" "),
  };
}

/** @param {string} id */
const leaf = (id) => id.slice(id.lastIndexOf(".") + 1);

/** @typedef {{ x: number, y: number }} Point */
/**
 * @typedef {object} Link
 * @property {string} from
 * @property {string} to
 * @property {string | null} level the box that holds both ends
 * @property {Line[]} lines
 * @property {number} w
 * @property {number} h
 * @property {Point[]} points
 * @property {Point} [label]
 */

/**
 * Lays out what lies in a box (or at the top), from 0, 0 on, and gives its size.
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
 * Moves all that lies in a box.
 * @param {Tree} tree @param {Map<string, Box>} boxes @param {Link[]} links @param {string} at @param {number} dx @param {number} dy
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

/**
 * @typedef {object} Seat a box, an arrow's label or a bend of an arrow, in its rank
 * @property {Box} [box]
 * @property {number} w
 * @property {number} h
 * @property {number} x middle
 * @property {number} rank
 * @property {Seat[]} up
 * @property {Seat[]} down
 */

/**
 * Places the boxes of one level, whose sizes are known, and the arrows between them.
 * @param {Box[]} inside @param {Link[]} links
 * @returns {{ w: number, h: number }}
 */
function arrange(inside, links) {
  if (inside.length === 0) return { w: 0, h: 0 };
  const order = walk(inside, links);
  /** @type {Map<string, Seat>} */
  const seats = new Map();
  const forward = links.map((link) => {
    const turned = order.indexOf(link.from) > order.indexOf(link.to);
    return { link, turned, from: turned ? link.to : link.from, to: turned ? link.from : link.to };
  });
  const layers = new Map(order.map((id) => [id, 0]));
  for (const id of order) {
    for (const { from, to } of forward) {
      if (to === id) layers.set(id, Math.max(layers.get(id) ?? 0, (layers.get(from) ?? 0) + 1));
    }
  }
  /** @type {Seat[][]} */
  const ranks = [];
  /** @param {Omit<Seat, "x" | "up" | "down">} part */
  const sit = (part) => {
    const seat = { ...part, x: 0, up: [], down: [] };
    while (ranks.length <= part.rank) ranks.push([]);
    /** @type {Seat[]} */ (ranks[part.rank]).push(seat);
    return seat;
  };
  for (const id of order) {
    const box = /** @type {Box} */ (inside.find((one) => one.id === id));
    seats.set(id, sit({ box, w: box.w, h: box.h, rank: 2 * (layers.get(id) ?? 0) }));
  }
  const routes = forward.map(({ link, turned, from, to }) => {
    const first = /** @type {Seat} */ (seats.get(from));
    const last = /** @type {Seat} */ (seats.get(to));
    const middle = first.rank + 1 + 2 * Math.floor((last.rank - first.rank - 1) / 4);
    /** @type {Seat[]} */
    const bends = [];
    for (let rank = first.rank + 1; rank < last.rank; rank++) {
      bends.push(sit(rank === middle ? { w: link.w, h: link.h, rank } : { w: 6, h: 0, rank }));
    }
    const stops = [first, ...bends, last];
    for (let i = 1; i < stops.length; i++) {
      const upper = /** @type {Seat} */ (stops[i - 1]);
      const lower = /** @type {Seat} */ (stops[i]);
      upper.down.push(lower);
      lower.up.push(upper);
    }
    return { link, turned, first, last, bends, label: /** @type {Seat} */ (bends[middle - first.rank - 1]) };
  });
  untangle(ranks);
  spread(ranks);

  const left = Math.min(...ranks.flat().map((seat) => seat.x - seat.w / 2));
  const right = Math.max(...ranks.flat().map((seat) => seat.x + seat.w / 2));
  for (const seat of ranks.flat()) seat.x -= left;
  /** @type {number[]} */
  const tops = [];
  /** @type {number[]} */
  const heights = [];
  let y = inside.some((box) => box.initial) ? DOT_ROOM : 0;
  ranks.forEach((rank, i) => {
    const height = Math.max(0, ...rank.map((seat) => seat.h));
    tops[i] = y;
    heights[i] = height;
    y += height + (i === ranks.length - 1 ? 0 : RANK_GAP);
  });
  for (const seat of seats.values()) {
    const box = /** @type {Box} */ (seat.box);
    box.x = seat.x - box.w / 2;
    // Boxes of one rank share their top: arrows come in on one line.
    box.y = tops[seat.rank] ?? 0;
  }
  for (const { link, turned, first, last, bends, label } of routes) {
    const above = /** @type {Box} */ (first.box);
    const below = /** @type {Box} */ (last.box);
    /** @type {Point[]} */
    const points = [{ x: port(first, first.down, bends[0] ?? last), y: above.y + above.h }];
    for (const bend of bends) {
      const top = tops[bend.rank] ?? 0;
      points.push({ x: bend.x, y: top }, { x: bend.x, y: top + (heights[bend.rank] ?? 0) });
    }
    points.push({ x: port(last, last.up, bends[bends.length - 1] ?? first), y: below.y });
    link.points = turned ? points.reverse() : points;
    link.label = { x: label.x, y: (tops[label.rank] ?? 0) + (heights[label.rank] ?? 0) / 2 };
  }
  return { w: right - left, h: y };
}

/**
 * An order of the boxes in which most arrows lead forward: depth first from the initial one, the last to be left first.
 * @param {Box[]} inside @param {Link[]} links
 */
function walk(inside, links) {
  const starts = [...inside.filter((box) => box.initial), ...inside.filter((box) => !box.initial)];
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {string[]} */
  const order = [];
  for (const start of starts) {
    /** @type {string[]} */
    const left = [];
    /** @param {string} id */
    const visit = (id) => {
      if (seen.has(id)) return;
      seen.add(id);
      for (const link of links) if (link.from === id) visit(link.to);
      left.unshift(id);
    };
    visit(start.id);
    order.push(...left);
  }
  return order;
}

/** Orders each rank so that few arrows cross. @param {Seat[][]} ranks */
function untangle(ranks) {
  let best = ranks.map((rank) => [...rank]);
  let fewest = crossings(ranks);
  for (let round = 0; round < 16 && fewest > 0; round++) {
    const downward = round % 2 === 0;
    const sweep = downward ? ranks : [...ranks].reverse();
    for (let i = 1; i < sweep.length; i++) {
      const fixed = new Map(/** @type {Seat[]} */ (sweep[i - 1]).map((seat, at) => [seat, at]));
      const rank = /** @type {Seat[]} */ (sweep[i]);
      const keys = new Map(rank.map((seat, at) => {
        const beside = (downward ? seat.up : seat.down).map((one) => fixed.get(one) ?? 0);
        return [seat, beside.length === 0 ? at : beside.reduce((sum, one) => sum + one, 0) / beside.length];
      }));
      rank.sort((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0));
    }
    swap(ranks);
    const now = crossings(ranks);
    if (now < fewest) {
      fewest = now;
      best = ranks.map((rank) => [...rank]);
    }
  }
  best.forEach((rank, i) => ranks[i] = rank);
}

/** Swaps neighbours as long as that takes crossings away. @param {Seat[][]} ranks */
function swap(ranks) {
  let fewest = crossings(ranks);
  for (let better = true; better;) {
    better = false;
    for (const rank of ranks) {
      for (let i = 1; i < rank.length; i++) {
        const [a, b] = /** @type {[Seat, Seat]} */ ([rank[i - 1], rank[i]]);
        rank[i - 1] = b;
        rank[i] = a;
        const now = crossings(ranks);
        if (now < fewest) {
          fewest = now;
          better = true;
        } else {
          rank[i - 1] = a;
          rank[i] = b;
        }
      }
    }
  }
}

/** @param {Seat[][]} ranks */
function crossings(ranks) {
  let count = 0;
  for (let i = 1; i < ranks.length; i++) {
    const below = new Map(/** @type {Seat[]} */ (ranks[i]).map((seat, at) => [seat, at]));
    const ends = /** @type {Seat[]} */ (ranks[i - 1]).map((seat) => seat.down.map((one) => below.get(one) ?? 0));
    for (let a = 0; a < ends.length; a++) {
      for (let b = a + 1; b < ends.length; b++) {
        for (const x of ends[a] ?? []) for (const y of ends[b] ?? []) if (x > y) count++;
      }
    }
  }
  return count;
}

/** Gives each seat its place from left to right: near those it is joined to, an arrow's own bends most of all. @param {Seat[][]} ranks */
function spread(ranks) {
  for (const rank of ranks) {
    let x = 0;
    rank.forEach((seat, i) => {
      x += i === 0 ? 0 : gap(/** @type {Seat} */ (rank[i - 1]), seat);
      seat.x = x;
    });
    for (const seat of rank) seat.x -= x / 2;
  }
  for (let round = 0; round < 60; round++) {
    const sweep = round % 2 === 0 ? ranks : [...ranks].reverse();
    for (const rank of sweep) {
      const wanted = rank.map((seat) => {
        let sum = 0;
        let weight = 0;
        for (const other of [...seat.up, ...seat.down]) {
          const pull = seat.box || other.box ? 1 : 20;
          sum += pull * other.x;
          weight += pull;
        }
        return { x: weight === 0 ? seat.x : sum / weight, weight: Math.max(weight, 0.1) };
      });
      apart(rank, wanted);
    }
  }
}

/** @param {Seat} a @param {Seat} b */
const gap = (a, b) => (a.w + b.w) / 2 + (a.box && b.box ? NODE_GAP : 14);

/**
 * The places nearest to the wanted ones (least squares) that keep order and distance: pooling of adjacent violators.
 * @param {Seat[]} rank @param {{ x: number, weight: number }[]} wanted
 */
function apart(rank, wanted) {
  /** @type {{ sum: number, weight: number, count: number }[]} */
  const pools = [];
  /** @type {number[]} */
  const offsets = [];
  rank.forEach((seat, i) => {
    offsets[i] = i === 0 ? 0 : (offsets[i - 1] ?? 0) + gap(/** @type {Seat} */ (rank[i - 1]), seat);
    const { x, weight } = /** @type {{ x: number, weight: number }} */ (wanted[i]);
    pools.push({ sum: (x - /** @type {number} */ (offsets[i])) * weight, weight, count: 1 });
    for (;;) {
      const last = pools[pools.length - 1];
      const before = pools[pools.length - 2];
      if (!last || !before || before.sum / before.weight <= last.sum / last.weight) break;
      pools.splice(-2, 2, {
        sum: before.sum + last.sum,
        weight: before.weight + last.weight,
        count: before.count + last.count,
      });
    }
  });
  let i = 0;
  for (const pool of pools) {
    for (let n = 0; n < pool.count; n++, i++) {
      /** @type {Seat} */ (rank[i]).x = pool.sum / pool.weight + /** @type {number} */ (offsets[i]);
    }
  }
}

/** Where on a box's edge an arrow goes: those of one side are spread in the order in which they lead away. @param {Seat} seat @param {Seat[]} side @param {Seat} toward */
function port(seat, side, toward) {
  const sorted = [...side].sort((a, b) => a.x - b.x);
  const step = Math.min(26, (seat.w - 24) / Math.max(1, sorted.length));
  return seat.x + (sorted.indexOf(toward) - (sorted.length - 1) / 2) * step;
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

/**
 * The states that a state's name speaks of, innermost only: `live.syncing`, or several where it is parallel (`{a.x,b.y}`).
 * @param {string} name
 * @returns {string[]}
 */
export function leavesOf(name) {
  const open = name.indexOf("{");
  if (open < 0) return [name];
  const prefix = name.slice(0, open);
  /** @type {string[]} */
  const parts = [];
  let depth = 0;
  let start = open + 1;
  for (let i = open; i < name.length; i++) {
    const character = name[i];
    if (character === "{") depth++;
    const ends = character === "}" && --depth === 0;
    if (ends || (character === "," && depth === 1)) {
      parts.push(name.slice(start, i));
      start = i + 1;
    }
    if (ends) break;
  }
  return parts.filter((part) => part !== "").flatMap((part) => leavesOf(prefix + part));
}
