/** Reads the rows that one fact's proof is built from, at one point of the chain. */
import { toHex } from "#src/base/bytes.ts";
import type { Row } from "#src/chain/index/projection.ts";
import { type PackedFacts, readFactLeaves } from "#src/tokens/index/leaves.ts";
import { readToken, type TokenState } from "#src/tokens/index/read.ts";
import { bytes } from "#src/tokens/index/rows.ts";
import { bucketKeyOf } from "#src/tokens/index/trie.ts";
import { bucketOf } from "#src/forestry/cut.ts";
import type { Queries } from "#src/store/store.ts";

/** A fact's row. */
export interface StoredFact {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** A token's state and, unless it is quarantined, the fact at a path and the facts that its proof needs. */
type Evidence =
  | { readonly status: "unknown" | "ended" }
  | { readonly status: "quarantined"; readonly state: TokenState }
  | { readonly status: "live"; readonly state: TokenState; readonly fact?: StoredFact; readonly facts: PackedFacts };

/**
 * Reads the evidence for a path (the digest of a key). `sql` must see one point of the index. With `whole` it reads every
 * fact that the proof needs. Without, it reads only what differs between paths under one root: for a token with a cut, the
 * facts in the path's bucket.
 */
export async function readEvidence(sql: Queries, token: string, path: Uint8Array, whole: boolean): Promise<Evidence> {
  const found = await readToken(sql, token);
  if (!("state" in found)) return found;
  if (found.status === "quarantined") return { status: "quarantined", state: found.state };
  const [facts, [row]] = await Promise.all([
    whole ? readFactLeaves(sql, found.state, [toHex(path)]) : readOwnBucket(sql, found.state, path),
    sql<Row[]>`select key, value from fact where entry = ${`${token}:${toHex(path)}`} and to_slot is null`,
  ]);
  return {
    status: "live",
    state: found.state,
    facts,
    ...(row ? { fact: { key: bytes(row, "key"), value: bytes(row, "value") } } : {}),
  };
}

async function readOwnBucket(sql: Queries, { token, cut }: TokenState, path: Uint8Array): Promise<PackedFacts> {
  if (!cut) return { leaves: new Uint8Array() };
  const bucket = bucketKeyOf(token, path);
  const [row] = await sql<Row[]>`select leaves from bucket_leaves where bucket = ${bucket}`;
  return { leaves: bytes(row, "leaves"), cut: { hashes: new Uint8Array(), buckets: [bucketOf(path)] } };
}
