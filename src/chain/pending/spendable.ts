/**
 * The outputs that an address can spend at a point: its outputs in the ledger and those that its pending transactions
 * create, without those that pending transactions spend.
 *
 * A build reserves its inputs for two minutes: later builds avoid them. This is a preference and not a lock, so an
 * address with a single output can still build any number of transactions.
 */
import { type Failure, ok, type Result } from "#src/base/result.ts";
import { serially } from "#src/base/serially.ts";
import { created, spent, type Tip } from "#src/cardano/block.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { readUtxos } from "#src/chain/index/utxo.ts";
import { readIncluded, readOverlay } from "#src/chain/pending/overlay.ts";
import type { Fragment, Queries, Store } from "#src/store/store.ts";

const RESERVATION = "2 minutes";

/**
 * Spend priority of an output; lower is spent first. 0: confirmed; 1: output of a pending transaction; ≥ 2: reserved by
 * another build, most recent last (2 + the end of the reservation in seconds since 1970).
 */
type SpendPriority = number;

/** The lowest priority of a reserved output. */
const RESERVED: SpendPriority = 2;

/** Priority that takes an output over from any reservation, however recent. */
export const TAKE_OVER: SpendPriority = Number.MAX_SAFE_INTEGER;

/** An output with the priority it had when a build read it. */
export interface PrioritisedOutput {
  readonly utxo: { readonly ref: OutRef };
  readonly preference?: SpendPriority | undefined;
}

/** An output that can be spent. */
interface AvailableUtxo {
  readonly utxo: Utxo;
  readonly preference: SpendPriority;
  /** Whether a pending transaction creates it. */
  readonly pending: boolean;
}

/**
 * Reads the outputs that an address (bytes in hexadecimal) can spend; it must be watched (`ensureWatched`). `sql` reads one
 * snapshot (`atPoint`): a block between two of the reads would hide what a pending transaction pays.
 */
export async function readAvailable(sql: Queries, address: string): Promise<AvailableUtxo[]> {
  const inLedger = await readUtxos(sql, [address]);
  const known = new Set(inLedger.map(({ ref }) => refKey(ref)));
  const overlay = await readOverlay(sql, {
    refs: [...known],
    paid: () => Promise.resolve([address]),
    follows: (output) => output.address === address,
  });
  // actors learn of blocks later: what they still have as pending may be in the ledger, and spent there
  const included = await readIncluded(sql, overlay.map(({ hash }) => hash));
  const pending = overlay.filter(({ hash }) => !included.has(hash));
  const gone = new Set(pending.flatMap((transaction) => spent(transaction).map(refKey)));
  const coming = pending.flatMap(created).filter(({ ref, output }) =>
    output.address === address && !known.has(refKey(ref))
  );
  const utxos = [
    ...inLedger.map((utxo) => ({ utxo, preference: 0, pending: false })),
    ...coming.map((utxo) => ({ utxo, preference: 1, pending: true })),
  ].filter(({ utxo }) => !gone.has(refKey(utxo.ref)));
  const reserved = await readReserved(sql, utxos.map(({ utxo }) => refKey(utxo.ref)));
  return utxos.map((one) => {
    const until = reserved.get(refKey(one.utxo.ref));
    return until === undefined ? one : { ...one, preference: RESERVED + until };
  });
}

/** Reads in one snapshot of the index: everything that `read` sees holds at `at`. */
export async function atPoint<T>(
  store: Store,
  read: (sql: Queries) => Promise<T>,
): Promise<{ readonly at: Tip; readonly value: T }> {
  return await store.sql.begin("isolation level repeatable read read only", async (sql) => {
    const [{ at }, found] = await Promise.all([readCursor(sql), read(sql).then((value) => ({ value }))]);
    return { at, ...found };
  });
}

/**
 * When reservations of outputs end (seconds since 1970), by output (`refKey`). Where the outputs are rows, the SQL that
 * selects them: to send thousands of references takes longer than to read them.
 */
export async function readReserved(sql: Queries, refs: readonly string[] | Fragment): Promise<Map<string, number>> {
  const among = Array.isArray(refs) ? sql`= any(${sql.array([...refs])})` : sql`in (${refs})`;
  const rows = await sql<{ ref: string; until: number }[]>`
    select ref, extract(epoch from until)::float8 as until from reservation where ref ${among} and until > now()`;
  return new Map(rows.map((row) => [row.ref, row.until]));
}

/**
 * Reserves outputs, all or none; false if another build has reserved one of them since it was read. `read` holds the
 * outputs with their priorities when they were read: one that was reserved then, and is used because nothing else
 * suffices, is taken over, unless its reservation was renewed since.
 */
export async function reserve(
  store: Store,
  refs: readonly OutRef[],
  read: readonly PrioritisedOutput[],
): Promise<boolean> {
  const keys = refs.map(refKey).sort();
  if (keys.length === 0) return true;
  const wanted = new Set(keys);
  const before = Object.fromEntries(
    read.filter(({ preference = 0 }) => preference >= RESERVED)
      .map(({ utxo: { ref }, preference = 0 }) => [refKey(ref), preference - RESERVED] as const)
      .filter(([key]) => wanted.has(key)),
  );
  try {
    await store.sql.begin(async (sql) => {
      const rows = await sql`
        insert into reservation (ref, until) select ref, now() + ${RESERVATION}::interval from unnest(${
        sql.array(keys)
      }::text[]) ref
        on conflict (ref) do update set until = excluded.until
        where reservation.until < now()
          or extract(epoch from reservation.until)::float8 < (${
        sql.json(before)
      }::jsonb ->> reservation.ref)::float8 + ${TOLERANCE_S}::float8
        returning ref`;
      if (rows.length < keys.length) throw new AlreadyReserved();
    });
    return true;
  } catch (error) {
    if (error instanceof AlreadyReserved) return false;
    throw error;
  }
}

/** Tolerance in seconds for the sum of a priority; PostgreSQL's times are whole microseconds. */
const TOLERANCE_S = 5e-7;

class AlreadyReserved extends Error {}

/** A built transaction whose outputs can be reserved. */
export interface Reservable<T> {
  /** The outputs that were available when the build read them. */
  readonly read: readonly PrioritisedOutput[];
  readonly spends: readonly OutRef[];
  readonly answer: T;
}

/** Most builds when others reserve the same outputs meanwhile; the last one is returned in any case. */
const RACES = 5;

/**
 * Builds a transaction and reserves the outputs that it spends. When another build has reserved one of them first,
 * `build` reads and builds again; such repetitions run one after the other, so that each sees the reservations of the
 * one before. `owner` names the owner of the outputs.
 */
export async function buildAndReserve<T>(
  store: Store,
  owner: string,
  build: () => Promise<Result<Reservable<T>, Failure>>,
): Promise<Result<T, Failure>> {
  const attempt = async (last: boolean): Promise<Result<T, Failure> | undefined> => {
    const built = await build();
    if (!built.ok) return built;
    const { read, spends, answer } = built.value;
    const known = last ? spends.map((ref) => ({ utxo: { ref }, preference: TAKE_OVER })) : read;
    return await reserve(store, spends, known) ? ok(answer) : undefined;
  };
  const first = await attempt(false);
  if (first) return first;
  return await serially(`reserve ${owner}`, async () => {
    for (let race = 2;; race++) {
      const one = await attempt(race >= RACES);
      if (one) return one;
    }
  });
}

/** Deletes reservations that have ended. */
export async function lapseReservations(sql: Queries): Promise<void> {
  await sql`delete from reservation where until < now()`;
}
