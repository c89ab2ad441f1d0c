import fc from "fast-check";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readOperatorPages } from "#src/edge/operator/pages.ts";
import { lean } from "#src/edge/pages.ts";
import { clip, layout } from "#src/pages/operator/layout.js";
import { leavesOf } from "#src/pages/operator/tree.js";
import { graphOf } from "#src/runtime/operations/graph.ts";
import { tokenMachine } from "#machines/token.ts";
import { transactionMachine } from "#machines/transaction.ts";

/** Total size limit of the pages' files, compressed as by a proxy; 2,600 bytes of it are the parser of event streams. */
const MOST_BYTES = 41_000;

describe("the files of the pages", () => {
  const pages = readOperatorPages();

  it("are few and small", () => {
    const sizes = [...pages].map(([name, { body }]) => [name, gzipSync(body, { level: 9 }).length] as const);
    const sum = sizes.reduce((total, [, size]) => total + size, 0);
    console.log(`The operator pages are ${sum} bytes (gzip, ${sizes.length} files).`);
    expect(sum).toBeLessThan(MOST_BYTES);
  });

  it("refer to one another and nothing else", () => {
    const document = pages.get("index.html")!.body;
    for (const [, name] of document.matchAll(/\/ui\/assets\/([a-z.]+)/g)) expect(pages.has(name!)).toBe(true);
    for (const [name, { body }] of pages) {
      for (const [, from] of body.matchAll(/from ["']([^"']+)["']/g)) {
        expect(pages.has(from!.replace("./", ""))).toBe(true);
      }
      const urls = body.match(/https?:\/\/[^\s"'`)]+/g) ?? [];
      expect([name, urls.filter((url) => url !== "http://www.w3.org/2000/svg")]).toEqual([name, []]);
    }
  });

  it("keep the meaning of the code without comments and indentation", () => {
    const text = '/** a\n * b */\nconst a = 1; // stays\n  // goes\n\n  const b = "/* no comment */";\n';
    expect(lean(text)).toBe('const a = 1; // stays\nconst b = "/* no comment */";\n');
  });
});

type Machine = Parameters<typeof layout>[0];
type Rect = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };

/** Whether two rectangles share more than an edge. */
const overlap = (a: Rect, b: Rect) =>
  a.x < b.x + b.w - 0.01 && b.x < a.x + a.w - 0.01 && a.y < b.y + b.h - 0.01 && b.y < a.y + a.h - 0.01;

/** The defects of a machine's layout, in sentences. */
function faults(machine: Machine): string[] {
  const { width, height, boxes, arrows } = layout(machine);
  const found: string[] = [];
  const inside = (box: Rect, around: Rect) =>
    box.x >= around.x - 0.01 && box.y >= around.y - 0.01 && box.x + box.w <= around.x + around.w + 0.01 &&
    box.y + box.h <= around.y + around.h + 0.01;
  const whole = { x: 0, y: 0, w: width, h: height };
  const by = new Map(boxes.map((box) => [box.id, box]));
  const above = (id: string): string[] => {
    const parent = by.get(id)?.parent ?? null;
    return parent === null || !by.has(parent) ? [] : [parent, ...above(parent)];
  };
  const labels = arrows.map((arrow) => ({
    name: `${arrow.from} → ${arrow.to}`,
    x: arrow.x - arrow.w / 2,
    y: arrow.y - arrow.h / 2,
    w: arrow.w,
    h: arrow.h,
    ends: [arrow.from, arrow.to],
  }));
  for (const box of boxes) {
    if (![box.x, box.y, box.w, box.h].every(Number.isFinite)) found.push(`${box.id} has no position`);
    if (!inside(box, whole)) found.push(`${box.id} is outside the drawing`);
    const parent = by.get(box.parent ?? "");
    if (parent && !inside(box, parent)) found.push(`${box.id} is outside ${parent.id}`);
    for (const other of boxes) {
      if (other.id <= box.id || above(box.id).includes(other.id) || above(other.id).includes(box.id)) continue;
      if (overlap(box, other)) found.push(`${box.id} overlaps ${other.id}`);
    }
  }
  labels.forEach((label, i) => {
    if (!inside(label, whole)) found.push(`the label of ${label.name} is outside the drawing`);
    for (const other of labels.slice(i + 1)) {
      if (overlap(label, other)) found.push(`the label of ${label.name} overlaps that of ${other.name}`);
    }
    for (const box of boxes) {
      // A label may be in a box that contains both ends.
      if (label.ends.every((end) => above(end).includes(box.id))) continue;
      if (overlap(label, box)) found.push(`the label of ${label.name} overlaps ${box.id}`);
    }
  });
  for (const { from, to, path } of arrows) if (/NaN|undefined/.test(path)) found.push(`${from} → ${to} has no path`);
  return found;
}

/** Machines of up to a dozen states, nested up to three deep, with arbitrary arrows. */
const machines: fc.Arbitrary<Machine> = fc.record({
  parents: fc.array(fc.option(fc.nat(), { nil: null, freq: 2 }), { minLength: 1, maxLength: 12 }),
  edges: fc.array(
    fc.tuple(fc.nat(), fc.nat(), fc.string({ maxLength: 40 }), fc.option(fc.string({ maxLength: 40 }), { nil: null })),
    { maxLength: 30 },
  ),
}).map(({ parents, edges }) => {
  const ids: string[] = [];
  const inner = new Set<string>();
  const nodes = parents.map((choice, i) => {
    const parent = choice === null || i === 0 ? null : ids[choice % i]!;
    const id = parent === null || parent.split(".").length >= 3 ? `s${i}` : `${parent}.s${i}`;
    ids.push(id);
    if (id.includes(".")) inner.add(parent!);
    return { id, parent: id.includes(".") ? parent : null, label: `s${i}`, type: "atomic" as const, initial: i === 0 };
  });
  return {
    kind: "any",
    machineVersion: 1,
    initial: ids[0]!,
    nodes: nodes.map((node) => ({ ...node, type: inner.has(node.id) ? "compound" as const : "atomic" as const })),
    edges: edges.map(([from, to, event, guard]) => ({
      from: from % 7 === 0 ? "*" : ids[from % ids.length]!,
      to: ids[to % ids.length]!,
      event,
      guard,
    })),
  };
});

describe("a drawn statechart", () => {
  it.each([["token", tokenMachine], ["transaction", transactionMachine]] as const)(
    "has no overlaps: %s",
    (kind, machine) => {
      expect(faults({ kind, machineVersion: 1, ...graphOf(machine) } as Machine)).toEqual([]);
    },
  );

  it("has no overlaps, for any machine", () => {
    fc.assert(
      fc.property(machines, (machine) => {
        expect(faults(machine)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("highlights the innermost states of a name", () => {
    expect(leavesOf("live")).toEqual(["live"]);
    expect(leavesOf("live.syncing")).toEqual(["live.syncing"]);
    expect(leavesOf("a.{b.x,c.{d,e.y}}")).toEqual(["a.b.x", "a.c.d", "a.c.e.y"]);
  });

  it("clips long texts", () => {
    expect(clip("abc", 3)).toBe("abc");
    expect(clip("abcd", 3)).toBe("ab…");
  });
});
