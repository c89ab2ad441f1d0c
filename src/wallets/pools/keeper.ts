/**
 * Fetches pools' metadata from the configured source, retries failures later, and asks a SMASH server which pools it
 * delists.
 *
 * Assumptions: one process does this at a time, under a lease. Rows carry their source, so rows of a replaced source
 * are ignored. The text under a hash never changes, so it is fetched once.
 */
import { sleep } from "#src/base/clock.ts";
import { toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Store } from "#src/store/store.ts";
import type { FetchOptions } from "#src/base/outsideFetch.ts";
import { OutsideTurns } from "#src/base/outsideTurns.ts";
import type { PoolBook } from "#src/wallets/pools/book.ts";
import { fetchDelisted, fetchMetadata, type PoolAnchor } from "#src/wallets/pools/metadata.ts";
import { isServer, type PoolSource, readSource } from "#src/wallets/pools/source.ts";

interface PoolKeeperOptions {
  readonly store: Store;
  readonly book: PoolBook;
  readonly fetch: Pick<FetchOptions, "allowPrivate" | "chosen" | "ca" | "timeoutMs">;
  readonly log: Log;
  /** Milliseconds between two checks of the source. */
  readonly lookMs?: number;
  /** Milliseconds until the first retry of a failure; doubles each time, up to a day. */
  readonly retryMs?: number;
  /** Milliseconds after which a request leaves its place to the next (`OutsideTurns`). */
  readonly slowMs?: number;
}

const LOOK_MS = 1_000;
/** Checks of the source per check for missing metadata. */
const CHECKS_PER_FETCH = 5;
const RETRY_MS = 60_000;
const DAY_MS = 86_400_000;
/** Milliseconds between two requests for the delisted pools. */
const DELISTED_MS = 3_600_000;

/** Fetches until the signal aborts. */
export async function keepPools(options: PoolKeeperOptions, signal: AbortSignal): Promise<void> {
  const { log, lookMs = LOOK_MS } = options;
  const fetches = new PoolFetches(options, signal);
  let looks = 0;
  while (!signal.aborted) {
    try {
      const source = await readSource(options.store.sql);
      // a new source means new missing metadata; otherwise it is checked less often
      const isNew = fetches.use(source);
      if (source !== "none" && (isNew || looks++ % CHECKS_PER_FETCH === 0)) {
        for (const one of await dueAnchors(options, source)) fetches.begin(one);
        if (isServer(source)) await updateDelisted(options, source, signal);
      }
    } catch (error) {
      if (signal.aborted) break;
      log.warn("updating pool metadata failed", { reason: reason(error) });
    }
    await sleep(lookMs, signal);
  }
  await fetches.ended();
}

/** Fetches of pools' metadata, each by itself: none waits for another one's server, or fails with it. */
class PoolFetches {
  private source: PoolSource = "none";
  private readonly turns: OutsideTurns;
  private readonly running = new Map<string, Promise<void>>();

  constructor(private readonly options: PoolKeeperOptions, private readonly signal: AbortSignal) {
    this.turns = new OutsideTurns(options);
  }

  /** Fetches from a source from now on; gives whether it is another one than before. */
  use(source: PoolSource): boolean {
    const isNew = source !== this.source;
    this.source = source;
    return isNew;
  }

  /** Begins to fetch in its turn, unless that is begun already. */
  begin(anchor: DueAnchor): void {
    const { source, running } = this;
    const key = `${source} ${anchor.pool} ${anchor.hash}`;
    if (running.has(key)) return;
    const fetched = this.turns.run(async () => {
      if (!this.signal.aborted && source === this.source) await fetchOne(this.options, source, anchor, this.signal);
    }).catch((error: unknown) => {
      if (this.signal.aborted) return;
      this.options.log.warn("metadata of a pool cannot be stored", { pool: anchor.pool, reason: reason(error) });
    }).finally(() => running.delete(key));
    running.set(key, fetched);
  }

  /** Resolves when all that was begun is over. */
  async ended(): Promise<void> {
    await Promise.all(this.running.values());
  }
}

/** Options of requests to a source: an address that the operator chose is allowed as that source alone. */
function fetchOf({ fetch }: PoolKeeperOptions, source: PoolSource, signal?: AbortSignal): FetchOptions {
  const { chosen, ...others } = fetch;
  return { ...others, ...(chosen === source ? { chosen } : {}), ...(signal ? { signal } : {}) };
}

/** Metadata to fetch. */
interface DueAnchor extends PoolAnchor {
  readonly attempts: number;
}

