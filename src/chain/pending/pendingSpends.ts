/** Pending transactions (submitted here and in no indexed block), by what they spend or contain. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Queries } from "#src/store/store.ts";

/** Hashes of the pending transactions that spend given outputs, by output (`refKey`); unspent ones are left out. */
export async function readPendingSpends(sql: Queries, refs: readonly string[]): Promise<Map<string, string>> {
  const keys = sql.array([...refs]);
  const rows = await sql<{ ref: string; hash: string }[]>`
    select spent.ref, s.hash from submission_open join submission s using (hash), unnest(s.inputs) spent(ref)
    where s.inputs && ${keys}::text[] and spent.ref = any(${keys}::text[])`;
  return new Map(rows.map(({ ref, hash }) => [ref, hash]));
}

/** Transactions scanned for one request at most. */
const MAX_SCANNED = 20;

/**
 * Pending transactions whose CBOR contains some bytes (hexadecimal), at most 20, shortest first. The caller filters
 * them.
 */
export async function readPendingContaining(sql: Queries, bytes: string): Promise<ScannedTransaction[]> {
  const rows = await sql<{ cbor: Uint8Array }[]>`
    select s.cbor from submission_open join submission s using (hash)
    where position(decode(${bytes}, 'hex') in s.cbor) > 0 order by length(s.cbor) limit ${MAX_SCANNED}`;
  return rows.map(({ cbor }) => scanTransaction(new Uint8Array(cbor)));
}
