/**
 * The cost of an update: size, units and fee for 1, 5, 10, 20 and the maximum number of requests on 0 to 100,000 facts,
 * as the rows of the README's table, and for comparison the known figures of the published MPFS contract.
 */
import process from "node:process";
import { pathToFileURL } from "node:url";
import { initHash } from "#src/forestry/hash.ts";
import { BUILDS, contractBuild } from "../support/contract/contractBuild.ts";
import { type Capacity, Updates } from "./capacity.ts";

const FACTS = [0, 100, 1_000, 100_000];
const REQUESTS = [1, 5, 10, 20];

interface Published {
  readonly facts: number;
  readonly requests: number;
  readonly bytes: number;
  /** Units, as far as published: millions of memory, billions of steps. */
  readonly units: readonly [memory: number, steps: number];
}

/**
 * Figures of the published contract, its script in the transaction, from its own measurements: the largest updates, and
 * one alone.
 */
const PUBLISHED: readonly Published[] = [
  { facts: 0, requests: 32, bytes: 15_606, units: [11.3, 4.1] },
  { facts: 100, requests: 24, bytes: 15_564, units: [8.2, 2.55] },
  { facts: 1_000, requests: 1, bytes: 6_773, units: [0.554, 0.173] },
  { facts: 1_000, requests: 18, bytes: 15_541, units: [8.3, 2.75] },
];

const figures = new Intl.NumberFormat("en");
const millions = (units: bigint) => (Number(units) / 1e6).toFixed(2);
const billions = (units: bigint) => (Number(units) / 1e9).toFixed(2);
const ada = (lovelace: bigint) => (Number(lovelace) / 1e6).toFixed(3);

function publishedCells(facts: number, requests: number): string[] {
  const found = PUBLISHED.find((one) => one.facts === facts && one.requests === requests);
  return found ? [figures.format(found.bytes), `${found.units[0]}`, `${found.units[1]}`] : ["", "", ""];
}

function cells(build: string, { facts, requests, bytes, units, fee }: Capacity, most: boolean): string[] {
  return [
    figures.format(facts),
    build,
    most ? `${requests} (most)` : `${requests}`,
    figures.format(bytes),
    millions(units.memory),
    billions(units.steps),
    ada(fee),
    ada(fee / BigInt(requests)),
  ];
}

/** Prints the table. */
export async function benchUpdateCosts(print: (line: string) => void = console.log): Promise<void> {
  await initHash();
  const row = (...all: string[]) => print(`| ${all.join(" | ")} |`);
  row(
    "facts",
    "contract",
    "requests",
    "bytes",
    "memory, M",
    "steps, G",
    "fee, ada",
    "a request",
    "MPFS: bytes",
    "memory",
    "steps",
  );
  row(...Array.from({ length: 11 }, () => "---:"));
  for (const facts of FACTS) {
    for (const { name, script } of BUILDS.map(contractBuild)) {
      const updates = new Updates(facts, script);
      const most = updates.most();
      const others = PUBLISHED.filter((one) => one.facts === facts).map(({ requests }) => requests);
      const counts = [...new Set([...REQUESTS, ...others, most])].filter((count) => count <= most);
      for (const count of counts.sort((a, b) => a - b)) {
        const one = updates.of(count);
        if (one) row(...cells(name, one, count === most), ...publishedCells(facts, count));
      }
      const inside = new Updates(facts, script, true);
      const travelling = inside.of(inside.most());
      if (travelling) {
        row(...cells(name, travelling, true).with(2, `${travelling.requests}, script inside`), "", "", "");
      }
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await benchUpdateCosts();
