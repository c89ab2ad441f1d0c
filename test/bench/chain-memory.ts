/**
 * Memory that 10,000 transactions leave behind: each spends the output of the previous one, so that the ledger's state
 * stays as large.
 */
import process from "node:process";
import v8 from "node:v8";
import vm from "node:vm";
import { initHash } from "#src/cardano/hash.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { agrees, plutusHash } from "../support/plutus/scripts.ts";
import { ada, alice, asset, type Draft, World } from "../support/ledger/draft.ts";
import type { ChainRow } from "./chain.ts";

const COUNT = process.argv.includes("--quick") ? 2_000 : 10_000;
/** One in this many transactions runs a script. */
const SCRIPT_EVERY = 20;

/** Collects garbage, if the runtime allows it. */
function collector(): (() => void) | undefined {
  try {
    v8.setFlagsFromString("--expose-gc");
    const collect: unknown = vm.runInNewContext("gc");
    return typeof collect === "function" ? () => void collect() : undefined;
  } catch {
    return undefined;
  }
}

/** Applies transactions one after the other; returns the last one's output. */
async function run(world: World, coin: Utxo, count: number): Promise<Utxo> {
  const plutus: Draft = {
    mint: new Map([[asset(plutusHash(3, agrees)), 1n]]),
    plutus: { 3: [agrees] },
    redeemers: [[1, 0]],
  };
  for (let i = 0; i < count; i++) {
    const applied = await world.apply({ ...(i % SCRIPT_EVERY === 0 ? plutus : {}), inputs: [coin] });
    coin = applied.created[0]!;
    // without the collateral of the transaction
    world.outputs.clear();
    world.outputs.set(refKey(coin.ref), coin.output);
  }
  return coin;
}

/** Row: heap and resident memory before and after, and the same again, so that warm-up is distinguished from a leak. */
export async function memoryRows(): Promise<readonly ChainRow[]> {
  await initHash();
  const collect = collector();
  const look = () => {
    collect?.();
    collect?.();
    const { heapUsed, rss } = process.memoryUsage();
    return { heap: heapUsed / 1e6, rss: rss / 1e6 };
  };
  const world = new World();
  let coin = world.fund(alice.address, 1_000_000n * ada);
  coin = await run(world, coin, 1_000); // code is compiled, caches are filled
  const marks = [look()];
  for (let i = 0; i < 2; i++) {
    coin = await run(world, coin, COUNT);
    marks.push(look());
  }
  const grown = marks.at(-1)!.heap - marks[1]!.heap;
  const text = (part: "heap" | "rss") => marks.map((mark) => mark[part].toFixed(1)).join(" → ");
  return [[
    `memory over twice ${COUNT.toLocaleString("en")} transactions, one in ${SCRIPT_EVERY} with a script`,
    `heap ${text("heap")} MB`,
    `resident ${text("rss")} MB; the second time the heap grew by ${
      (grown * 1e6 / COUNT).toFixed(0)
    } bytes a transaction${collect ? "" : " (no collection could be forced)"}`,
  ]];
}
