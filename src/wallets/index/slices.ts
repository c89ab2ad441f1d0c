/**
 * The first pools of a wallet with a large gap, derived in slices. Each slice is stored when it is done, so that after
 * a crash, or on another worker, only the missing ones are derived.
 */
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";
import { CREDENTIAL_KINDS } from "#src/wallets/index/credential.ts";
import { type DeriveHashes, POOL_ROLES, type PoolRole, type SequentialWallet } from "#src/wallets/index/types.ts";

/** Credentials of a slice: about 50 ms of a thread. */
const SLICE = 1_000;
/** Slices derived at the same time. */
const CONCURRENT = 4;
const HASH_BYTES = 28;

/** One incarnation of a wallet: it may be deleted and created again. */
interface WalletIncarnation {
  readonly wallet: string;
  readonly incarnation: number;
}

/**
 * Derives and stores the missing slices of the first `count` credentials of each role. False where the wallet no longer
 * exists in this incarnation.
 *
 * @throws where the threads are overloaded, or `signal` aborts.
 */
export async function deriveSlices(
  sql: Queries,
  { kind, account, wallet }: SequentialWallet,
  incarnation: number,
  count: number,
  derive: DeriveHashes,
  signal: AbortSignal,
): Promise<boolean> {
  const kept = await sql<{ role: PoolRole; start: number }[]>`
    select role, start from wallet_slice where wallet = ${wallet} and life = ${incarnation}`;
  const known = new Set(kept.map(({ role, start }) => `${role}:${start}`));
  const missing = POOL_ROLES.flatMap((role) =>
    Array.from({ length: Math.ceil(count / SLICE) }, (_, i) => ({ role, from: i * SLICE }))
  ).filter(({ role, from }) => !known.has(`${role}:${from}`));
  let exists = true;
  const worker = async () => {
    while (exists) {
      signal.throwIfAborted();
      const next = missing.shift();
      if (next === undefined) return;
      const { role, from } = next;
      try {
        const hashes = await derive({ wallet, kind, account, role, from, count: Math.min(SLICE, count - from) });
        if (!(await storeSlice(sql, { wallet, incarnation }, role, from, hashes))) exists = false;
      } catch (error) {
        exists = false;
        throw error;
      }
    }
  };
  // waits for all of them, so that nothing is written after the end
  const ends = await Promise.allSettled(Array.from({ length: CONCURRENT }, worker));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return exists;
}

/** Stores a slice; false where the wallet no longer exists in this incarnation. */
async function storeSlice(
  sql: Queries,
  { wallet, incarnation }: WalletIncarnation,
  role: number,
  start: number,
  hashes: Uint8Array,
): Promise<boolean> {
  const row = await onlyRow(sql<{ there: boolean }[]>`
    with there as (select id, life from wallet where id = ${wallet} and life = ${incarnation} for key share),
      kept as (insert into wallet_slice (wallet, life, role, start, hashes)
        select id, life, ${role}, ${start}, ${hashes} from there on conflict do nothing)
    select exists (select 1 from there) as there`);
  return row.there;
}

/** Writes the credentials of a role from its slices, in the transaction of `beginWallet`. */
export async function addSlices(
  sql: Queries,
  { wallet, incarnation }: WalletIncarnation,
  role: number,
  kind: SequentialWallet["kind"],
): Promise<void> {
  const prefix = `${CREDENTIAL_KINDS[kind]}-`;
  const grown = await sql`insert into wallet_stock (wallet, role, count)
    select wallet, role, sum(length(hashes)) / ${HASH_BYTES}::int from wallet_slice
    where wallet = ${wallet} and life = ${incarnation} and role = ${role} group by wallet, role
    on conflict do nothing returning 1`;
  if (grown.length > 0) {
    await sql`insert into wallet_address (wallet, role, index, credential)
      select wallet, role, start + n,
        ${prefix}::text || encode(substring(hashes from n * ${HASH_BYTES}::int + 1 for ${HASH_BYTES}::int), 'hex')
      from wallet_slice, generate_series(0, length(hashes) / ${HASH_BYTES}::int - 1) n
      where wallet = ${wallet} and life = ${incarnation} and role = ${role}`;
  }
}

/** Deletes a wallet's slices of this incarnation and earlier ones. */
export async function deleteSlices(sql: Queries, { wallet, incarnation }: WalletIncarnation): Promise<void> {
  await sql`delete from wallet_slice where wallet = ${wallet} and life <= ${incarnation}`;
}
