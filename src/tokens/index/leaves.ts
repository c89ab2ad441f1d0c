/** The facts from which a new root and its proofs are computed, packed: 64 bytes each, digest of the key and of the value. */
import { concat, fromHex } from "#src/base/bytes.ts";
import type { Row } from "#src/chain/index/projection.ts";
import type { TokenState } from "#src/tokens/index/read.ts";
import { bytes } from "#src/tokens/index/rows.ts";
import { bucketKey, unpackCut } from "#src/tokens/index/trie.ts";
import { neededBuckets } from "#src/forestry/cut.ts";
import type { Queries } from "#src/store/store.ts";

/** All facts of a token; or, for a token with a cut, the cut and the facts of the buckets that the changes need. */
export interface PackedFacts {
  readonly leaves: Uint8Array;
  readonly cut?: { readonly hashes: Uint8Array; readonly buckets: readonly number[] };
}

/** Reads the facts that changes at `paths` (digests of keys, in hexadecimal) need. */
export async function readFactLeaves(sql: Queries, state: TokenState, paths: readonly string[]): Promise<PackedFacts> {
  const { token } = state;
  if (!state.cut) {
    const rows = await sql<Row[]>`select leaves from token_leaves where token = ${token}`;
    return { leaves: packed(rows) };
  }
  const [row] = await sql<Row[]>`select hashes from token_cut where token = ${token}`;
  const hashes = unpackCut(row);
  const buckets = neededBuckets(hashes, paths.map(fromHex));
  const rows = await sql<Row[]>`
    select leaves from bucket_leaves where bucket = any(${
    sql.array(buckets.map((bucket) => bucketKey(token, bucket)))
  })`;
  return { leaves: packed(rows), cut: { hashes, buckets } };
}

function packed(rows: readonly Row[]): Uint8Array {
  return concat(...rows.map((row) => bytes(row, "leaves")));
}
