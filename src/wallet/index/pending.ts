/** Effects of pending transactions on wallets. */
import { mustGet } from "#src/base/maps.ts";
import { created, type ScannedTransaction, spent } from "#src/cardano/block.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import type { Queries } from "#src/store/store.ts";
import { readClaims, type WalletFacts } from "#src/wallet/index/owners.ts";

/** An output of a wallet in a pending transaction. */
interface PendingOutput {
  readonly ref: OutRef;
  readonly output: Output;
  readonly path: readonly number[];
}

/** Effects of all pending transactions on one wallet. */
export interface PendingEffects {
  /** `refKey`s of all outputs that they spend. */
  readonly spends: ReadonlySet<string>;
  /** The wallet's outputs that none of them spends. */
  readonly outputs: readonly PendingOutput[];
  /** Addresses of all their outputs. */
  readonly addresses: ReadonlySet<string>;
}

/** Effects of open submissions on wallets, without those that the index already has in the ledger. */
export async function readPending(
  sql: Queries,
  wallets: ReadonlyMap<string, WalletFacts>,
  pending: ReadonlyMap<string, readonly ScannedTransaction[]>,
): Promise<ReadonlyMap<string, PendingEffects>> {
  const affected = new Map([...wallets].filter(([id]) => (pending.get(id) ?? []).length > 0));
  if (affected.size === 0) return new Map();
  const all = [...affected.keys()].flatMap((id) => mustGet(pending, id));
  const [done, claims] = await Promise.all([
    readIncluded(sql, [...affected.keys()], all.map(({ hash }) => hash)),
    readClaims(sql, affected, all.flatMap(created).map(({ output }) => output.address)),
  ]);
  return new Map([...affected.keys()].map((id) => {
    const open = mustGet(pending, id).filter(({ hash }) => !done.has(`${id} ${hash}`));
    const spends = new Set(open.flatMap((transaction) => spent(transaction).map(refKey)));
    const made = open.flatMap(created);
    const outputs = made.flatMap(({ ref, output }) => {
      const path = mustGet(claims, id).get(output.address);
      return path === undefined || spends.has(refKey(ref)) ? [] : [{ ref, output, path }];
    });
    return [id, { spends, outputs, addresses: new Set(made.map(({ output }) => output.address)) }];
  }));
}

/** `<wallet> <hash>` of those transactions that the index has in the ledger. */
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
