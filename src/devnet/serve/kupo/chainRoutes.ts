/** What the chain holds beside outputs: datums, scripts, metadata, and its blocks as checkpoints. */
import type { Context } from "hono";
import { isHex, toHex } from "#src/base/bytes.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import {
  readBlockFrom,
  readBlockTransactions,
  readBlockUntil,
  readCheckpoints,
  readState,
} from "#src/devnet/index/kupo/points.ts";
import { readDatum, readScriptRow } from "#src/devnet/index/reads/scripts.ts";
import { answerAt, type KupoParts, pointJson } from "#src/devnet/serve/kupo/answers.ts";
import { refused } from "#src/devnet/serve/kupo/failures.ts";
import { scriptJson } from "#src/devnet/serve/kupo/match.ts";
import { metadataJson } from "#src/devnet/serve/kupo/metadata.ts";
import { parametersOf, readSlot, readStrict, readTransactionFilter } from "#src/devnet/serve/kupo/query.ts";
import { LONGEST_ROLLBACK } from "#src/devnet/serve/kupo/rollback.ts";

/** Answers with a datum by its hash. @throws {HttpFailure} 400 */
export async function answerDatum(c: Context, { store: { sql } }: KupoParts, hash: string): Promise<Response> {
  if (!isHex(hash, 32)) throw refused.datumHash();
  return await answerAt(c, await readState(sql), async () => {
    const datum = await readDatum(sql, hash.toLowerCase());
    return datum ? { datum: toHex(datum) } : null;
  });
}

/** Answers with a script by its hash. @throws {HttpFailure} 400 */
export async function answerScript(c: Context, { store: { sql } }: KupoParts, hash: string): Promise<Response> {
  if (!isHex(hash, 28)) throw refused.scriptHash();
  return await answerAt(c, await readState(sql), async () => {
    const script = await readScriptRow(sql, hash.toLowerCase());
    return scriptJson(script?.kind, script?.bytes);
  });
}

/** Distances from the newest block, in slots, of the checkpoints in a list: 10 slots apart, then each twice as far. */
const DISTANCES: readonly number[] = [
  ...[0, 10, 20, 30],
  ...Array.from({ length: 12 }, (_, i) => Math.floor(LONGEST_ROLLBACK / 2 ** (11 - i))),
];

/** Answers with a sample of the blocks. */
export async function answerCheckpoints(c: Context, { store: { sql } }: KupoParts): Promise<Response> {
  return await answerAt(c, await readState(sql), async () => (await readCheckpoints(sql, DISTANCES)).map(pointJson));
}

/** Answers with the block at a slot, or the nearest before it. @throws {HttpFailure} 400 */
export async function answerCheckpoint(c: Context, { store: { sql } }: KupoParts, text: string): Promise<Response> {
  const slot = readSlot(text);
  const isStrict = readStrict(parametersOf(c.req.url));
  return await answerAt(c, await readState(sql), async () => {
    const block = await readBlockUntil(sql, slot);
    return block === undefined || isStrict && BigInt(block.slot) !== slot ? null : pointJson(block);
  });
}

/** Answers with the metadata of the first block at or after a slot. @throws {HttpFailure} 400 */
export async function answerMetadata(c: Context, { store: { sql } }: KupoParts, text: string): Promise<Response> {
  const slot = readSlot(text);
  const only = readTransactionFilter(parametersOf(c.req.url));
  const state = await readState(sql);
  if (slot === 0n) return await answerAt(c, state, async () => []);
  const block = await readBlockFrom(sql, slot);
  if (block === undefined) throw refused.ancestor();
  c.header("X-Block-Header-Hash", block.hash);
  return await answerAt(c, state, async () => {
    const transactions = await readBlockTransactions(sql, block.height);
    return transactions.filter(({ hash }) => only === undefined || hash === only).flatMap(({ cbor }) => {
      const { auxiliaryData } = scanTransaction(cbor);
      return auxiliaryData ? [metadataJson(auxiliaryData)] : [];
    });
  });
}
