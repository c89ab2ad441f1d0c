/**
 * The chain as events: blocks that are applied and undone, and jumps to a block.
 *
 * A rollback of blocks that are no longer kept (`recentBlocks.ts`) is a jump to its point, which says the same to a client.
 */
import { origin, type Point, samePoint, type ScannedBlock, type Tip } from "#src/cardano/block.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { originTip, readNewest, readTip } from "#src/devnet/blocks/rows.ts";
import { followBlocks } from "#src/devnet/serve/follow.ts";
import type { Served } from "#src/devnet/serve/utxorpc/served.ts";

/** A block with its bytes, `[era, block]`. */
export interface ChainBlock {
  readonly bytes: Uint8Array;
  readonly block: ScannedBlock;
}

/** A step of the chain; `tip` is the newest block. */
export type ChainEvent =
  | ({ readonly kind: "apply" | "undo"; readonly tip: Tip } & ChainBlock)
  | { readonly kind: "reset"; readonly at: Tip; readonly tip: Tip };

/**
 * Follows the chain from the newest of some blocks that is on it, or from the newest block where none is given. The first event is a
 * reset to that block. Gives undefined, and ends, where none of them is on the chain.
 */
export async function* chainEvents(
  served: Served,
  from: readonly Point[],
  signal: AbortSignal,
): AsyncGenerator<ChainEvent | undefined> {
  const { store, bus, pollMs, devnet: { network: { securityParameter: k } }, recent } = served;
  const release = recent.use();
  // the blocks that the client has, as far as they can be undone, oldest first
  const applied: Tip[] = [];
  let start: Point | undefined;
  try {
    const first = await startOf(served, from);
    if (!first) {
      yield undefined;
      return;
    }
    for await (const step of followBlocks({ store, bus, pollMs, k }, [first], signal)) {
      const { tip } = step;
      if (step.type === "forward") {
        const block = scanBlock(step.block);
        const { slot, hash, height } = block;
        recent.add(hash, step.block);
        applied.push({ slot, hash, height });
        if (applied.length > 2 * k) applied.splice(0, applied.length - k);
        yield { kind: "apply", bytes: step.block, block, tip };
        continue;
      }
      const { point } = step;
      if (!start) {
        start = point;
        yield { kind: "reset", at: await tipAt(served, point), tip };
        continue;
      }
      const undone = applied.splice(applied.findLastIndex(({ hash }) => hash === point.hash) + 1).reverse();
      const blocks = undone.flatMap(({ hash }) => recent.get(hash) ?? []);
      const whole = blocks.length === undone.length && (applied.length > 0 || samePoint(point, start));
      if (whole) { for (const bytes of blocks) yield { kind: "undo", bytes, block: scanBlock(bytes), tip }; }
      else {
        start = point;
        yield { kind: "reset", at: await tipAt(served, point), tip };
      }
    }
  } finally {
    release();
  }
}

/** The newest of some blocks that is on the chain, or the tip where none is given; undefined where none is on the chain. */
async function startOf({ store }: Served, from: readonly Point[]): Promise<Tip | undefined> {
  if (from.length === 0) return await readTip(store.sql);
  const { found } = await readNewest(store.sql, from.map(({ hash }) => hash));
  return found ?? (from.some((one) => samePoint(one, origin)) ? originTip : undefined);
}

/** A block of the chain with its height. */
async function tipAt({ store }: Served, { slot, hash }: Point): Promise<Tip> {
  if (slot < 0) return originTip;
  const { found } = await readNewest(store.sql, [hash]);
  // it may be undone again at this moment; the next event says so
  return found ?? { slot, hash, height: 0 };
}
