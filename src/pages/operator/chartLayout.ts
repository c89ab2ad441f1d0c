/**
 * Positions of a statechart's boxes and arrows. Pure: machine in, numbers out.
 *
 * The states of the usual course of an actor (`chartGraph.ts`) stand in the first row from left to right, the other states in
 * the rows below, near the states that they are joined to. All events between the same two states share one arrow. What
 * would clutter a drawing of this size is written into the boxes: how many events leave a state where it is, how many
 * intents it accepts, and the events that lead to it from every state. Only the labels of the usual course are always visible; they have a place of
 * their own between two columns, so that no text covers another.
 */
import { eventName, type Join, joinsOf, keyOf, type Leaves, leavesOf, treeOf } from "./chartGraph.ts";
import type { Machine } from "./types.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A state. */
export interface Box {
  readonly id: string;
  readonly label: string;
  readonly final: boolean;
  readonly initial: boolean;
  /** Whether it is a state of the usual course. */
  readonly usual: boolean;
  /** Lines below its name. */
  readonly notes: readonly string[];
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** All transitions from one state to another. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly events: readonly string[];
  /** Whether it is a step of the usual course. */
  readonly usual: boolean;
  /** The SVG attribute `d`. */
  readonly path: string;
  /** Middle of its label. */
  readonly label: Point;
  readonly text: string;
}

export interface ChartLayout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
}

/** Widths of characters: of the names of states and of labels. */
const NAME_CHARACTER = 8.2;
export const LABEL_CHARACTER = 6.7;
const NARROWEST = 84;
const WIDEST = 180;
/** Least distance of two columns, and distance of two rows. */
const COLUMN_GAP = 44;
const ROW_GAP = 54;
const BOX_HEAD = 36;
export const NOTE_LINE = 16;
const LONGEST = { name: 20, note: 22, label: 18 };
/** Height of the first bow over the boxes of a row, and of each further one. */
const BOW = 22;

export const clip = (text: string, most: number) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** Lays a machine out. Nested states are drawn by their innermost states. */
export function layoutChart(machine: Machine): ChartLayout {
  const tree = treeOf(machine);
  const { path, joins } = joinsOf(machine, tree);
  const rows = rowsOf(tree.leaves, path, joins);
  const notes = notesOf(machine, tree);
  const size = new Map(tree.leaves.map((id) => [id, sizeOf(tree.label(id), notes.get(id) ?? [])]));
  const columns = Math.max(...rows.map((row) => row.length));
  const usual = new Set(path.slice(1).map((to, i) => keyOf(path[i] ?? "", to)));

  // Boxes of a column have one width, so that the rows are aligned.
  const widths = Array.from(
    { length: columns },
    (_, i) => Math.max(...rows.map((row) => size.get(row[i] ?? "")?.w ?? 0)),
  );
  const lefts: number[] = [];
  let x = 0;
  for (let i = 0; i < columns; i++) {
    lefts.push(x);
    const label = joins.get(keyOf(path[i] ?? "", path[i + 1] ?? ""));
    const room = label === undefined ? 0 : labelOf(label).length * LABEL_CHARACTER + 20;
    x += (widths[i] ?? 0) + (i === columns - 1 ? 0 : Math.max(COLUMN_GAP, room));
  }
  const width = x;
  const place = new Map<string, { row: number; column: number }>();
  rows.forEach((row, r) => row.forEach((id, column) => id === undefined || place.set(id, { row: r, column })));

  // Over a row bow the arrows that skip a column or lead back.
  const bows = rows.map((_, r) =>
    [...joins.values()].filter(({ from, to }) => {
      const [a, b] = [place.get(from), place.get(to)];
      return a?.row === r && b?.row === r && b.column - a.column !== 1;
    }).sort((a, b) => spanOf(place, a) - spanOf(place, b))
  );
  const tops: number[] = [];
  let y = 0;
  rows.forEach((row, r) => {
    y += (bows[r]?.length ?? 0) * BOW;
    // The mark of the initial state.
    if (r === 0) y = Math.max(y, 4);
    tops.push(y);
    y += Math.max(...row.map((id) => size.get(id ?? "")?.h ?? 0)) + (r === rows.length - 1 ? 0 : ROW_GAP);
  });
  const boxes = new Map<string, Box>();
  for (const id of tree.leaves) {
    const { row = 0, column = 0 } = place.get(id) ?? {};
    boxes.set(id, {
      id,
      label: clip(tree.label(id), LONGEST.name),
      final: tree.type(id) === "final",
      initial: id === path[0],
      usual: path.includes(id),
      notes: notes.get(id) ?? [],
      x: lefts[column] ?? 0,
      y: tops[row] ?? 0,
      w: widths[column] ?? 0,
      h: size.get(id)?.h ?? 0,
    });
  }
  const arrows = routes([...joins.values()], boxes, place, bows, tops).map(({ join, points, path: d }): Arrow => ({
    from: join.from,
    to: join.to,
    events: join.events,
    usual: usual.has(keyOf(join.from, join.to)),
    path: d,
    label: points,
    text: labelOf(join),
  }));
  return { width: Math.ceil(width), height: Math.ceil(y), boxes: [...boxes.values()], arrows };
}

