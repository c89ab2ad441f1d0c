/** The body of a request that adds patterns: from where on they apply. */
import { isHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import type { Point } from "#src/cardano/block.ts";
import { parsePattern, type Pattern } from "#src/devnet/index/kupo/pattern.ts";
import { BEFORE_GENESIS } from "#src/devnet/index/kupo/patterns.ts";
import { type BlockPoint, readBlockUntil } from "#src/devnet/index/kupo/points.ts";
import { refused } from "#src/devnet/serve/kupo/failures.ts";
import { readJson } from "#src/http/json.ts";
import type { Queries } from "#src/store/store.ts";

/** The longest rollback of mainnet, in slots: 36 hours. */
export const LONGEST_ROLLBACK = 129_600;

/** Bytes of a body: as many patterns as there may be, of the longest form. */
const BODY_BYTES = 262_144;

/** A rollback that a client requests. */
interface ForcedRollback {
  readonly slot: bigint;
  readonly hash: string | undefined;
  readonly isUnsafe: boolean;
}

/** The body of a request. @throws {HttpFailure} 400 where it is no JSON */
export async function readBody(request: Request): Promise<Json> {
  return await readJson(request, { bytes: BODY_BYTES }, refused.rollback) ?? null;
}

/** Reads the rollback of a body. @throws {HttpFailure} 400 */
export function readRollback(body: Json): ForcedRollback {
  const { rollback_to: to, limit = null } = isObject(body) ? body : {};
  if (!isObject(to)) throw refused.rollback();
  const { slot_no: slot, header_hash: hash = null } = to;
  const isSlot = typeof slot === "number" && Number.isSafeInteger(slot) || typeof slot === "bigint";
  if (!isSlot || slot < 0 || BigInt(slot) >= 1n << 63n) throw refused.rollback();
  if (hash !== null && (typeof hash !== "string" || !isHex(hash, 32))) throw refused.rollback();
  if (limit !== null && limit !== "within_safe_zone" && limit !== "unsafe_allow_beyond_safe_zone") {
    throw refused.rollback();
  }
  return {
    slot: BigInt(slot),
    hash: hash?.toLowerCase(),
    isUnsafe: limit === "unsafe_allow_beyond_safe_zone",
  };
}

/** Reads the patterns of a body. @throws {HttpFailure} 400 */
export function readPatterns(body: Json): Pattern[] {
  const list = isObject(body) ? body.patterns : undefined;
  if (!Array.isArray(list) || list.length === 0) throw refused.patterns();
  return list.map((text) => {
    const pattern = typeof text === "string" ? parsePattern(text) : undefined;
    if (pattern === undefined) throw refused.pattern();
    return pattern;
  });
}

/**
 * The height above which a rollback has blocks read again: that of the block at the slot or the nearest before it. A
 * block that is named must be that one, unless there is none so early. Slot 0 is the genesis.
 *
 * @throws {HttpFailure} 400 for an unknown block, and for one further back than the longest rollback
 */
export async function heightOf(
  sql: Queries,
  { slot, hash, isUnsafe }: ForcedRollback,
  tip: Pick<Point, "slot"> | undefined,
): Promise<number> {
  const block: BlockPoint | undefined = slot === 0n && hash === undefined ? undefined : await readBlockUntil(sql, slot);
  if (hash !== undefined && block !== undefined && (block.hash !== hash || BigInt(block.slot) !== slot)) {
    throw refused.unknownPoint();
  }
  const distance = (tip?.slot ?? 0) - (block?.slot ?? 0);
  if (distance > LONGEST_ROLLBACK && !isUnsafe) throw refused.unsafeRollback();
  return block?.height ?? BEFORE_GENESIS;
}
