/**
 * What an address can spend, at one point: its outputs in the ledger, those that its pending transactions will create, without
 * those that pending transactions spend.
 *
 * An input that a build offered is avoided by later builds for two minutes. That is a preference and no lock: an address with
 * a single output can do everything, at once and again.
 */
import { created, type ScannedTransaction, spent, type Tip } from "#src/cardano/block.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { readUtxos } from "#src/chain/index/utxo.ts";
import type { Queries, Store } from "#src/store/store.ts";

const RESERVED_FOR = "2 minutes";

/**
 * How gladly an output is spent, less is more: 0 free; 1 the output of a pending transaction; from 2 on offered to somebody, the more
 * the shorter ago (the second since 1970 up to which it is, and 2).
 */
export type Preference = number;

/** The least preference of an output that was offered. */
export const OFFERED: Preference = 2;

/** What an output is read with that is taken from whoever it was offered to, at whatever time. */
export const FORCED: Preference = Number.MAX_SAFE_INTEGER;

/** An output as it was read before something was built on it. */
export interface Offered {
  readonly utxo: { readonly ref: OutRef };
  readonly preference?: Preference | undefined;
}

/** An output on offer. */
export interface AvailableUtxo {
  readonly utxo: Utxo;
  readonly preference: Preference;
}

/** Reads what an address (bytes in hexadecimal) can spend; it must be watched (`ensureWatched`). */
export async function readAvailable(sql: Queries, address: string): Promise<AvailableUtxo[]> {
  const inLedger = await readUtxos(sql, [address]);
  const known = new Set(inLedger.map(({ ref }) => refKey(ref)));
  const pending = await pendingOf(sql, address, [...known]);
  const gone = new Set(pending.flatMap((transaction) => spent(transaction).map(refKey)));
  const coming = pending.flatMap(created).filter(({ ref, output }) =>
    output.address === address && !known.has(refKey(ref))
  );
  const utxos = [
    ...inLedger.map((utxo) => ({ utxo, preference: 0 })),
    ...coming.map((utxo) => ({ utxo, preference: 1 })),
  ].filter(({ utxo }) => !gone.has(refKey(utxo.ref)));
  const reserved = await readReserved(sql, utxos.map(({ utxo }) => refKey(utxo.ref)));
  return utxos.map((one) => {
    const until = reserved.get(refKey(one.utxo.ref));
    return until === undefined ? one : { ...one, preference: OFFERED + until };
  });
}

/** Reads at one point: what `read` sees is one state of the index, and `at` is where that stands. */
export async function atPoint<T>(
  store: Store,
  read: (sql: Queries) => Promise<T>,
): Promise<{ readonly at: Tip; readonly value: T }> {
  return await store.sql.begin("isolation level repeatable read read only", async (sql) => {
    const [{ at }, value] = await Promise.all([readCursor(sql), read(sql)]);
    return { at, value };
  }) as { at: Tip; value: T };
}

/** Open submissions that pay an address or spend what is its own, however long the chain they stand in. */
async function pendingOf(sql: Queries, address: string, refs: readonly string[]): Promise<ScannedTransaction[]> {
  const pending = new Map<string, ScannedTransaction>();
  let own: readonly string[] = refs;
  for (;;) {
    const rows = await sql<{ hash: string; cbor: Uint8Array }[]>`
      select hash, cbor from submission join submission_open using (hash)
      where (addresses && ${sql.array([address])} or inputs && ${sql.array([...own])})
        and hash <> all(${sql.array([...pending.keys()])})`;
    if (rows.length === 0) return [...pending.values()];
    const found = rows.map((row) => scanTransaction(new Uint8Array(row.cbor)));
    for (const transaction of found) pending.set(transaction.hash, transaction);
    own = found.flatMap(created).filter(({ output }) => output.address === address).map(({ ref }) => refKey(ref));
  }
}

/**
 * Open submissions, beside some that are known, that spend one of these outputs (`refKey`) or what the known ones or each other create:
 * whoever submitted them, what they spend is gone.
 */
export async function readSpenders(
  sql: Queries,
  refs: readonly string[],
  known: readonly ScannedTransaction[],
): Promise<ScannedTransaction[]> {
  const spenders: ScannedTransaction[] = [];
  const hashes = known.map(({ hash }) => hash);
  const others = await sql`select 1 from submission_open where hash <> all(${sql.array(hashes)}) limit 1`;
  if (others.length === 0) return spenders;
  const made = (transactions: readonly ScannedTransaction[]) =>
    transactions.flatMap((one) => created(one).map(({ ref }) => refKey(ref)));
  for (let wanted = [...refs, ...made(known)]; wanted.length > 0;) {
    const rows = await sql<{ cbor: Uint8Array }[]>`
      select cbor from submission where hash in (
        select o.hash from submission_open o join submission s using (hash) cross join lateral unnest(s.inputs) i(ref)
          join unnest(${sql.array(wanted)}::text[]) w(ref) on w.ref = i.ref
        where o.hash <> all(${sql.array(hashes)}))`;
    const found = rows.map(({ cbor }) => scanTransaction(new Uint8Array(cbor)));
    spenders.push(...found);
    hashes.push(...found.map(({ hash }) => hash));
    wanted = made(found);
  }
  return spenders;
}

/** Up to when outputs are reserved (seconds since 1970), by output (`refKey`). */
export async function readReserved(sql: Queries, refs: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql<{ ref: string; until: number }[]>`
    select ref, extract(epoch from until)::float8 as until from reservation
    where ref = any(${sql.array([...refs])}) and until > now()`;
  return new Map(rows.map((row) => [row.ref, row.until]));
}

/**
 * Marks outputs as offered, all or none; false when somebody else was offered one of them since it was read. `read` are outputs as they
 * were read: those that were offered already are offered once more, because nothing else sufficed, but not where somebody was quicker.
 */
export async function reserve(
  store: Store,
  refs: readonly OutRef[],
  read: readonly Offered[],
): Promise<boolean> {
  const keys = refs.map(refKey).sort();
  if (keys.length === 0) return true;
  const wanted = new Set(keys);
  const before = Object.fromEntries(
    read.flatMap(({ utxo: { ref }, preference = 0 }) =>
      preference >= OFFERED && wanted.has(refKey(ref)) ? [[refKey(ref), preference - OFFERED]] : []
    ),
  );
  return await store.sql.begin(async (sql) => {
    const rows = await sql`
      insert into reservation (ref, until) select ref, now() + ${RESERVED_FOR}::interval from unnest(${
      sql.array(keys)
    }::text[]) ref
      on conflict (ref) do update set until = excluded.until
      where reservation.until < now()
        or extract(epoch from reservation.until)::float8 < (${
      sql.json(before)
    }::jsonb ->> reservation.ref)::float8 + ${CLOSE}::float8
      returning ref`;
    if (rows.length < keys.length) throw new Taken();
    return true;
  }).catch((error) => {
    if (error instanceof Taken) return false;
    throw error;
  }) as boolean;
}

/** Seconds by which a time may be off that was added to; the database's own are whole microseconds. */
const CLOSE = 5e-7;

class Taken extends Error {}

/** Forgets what has lapsed. */
export async function lapseReservations(sql: Queries): Promise<void> {
  await sql`delete from reservation where until < now()`;
}