/** The states by rows and columns; a place may be empty. */
function rowsOf(
  leaves: readonly string[],
  path: readonly string[],
  joins: ReadonlyMap<string, Join>,
): (string | undefined)[][] {
  const columns = Math.max(path.length, 3);
  const rows: (string | undefined)[][] = [[...path]];
  const placed = new Map(path.map((id, i) => [id, i]));
  const wantedColumn = (id: string) => {
    const beside = [...joins.values()].flatMap(({ from, to }) => from === id ? [to] : to === id ? [from] : []);
    const known = beside.flatMap((one) => placed.get(one) ?? []);
    return known.length === 0 ? columns - 1 : known.reduce((sum, one) => sum + one, 0) / known.length;
  };
  const left = leaves.filter((id) => !placed.has(id));
  for (let start = 0; start < left.length; start += columns) {
    const wanted = left.slice(start, start + columns).map((id) => ({ id, at: wantedColumn(id) })).sort((a, b) =>
      a.at - b.at
    );
    const row: (string | undefined)[] = Array.from({ length: columns });
    let free = 0;
    wanted.forEach(({ id, at }, i) => {
      const column = Math.min(Math.max(free, Math.round(at)), columns - (wanted.length - i));
      row[column] = id;
      free = column + 1;
    });
    row.forEach((id, column) => id === undefined || placed.set(id, column));
    rows.push(row);
  }
  return rows;
}

/** What the boxes say below their names: events that stay, intents, and events from every state or from a state around. */
function notesOf(machine: Machine, tree: Leaves): ReadonlyMap<string, readonly string[]> {
  const stays = new Map<string, Set<string>>();
  const intents = new Map<string, Set<string>>();
  const enters = new Map<string, Set<string>>();
  const add = (map: Map<string, Set<string>>, id: string, event: string) =>
    map.set(id, new Set([...(map.get(id) ?? []), eventName(event)]));
  for (const { from, to, event, intent } of machine.edges) {
    if (intent) { for (const id of tree.within(from)) add(intents, id, event); }
    else if (from === to) { for (const id of from === "*" ? [] : tree.within(from)) add(stays, id, event); }
    else if (from === "*" || tree.within(from).length !== 1) add(enters, tree.entry(to), event);
  }
  return new Map(tree.leaves.map((id) => {
    const any = [...(enters.get(id) ?? [])];
    const own = stays.get(id)?.size ?? 0;
    const asked = intents.get(id)?.size ?? 0;
    return [id, [
      ...(any.length === 0 ? [] : [clip(`⇥ ${any.length === 1 ? any[0] : `${any.length} events`}`, LONGEST.note)]),
      ...(own === 0 ? [] : [`↻ ${own} ${own === 1 ? "event" : "events"}`]),
      ...(asked === 0 ? [] : [`? ${asked} ${asked === 1 ? "intent" : "intents"}`]),
    ]];
  }));
}

function sizeOf(name: string, notes: readonly string[]) {
  const text = Math.max(
    clip(name, LONGEST.name).length * NAME_CHARACTER,
    ...notes.map((note) => note.length * LABEL_CHARACTER),
  );
  return {
    w: Math.ceil(Math.min(WIDEST, Math.max(NARROWEST, text + 24))),
    h: BOX_HEAD + (notes.length === 0 ? 0 : notes.length * NOTE_LINE + 4),
  };
}

/** The first event of an arrow, and how many more it has. */
function labelOf({ events }: Join): string {
  const more = events.length > 1 ? ` +${events.length - 1}` : "";
  return clip(events[0] ?? "", LONGEST.label - more.length) + more;
}

type Places = ReadonlyMap<string, { readonly row: number; readonly column: number }>;

