/** The facts that a new root or a proof is computed from. */
import type { TokenState } from "#src/cage/index/read.ts";
import type { Queries } from "#src/store/store.ts";

/** Facts of a token: digests of key and value, 64 bytes each in one array. */
export interface PackedFacts {
  readonly leaves: Uint8Array;
}

/** Reads what changes at some paths (digests of keys, in hexadecimal) need; packed by the database, as 100,000 rows would take seconds here. */
export async function readFactLeaves(sql: Queries, state: TokenState, _paths: readonly string[]): Promise<PackedFacts> {
  const [row] = await sql<{ leaves: Uint8Array | null }[]>`
    select string_agg(decode(path, 'hex') || digest, ''::bytea) as leaves from fact
    where token = ${state.token} and to_slot is null`;
  return { leaves: new Uint8Array(row!.leaves ?? []) };
}
