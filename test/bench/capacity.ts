/**
 * How many requests an update applies, and the cost of each. Inserts, updates and deletes in turn (inserts alone if
 * there are too few facts for more), values of some 20 bytes, refunds to addresses without stake, one input that pays,
 * one change output, one signature.
 */
import process from "node:process";
import { pathToFileURL } from "node:url";
import { sha256 } from "@noble/hashes/sha2.js";
import { toHex, utf8 } from "#src/base/bytes.ts";
import type { Units } from "#src/cardano/parameters.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import { noAssets } from "#src/cardano/value.ts";
import type { CageScript } from "#src/contract/script.ts";
import type { BuildInput } from "#src/contract/transactions/common.ts";
import { buildUpdate, type BuiltUpdate } from "#src/contract/transactions/update.ts";
import { initHash } from "#src/forestry/hash.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { carrying, measure, op, Outputs, requested, stated } from "../support/contract/contractLedger.ts";
import { BUILDS, contractBuild } from "../support/contract/contractBuild.ts";
import { coin, person } from "../support/wallets/person.ts";

const NAME = "5a".repeat(32);
const SIZES = [10, 100, 1_000, 10_000];
const alice = person("alice");
const refund = person("bob").enterprise;

/** Figures of the largest possible update. */
export interface Capacity {
  readonly facts: number;
  readonly requests: number;
  readonly bytes: number;
  readonly units: Units;
  /** Lovelace. */
  readonly fee: bigint;
}

/** No update applies more requests than this; facts are changed and removed only if there are as many. */
const MOST = 80;

function factsOf(count: number): Forestry {
  return Forestry.from(Array.from({ length: count }, (_, i) => leafOf(utf8(`fact-${i}`), utf8(`value-${i}`))));
}

/** An output reference that is the same for all builds, so that their updates are alike. */
function refOf(name: string): OutRef {
  return { txHash: toHex(sha256(utf8(name))), index: 0 };
}

const payer = coin(alice.enterprise, 100_000_000n, noAssets, refOf("payer"));

function requestsOn(count: number, most: number, policy: string): Utxo[] {
  return Array.from({ length: most }, (_, i) => {
    const more = { refund, policy, ref: refOf(`request ${i}`) };
    const target = (i * 37 + 5) % count;
    if (count < MOST || i % 3 === 0) {
      return requested(NAME, `batch-${i}`, op.insert(`batch-value-of-20-by${i}`), more);
    }
    const change = i % 3 === 1 ? op.update(`value-${target}`, `changed-value-${target}`) : op.remove(`value-${target}`);
    return requested(NAME, `fact-${target}`, change, more);
  });
}

function unitsOf(built: BuiltUpdate, known: readonly Utxo[]): Units {
  const run = measure(built.transaction, known);
  if (!run.ok) throw new Error(run.message);
  const sum = (pick: (units: Units) => bigint) => run.redeemers.reduce((all, { units }) => all + pick(units), 0n);
  return { memory: sum((units) => units.memory), steps: sum((units) => units.steps) };
}

/**
 * Updates of a token with this many facts, under mainnet's limits; with a reference script, or with the script in the
 * transaction.
 */
export class Updates {
  private readonly facts: Forestry;
  private readonly state: Utxo;
  private readonly all: readonly Utxo[];
  private readonly outputs: Outputs;
  private readonly input: BuildInput;
  private readonly carrier: Utxo;

  constructor(readonly count: number, script: CageScript, travels = false) {
    this.facts = factsOf(count);
    this.state = { ...stated(NAME, alice.key, this.facts, script.hash), ref: refOf("state") };
    this.all = requestsOn(count, MOST, script.hash);
    this.outputs = new Outputs(payer, this.state, ...this.all);
    this.carrier = carrying(script);
    const reference = travels ? undefined : this.carrier;
    this.input = this.outputs.input(alice.enterprise, { parameters: mainnetParameters, script, reference });
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

  /** Figures of an update by this many requests; undefined if they do not fit. */
  of(requests: number): Capacity | undefined {
    const built = this.build(requests);
    if (!built.ok) return undefined;
    const spared = new Set(this.all.slice(requests));
    const units = unitsOf(built.value, [...this.outputs.all().filter((one) => !spared.has(one)), this.carrier]);
    const { size: bytes, fee } = built.value;
    return { facts: this.count, requests, bytes, units, fee };
  }
}

/** The largest update of a token with this many facts. */
export function capacity(count: number, script: CageScript, travels = false): Capacity {
  const updates = new Updates(count, script, travels);
  const largest = updates.of(updates.most());
  if (!largest) throw new Error("an update that fitted once does not fit again");
  return largest;
}

/** How many requests one block applies, by as many such updates as fit into it. */
export function requestsInBlock({ requests, bytes, units }: Capacity): number {
  const { maxBlockUnits: { memory, steps }, maxBlockBodySize } = mainnetParameters;
  const updates = [memory / units.memory, steps / units.steps, BigInt(Math.floor(maxBlockBodySize / bytes))];
  return requests * Number(updates.reduce((least, one) => one < least ? one : least));
}

const figures = new Intl.NumberFormat("en");
function grouped(cell: string | number | bigint): string {
  return typeof cell === "string" ? cell : figures.format(cell);
}

/** Prints rows for each number of facts and build of the contract: with a reference script, and with the script inside. */
export async function benchCapacity(print: (line: string) => void = console.log): Promise<void> {
  await initHash();
  const widths = [8, 10, 10, 9, 8, 12, 16, 12, 10, 12, 14, 8];
  const row = (...cells: (string | number | bigint)[]) =>
    print(cells.map((cell, i) => grouped(cell).padStart(widths[i]!)).join(" "));
  const { maxTxUnits, protocolVersion } = mainnetParameters;
  const builds = BUILDS.map(contractBuild);
  const sizes = builds.map(({ name, script }) => `${name} ${grouped(script.compiledCode.length)} bytes`).join(", ");
  print(
    `Requests in one update (protocol version ${protocolVersion.major}, ${grouped(maxTxUnits.memory)} memory and ` +
      `${grouped(maxTxUnits.steps)} steps a transaction; contract: ${sizes})`,
  );
  row(
    ...["facts", "script", "contract", "requests", "bytes", "memory", "steps", "fee"],
    ...["fee each", "memory each", "steps each", "a block"],
  );
  for (const facts of SIZES) {
    for (const travels of [false, true]) {
      for (const { name, script } of builds) {
        const largest = capacity(facts, script, travels);
        const { requests, bytes, units: { memory, steps }, fee } = largest;
        const each = (whole: bigint) => whole / BigInt(requests);
        const cells = [facts, travels ? "inside" : "referred", name, requests, bytes, memory, steps, fee];
        row(...cells, each(fee), each(memory), each(steps), requestsInBlock(largest));
      }
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await benchCapacity();
