/**
 * Builds the trie of a token's facts from rows: from all leaves while the token is small; from its cut and the leaves of the
 * buckets that the changes need once it is large.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Row, RowQuery, Rows } from "#src/chain/index/projection.ts";
import { bytes, text } from "#src/tokens/index/rows.ts";
import { bucketOf, CUT_BYTES, neededBuckets, openCut } from "#src/forestry/cut.ts";
import { Forestry, type Leaf } from "#src/forestry/trie.ts";

/** Number of facts above which the cut is stored: rebuilding a larger trie would block the event loop. */
export const CUT_ABOVE = 1_024;

const LEAF_BYTES = 64;
const ENTRY_BYTES = 34;

/** A token's facts before a change: how many there are, and whether their cut is stored. */
export interface FactsBefore {
  readonly token: string;
  readonly facts: number;
  readonly cut: boolean;
}

/** A bucket's key in rows. */
export function bucketKey(token: string, bucket: number): string {
  return `${token}:${bucket.toString(16).padStart(3, "0")}`;
}

/** Unpacks leaves of 64 bytes. */
export function unpackLeaves(packed: Uint8Array): Leaf[] {
  const leaves: Leaf[] = [];
  for (let at = 0; at < packed.length; at += LEAF_BYTES) {
    leaves.push({ path: packed.subarray(at, at + 32), value: packed.subarray(at + 32, at + LEAF_BYTES) });
  }
  return leaves;
}

/** Unpacks the cut in a row of `token_cut`. */
export function unpackCut(row: Row | undefined): Uint8Array {
  const packed = bytes(row, "hashes");
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  const cut = new Uint8Array(CUT_BYTES);
  for (let at = 0; at < packed.length; at += ENTRY_BYTES) {
    cut.set(packed.subarray(at + 2, at + ENTRY_BYTES), 32 * view.getUint16(at));
  }
  return cut;
}

const cutQuery = (token: string): RowQuery => ({ table: "token_cut", column: "token", in: [token] });

function cutIn(rows: Rows, token: string): Uint8Array {
  return unpackCut(rows.get("token_cut")?.find((row) => row.token === token));
}

function bucketsIn(rows: Rows, token: string, paths: readonly Uint8Array[]): RowQuery {
  const buckets = neededBuckets(cutIn(rows, token), paths).map((bucket) => bucketKey(token, bucket));
  return { table: "bucket_leaves", column: "bucket", in: buckets };
}

/** Queries for the next rows needed to build a trie for changes at these paths. */
export function trieQueries(rows: Rows, { token, facts, cut }: FactsBefore, paths: readonly Uint8Array[]): RowQuery[] {
  if (facts === 0) return [];
  if (!cut) return [{ table: "token_leaves", column: "token", in: [token] }];
  return [cutQuery(token), ...(rows.has("token_cut") ? [bucketsIn(rows, token, paths)] : [])];
}

/**
 * Builds a token's trie, with its cut if one is stored. `rows_differ` if the rows contradict each other. The single writer
 * never causes that, but a damaged database may; it then affects this token only.
 */
export function trieFrom(
  rows: Rows,
  { token, facts, cut }: FactsBefore,
  paths: readonly Uint8Array[],
): Result<{ readonly trie: Forestry; readonly cut?: Uint8Array }, Failure<"rows_differ">> {
  if (facts === 0) return ok({ trie: new Forestry(), ...(cut ? { cut: new Uint8Array(CUT_BYTES) } : {}) });
  try {
    return cut ? cutTrie(rows, token, paths) : ok({ trie: Forestry.from(unpackLeaves(leavesIn(rows, token))) });
  } catch (error) {
    if (error instanceof RangeError) return rowsDiffer(error.message);
    throw error;
  }
}

function leavesIn(rows: Rows, token: string): Uint8Array {
  return bytes(rows.get("token_leaves")?.find((row) => row.token === token), "leaves");
}

function cutTrie(rows: Rows, token: string, paths: readonly Uint8Array[]): ReturnType<typeof trieFrom> {
  const hashes = cutIn(rows, token);
  const wanted = neededBuckets(hashes, paths);
  const byKey = new Map((rows.get("bucket_leaves") ?? []).map((row) => [text(row, "bucket"), bytes(row, "leaves")]));
  const opened = openCut(
    hashes,
    new Map(wanted.map((bucket) => [bucket, unpackLeaves(byKey.get(bucketKey(token, bucket)) ?? new Uint8Array())])),
  );
  return opened.ok ? ok({ trie: opened.value, cut: hashes }) : rowsDiffer(opened.error.message);
}

function rowsDiffer(message: string): { readonly ok: false; readonly error: Failure<"rows_differ"> } {
  return fail("rows_differ", `the rows of its facts contradict each other: ${message}`);
}

/** The key of the bucket that a path is in. */
export function bucketKeyOf(token: string, path: Uint8Array): string {
  return bucketKey(token, bucketOf(path));
}
