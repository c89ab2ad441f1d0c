/** What is pending, by what it spends or holds: submitted through us, and in no block that the index has. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Queries } from "#src/store/store.ts";

/** Hashes of the pending transactions that spend some outputs, by output (`refKey`); outputs that none spends are left out. */
export async function readPendingSpends(sql: Queries, refs: readonly string[]): Promise<Map<string, string>> {
  const keys = sql.array([...refs]);
  const rows = await sql<{ ref: string; hash: string }[]>`
    select spent.ref, s.hash from submission_open join submission s using (hash), unnest(s.inputs) spent(ref)
    where s.inputs && ${keys}::text[] and spent.ref = any(${keys}::text[])`;
  return new Map(rows.map(({ ref, hash }) => [ref, hash]));
}

/** Most transactions that are looked at for one question. */
const MOST = 20;

/** Pending transactions that hold some bytes (hexadecimal), at most 20: candidates for a closer look. */
export async function readPendingWith(sql: Queries, bytes: string): Promise<ScannedTransaction[]> {
  const rows = await sql<{ cbor: Uint8Array }[]>`
    select s.cbor from submission_open join submission s using (hash)
    where position(decode(${bytes}, 'hex') in s.cbor) > 0 order by length(s.cbor) limit ${MOST}`;
  return rows.map(({ cbor }) => scanTransaction(new Uint8Array(cbor)));
}
