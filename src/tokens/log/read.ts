/** Reads of the log: checkpoints, bundles of entries, proofs. */
import { utf8 } from "#src/base/bytes.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";
import { parseCheckpoint } from "#src/tlog/checkpoint.ts";
import { logProofText } from "#src/tlog/proofFile.ts";
import { encodeEntries, hasTile, TILE_WIDTH, type TileFile, tilesRead } from "#src/tlog/tiles.ts";
import { multiProof } from "#src/tlog/multiProof.ts";
import { inclusionProof } from "#src/tlog/tree.ts";
import type { InclusionsInput } from "#src/tokens/builds/inclusions.ts";
import { parseLeaf, type StateLeaf, type TokenLeaf } from "#src/contract/logLeaf.ts";
import { newestCounted, readHashes, readSize, readTiles, withHashes } from "#src/tokens/log/rows.ts";

/** A checkpoint with the signatures of witnesses. */
const CHECKPOINTS = (sql: Queries) =>
  sql`select k.size, k.note, count(c.line) as signed, coalesce(string_agg(c.line, '' order by c.witness), '') as lines
    from log_checkpoint k left join log_cosignature c using (size)`;

interface CheckpointRow {
  readonly size: bigint;
  readonly note: string;
  readonly lines: string;
}

/** The newest checkpoint; undefined before the first. */
export async function readCheckpoint(sql: Queries): Promise<string | undefined> {
  const [row] = await sql<CheckpointRow[]>`${CHECKPOINTS(sql)} group by k.size, k.note order by k.size desc limit 1`;
  return row && row.note + row.lines;
}

/** A file of tiles or entries; undefined where the log has it not. */
export async function readFile(sql: Queries, file: TileFile): Promise<Uint8Array | undefined> {
  if (!hasTile(await readSize(sql), file)) return undefined;
  const { level, index, width } = file;
  if (level !== "entries") return await readHashes(sql, { level, index }, width);
  const first = index * TILE_WIDTH;
  const rows = await sql<{ entry: string }[]>`
    select entry from log_entry where n >= ${first} and n < ${first + width} order by n`;
  return rows.length < width ? undefined : encodeEntries(rows.map(({ entry }) => utf8(entry)));
}

/**
 * The proof of an entry as a file, with the entry as its extra data: under the newest of the checkpoints that most
 * witnesses have signed. Undefined where the log has no such entry.
 */
export async function readProof(sql: Queries, index: number): Promise<string | undefined> {
  const [found] = await sql<{ entry: string }[]>`select entry from log_entry where n = ${index}`;
  if (!found) return undefined;
  const [row] = await sql<CheckpointRow[]>`
    ${CHECKPOINTS(sql)} where k.size > ${index} group by k.size, k.note order by signed desc, k.size desc limit 1`;
  if (!row) return undefined;
  const checkpoint = row.note + row.lines;
  const parsed = parseCheckpoint(checkpoint);
  if (!parsed.ok) throw new Error(`a stored checkpoint is malformed: ${parsed.error.message}`);
  const hashes = await withHashes(sql, (hashOf) => inclusionProof(index, Number(row.size), hashOf));
  return logProofText({ extra: utf8(found.entry), index, hashes, checkpoint });
}

/**
 * Index of the entry of a token's state (`refKey`), or of the newest entry of the token; undefined where there is none. With
 * `SNAPSHOTS` that of the snapshot after a block (its hash), or of the newest one.
 */
export async function readEntryIndex(sql: Queries, token: string, ref?: string): Promise<number | undefined> {
  const [row] = ref === undefined
    ? await sql<{ n: bigint | null }[]>`select ${newestCounted(sql, "n", sql`token = ${token}`)} as n`
    : await sql<{ n: bigint }[]>`
      select n from log_entry where ref = ${ref} and token = ${token} and not withdrawn order by n desc limit 1`;
  return row?.n == null ? undefined : Number(row.n);
}

