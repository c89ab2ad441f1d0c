/**
 * The rows of Kupo's patterns: which outputs are matches.
 *
 * Kupo keeps the outputs of the blocks that it read while a pattern was active. Here every output is in the index, so a
 * row says of which blocks a pattern has the outputs. A block made after a rollback has a later fork than those before,
 * so rows stay right through rollbacks that this file never hears of.
 */
import { parsePattern, type Pattern, patternText, WILDCARD } from "#src/devnet/index/kupo/pattern.ts";
import { present } from "#src/base/present.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** A row of `devnet_kupo_pattern`. */
export interface PatternRow {
  readonly pattern: string;
  /** Whether matches were deleted, and not a pattern added. */
  readonly hides: boolean;
  readonly after_height: number;
  readonly after_fork: number;
  /** Null: the pattern is active. */
  readonly until_height: number | null;
  readonly until_fork: number | null;
}

/** The height after which blocks are, and the genesis with them. */
export const BEFORE_GENESIS = -2;

/** Rows that there are at most: each is compared with each output. */
export const PATTERNS_MOST = 1_000;

/** Expression for all rows, as JSON. */
export const patternRows = (sql: Queries): Fragment =>
  sql`(select coalesce(json_agg(p order by p.id), '[]') from devnet_kupo_pattern p)`;

/** The active patterns among rows. */
export function activePatterns(rows: readonly PatternRow[]): Pattern[] {
  const active = rows.filter(({ hides, until_height }) => !hides && until_height === null);
  return active.map(({ pattern }) => pattern).sort().map(patternOf);
}

/** Whether rows make every output of the chain a match. */
export function matchAll(rows: readonly PatternRow[]): boolean {
  return rows.some(({ pattern, hides, after_height, until_height }) =>
    pattern === WILDCARD && !hides && after_height === BEFORE_GENESIS && until_height === null
  );
}

/**
 * Condition on outputs `o` and their blocks `b` that some rows make them matches. It is one text for all rows, since a
 * connection keeps the plan of each.
 */
export function covered(sql: Queries, rows: readonly PatternRow[]): Fragment {
  if (matchAll(rows)) return sql`true`;
  const rules = (hides: boolean) =>
    sql`exists (
    select from json_to_recordset(${
      JSON.stringify(rows.filter((row) => row.hides === hides).map(ruleOf))
    }::text::json) as r (
      shelley boolean, address text, payment text, stake text, tx_hash text, index int, unit text, policy text,
      label numeric, after_height bigint, after_fork bigint, until_height bigint, until_fork bigint)
    where (o.height > r.after_height or coalesce(b.fork, 0) > r.after_fork)
      and (r.until_height is null or o.height <= r.until_height and coalesce(b.fork, 0) <= r.until_fork)
      and (not r.shelley or o.payment is not null)
      and (r.address is null or o.address = r.address)
      and (r.payment is null or substr(o.payment, 2) = r.payment)
      and (r.stake is null or substr(o.stake, 2) = r.stake)
      and (r.tx_hash is null or o.tx_hash = r.tx_hash)
      and (r.index is null or o.index = r.index)
      and (r.unit is null or exists (select from devnet_index_asset a
        where a.tx_hash = o.tx_hash and a.index = o.index and a.unit = r.unit))
      and (r.policy is null or exists (select from devnet_index_asset a
        where a.tx_hash = o.tx_hash and a.index = o.index and substr(a.unit, 1, 56) = r.policy))
      and (r.label is null or exists (select from devnet_index_metadata m
        where m.label = r.label and m.height = o.height and m.tx_index = o.tx_index)))`;
  const hidden = rows.some(({ hides }) => hides) ? sql`not ${rules(true)}` : sql`true`;
  return sql`(${rules(false)} and ${hidden})`;
}

/** A row as the condition reads it. */
function ruleOf({ pattern: text, after_height, after_fork, until_height, until_fork }: PatternRow) {
  return { ...partsOf(patternOf(text)), after_height, after_fork, until_height, until_fork };
}

