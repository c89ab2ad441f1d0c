/**
 * The scenarios of cardano-wallet's integration tests, against one service, in parallel. README.md describes the
 * tables and the map.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { root } from "../../support/docs/pages.ts";
import { mapFiles, REASONS } from "./map.ts";
import { tables } from "./tables/index.ts";
import type { Table } from "./table.ts";
import { World } from "./world.ts";

vi.setConfig({ maxConcurrency: 12 });

/** One row in so many runs: each of them in `deno task test:long`. */
const EVERY = Number(process.env.SCENARIO_EVERY ?? 12);
const chosen = <Row>(rows: readonly Row[]): readonly Row[] => rows.filter((_, i) => i % EVERY === 0);

const nameOf = ({ id, what }: { id: string; what?: string }) => what === undefined ? id : `${id}: ${what}`;

describe("the map of the scenarios", () => {
  it("has one entry for each id", () => {
    for (const { file, text, entries } of mapFiles) {
      // a repeated name of a JSON object is lost when it is read
      const ids = [...text.matchAll(/^ {2}"([^"]+)":/gm)].map(([, id]) => id!);
      expect(ids, file).toEqual(Object.keys(entries));
      expect(ids.length, file).toBeGreaterThan(0);
    }
  });

  it("has a file for each table, and each name is that of one row", () => {
    const files = mapFiles.map(({ file }) => file);
    for (const { file, rows } of tables) {
      expect(files).toContain(file);
      const names = rows.map(nameOf);
      expect(names.filter((name, i) => names.indexOf(name) !== i), file).toEqual([]);
    }
    expect(tables.map(({ file }) => file).filter((file, i, all) => all.indexOf(file) !== i)).toEqual([]);
  });

  it("names a row or another test for each scenario, or a reason; and no row is without an entry", () => {
    for (const { file, entries } of mapFiles) {
      const rows = new Set(tables.find((table) => table.file === file)?.rows.map(({ id }) => id));
      const mapped = Object.entries(entries).filter(([, entry]) => entry === "row").map(([id]) => id);
      expect([...rows].sort(), file).toEqual(mapped.sort());
      for (const [id, entry] of Object.entries(entries)) {
        if (entry === "row") continue;
        if ("reason" in entry) {
          expect(REASONS, id).toContain(entry.reason);
          expect(entry.because, id).toMatch(/\S \S/);
        } else expect(readFileSync(path.join(root, entry.test), "utf8"), id).toContain(`"${entry.name}"`);
      }
    }
  });
});

describe("the scenarios", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start();
  });
  afterAll(() => world?.stop());

  const register = ({ file, rows, alone = false }: Table) =>
    describe(file, { concurrent: !alone }, () => {
      for (const row of chosen(rows)) it(nameOf(row), () => row.run(world));
    });
  for (const table of tables) if (!table.alone) register(table);
  for (const table of tables) if (table.alone) register(table);
});
