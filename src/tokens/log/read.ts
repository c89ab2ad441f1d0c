/** Reads of the log: checkpoints, bundles of entries, proofs. */
import { utf8 } from "#src/base/bytes.ts";
import type { Queries } from "#src/store/store.ts";
import { parseCheckpoint } from "#src/tlog/checkpoint.ts";
import { logProofText } from "#src/tlog/proofFile.ts";
import { encodeEntries, hasTile, TILE_WIDTH, type TileFile } from "#src/tlog/tiles.ts";
import { inclusionProof } from "#src/tlog/tree.ts";
import { readHashes, readSize, withHashes } from "#src/tokens/log/rows.ts";

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

/** Index of the entry of a token's state (`refKey`), or of the newest entry of the token; undefined where there is none. */
export async function readEntryIndex(sql: Queries, token: string, ref?: string): Promise<number | undefined> {
  const [row] = ref === undefined
    ? await sql<{ n: bigint }[]>`
      select n from log_entry where token = ${token} and not withdrawn order by seq desc limit 1`
    : await sql<{ n: bigint }[]>`
      select n from log_entry where ref = ${ref} and token = ${token} and not withdrawn order by n desc limit 1`;
  return row && Number(row.n);
}