function partsOf(pattern: Pattern): object {
  switch (pattern.kind) {
    case "any":
    case "shelley":
      return { shelley: pattern.kind === "shelley" };
    case "address":
      return { shelley: false, address: pattern.address };
    case "credentials":
      return { shelley: true, payment: pattern.payment, stake: pattern.stake };
    case "output":
      return { shelley: false, tx_hash: pattern.txHash, index: pattern.index };
    case "asset": {
      const { policy, name } = pattern;
      return { shelley: false, ...(name === undefined ? { policy } : { unit: policy + name }) };
    }
    case "label":
      return { shelley: false, label: pattern.label };
  }
}

const patternOf = (text: string): Pattern => present(parsePattern(text), `the pattern ${text}`);

/** A place in the chain from which rows count. */
interface Place {
  readonly height: number;
  readonly fork: number;
}

/** Has the rows for itself until the transaction ends, and gives the chain's tip (height -1: the genesis). */
export async function lockPatterns(sql: Queries): Promise<Place> {
  await sql`lock table devnet_kupo_pattern in share row exclusive mode`;
  const { height, fork } = await onlyRow(sql<{ height: bigint; fork: bigint }[]>`
    select coalesce((select max(height) from devnet_block), -1) as height,
      coalesce((select fork from devnet_meta), 0) as fork`);
  return { height: Number(height), fork: Number(fork) };
}

/**
 * Adds patterns, as if blocks above a height were read again: those above it are matched with the patterns that are
 * active now, and deleted matches come back. Gives the active patterns; undefined where there would be too many rows. In
 * a transaction.
 */
export async function addPatterns(
  sql: Queries,
  patterns: readonly Pattern[],
  height: number,
): Promise<Pattern[] | undefined> {
  const { fork } = await lockPatterns(sql);
  await sql`update devnet_kupo_pattern set after_height = least(after_height, ${height})
    where not hides and until_height is null`;
  await sql`update devnet_kupo_pattern set until_height = least(until_height, ${height}) where until_height is not null`;
  await sql`delete from devnet_kupo_pattern
    where until_height <= after_height and until_fork <= after_fork`;
  const texts = [...new Set(patterns.map(patternText))];
  await sql`insert into devnet_kupo_pattern (pattern, after_height, after_fork)
    select text, ${height}, ${fork} from unnest(${sql.array(texts)}::text[]) as new (text)
    where not exists (
      select from devnet_kupo_pattern p where p.pattern = new.text and not p.hides and p.until_height is null)`;
  const { rows } = await onlyRow(sql<{ rows: PatternRow[] }[]>`select ${patternRows(sql)} as rows`);
  return rows.length > PATTERNS_MOST ? undefined : activePatterns(rows);
}

/** Removes an active pattern; its matches stay. Gives the number of patterns removed. In a transaction. */
export async function removePattern(sql: Queries, pattern: Pattern): Promise<number> {
  const { height, fork } = await lockPatterns(sql);
  const removed = await sql`update devnet_kupo_pattern set until_height = ${height}, until_fork = ${fork}
    where pattern = ${patternText(pattern)} and not hides and until_height is null returning 1`;
  await sql`delete from devnet_kupo_pattern
    where until_height <= after_height and until_fork <= after_fork`;
  return removed.length;
}

/** Hides the matches of a pattern that are in the chain now. In a transaction. */
export async function hideMatches(sql: Queries, pattern: Pattern): Promise<void> {
  const { height, fork } = await lockPatterns(sql);
  const text = patternText(pattern);
  await sql`delete from devnet_kupo_pattern where hides and pattern = ${text}`;
  await sql`insert into devnet_kupo_pattern (pattern, hides, after_height, after_fork, until_height, until_fork)
    values (${text}, true, ${BEFORE_GENESIS}, 0, ${height}, ${fork})`;
}
