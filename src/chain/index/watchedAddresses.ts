/**
 * Watches: addresses whose outputs are kept as rows. The whole UTxO set is not indexed.
 *
 * The outputs of a newly watched address are queried from the network, which chooses the point of its answer. An answer
 * a few blocks behind the main cursor is brought forward by those blocks; one from farther behind is queried again; one
 * from ahead waits until the cursor is at its point. A rollback below the answer's point makes the watch wanted again.
 */
import { sleep } from "#src/base/clock.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { created, type Point, samePoint, type ScannedBlock, spent } from "#src/cardano/block.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { At } from "#src/chain/provider/port.ts";
import { insertRows } from "#src/chain/index/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";

const LAPSE = "1 hour";
/** Milliseconds between two polls for watches that are awaited. */
const POLL_MS = 15;
/** Outputs in one write transaction at most, and their bytes. */
const MAX_OUTPUTS = 500;
const MAX_BYTES = 200_000;

/**
 * Watches addresses and waits until their rows are there. `wake` wakes the follower; `deadline` is in ms since 1970;
 * `forever` exempts the watches from lapsing.
 */
export async function ensureWatched(
  store: Store,
  addresses: readonly string[],
  wake: () => void,
  deadline: number,
  options: { forever?: boolean } = {},
): Promise<Result<void, Failure<"index_behind">>> {
  const forever = options.forever ?? false;
  const wanted = [...new Set(addresses)];
  const known = await readReady(store.sql, wanted);
  if (known.length === wanted.length) {
    await markUsed(store, wanted);
    return ok(undefined);
  }
  await store.sql`insert into chain_watch (address, forever)
    select unnest(${store.sql.array(wanted)}::text[]), ${forever} on conflict (address)
    do update set used_at = now(), lapsed = false`;
  wake();
  if (await waitForReady(store, wanted.filter((address) => !known.includes(address)), deadline)) return ok(undefined);
  return fail("index_behind", "The outputs of this address are not indexed yet; try again later.");
}

/** Those of some addresses whose watches are ready. */
async function readReady(sql: Queries, addresses: readonly string[]): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select address from chain_watch where ready and address = any(${sql.array([...addresses])})`;
  return rows.map(({ address }) => address);
}

/** Waits in progress, by store. One statement polls for all of them, however many there are. */
const waiting = new WeakMap<Store, Set<Wait>>();

interface Wait {
  readonly left: Set<string>;
  readonly deadline: number;
  settle(ready: boolean): void;
  reject(error: unknown): void;
}

/** Waits until the watches of addresses are ready; false if they are not by the deadline. */
function waitForReady(store: Store, addresses: readonly string[], deadline: number): Promise<boolean> {
  return new Promise((settle, reject) => {
    const wait = { left: new Set(addresses), deadline, settle, reject };
    const others = waiting.get(store);
    if (others) return void others.add(wait);
    const all = new Set<Wait>([wait]);
    waiting.set(store, all);
    void poll(store, all);
  });
}

/** Polls for all awaited addresses while there are any. */
async function poll(store: Store, all: Set<Wait>): Promise<void> {
  while (all.size > 0) {
    await sleep(POLL_MS);
    const waits = [...all];
    try {
      const ready = await readReady(store.sql, [...new Set(waits.flatMap(({ left }) => [...left]))]);
      for (const wait of waits) {
        for (const address of ready) wait.left.delete(address);
        if (wait.left.size > 0 && Date.now() < wait.deadline) continue;
        all.delete(wait);
        wait.settle(wait.left.size === 0);
      }
    } catch (error) {
      for (const wait of waits) {
        all.delete(wait);
        wait.reject(error);
      }
    }
  }
  // no await since the set was found empty: the next wait starts another poller
  waiting.delete(store);
}

async function markUsed(store: Store, addresses: readonly string[]): Promise<void> {
  await store.sql`update chain_watch set used_at = now()
    where address = any(${store.sql.array([...addresses])}) and used_at < now() - interval '1 minute'`;
}

/** Addresses whose rows are still to be queried. */
export async function wantedWatches(sql: Queries, limit = 100): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select address from chain_watch where not ready and not lapsed limit ${limit}`;
  return rows.map((row) => row.address);
}

/**
 * Erases some outputs of watches that were not used for an hour, then the watches themselves; gives whether there may
 * be more. A watch that is used again meanwhile becomes wanted again.
 */
