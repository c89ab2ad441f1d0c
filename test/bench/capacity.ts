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
import type { BuildInput } from "#src/cage/transactions/common.ts";
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

/** No update applies more requests than this; facts are changed and removed only where there are as many. */
const MOST = 64;

function factsOf(count: number): Forestry {
  return Forestry.from(Array.from({ length: count }, (_, i) => leafOf(utf8(`fact-${i}`), utf8(`value-${i}`))));
}

function requestsOn(count: number, most: number): Utxo[] {
  return Array.from({ length: most }, (_, i) => {
    const target = (i * 37 + 5) % count;
    if (count < MOST || i % 3 === 0) {
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

/** Updates of a token with so many facts, under a limit of memory units; the script is referred to, or travels along. */
export class Updates {
  private readonly facts: Forestry;
  private readonly state: Utxo;
  private readonly all: readonly Utxo[];
  private readonly outputs: Outputs;
  private readonly input: BuildInput;

  constructor(readonly count: number, readonly memoryLimit = 14_000_000n, travels = false) {
    this.facts = factsOf(count);
    this.state = stated(NAME, alice.key, this.facts);
    this.all = requestsOn(count, MOST);
    this.outputs = new Outputs(payer, this.state, ...this.all);
    const parameters = { ...mainnetParameters, maxTxUnits: { ...mainnetParameters.maxTxUnits, memory: memoryLimit } };
    const reference = travels ? undefined : published;
    this.input = this.outputs.input(alice.enterprise, { parameters, reference });
  }

  private build(requests: number) {
    const { input, state, facts } = this;
    return buildUpdate({ ...input, state, requests: this.all.slice(0, requests) }, facts, measure);
  }

  /** How many requests fit. */
  most(): number {
    let [fits, over] = [1, MOST + 1];
    while (over - fits > 1) {
      const middle = (fits + over) >> 1;
      if (this.build(middle).ok) fits = middle;
      else over = middle;
    }
    return fits;
  }

  /** Figures of an update by so many requests; undefined where they do not fit. */
  of(requests: number): Capacity | undefined {
    const built = this.build(requests);
    if (!built.ok) return undefined;
    const spared = new Set(this.all.slice(requests));
    const units = unitsOf(built.value, [...this.outputs.all().filter((one) => !spared.has(one)), published]);
    const { size: bytes, fee } = built.value;
    return { facts: this.count, memoryLimit: this.memoryLimit, requests, bytes, units, fee };
  }
}

/** The largest update of a token with so many facts. */
export function capacity(count: number, memoryLimit: bigint, travels = false): Capacity {
  const updates = new Updates(count, memoryLimit, travels);
  const largest = updates.of(updates.most());
  if (!largest) throw new Error("what fitted once does not fit again");
  return largest;
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
