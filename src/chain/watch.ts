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
import type { At } from "#src/chain/port.ts";
import { insertRows } from "#src/chain/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";

const LAPSE = "1 hour";

/** Sees to it that addresses are watched and their rows known; waits until they are, `wake` being the follower's doorbell. */
export async function ensureWatched(
  store: Store,
  addresses: readonly string[],
  wake: () => void,
  deadline: number,
  options: { forever?: boolean } = {},
): Promise<Result<void, Failure<"index_behind">>> {
  const forever = options.forever ?? false;
  for (let first = true;; first = false) {
    const rows = await store.sql<{ address: string; ready: boolean }[]>`
      select address, ready from chain_watch where address = any(${store.sql.array([...addresses])})`;
    if (rows.length === new Set(addresses).size && rows.every((row) => row.ready)) {
      if (first) await touch(store, addresses);
      return ok(undefined);
    }
    if (first) {
      await store.sql`insert into chain_watch (address, forever)
        select unnest(${
        store.sql.array([...addresses])
      }::text[]), ${forever} on conflict (address) do update set used_at = now()`;
      wake();
    }
    if (Date.now() >= deadline) {
      return fail("index_behind", "The outputs of this address are not known yet; try again in a moment.");
    }
    await sleep(15);
  }
}

async function touch(store: Store, addresses: readonly string[]): Promise<void> {
  await store.sql`update chain_watch set used_at = now()
    where address = any(${store.sql.array([...addresses])}) and used_at < now() - interval '1 minute'`;
}

/** Addresses that wait for their rows. */
export async function wantedWatches(sql: Queries, limit = 100): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`select address from chain_watch where not ready limit ${limit}`;
  return rows.map((row) => row.address);
}

/** Drops watches that nobody used for an hour, with their rows. */
export async function lapseWatches(sql: Queries): Promise<void> {
  await sql`with gone as (
      delete from chain_watch where not forever and used_at < now() - ${LAPSE}::interval returning address)
    delete from chain_utxo using gone where chain_utxo.address = gone.address`;
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

/** Writes an answer's rows, brought forward by `blocks`; the caller holds the cursor's row and stands at the last of them. */
export async function applyAnswer(
  sql: Queries,
  addresses: readonly string[],
  answer: At<readonly Utxo[]>,
  blocks: readonly ScannedBlock[],
): Promise<void> {
  await sql`delete from chain_utxo where address = any(${sql.array([...addresses])})`;
  const rows = outputsAfter(addresses, answer, blocks);
  for (let i = 0; i < rows.length; i += 1_000) {
    await insertRows(sql, "chain_utxo", ["ref", "address", "output", "from_slot", "to_slot"], rows.slice(i, i + 1_000));
  }
  await sql`update chain_watch set ready = true, at_slot = ${answer.point.slot}
    where address = any(${sql.array([...addresses])})`;
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
