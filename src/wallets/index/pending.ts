/** Effects of pending transactions on wallets. */
import { mustGet } from "#src/base/maps.ts";
import { created, type ScannedTransaction, spent } from "#src/cardano/block.ts";
import { parentsOf, withDependents } from "#src/cardano/dependents.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import type { Queries } from "#src/store/store.ts";
import { readClaims, type WalletFacts } from "#src/wallets/index/owners.ts";

/** An output of a wallet in a pending transaction. */
interface PendingOutput {
  readonly ref: OutRef;
  readonly output: Output;
  readonly path: readonly number[];
}

/** Effects of all pending transactions on one wallet. */
export interface PendingEffects {
  /** The transactions that neither the wallet's ledger holds nor it rules out. */
  readonly transactions: readonly ScannedTransaction[];
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
  const [done, taken, claims] = await Promise.all([
    readIncluded(sql, [...affected.keys()], all.map(({ hash }) => hash)),
    readSpent(sql, [...affected.keys()], all.flatMap(spent).map(refKey)),
    readClaims(sql, affected, all.flatMap(created).map(({ output }) => output.address), "stock"),
  ]);
  return new Map([...affected.keys()].map((id) => {
    const listed = mustGet(pending, id).filter(({ hash }) => !done.has(`${id} ${hash}`));
    // a block has spent their inputs otherwise: they and what depends on them can be in none any more
    const lost = listed.filter((one) => spent(one).some((ref) => taken.has(`${id} ${refKey(ref)}`)));
    const gone = withDependents(
      listed.map((one) => ({ hash: one.hash, parents: parentsOf(one) })),
      lost.map(({ hash }) => hash),
    );
    const open = listed.filter(({ hash }) => !gone.has(hash));
    const spends = new Set(open.flatMap((transaction) => spent(transaction).map(refKey)));
    const made = open.flatMap(created);
    const outputs = made.flatMap(({ ref, output }) => {
      const path = mustGet(claims, id).get(output.address);
      return path === undefined || spends.has(refKey(ref)) ? [] : [{ ref, output, path }];
    });
    return [id, { transactions: open, spends, outputs, addresses: new Set(made.map(({ output }) => output.address)) }];
  }));
}

/** `<wallet> <ref>` of those outputs of wallets that a block has spent. */
async function readSpent(
  sql: Queries,
  wallets: readonly string[],
  refs: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ wallet: string; ref: string }[]>`
    select u.wallet, u.ref from unnest(${sql.array([...new Set(refs)])}::text[]) r(ref)
    cross join lateral (select wallet, ref from wallet_utxo where ref = r.ref and to_slot is not null offset 0) u
    where u.wallet = any(${sql.array([...wallets])})`;
  return new Set(rows.map(({ wallet, ref }) => `${wallet} ${ref}`));
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
