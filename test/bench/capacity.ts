/**
 * How many requests an update applies, and what each costs. Inserts, updates and deletes in turn (inserts alone where there
 * are too few facts for more), values of some 20 bytes, refunds to addresses without stake, one input that
 * pays, one change output, one signature.
 */
import { cpus } from "node:os";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { utf8 } from "#src/base/bytes.ts";
import type { Units } from "#src/cardano/parameters.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { cageScript } from "#src/cage/script.ts";
import { buildUpdate, type BuiltUpdate } from "#src/cage/transactions/update.ts";
import { initHash } from "#src/forestry/hash.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { measure, op, Outputs, published, requested, stated } from "../support/cage.ts";
import { coin, person } from "../support/wallet.ts";

const NAME = "5a".repeat(32);
const SIZES = [10, 100, 1_000, 10_000];
const alice = person("alice");
const payer = coin(alice.enterprise, 100_000_000n);
const refund = person("bob").enterprise;

/** Figures of the largest update there is. */
export interface Capacity {
  readonly facts: number;
  /** Limit of memory units. */
  readonly memoryLimit: bigint;
  readonly requests: number;
  readonly bytes: number;
  readonly units: Units;
  /** Lovelace. */
  readonly fee: bigint;
}

function factsOf(count: number): Forestry {
  return Forestry.from(Array.from({ length: count }, (_, i) => leafOf(utf8(`fact-${i}`), utf8(`value-${i}`))));
}

function requestsOn(count: number, most: number): Utxo[] {
  return Array.from({ length: most }, (_, i) => {
    const target = (i * 37 + 5) % count;
    if (count < most || i % 3 === 0) {
      return requested(NAME, `batch-${i}`, op.insert(`batch-value-of-20-by${i}`), { refund });
    }
    const change = i % 3 === 1 ? op.update(`value-${target}`, `changed-value-${target}`) : op.remove(`value-${target}`);
    return requested(NAME, `fact-${target}`, change, { refund });
  });
}

function unitsOf(built: BuiltUpdate, known: readonly Utxo[]): Units {
  const run = measure(built.transaction, known);
  if (!run.ok) throw new Error(run.message);
  const sum = (pick: (units: Units) => bigint) => run.redeemers.reduce((all, { units }) => all + pick(units), 0n);
  return { memory: sum((units) => units.memory), steps: sum((units) => units.steps) };
}

/** The largest update of a token with so many facts, under a limit of memory units; the script is referred to, or travels along. */
export function capacity(count: number, memoryLimit: bigint, travels = false): Capacity {
  const facts = factsOf(count);
  const state = stated(NAME, alice.key, facts);
  const all = requestsOn(count, 64);
  const parameters = { ...mainnetParameters, maxTxUnits: { ...mainnetParameters.maxTxUnits, memory: memoryLimit } };
  const reference = travels ? undefined : published;
  const outputs = new Outputs(payer, state, ...all);
  const attempt = (requests: readonly Utxo[]) =>
    buildUpdate({ ...outputs.input(alice.enterprise, { parameters, reference }), state, requests }, facts, measure);
  let [fits, over] = [1, all.length + 1];
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (attempt(all.slice(0, middle)).ok) fits = middle;
    else over = middle;
  }
  const built = attempt(all.slice(0, fits));
  if (!built.ok) throw new Error(built.error.message);
  const units = unitsOf(built.value, [...outputs.all().filter((one) => !all.slice(fits).includes(one)), published]);
  return { facts: count, memoryLimit, requests: fits, bytes: built.value.size, units, fee: built.value.fee };
}

const figures = new Intl.NumberFormat("en");
function grouped(cell: string | number | bigint): string {
  return typeof cell === "string" ? cell : figures.format(cell);
}

/** Prints rows for each number of facts: with a reference script under both limits of memory, and with the script inside. */
export async function benchCapacity(print: (line: string) => void = console.log): Promise<void> {
  await initHash();
  const widths = [8, 10, 12, 9, 8, 12, 16, 12, 12];
  const row = (...cells: (string | number | bigint)[]) =>
    print(cells.map((cell, i) => grouped(cell).padStart(widths[i]!)).join(" "));
  print(
    `Requests in one update (${
      cpus()[0]?.model ?? "unknown processor"
    }; script ${cageScript.compiledCode.length} bytes)`,
  );
  row("facts", "script", "memory max", "requests", "bytes", "memory", "steps", "fee", "a request");
  const cases = [[14_000_000n, false], [16_500_000n, false], [14_000_000n, true]] as const;
  for (const facts of SIZES) {
    for (const [limit, travels] of cases) {
      const { requests, bytes, units, fee } = capacity(facts, limit, travels);
      const script = travels ? "inside" : "referred";
      row(facts, script, limit, requests, bytes, units.memory, units.steps, fee, fee / BigInt(requests));
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await benchCapacity();
