/** The log and its witnesses, for operators. */
import { readSlotBelow } from "#src/chain/index/cursor.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";
import { vkeyOf } from "#src/tlog/note.ts";
import { logSigner } from "#src/tokens/log/keys.ts";
import type { LogSettings } from "#src/tokens/log/settings.ts";

/** Longest count of states that are to be appended. */
const MOST_UNLOGGED = 100_000;

/** How far the log is. */
export interface LogCounts {
  readonly size: number;
  /** Age of the newest checkpoint in milliseconds; null before the first. */
  readonly checkpointMs: number | null;
  /** States that are final and not in the log yet, at most 100,000. */
  readonly unlogged: number;
}

/** A witness that the log requests. */
export interface WitnessStatus {
  readonly url: string;
  /** Entries of the last checkpoint that it signed, and when. */
  readonly size: number;
  readonly signedAt: Date | null;
  /** The last request without a signature. */
  readonly refusedAt: Date | null;
  readonly refusal: string | null;
}

export interface LogStatus extends LogCounts {
  readonly origin: string;
  readonly vkey: string;
  readonly witnesses: readonly WitnessStatus[];
}

/** Reads how far the log is; `depth` is that of its settings. */
export async function readLogCounts(sql: Queries, { depth }: Pick<LogSettings, "depth">): Promise<LogCounts> {
  const final = await readSlotBelow(sql, depth);
  const row = await onlyRow(sql<{ size: bigint; age: number | null; unlogged: number }[]>`
    select h.size, (select extract(epoch from now() - max(made_at))::float8 * 1000 from log_checkpoint) as age,
      (select count(*)::int from (select from token_state s where s.from_slot > h.slot and s.from_slot <= ${final}
        limit ${MOST_UNLOGGED}) due) as unlogged
    from log_head h`);
  return {
    size: Number(row.size),
    checkpointMs: row.age === null ? null : Math.max(0, Math.round(row.age)),
    unlogged: row.unlogged,
  };
}

/** Reads the log and its witnesses, in the order of the settings. */
export async function readLogStatus(sql: Queries, networkMagic: number, settings: LogSettings): Promise<LogStatus> {
  const [signer, counts, rows] = await Promise.all([
    logSigner(sql, networkMagic, settings),
    readLogCounts(sql, settings),
    sql<{ url: string; size: bigint; signed_at: Date | null; refused_at: Date | null; refusal: string | null }[]>`
      select url, size, signed_at, refused_at, refusal from log_witness`,
  ]);
  const known = new Map(rows.map((row) => [row.url, row]));
  return {
    origin: signer.name,
    vkey: vkeyOf(signer),
    ...counts,
    witnesses: settings.witnesses.map(({ url }) => {
      const row = known.get(url);
      return {
        url,
        size: Number(row?.size ?? 0),
        signedAt: row?.signed_at ?? null,
        refusedAt: row?.refused_at ?? null,
        refusal: row?.refusal ?? null,
      };
    }),
  };
}