/** Entries of a token without a gap, those that a rollback withdrew among them. */
export interface TokenSpan {
  /** By ascending number. */
  readonly entries: readonly SpanEntry[];
  /** Number of the last entry that is wanted: more pages follow where it is not among the entries. */
  readonly to: number;
  /** The checkpoint that has them all, and its size. */
  readonly checkpoint: string;
  readonly size: number;
  /** States on the chain of the same block as the first one of the span that are before it. */
  readonly before: readonly SpanEntry[];
}

/** An entry of a token, with its index in the log. */
export interface SpanEntry {
  readonly index: number;
  readonly leaf: TokenLeaf;
  /** Whether a later entry of the token says that this one is not on the chain. */
  readonly withdrawn: boolean;
}

/** Which entries of a token are wanted, by their numbers; `size` is that of the checkpoint, by default the best one. */
export interface SpanQuery {
  readonly token: string;
  readonly from: number;
  readonly to?: number | undefined;
  readonly size?: number | undefined;
}

/**
 * The first entries of a span, at most `limit`, under the newest of the checkpoints that most witnesses have signed;
 * `not_logged` where the log, or that checkpoint, has them not; `undone` while the log has not noted a rollback.
 */
export async function readSpan(
  sql: Queries,
  { token, from, to, size }: SpanQuery,
  limit: number,
): Promise<TokenSpan | "not_logged" | "undone"> {
  const [head] = await sql<{ undone: boolean }[]>`select undone_to is not null as undone from log_head`;
  if (head?.undone) return "undone";
  const [needed] = await sql<{ n: bigint }[]>`
    select n from log_entry where token = ${token} and seq = ${to ?? from}`;
  if (!needed) return "not_logged";
  const covering = size === undefined ? sql`k.size > ${needed.n}` : sql`k.size = ${size} and k.size > ${needed.n}`;
  const [row] = await sql<CheckpointRow[]>`
    ${CHECKPOINTS(sql)} where ${covering} group by k.size, k.note order by signed desc, k.size desc limit 1`;
  if (!row) return "not_logged";
  // of entries that a later one withdraws, none counts in a span that has not that one too
  const { last } = await onlyRow(sql<{ last: bigint }[]>`
    select least(max(seq) filter (where n < ${row.size}), min(undoes) filter (where n >= ${row.size}) - 1) as last
    from log_entry where token = ${token}`);
  const end = Math.min(to ?? Infinity, Number(last));
  const [later] = await sql`select from log_entry where token = ${token} and undoes <= ${end} and seq > ${end}`;
  if (later) return "not_logged";
  const read = async (condition: ReturnType<typeof sql>, most: number) =>
    (await sql<SpanRow[]>`select n, entry, withdrawn from log_entry
      where token = ${token} and ${condition} order by seq limit ${most}`).map(spanEntry);
  const entries = await read(sql`seq between ${from} and ${end}`, limit);
  if (entries.length === 0) return "not_logged";
  const first = entries.find(isOnChain);
  const before = first === undefined
    ? []
    : await read(sql`slot = ${first.leaf.slot} and seq < ${from} and not withdrawn and undoes is null`, MOST_BEFORE);
  return { entries, to: end, checkpoint: row.note + row.lines, size: Number(row.size), before };
}

const MOST_BEFORE = Number.MAX_SAFE_INTEGER;

interface SpanRow {
  readonly n: bigint;
  readonly entry: string;
  readonly withdrawn: boolean;
}

function spanEntry({ n, entry, withdrawn }: SpanRow): SpanEntry {
  const leaf = parseLeaf(utf8(entry));
  if (leaf?.token === undefined) throw new Error(`the entry ${n} of the log is not that of a token`);
  return { index: Number(n), leaf, withdrawn };
}

/** Whether an entry is a state, or an end, that is on the chain. */
export function isOnChain(entry: SpanEntry): entry is SpanEntry & { readonly leaf: StateLeaf } {
  return !entry.withdrawn && entry.leaf.kind !== "rollback";
}

/** Reads what `inclusions` computes the proof of entries under the root of the first `size` entries from. */
export async function readInclusions(
  sql: Queries,
  indices: readonly number[],
  size: number,
): Promise<InclusionsInput> {
  return { indices, size, tiles: await readTiles(sql, tilesRead((hashOf) => multiProof(indices, size, hashOf))) };
}