export async function eraseLapsedWatches(sql: Queries): Promise<boolean> {
  await sql`update chain_watch set lapsed = true, ready = false, at_slot = null
    where not forever and not lapsed and used_at < now() - ${LAPSE}::interval`;
  const erased = await sql`delete from chain_utxo where ref = any(array(
    select ref from chain_watch w join chain_utxo u on u.address = w.address where w.lapsed limit ${MAX_OUTPUTS}))
    returning 1`;
  if (erased.length === MAX_OUTPUTS) return true;
  await sql`delete from chain_watch w
    where lapsed and not exists (select 1 from chain_utxo u where u.address = w.address)`;
  return false;
}

/**
 * Aligns an answer with the main cursor at `at`, which read the blocks `recent` last; they count only where the last of
 * them is the one at `at`. Gives the blocks that bring the answer forward to `at` (none if it is of that point), `wait`
 * if it is of a later point, or `ask_again` if the blocks do not reach back to it.
 */
export function alignAnswer(
  answer: At<unknown>,
  at: Point,
  recent: readonly ScannedBlock[],
): readonly ScannedBlock[] | "wait" | "ask_again" {
  const { point } = answer;
  if (samePoint(point, at)) return [];
  if (point.slot > at.slot) return "wait";
  if (recent.at(-1)?.hash !== at.hash) return "ask_again";
  const place = recent.findIndex((block) => samePoint(block, point));
  const before = place >= 0 ? place + 1 : recent[0]?.previous === point.hash && point.slot >= 0 ? 0 : undefined;
  return before === undefined ? "ask_again" : recent.slice(before);
}

/**
 * Writes an answer's rows, brought forward by `blocks`, in several short transactions. The cursor does not move between
 * them. The watches become ready with the last one; until then their rows are not read.
 */
export async function applyAnswer(
  write: (work: (sql: Queries) => Promise<void>) => Promise<void>,
  addresses: readonly string[],
  answer: At<readonly Utxo[]>,
  blocks: readonly ScannedBlock[],
): Promise<void> {
  const parts = splitRows(outputsAfter(addresses, answer, blocks));
  let old = true;
  while (parts.length > 0) {
    await write(async (sql) => {
      const list = sql.array([...addresses]);
      if (old) {
        const erased = await sql`delete from chain_utxo where ref = any(array(
          select ref from chain_utxo where address = any(${list}) limit ${MAX_OUTPUTS})) returning 1`;
        old = erased.length === MAX_OUTPUTS;
        if (old) return;
      }
      await insertRows(sql, "chain_utxo", ["ref", "address", "output", "from_slot", "to_slot"], parts.shift() ?? []);
      if (parts.length > 0) return;
      await sql`update chain_watch set ready = true, at_slot = ${answer.point.slot} where address = any(${list})`;
    });
  }
}

/** Splits rows into parts, each for one write transaction; at least one part. */
function splitRows(rows: readonly OutputRow[]): OutputRow[][] {
  let part: OutputRow[] = [];
  const parts = [part];
  let bytes = 0;
  for (const row of rows) {
    if (bytes >= MAX_BYTES || part.length >= MAX_OUTPUTS) {
      parts.push(part = []);
      bytes = 0;
    }
    part.push(row);
    bytes += row.output.length;
  }
  return parts;
}

/** A row of `chain_utxo`. */
type OutputRow = ReturnType<typeof outputRow>;

function outputRow(slot: number, { ref, output }: Utxo): {
  ref: string;
  address: string;
  output: Uint8Array;
  from_slot: number;
  to_slot: number | null;
} {
  return { ref: refKey(ref), address: output.address, output: output.raw, from_slot: slot, to_slot: null };
}

/** The rows of addresses after the blocks that follow an answer's point, including outputs spent by these blocks. */
function outputsAfter(
  addresses: readonly string[],
  answer: At<readonly Utxo[]>,
  blocks: readonly ScannedBlock[],
): OutputRow[] {
  const wanted = new Set(addresses);
  const rows = new Map<string, OutputRow>();
  const put = (slot: number, utxo: Utxo) => rows.set(refKey(utxo.ref), outputRow(slot, utxo));
  for (const utxo of answer.value) put(answer.point.slot, utxo);
  for (const block of blocks) {
    for (const transaction of block.transactions) {
      for (const ref of spent(transaction)) {
        const row = rows.get(refKey(ref));
        if (row) row.to_slot = block.slot;
      }
      for (const utxo of created(transaction)) if (wanted.has(utxo.output.address)) put(block.slot, utxo);
    }
  }
  return [...rows.values()];
}

/** Makes watches wanted again whose answer is of a point that was rolled back. */
export async function undoWatches(sql: Queries, slot: number): Promise<void> {
  await sql`update chain_watch set ready = false, at_slot = null where at_slot > ${slot}`;
}
