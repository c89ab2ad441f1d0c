/**
 * The follower: reads the chain through the port and is the only writer of index rows.
 *
 * Hypotheses: whoever holds the follower's lease runs this, and every transaction here checks the lease's epoch, so a
 * follower that lost it writes nothing; a block's rows, its entries in the chain log and the cursor commit together, so that a
 * crash at any line leaves either all of a block or none of it; steps are applied one at a time.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { origin, type Point, samePoint, type ScannedBlock, type Tip } from "#src/cardano/block.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import * as measure from "#src/chain/metrics.ts";
import { lapseReservations } from "#src/chain/available.ts";
import { readCursor, readPoints } from "#src/chain/cursor.ts";
import type { At, ChainPort, ChainStep } from "#src/chain/port.ts";
import type { Projection, Rows, Touched } from "#src/cardano/projection.ts";
import { fetchRows, mergeRows, tablesOf, undoRows, writeRows } from "#src/chain/rows.ts";
import { applyAnswer, lapseWatches, placeAnswer, undoWatches, wantedWatches } from "#src/chain/watch.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Queries, Store } from "#src/store/store.ts";

export interface FollowerOptions {
  readonly store: Store;
  readonly port: ChainPort;
  readonly projections: readonly Projection[];
  /** Throws inside a transaction when the follower's lease is no longer held. */
  readonly fence: (sql: Queries) => Promise<void>;
  /** Appends to the runtime's ordered input log, in the transaction it is given. */
  readonly append: (sql: Queries, touched: readonly Touched[]) => Promise<void>;
  /** Doorbell for actors, after the commit. */
  readonly ring: (touched: readonly Touched[]) => void;
  /** Called after each block or rollback. */
  readonly onMoved?: (at: Tip) => void;
  readonly log: Log;
  /** Blocks to keep for rollbacks, twice the network's k unless said otherwise. */
  readonly keepBlocks?: number;
  /** Fault injection: called between the lines of a block's work. */
  readonly onStep?: (step: FollowerStep) => void | Promise<void>;
}

export type FollowerStep = "scanned" | "folded" | "before-commit" | "after-commit" | "before-undo" | "after-undo";

const BACKOFF_MS = [50, 100, 200, 500, 1_000, 2_000, 5_000];
const LAPSE_EVERY_MS = 60_000;
const KEEP_BLOCKS = 4_320;

interface Answer {
  readonly addresses: readonly string[];
  readonly at: At<readonly Utxo[]>;
}

export class Follower {
  private readonly tables: ReadonlySet<string>;
  private queue: Promise<void> = Promise.resolve();
  private waiting: Answer[] = [];
  private woken: () => void = () => {};

  constructor(private readonly options: FollowerOptions) {
    this.tables = tablesOf(options.projections);
  }

