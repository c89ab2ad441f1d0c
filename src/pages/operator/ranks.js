// @ts-check
/**
 * The boxes of one level in ranks, with the arrows between them: layers, an order with few crossings, places from left
 * to right (the steps of Sugiyama, Tagawa and Toda 1981). Pure.
 */

/** @typedef {import("./layout.js").Box} Box */
/** @typedef {import("./layout.js").Line} Line */
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

const DOT_ROOM = 24;
const NODE_GAP = 30;
const RANK_GAP = 20;

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
export function arrange(inside, links) {
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

/**
 * Gives each seat its place from left to right: near those it is joined to, an arrow's own bends most of all. @param
 * {Seat[][]} ranks
 */
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

/**
 * Where on a box's edge an arrow goes: those of one side are spread in the order in which they lead away. @param {Seat}
 * seat @param {Seat[]} side @param {Seat} toward
 */
function port(seat, side, toward) {
  const sorted = [...side].sort((a, b) => a.x - b.x);
  const step = Math.min(26, (seat.w - 24) / Math.max(1, sorted.length));
  return seat.x + (sorted.indexOf(toward) - (sorted.length - 1) / 2) * step;
}