const spanOf = (place: Places, { from, to }: Join) =>
  Math.abs((place.get(from)?.column ?? 0) - (place.get(to)?.column ?? 0));

/** The curves of the arrows. Ends at one side of a box are spread over it, in the order in which they lead away. */
function routes(
  joins: readonly Join[],
  boxes: ReadonlyMap<string, Box>,
  place: Places,
  bows: readonly (readonly Join[])[],
  tops: readonly number[],
): { join: Join; path: string; points: Point }[] {
  const box = (id: string): Box => boxes.get(id) ?? EMPTY;
  const at = (id: string) => place.get(id) ?? { row: 0, column: 0 };
  const middle = (id: string) => box(id).x + box(id).w / 2;
  /** The side of a box at which an arrow leaves or enters. */
  const sideOf = (id: string, other: string): "top" | "bottom" | "side" => {
    const [a, b] = [at(id), at(other)];
    if (a.row !== b.row) return a.row < b.row ? "bottom" : "top";
    return Math.abs(a.column - b.column) === 1 ? "side" : "top";
  };
  const ends = new Map<string, { join: Join; toward: number }[]>();
  const endKey = (id: string, side: string) => `${side} ${id}`;
  for (const join of joins) {
    const back = at(join.from).row === at(join.to).row && at(join.to).column - at(join.from).column !== 1;
    for (const [id, other] of [[join.from, join.to], [join.to, join.from]] as const) {
      const side = back ? "top" : sideOf(id, other);
      if (side === "side") continue;
      const key = endKey(id, side);
      ends.set(key, [...(ends.get(key) ?? []), { join, toward: middle(other) }]);
    }
  }
  for (const list of ends.values()) list.sort((a, b) => a.toward - b.toward);
  const port = (id: string, side: string, join: Join): number => {
    const list = ends.get(endKey(id, side)) ?? [];
    const step = Math.min(26, (box(id).w - 20) / Math.max(1, list.length));
    return middle(id) + (list.findIndex((one) => one.join === join) - (list.length - 1) / 2) * step;
  };
  return joins.map((join) => {
    const [a, b] = [box(join.from), box(join.to)];
    const [from, to] = [at(join.from), at(join.to)];
    if (from.row === to.row && to.column - from.column === 1) {
      const y = a.y + BOX_HEAD / 2;
      return { join, path: `M${r(a.x + a.w)} ${r(y)}H${r(b.x)}`, points: { x: (a.x + a.w + b.x) / 2, y: y - 8 } };
    }
    if (from.row === to.row) {
      const x1 = port(join.from, "top", join);
      const x2 = port(join.to, "top", join);
      const top = (tops[from.row] ?? 0) - BOW * (1 + (bows[from.row] ?? []).indexOf(join)) + 8;
      const path = `M${r(x1)} ${r(a.y)}C${r(x1)} ${r(top)} ${r(x1)} ${r(top)} ${r(x1 + (x2 - x1) / 4)} ${r(top)}` +
        `H${r(x2 - (x2 - x1) / 4)}C${r(x2)} ${r(top)} ${r(x2)} ${r(top)} ${r(x2)} ${r(b.y)}`;
      return { join, path, points: { x: (x1 + x2) / 2, y: top } };
    }
    const down = from.row < to.row;
    const x1 = port(join.from, down ? "bottom" : "top", join);
    const x2 = port(join.to, down ? "top" : "bottom", join);
    const y1 = down ? a.y + a.h : a.y;
    const y2 = down ? b.y : b.y + b.h;
    const half = (y1 + y2) / 2;
    return {
      join,
      path: `M${r(x1)} ${r(y1)}C${r(x1)} ${r(half)} ${r(x2)} ${r(half)} ${r(x2)} ${r(y2)}`,
      points: { x: (x1 + x2) / 2, y: half },
    };
  });
}

const EMPTY: Box = { id: "", label: "", final: false, initial: false, usual: false, notes: [], x: 0, y: 0, w: 0, h: 0 };

const r = (value: number) => Math.round(value * 10) / 10;

/** The arrow that a transition took: from one state to another, or the box in which it stayed or came from anywhere. */
export function takenOf({ arrows }: ChartLayout, from: string, to: string): Arrow | undefined {
  const [sources, targets] = [leavesOf(from), leavesOf(to)];
  return arrows.find((arrow) => sources.includes(arrow.from) && targets.includes(arrow.to) && arrow.from !== arrow.to);
}