  /** Follows until the signal aborts; a lost connection or database is an ordinary event, waited out with backoff. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.follow(signal), this.watch(signal)]);
  }

  /** Somebody wants an address watched. */
  wake(): void {
    this.woken();
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const { port, store, log } = this.options;
    for (let failures = 0; !signal.aborted;) {
      const session = new AbortController();
      const stop = () => session.abort();
      signal.addEventListener("abort", stop, { once: true });
      try {
        for await (const step of port.follow(await readPoints(store.sql), session.signal)) {
          if (signal.aborted) break;
          await this.serially(() => this.apply(step));
          failures = 0;
        }
        if (!signal.aborted) throw new Error("the network ended the stream of blocks");
      } catch (error) {
        if (signal.aborted) return;
        measure.interruptions.of().inc();
        log.warn("following is interrupted", { reason: reason(error) });
        await sleep(BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)]!, signal);
      } finally {
        session.abort();
        signal.removeEventListener("abort", stop);
      }
    }
  }

  private serially<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work);
    this.queue = result.then(() => {}, () => {});
    return result;
  }

  private async apply(step: ChainStep): Promise<void> {
    const at = step.type === "forward"
      ? await this.forward(step.block, step.tip)
      : await this.backward(step.point, step.tip);
    if (!at) return;
    await this.settleAnswers(at);
    this.options.onMoved?.(at);
  }

  private async forward(bytes: Uint8Array, tip: Tip): Promise<Tip | undefined> {
    const { store, projections, onStep } = this.options;
    const begun = performance.now();
    const block = scanBlock(bytes);
    await onStep?.("scanned");
    const { at } = await readCursor(store.sql);
    if (block.slot <= at.slot) {
      if (samePoint(block, at)) return undefined;
      throw new Error(`block at slot ${block.slot} does not follow slot ${at.slot}`);
    }
    if (at.slot >= 0 && block.previous !== at.hash) throw new Error(`block ${block.hash} does not follow ${at.hash}`);
    const folds = await Promise.all(projections.map((projection) => this.fold(projection, block)));
    await onStep?.("folded");
    const touched = folds.flatMap((fold) => fold.touched);
    await store.sql.begin(async (sql) => {
      await this.claim(sql, at);
      for (const fold of folds) await writeRows(sql, block.slot, fold.writes);
      await sql`insert into chain_block (slot, hash, height, previous)
        values (${block.slot}, ${block.hash}, ${block.height}, ${block.previous ?? null})`;
      await moveCursor(sql, block, tip);
      await this.options.append(sql, touched);
      await onStep?.("before-commit");
    });
    measure.blocks.of().inc();
    measure.blockSeconds.of().since(begun);
    await onStep?.("after-commit");
    this.options.ring(touched);
    return block;
  }

  private async fold(projection: Projection, block: ScannedBlock) {
    const { sql } = this.options.store;
    let rows: Rows = await fetchRows(sql, projection.keys(block), this.tables);
    for (;;) {
      const folded = projection.fold(block, rows);
      if (folded.type === "done") return folded;
      rows = mergeRows(rows, await fetchRows(sql, folded.queries, this.tables));
    }
  }

  /** Under the lease, with the cursor where this step was computed from. */
  private async claim(sql: Queries, at: Tip): Promise<void> {
    await this.options.fence(sql);
    const rows = await sql<{ hash: string }[]>`select hash from chain_cursor where id = 'main' for update`;
    if (rows[0]!.hash !== at.hash) throw new Error("the cursor has moved under this follower");
  }

  private async backward(point: Point, tip: Tip): Promise<Tip | undefined> {
    const { store, projections, onStep } = this.options;
    const { at } = await readCursor(store.sql);
    if (samePoint(point, at)) return undefined;
    const back = point.slot < 0 ? { ...origin, height: 0 } : await this.known(point);
    await onStep?.("before-undo");
    const touched: Touched[] = [];
    await store.sql.begin(async (sql) => {
      touched.length = 0;
      await this.claim(sql, at);
      const affected = await undoRows(sql, back.slot, this.tables);
      await undoWatches(sql, back.slot);
      for (const projection of projections) {
        const queries = projection.undoKeys?.(affected) ?? [];
        const rows = await fetchRows(sql, queries, this.tables);
        touched.push(...projection.undo(back, affected, rows));
      }
      await sql`delete from chain_block where slot > ${back.slot}`;
      await moveCursor(sql, back, tip);
      await this.options.append(sql, touched);
    });
    measure.rollbacks.of().inc();
    measure.blocksUndone.of().inc(Math.max(0, at.height - back.height));
    await onStep?.("after-undo");
    this.options.log.info("rolled back", { from: at.slot, to: back.slot, entities: touched.length });
    this.options.ring(touched);
    return back;
  }

  private async known(point: Point): Promise<Tip> {
    const rows = await this.options.store.sql<{ height: bigint }[]>`
      select height from chain_block where slot = ${point.slot} and hash = ${point.hash}`;
    if (!rows[0]) throw new Error(`a rollback to ${point.slot} is deeper than the blocks kept here`);
    return { ...point, height: Number(rows[0].height) };
  }

  /** Asks the network for the outputs of wanted addresses, again and again while there are any. */
  private async watch(signal: AbortSignal): Promise<void> {
    const { store, port, log } = this.options;
    let lapsed = 0;
    while (!signal.aborted) {
      const doorbell = new Promise<void>((resolve) => (this.woken = resolve));
      try {
        const pending = new Set(this.waiting.flatMap((answer) => answer.addresses));
        const wanted = (await wantedWatches(store.sql)).filter((address) => !pending.has(address));
        if (wanted.length > 0) {
          const answer = await port.utxosByAddress(wanted);
          if (answer.ok) await this.serially(() => this.settle({ addresses: wanted, at: answer.value }));
          else log.warn("outputs of addresses are not to be had", { reason: answer.error.message });
        }
        if (Date.now() - lapsed > LAPSE_EVERY_MS) {
          lapsed = Date.now();
          await this.serially(() => this.fenced((sql) => prune(sql, this.options.keepBlocks ?? KEEP_BLOCKS)));
        }
        // whatever is still wanted is asked for again soon: its answer was behind, or the network out of reach
        await Promise.race([doorbell, sleep(wanted.length > 0 ? 25 : 1_000, signal)]);
      } catch (error) {
        if (signal.aborted) return;
        log.warn("watching is interrupted", { reason: reason(error) });
        await sleep(500, signal);
      }
    }
  }

  private async settle(answer: Answer): Promise<void> {
    await this.fenced(async (sql) => {
      const { at } = await readCursor(sql);
      const place = placeAnswer(answer.at, at);
      if (place === "apply") await applyAnswer(sql, answer.addresses, answer.at);
      if (place === "wait") this.waiting.push(answer);
    });
  }

  private async settleAnswers(at: Tip): Promise<void> {
    if (this.waiting.length === 0) return;
    const due = this.waiting.filter((answer) => placeAnswer(answer.at, at) !== "wait");
    this.waiting = this.waiting.filter((answer) => placeAnswer(answer.at, at) === "wait");
    for (const answer of due) await this.settle(answer);
    if (due.length > 0) this.wake();
  }

  private async fenced(work: (sql: Queries) => Promise<void>): Promise<void> {
    await this.options.store.sql.begin(async (sql) => {
      await this.options.fence(sql);
      await sql`select 1 from chain_cursor where id = 'main' for update`;
      await work(sql);
    });
  }
}

async function moveCursor(sql: Queries, at: Tip, tip: Tip): Promise<void> {
  await sql`update chain_cursor set slot = ${at.slot}, hash = ${at.hash}, height = ${at.height},
    tip_slot = ${tip.slot}, tip_height = ${tip.height} where id = 'main'`;
}

/** What nobody can ask for any more: lapsed watches, blocks and transactions that no rollback reaches. */
async function prune(sql: Queries, keepBlocks: number): Promise<void> {
  await lapseWatches(sql);
  await lapseReservations(sql);
  const { at } = await readCursor(sql);
  const floor = at.height - keepBlocks;
  await sql`delete from chain_block where height < ${floor}`;
  await sql`delete from chain_transaction t where height < ${floor}
    and not exists (select 1 from submission s where s.hash = t.hash)`;
  const [oldest] = await sql<{ slot: bigint | null }[]>`select min(slot) as slot from chain_block`;
  if (oldest?.slot != null && floor > 0) await sql`delete from chain_utxo where to_slot < ${oldest.slot}`;
}
