/** The SQL of the vault. */
import type { Queries } from "#src/store/store.ts";
import type { SealedKey, SealMethod, WalletStyle, Xpub } from "#src/cardano/keys/types.ts";
import { onlyRow } from "#src/store/rows.ts";

/** A sealed root key. */
export interface KeyRow {
  readonly attempt: string;
  readonly style: WalletStyle;
  readonly root: Xpub;
  readonly sealed: SealedKey;
}

/** A wallet's key, and the seconds for which no passphrase is tried on it; 0 where one is. */
export interface AdoptedKey extends KeyRow {
  readonly closed: number;
}

/** A row of `vault_key`. */
interface Stored extends Omit<AdoptedKey, "sealed"> {
  readonly method: SealMethod;
  readonly sealed: Uint8Array;
  readonly verifier: Uint8Array | null;
}

/** Writes a key that is not adopted yet; gives the time, in ms since 1970. */
export async function insertKey(sql: Queries, { attempt, style, root, sealed }: KeyRow): Promise<number> {
  const { method, key, verifier = null } = sealed;
  const row = await onlyRow(sql<{ at: Date }[]>`
    insert into vault_key (attempt, style, root, method, sealed, verifier)
    values (${attempt}, ${style}, ${root}, ${method}, ${key}, ${verifier}) returning updated_at as at`);
  return row.at.getTime();
}

/** The key that a wallet has adopted. */
export async function keyOf(sql: Queries, wallet: string): Promise<AdoptedKey | undefined> {
  const [row] = await sql<Stored[]>`
    select attempt, style, root, method, sealed, verifier, ${closedFor(sql)} as closed
    from vault_adoption join vault_key using (attempt) where wallet = ${wallet}`;
  if (!row) return undefined;
  const { method, verifier, sealed, ...rest } = row;
  const key = Uint8Array.from(sealed);
  return { ...rest, sealed: { method, key, ...(verifier ? { verifier: Uint8Array.from(verifier) } : {}) } };
}

/** Wrong passphrases in a row after which a key is closed for a while. */
const FREE = 5;
/** Longest time that a key is closed, in seconds. */
const LONGEST_S = 900;

/** Whole seconds until a passphrase may be tried again, by the database's clock. */
const closedFor = (sql: Queries) =>
  // a key that was never closed has -infinity, which only PostgreSQL 17 and later subtract from
  sql`case when closed_until > now() then ceil(extract(epoch from closed_until - now()))::int else 0 end`;

/**
 * Counts a wrong passphrase: from the fifth in a row on it closes the key for 1 s, 2 s, 4 s … up to 15 minutes. Gives
 * the seconds for which concurrent attempts have closed the key since it was read; 0 where this passphrase counts as
 * tried.
 */
export async function countWrong(sql: Queries, attempt: string): Promise<number> {
  const counted = await sql`
    update vault_key set wrong = wrong + 1, closed_until = case when wrong + 1 < ${FREE}::int then closed_until
      else now() + least(${LONGEST_S}::int, 2 ^ least(wrong + 1 - ${FREE}::int, 30)) * interval '1 second' end
    where attempt = ${attempt} and closed_until <= now() returning 1`;
  return counted.length > 0 ? 0 : await closing(sql, attempt);
}

/** As `countWrong`, after a right passphrase: resets the count. */
export async function countRight(sql: Queries, attempt: string): Promise<number> {
  const [row] = await sql<{ closed: number }[]>`
    with reset as (update vault_key set wrong = 0 where attempt = ${attempt} and wrong > 0 and closed_until <= now())
    select ${closedFor(sql)} as closed from vault_key where attempt = ${attempt}`;
  return row?.closed ?? 0;
}

async function closing(sql: Queries, attempt: string): Promise<number> {
  const [row] = await sql<{ closed: number }[]>`
    select ${closedFor(sql)} as closed from vault_key where attempt = ${attempt}`;
  return row?.closed ?? 0;
}

/**
 * Replaces the seal of a wallet's key; with `old`, only where that is still the seal. Gives the time in ms since 1970,
 * later than that of any earlier seal; `undefined` where the wallet has lost the key or its seal has changed. Resets
 * the count of wrong passphrases. A turn that deletes the wallet waits for the end of the transaction.
 */
export async function replaceSeal(
  sql: Queries,
  { wallet, attempt }: { readonly wallet: string; readonly attempt: string },
  next: SealedKey,
  old?: SealedKey,
): Promise<number | undefined> {
  const [row] = await sql<{ at: Date }[]>`
    update vault_key k set method = ${next.method}, sealed = ${next.key}, verifier = ${next.verifier ?? null},
      updated_at = greatest(now(), k.updated_at + interval '1 millisecond'), wrong = 0, closed_until = '-infinity'
    from (select attempt from vault_adoption where wallet = ${wallet} and attempt = ${attempt} for key share) a
    where k.attempt = a.attempt and k.sealed = coalesce(${old?.key ?? null}, k.sealed) returning k.updated_at as at`;
  return row?.at.getTime();
}

/** Method and time of the seals of wallets. */
export async function sealsOf(sql: Queries, wallets: readonly string[]) {
  return await sql<{ wallet: string; method: SealMethod; at: Date }[]>`
    select wallet, method, updated_at as at from vault_adoption join vault_key using (attempt)
    where wallet = any(${[...wallets]})`;
}

/** Erases a key, unless a wallet has adopted it. */
export async function deleteKey(sql: Queries, attempt: string): Promise<void> {
  await sql`
    delete from vault_key k where attempt = ${attempt}
      and not exists (select from vault_adoption a where a.attempt = k.attempt)`;
}

/** Erases the keys older than this that no wallet has adopted; gives their number. */
export async function deleteStray(sql: Queries, olderThanMs: number): Promise<number> {
  const { count } = await sql`
    delete from vault_key k where put_at < now() - ${olderThanMs}::float8 * interval '1 millisecond'
      and not exists (select from vault_adoption a where a.attempt = k.attempt)`;
  return count;
}
