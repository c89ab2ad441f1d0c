/**
 * Watches: addresses whose outputs are kept as rows, although nobody indexes the whole UTxO set.
 *
 * The network is asked for an address's outputs at a point of its choice. An answer a few blocks behind the follower is brought
 * forward by them, one from farther behind is asked for again, one ahead waits until the follower stands at its point; a rollback
 * below the point an answer was taken at makes the watch wanted again.
 */
import { sleep } from "#src/base/clock.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { created, type Point, samePoint, type ScannedBlock, spent } from "#src/cardano/block.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { Row } from "#src/cardano/projection.ts";
import type { At } from "#src/chain/provider/port.ts";
import { insertRows } from "#src/chain/index/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";

const LAPSE = "1 hour";
/** Between two looks whether what is waited for is ready, in milliseconds. */
const LOOK_MS = 15;
/** Outputs of one write transaction, and their bytes. */
const AT_ONCE = 500;
const BYTES_AT_ONCE = 200_000;

/** Sees to it that addresses are watched and their rows known; waits until they are, `wake` being the follower's doorbell. */
export async function ensureWatched(
  store: Store,
  addresses: readonly string[],
  wake: () => void,
  deadline: number,
  options: { forever?: boolean } = {},
): Promise<Result<void, Failure<"index_behind">>> {
  const forever = options.forever ?? false;
  const wanted = [...new Set(addresses)];
  const known = await readyOf(store.sql, wanted);
  if (known.length === wanted.length) {
    await touch(store, wanted);
    return ok(undefined);
  }
  await store.sql`insert into chain_watch (address, forever)
    select unnest(${store.sql.array(wanted)}::text[]), ${forever} on conflict (address)
    do update set used_at = now(), lapsed = false`;
  wake();
  if (await awaited(store, wanted.filter((address) => !known.includes(address)), deadline)) return ok(undefined);
  return fail("index_behind", "The outputs of this address are not known yet; try again in a moment.");
}

/** Which of some addresses have their rows. */
async function readyOf(sql: Queries, addresses: readonly string[]): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select address from chain_watch where ready and address = any(${sql.array([...addresses])})`;
  return rows.map(({ address }) => address);
}

/** Who waits for addresses to be ready, by pool. However many they are, one statement at a time looks for all of them. */
const waiting = new WeakMap<Store, Set<Wait>>();

interface Wait {
  readonly left: Set<string>;
  readonly deadline: number;
  settle(ready: boolean): void;
  reject(error: unknown): void;
}

/** Waits until addresses are ready; false where they are not at the deadline. */
function awaited(store: Store, addresses: readonly string[], deadline: number): Promise<boolean> {
  return new Promise((settle, reject) => {
    const wait = { left: new Set(addresses), deadline, settle, reject };
    const others = waiting.get(store);
    if (others) return void others.add(wait);
    const all = new Set<Wait>([wait]);
    waiting.set(store, all);
    void look(store, all);
  });
}

/** Looks for what is waited for, again and again while somebody waits. */
async function look(store: Store, all: Set<Wait>): Promise<void> {
  while (all.size > 0) {
    await sleep(LOOK_MS);
    const asked = [...all];
    try {
      const ready = await readyOf(store.sql, [...new Set(asked.flatMap(({ left }) => [...left]))]);
      for (const wait of asked) {
        for (const address of ready) wait.left.delete(address);
        if (wait.left.size > 0 && Date.now() < wait.deadline) continue;
        all.delete(wait);
        wait.settle(wait.left.size === 0);
      }
    } catch (error) {
      for (const wait of asked) {
        all.delete(wait);
        wait.reject(error);
      }
    }
  }
  // In the same step as the last look at the set: who comes next begins another.
  waiting.delete(store);
}

async function touch(store: Store, addresses: readonly string[]): Promise<void> {
  await store.sql`update chain_watch set used_at = now()
    where address = any(${store.sql.array([...addresses])}) and used_at < now() - interval '1 minute'`;
}

/** Addresses that wait for their rows. */
export async function wantedWatches(sql: Queries, limit = 100): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select address from chain_watch where not ready and not lapsed limit ${limit}`;
  return rows.map((row) => row.address);
}