async function dueAnchors({ store, book }: PoolKeeperOptions, source: PoolSource): Promise<DueAnchor[]> {
  const pools = await book.all();
  if (!pools.ok) return [];
  const anchors = [...pools.value.values()].flatMap(({ pool, metadata }) =>
    metadata ? [{ pool, url: metadata.url, hash: metadata.hash }] : []
  );
  if (anchors.length === 0) return [];
  const rows = await store.sql<{ pool: string; hash: string; attempts: number; due: boolean }[]>`
    select pool, hash, attempts, coalesce(again_at <= now(), false) as due from pool_metadata where source = ${source}`;
  const known = new Map(rows.map((row) => [`${row.pool} ${row.hash}`, row]));
  return anchors.flatMap((anchor) => {
    const row = known.get(`${anchor.pool} ${anchor.hash}`);
    return row && !row.due ? [] : [{ ...anchor, attempts: row?.attempts ?? 0 }];
  });
}

async function fetchOne(
  options: PoolKeeperOptions,
  source: PoolSource,
  anchor: DueAnchor,
  signal: AbortSignal,
): Promise<void> {
  const { store, retryMs = RETRY_MS } = options;
  const answer = await fetchMetadata(source, anchor, fetchOf(options, source, signal));
  if (signal.aborted) return;
  const attempts = anchor.attempts + 1;
  const wait = answer.ok ? null : Math.min(DAY_MS, retryMs * 2 ** Math.min(20, anchor.attempts));
  await store.sql`insert into pool_metadata (source, pool, hash, metadata, problem, attempts, again_at) values (
      ${source}, ${anchor.pool}, ${anchor.hash}, ${answer.ok ? toJson(answer.value) : null}::text::jsonb,
      ${answer.ok ? null : answer.error.code}, ${attempts}, now() + ${wait}::float8 * interval '1 millisecond')
    on conflict (source, pool, hash) do update set metadata = excluded.metadata, problem = excluded.problem,
      attempts = excluded.attempts, again_at = excluded.again_at`;
  options.log.with({ component: "pools-db" }).debug("pool metadata is stored", {
    pool: anchor.pool,
    problem: answer.ok ? null : answer.error.code,
  });
}

async function updateDelisted(
  options: PoolKeeperOptions,
  source: PoolSource,
  signal: AbortSignal,
): Promise<void> {
  const { store, log } = options;
  const [asked] = await store.sql`select 1 from pool_source where source = ${source}
    and delisted_at > now() - ${DELISTED_MS}::float8 * interval '1 millisecond'`;
  if (asked) return;
  const answer = await fetchDelisted(source, fetchOf(options, source, signal));
  if (signal.aborted) return;
  if (answer.ok) await writeDelisted(store, source, answer.value);
  else log.warn("a SMASH server does not return its delisted pools", { reason: answer.error.message });
  // a failed request is repeated later too
  await store.sql`insert into pool_source (source, delisted_at) values (${source}, now())
    on conflict (source) do update set delisted_at = now()`;
}

async function writeDelisted(store: Store, source: PoolSource, pools: readonly string[]): Promise<void> {
  await store.sql.begin(async (sql) => {
    const list = sql.array([...pools]);
    await sql`delete from pool_delisted where source = ${source} and pool <> all(${list})`;
    await sql`insert into pool_delisted (source, pool) select ${source}, unnest(${list}::text[]) on conflict do nothing`;
  });
}

/** State of the last removal of stale metadata. */
type GarbageCollection =
  | { readonly status: "not_applicable" }
  | { readonly status: "not_started" }
  | { readonly status: "has_run"; readonly at: Date };

/** Whether and when metadata of delisted and unregistered pools was removed; only a SMASH server delists. */
export async function readCollection(store: Store): Promise<GarbageCollection> {
  const source = await readSource(store.sql);
  if (!isServer(source)) return { status: "not_applicable" };
  const [row] = await store.sql<{ at: Date | null }[]>`
    select collected_at as at from pool_source where source = ${source}`;
  return row?.at ? { status: "has_run", at: row.at } : { status: "not_started" };
}

/** Updates the delisted pools, and deletes metadata of delisted and unregistered ones. */
export async function collect(options: PoolKeeperOptions): Promise<void> {
  const { store, book } = options;
  const source = await readSource(store.sql);
  if (!isServer(source)) return;
  const [pools, delisted] = await Promise.all([book.all(), fetchDelisted(source, fetchOf(options, source))]);
  if (delisted.ok) await writeDelisted(store, source, delisted.value);
  if (pools.ok) {
    await store.sql`delete from pool_metadata where source = ${source}
      and (pool <> all(${store.sql.array([...pools.value.keys()])})
        or pool in (select pool from pool_delisted where source = ${source}))`;
  }
  await store.sql`insert into pool_source (source, collected_at) values (${source}, now())
    on conflict (source) do update set collected_at = now()`;
}
