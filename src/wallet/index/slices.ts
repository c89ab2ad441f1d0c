/**
 * The first pools of a wallet with a great gap, derived in slices that are kept as they are made: whoever goes on, after a crash or on another
 * worker, derives only what is missing.
 */
import type { Queries } from "#src/store/store.ts";
import { type DeriveSlice, POOL_ROLES, type PoolRole, type SequentialWallet } from "#src/wallet/index/types.ts";

/** Credentials of a slice: a twentieth of a second of a thread. */
const SLICE = 1_000;
/** Slices under way at the same time. */
const AT_ONCE = 4;
const HASH_BYTES = 28;

/** A wallet in one of its lives. */
export interface Life {
  readonly wallet: string;
  readonly life: number;
}

/**
 * Derives and keeps what is missing of the first `count` credentials of each role. Gives whether the wallet is still there in this
 * life; where it is not, the rest is left. Rejects where the threads cannot do it now, or `signal` aborts.
 */
export async function deriveSlices(
  sql: Queries,
  { kind, account, wallet }: SequentialWallet,
  life: number,
  count: number,
  derive: DeriveSlice,
  signal: AbortSignal,
): Promise<boolean> {
  const kept = await sql<{ role: PoolRole; start: number }[]>`
    select role, start from wallet_slice where wallet = ${wallet} and life = ${life}`;
  const known = new Set(kept.map(({ role, start }) => `${role}:${start}`));
  const missing = POOL_ROLES.flatMap((role) =>
    Array.from({ length: Math.ceil(count / SLICE) }, (_, i) => ({ role, from: i * SLICE }))
  ).filter(({ role, from }) => !known.has(`${role}:${from}`));
  let wanted = true;
  const lane = async () => {
    while (wanted) {
      signal.throwIfAborted();
      const next = missing.shift();
      if (next === undefined) return;
      const { role, from } = next;
      try {
        const hashes = await derive({ wallet, kind, account, role, from, count: Math.min(SLICE, count - from) });
        if (!(await keepSlice(sql, { wallet, life }, role, from, hashes))) wanted = false;
      } catch (error) {
        wanted = false;
        throw error;
      }
    }
  };
  // All of them, so that nothing is written any more once this has ended.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return wanted;
}

/** Keeps a slice; false where the wallet is no more in this life. */
async function keepSlice(
  sql: Queries,
  { wallet, life }: Life,
  role: number,
  start: number,
  hashes: Uint8Array,
): Promise<boolean> {
  const [row] = await sql<{ there: boolean }[]>`
    with there as (select id, life from wallet where id = ${wallet} and life = ${life} for key share),
      kept as (insert into wallet_slice (wallet, life, role, start, hashes)
        select id, life, ${role}, ${start}, ${hashes} from there on conflict do nothing)
    select exists (select 1 from there) as there`;
  return row!.there;
}

/** Makes the stock of a wallet's role out of its slices, in the transaction that begins the wallet. */
export async function stockSlices(
  sql: Queries,
  { wallet, life }: Life,
  role: number,
  kind: SequentialWallet["kind"],
): Promise<void> {
  const grown = await sql`insert into wallet_stock (wallet, role, count)
    select wallet, role, sum(length(hashes)) / ${HASH_BYTES}::int from wallet_slice
    where wallet = ${wallet} and life = ${life} and role = ${role} group by wallet, role
    on conflict do nothing returning 1`;
  if (grown.length > 0) {
    await sql`insert into wallet_address (wallet, role, index, credential)
      select wallet, role, start + n,
        ${
      kind === "shared" ? "script-" : "key-"
    }::text || encode(substring(hashes from n * ${HASH_BYTES}::int + 1 for ${HASH_BYTES}::int), 'hex')
      from wallet_slice, generate_series(0, length(hashes) / ${HASH_BYTES}::int - 1) n
      where wallet = ${wallet} and life = ${life} and role = ${role}`;
  }
}

/** Forgets a wallet's slices, of this life and those before. */
export async function forgetSlices(sql: Queries, { wallet, life }: Life): Promise<void> {
  await sql`delete from wallet_slice where wallet = ${wallet} and life <= ${life}`;
}
