/** What pending transactions do to wallets, over what the ledger holds. */
import { created, type ScannedTransaction, spent } from "#src/cardano/block.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import type { Queries } from "#src/store/store.ts";
import { readClaims, type WalletFacts } from "#src/wallet/index/owners.ts";

/** An output of a wallet that a pending transaction will create. */
export interface Coming {
  readonly ref: OutRef;
  readonly output: Output;
  readonly path: readonly number[];
}

/** What is pending of one wallet. */
export interface Pending {
  /** `refKey`s of everything that pending transactions spend. */
  readonly gone: ReadonlySet<string>;
  /** Its outputs that no other of them spends. */
  readonly coming: readonly Coming[];
  /** Addresses of all outputs of pending transactions. */
  readonly addresses: ReadonlySet<string>;
}

/** Looks what open submissions mean to wallets; those that the index has in the ledger already mean nothing any more. */
export async function readPending(
  sql: Queries,
  wallets: ReadonlyMap<string, WalletFacts>,
  pending: ReadonlyMap<string, readonly ScannedTransaction[]>,
): Promise<ReadonlyMap<string, Pending>> {
  const concerned = new Map([...wallets].filter(([id]) => (pending.get(id) ?? []).length > 0));
  if (concerned.size === 0) return new Map();
  const all = [...concerned.keys()].flatMap((id) => pending.get(id)!);
  const [done, claims] = await Promise.all([
    readIncluded(sql, [...concerned.keys()], all.map(({ hash }) => hash)),
    readClaims(sql, concerned, all.flatMap(created).map(({ output }) => output.address)),
  ]);
  return new Map([...concerned.keys()].map((id) => {
    const open = pending.get(id)!.filter(({ hash }) => !done.has(`${id} ${hash}`));
    const gone = new Set(open.flatMap((transaction) => spent(transaction).map(refKey)));
    const made = open.flatMap(created);
    const coming = made.flatMap(({ ref, output }) => {
      const path = claims.get(id)!.get(output.address);
      return path === undefined || gone.has(refKey(ref)) ? [] : [{ ref, output, path }];
    });
    return [id, { gone, coming, addresses: new Set(made.map(({ output }) => output.address)) }];
  }));
}

/** `<wallet> <hash>` of those transactions that the index has. */
export async function readIncluded(
  sql: Queries,
  wallets: readonly string[],
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await sql<{ wallet: string; hash: string }[]>`
    select t.wallet, t.hash from unnest(${sql.array([...new Set(hashes)])}::text[]) h(hash)
    cross join lateral (select wallet, hash from wallet_transaction where hash = h.hash offset 0) t
    where t.wallet = any(${sql.array([...wallets])})`;
  return new Set(rows.map(({ wallet, hash }) => `${wallet} ${hash}`));
}
