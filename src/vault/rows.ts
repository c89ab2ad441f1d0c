/** The SQL of the vault. */
import type { Queries } from "#src/store/store.ts";
import type { SealedKey, SealMethod, WalletStyle, Xpub } from "#src/wallet/keys/types.ts";

/** A root key as it is kept. */
export interface KeyRow {
  readonly attempt: string;
  readonly style: WalletStyle;
  readonly root: Xpub;
  readonly sealed: SealedKey;
}

interface Stored {
  readonly attempt: string;
  readonly style: WalletStyle;
  readonly root: Xpub;
  readonly method: SealMethod;
  readonly sealed: Uint8Array;
  readonly verifier: Uint8Array | null;
}

/** Keeps a key that nobody has adopted yet; gives the time, in ms since 1970. */
export async function insertKey(sql: Queries, { attempt, style, root, sealed }: KeyRow): Promise<number> {
  const { method, key, verifier = null } = sealed;
  const [row] = await sql<{ at: Date }[]>`
    insert into vault_key (attempt, style, root, method, sealed, verifier)
    values (${attempt}, ${style}, ${root}, ${method}, ${key}, ${verifier}) returning updated_at as at`;
  return row!.at.getTime();
}

/** The key that a wallet has adopted. */
export async function keyOf(sql: Queries, wallet: string): Promise<KeyRow | undefined> {
  const [row] = await sql<Stored[]>`
    select attempt, style, root, method, sealed, verifier
    from vault_adoption join vault_key using (attempt) where wallet = ${wallet}`;
  if (!row) return undefined;
  const { attempt, style, root, method, verifier } = row;
  const key = Uint8Array.from(row.sealed);
  return {
    attempt,
    style,
    root,
    sealed: { method, key, ...(verifier ? { verifier: Uint8Array.from(verifier) } : {}) },
  };
}

/**
 * Replaces the seal of the key that a wallet has adopted, only where it is still `old` if that is given. Gives the time in ms since 1970,
 * later than that of any seal before; `undefined` where the wallet has the key no more or its seal is another one. A turn that deletes the
 * wallet waits for the end of the transaction.
 */
export async function replaceSeal(
  sql: Queries,
  { wallet, attempt }: { readonly wallet: string; readonly attempt: string },
  next: SealedKey,
  old?: SealedKey,
): Promise<number | undefined> {
  const [row] = await sql<{ at: Date }[]>`
    update vault_key k set method = ${next.method}, sealed = ${next.key}, verifier = ${next.verifier ?? null},
      updated_at = greatest(now(), k.updated_at + interval '1 millisecond')
    from (select attempt from vault_adoption where wallet = ${wallet} and attempt = ${attempt} for key share) a
    where k.attempt = a.attempt and k.sealed = coalesce(${old?.key ?? null}, k.sealed) returning k.updated_at as at`;
  return row?.at.getTime();
}

/** Method and time of the seals of some wallets. */
export async function sealsOf(sql: Queries, wallets: readonly string[]) {
  return await sql<{ wallet: string; method: SealMethod; at: Date }[]>`
    select wallet, method, updated_at as at from vault_adoption join vault_key using (attempt)
    where wallet = any(${wallets as string[]})`;
}

/** Erases one key that no wallet has. */
export async function deleteKey(sql: Queries, attempt: string): Promise<void> {
  await sql`
    delete from vault_key k where attempt = ${attempt}
      and not exists (select from vault_adoption a where a.attempt = k.attempt)`;
}

/** Erases the keys older than this that no wallet has; gives how many. */
export async function deleteStray(sql: Queries, olderThanMs: number): Promise<number> {
  const { count } = await sql`
    delete from vault_key k where put_at < now() - ${olderThanMs}::float8 * interval '1 millisecond'
      and not exists (select from vault_adoption a where a.attempt = k.attempt)`;
  return count;
}
