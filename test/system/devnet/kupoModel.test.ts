/**
 * Patterns of Kupo against a model that does what Kupo does: it reads blocks with the patterns that are active, forgets
 * those that are rolled back, and reads blocks again where a pattern is added. Random steps on a devnet.
 */
import { expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { created } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { readBlocks } from "#src/devnet/blocks/rows.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import {
  credentialHashes,
  matches,
  overlap,
  parsePattern,
  type Pattern,
  type PatternedOutput,
} from "#src/devnet/index/kupo/pattern.ts";
import { kupoApp } from "#src/devnet/serve/kupo/service.ts";
import { KupoApi } from "../../support/kupo/kupoApi.ts";
import type { Match } from "../../support/kupo/kupoOracle.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { person } from "../../support/wallets/person.ts";

const STEPS = 160;
const PEOPLE = ["alice", "bob", "carol"].map(person);
const world = devnetWorld();

/** What Kupo has of a block; the genesis is the first. */
interface ModelBlock {
  readonly hash: string;
  readonly slot: number;
  readonly outputs: readonly PatternedOutput[];
  matched: Set<string>;
}

class Model {
  readonly active = new Set<string>(["*"]);
  blocks: ModelBlock[];

  constructor(genesis: readonly PatternedOutput[]) {
    this.blocks = [this.#read({ hash: "", slot: 0, outputs: genesis })];
  }

  /** Follows to a chain: forgets what is not on it, and reads what is new. */
  follow(chain: readonly Omit<ModelBlock, "matched">[]): void {
    const common = this.blocks.findIndex(({ hash }, i) => chain[i]?.hash !== hash);
    if (common >= 0) this.blocks.length = common;
    for (const block of chain.slice(this.blocks.length)) this.blocks.push(this.#read(block));
  }

  /** Adds a pattern and reads the blocks after the first few again. */
  put(pattern: string, kept: number): void {
    this.active.add(pattern);
    this.blocks = this.blocks.map((block, i) => i < kept ? block : this.#read(block));
  }

  /** Deletes matches; gives their number, or undefined where an active pattern overlaps. */
  deleteMatches(text: string): number | undefined {
    const pattern = parsePattern(text)!;
    if ([...this.active].some((one) => overlap(parsePattern(one)!, pattern))) return undefined;
    let deleted = 0;
    for (const { outputs, matched } of this.blocks) {
      for (const output of outputs) if (matches(pattern, output) && matched.delete(refOf(output))) deleted++;
    }
    return deleted;
  }

  get matched(): string[] {
    return this.blocks.flatMap(({ matched }) => [...matched]).sort();
  }

  #read(block: Omit<ModelBlock, "matched">): ModelBlock {
    const patterns = [...this.active].map((text): Pattern => parsePattern(text)!);
    const found = block.outputs.filter((output) => patterns.some((one) => matches(one, output)));
    return { ...block, matched: new Set(found.map(refOf)) };
  }
}

const refOf = (output: PatternedOutput) => refKey(output);

const patternedOf = ({ ref, output }: ReturnType<typeof created>[number]): PatternedOutput => ({
  ...ref,
  address: output.address,
  ...credentialHashes(output.address),
  units: [...output.value.assets.keys()],
  labels: [],
});

async function chainOf(devnet: Devnet): Promise<Omit<ModelBlock, "matched">[]> {
  const { blocks } = await readBlocks(world.store.sql, 0, 10_000);
  return [
    { hash: "", slot: 0, outputs: genesisOutputs(devnet.genesis).map(patternedOf) },
    ...blocks.map(({ hash, slot, bytes }) => ({
      hash,
      slot,
      outputs: scanBlock(bytes).transactions.flatMap(created).map(patternedOf),
    })),
  ];
}

test.each([1, 2])("matches are those of a Kupo that reads the same chain, seed %s", async (seed) => {
  const random = seeded(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  let devnet = await world.start();
  let api = new KupoApi(kupoApp({ devnet, store: world.store, log: silentLog }));
  // an empty block takes slot 0, which means the genesis
  await makeBlock(devnet);
  const model = new Model((await chainOf(devnet))[0]!.outputs);
  const seen = new Map<string, number>();
  const patterns = () => {
    const outputs = model.blocks.flatMap((block) => block.outputs);
    const { txHash, index } = pick(outputs);
    const { key, stake, base } = pick(PEOPLE);
    return ["*", "*/*", base, `${key}/*`, `*/${stake}`, `${key}/${stake}`, `*@${txHash}`, `${index}@${txHash}`];
  };
  const steps: Record<string, () => Promise<void>> = {
    block: async () => {
      for (const one of PEOPLE) if (random() < 0.6) await give(devnet, pick([one.base, one.enterprise]), 5_000_000n);
      await makeBlock(devnet);
    },
    rollback: async () => {
      const blocks = Math.min(1 + Math.floor(random() * 3), devnet.tip().height);
      if (blocks > 0) valueOf(await devnet.rollback({ blocks }, { drop: random() < 0.5 }));
    },
    put: async () => {
      // often near the tip, which a rollback passes
      const all = model.blocks.length;
      const kept = random() < 0.6 ? Math.max(0, all - Math.floor(random() * 3)) : Math.floor(random() * (all + 1));
      const text = pick(patterns());
      const to = kept === 0 ? { slot_no: 0 } : kept === 1 ? undefined : model.blocks[kept - 1]!;
      // the genesis cannot be named as the last block that is kept
      if (to === undefined) return;
      const point = "hash" in to ? { slot_no: to.slot, header_hash: to.hash } : to;
      const active = await api.change("PUT", `/patterns/${text}`, { rollback_to: point });
      model.put((active as string[]).find((one) => one === text || !model.active.has(one)) ?? text, kept);
      expect(active).toEqual([...model.active].sort());
      // blocks that a rollback puts below the point are matched too
      if (random() < 0.3) { for (const step of [steps.rollback!, steps.block!]) await step(); }
    },
    remove: async () => {
      const text = model.active.size > 0 ? pick([...model.active]) : "*";
      expect(await api.change("DELETE", `/patterns/${text}`)).toEqual({ deleted: model.active.has(text) ? 1 : 0 });
      model.active.delete(text);
    },
    hide: async () => {
      const text = pick(patterns());
      const deleted = model.deleteMatches(text);
      if (deleted === undefined) expect((await api.refused("DELETE", `/matches/${text}`))[0]).toBe(400);
      else expect(await api.change("DELETE", `/matches/${text}`)).toEqual({ deleted });
      if (deleted !== undefined && deleted > 0) seen.set("hidden", (seen.get("hidden") ?? 0) + 1);
    },
    restart: async () => {
      await devnet.stop();
      world.running.splice(0);
      devnet = await world.start();
      api = new KupoApi(kupoApp({ devnet, store: world.store, log: silentLog }));
    },
  };
  const likely = ["block", "block", "block", "rollback", "rollback", "put", "put", "remove", "remove", "hide", "hide"];
  const done: string[] = [];
  for (let i = 0; i < STEPS; i++) {
    const name = i % 80 === 79 ? "restart" : pick(likely);
    done.push(name);
    model.follow(await chainOf(devnet));
    await steps[name]!();
    model.follow(await chainOf(devnet));
    const matched = (await api.get<Match[]>("/matches"))
      .map(({ transaction_id, output_index }) =>
        refKey({ txHash: String(transaction_id), index: Number(output_index) })
      );
    expect(matched.sort(), done.join()).toEqual(model.matched);
    const all = model.blocks.flatMap(({ outputs }) => outputs).length;
    if (matched.length > 0 && matched.length < all) seen.set("some", (seen.get("some") ?? 0) + 1);
  }
  // most states had matches and lacked others, and some matches were deleted
  expect(seen.get("some")).toBeGreaterThan(STEPS / 4);
  expect(seen.get("hidden")).toBeGreaterThan(0);
}, 120_000);
