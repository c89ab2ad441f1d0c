/** Blocks in messages, and in requests. */
import { toHex } from "#src/base/bytes.ts";
import { origin, type Point } from "#src/cardano/block.ts";
import type { ChainBlock } from "#src/devnet/serve/utxorpc/chainEvents.ts";
import { blockMessage } from "#src/devnet/serve/utxorpc/messages/transaction.ts";
import { resolveInputs } from "#src/devnet/serve/utxorpc/resolve.ts";
import { hexOf, invalid, type Served, timeOf } from "#src/devnet/serve/utxorpc/served.ts";
import type { Queries } from "#src/store/store.ts";

const HASH_BYTES = 32;
/** Most blocks that a request may name. */
const MOST_REFS = 100;

/** A block as a request names it: slot, hash and height, of which some may be 0 or empty. */
interface NamedBlock {
  readonly slot: bigint;
  readonly hash: Uint8Array;
  readonly height: bigint;
}

/** Messages of blocks: their bytes, and what is in them. Inputs are resolved as far as their outputs are known. */
export async function anyBlocks({ form, indexed, ...served }: Served, sql: Queries, blocks: readonly ChainBlock[]) {
  const resolved = await resolveInputs(sql, blocks.flatMap(({ block }) => block.transactions), indexed);
  return blocks.map(({ bytes, block }) => ({
    nativeBytes: bytes,
    chain: { case: "cardano" as const, value: blockMessage(block, timeOf(served, block.slot), resolved, form) },
  }));
}

/** The blocks that a request names. */
export function namedBlocks<T extends NamedBlock>(refs: readonly T[]): readonly T[] {
  if (refs.length > MOST_REFS) throw invalid(`A request may name ${MOST_REFS} blocks.`);
  return refs;
}

/** The hash that names a block; undefined where its height or slot does. */
export function hashOf({ hash }: NamedBlock): string | undefined {
  return hash.length === 0 ? undefined : hexOf(hash, HASH_BYTES, "The hash of a block");
}

/** The points at which a client wants to begin; slot 0 without a hash is the origin. */
export function pointsOf(refs: readonly NamedBlock[]): Point[] {
  return namedBlocks(refs).map(({ slot, hash }) => {
    if (hash.length === 0 && slot === 0n) return origin;
    if (hash.length !== HASH_BYTES) throw invalid(`The hash of a block must have ${HASH_BYTES} bytes.`);
    return { slot: Number(slot), hash: toHex(hash) };
  });
}