/**
 * Drops some of what watches hold that nobody used for an hour, and those that hold nothing any more; gives whether there may be more.
 * A watch that is used again meanwhile is wanted anew.
 */
export async function lapseWatches(sql: Queries): Promise<boolean> {
  await sql`update chain_watch set lapsed = true, ready = false, at_slot = null
    where not forever and not lapsed and used_at < now() - ${LAPSE}::interval`;
  const erased = await sql`delete from chain_utxo where ref = any(array(
    select ref from chain_watch w join chain_utxo u on u.address = w.address where w.lapsed limit ${AT_ONCE}))
    returning 1`;
  if (erased.length === AT_ONCE) return true;
  await sql`delete from chain_watch w
    where lapsed and not exists (select 1 from chain_utxo u where u.address = w.address)`;
  return false;
}

/**
 * What becomes of an answer while the follower stands at `at`, having read `recent` last: the blocks that bring it forward (none where it
 * is of this very point), or that it waits, or that it is of no use.
 */
export function placeAnswer(
  answer: At<unknown>,
  at: Point,
  recent: readonly ScannedBlock[],
): readonly ScannedBlock[] | "wait" | "ask_again" {
  const { point } = answer;
  if (samePoint(point, at)) return [];
  if (point.slot > at.slot) return "wait";
  const place = recent.findIndex((block) => samePoint(block, point));
  const before = place >= 0 ? place + 1 : recent[0]?.previous === point.hash && point.slot >= 0 ? 0 : undefined;
  return before === undefined ? "ask_again" : recent.slice(before);
}

/**
 * Writes an answer's rows, brought forward by `blocks`, in transactions of `write`, each of them short, between which the follower
 * stands still. The watches are ready with the last; until then nobody reads their rows, and they are wanted.
 */
export async function applyAnswer(
  write: (work: (sql: Queries) => Promise<void>) => Promise<void>,
  addresses: readonly string[],
  answer: At<readonly Utxo[]>,
  blocks: readonly ScannedBlock[],
): Promise<void> {
  const parts = partsOf(outputsAfter(addresses, answer, blocks));
  let old = true;
  while (parts.length > 0) {
    await write(async (sql) => {
      const list = sql.array([...addresses]);
      if (old) {
        const erased = await sql`delete from chain_utxo where ref = any(array(
          select ref from chain_utxo where address = any(${list}) limit ${AT_ONCE})) returning 1`;
        old = erased.length === AT_ONCE;
        if (old) return;
      }
      await insertRows(sql, "chain_utxo", ["ref", "address", "output", "from_slot", "to_slot"], parts.shift()!);
      if (parts.length > 0) return;
      await sql`update chain_watch set ready = true, at_slot = ${answer.point.slot} where address = any(${list})`;
    });
  }
}

/** Rows in pieces that are written at once; one where there are none. */
function partsOf(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [[]];
  let bytes = 0;
  for (const row of rows) {
    if (bytes >= BYTES_AT_ONCE || parts.at(-1)!.length >= AT_ONCE) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(row);
    bytes += (row.output as Uint8Array).length;
  }
  return parts;
}

/** The rows of addresses, spent ones included, after the blocks that follow an answer's point. */
export function outputsAfter(
  addresses: readonly string[],
  answer: At<readonly Utxo[]>,
  blocks: readonly ScannedBlock[],
): Row[] {
  const wanted = new Set(addresses);
  const rows = new Map<string, Record<string, unknown>>();
  const put = (slot: number, { ref, output }: Utxo) =>
    rows.set(refKey(ref), {
      ref: refKey(ref),
      address: output.address,
      output: output.raw,
      from_slot: slot,
      to_slot: null,
    });
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

/** A rollback below the point of an answer: those watches are wanted again. */
export async function undoWatches(sql: Queries, slot: number): Promise<void> {
  await sql`update chain_watch set ready = false, at_slot = null where at_slot > ${slot}`;
}
