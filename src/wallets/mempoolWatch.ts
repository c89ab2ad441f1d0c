/**
 * Watches the network's mempool for payments to wallets: events SEEN, and WITHDRAWN for those that leave it without a
 * block.
 *
 * Assumptions: the process holds the follower's lease, which every write checks, and every write locks the main cursor,
 * so an event has its place in the order of the wallet's other events from the chain. A mempool is read at moments: a
 * transaction that comes and goes between two reads is not seen. A read that fails changes nothing. A transaction is
 * withdrawn when two reads in a row lack it while the index has the block that was the network's tip after each read:
 * then none of these blocks holds it.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { addTo } from "#src/base/maps.ts";
import type { Tip } from "#src/cardano/block.ts";
import type { MempoolTransaction } from "#src/cardano/mempoolTransaction.ts";
import { parseRefKey, refKey } from "#src/cardano/output.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { isKeptPoint, lockCursor, MAIN, readCursorById } from "#src/chain/index/cursor.ts";
import { currentMembers } from "#src/chain/index/groups.ts";
import { findTransaction } from "#src/chain/index/transactions.ts";
import type { MempoolRead } from "#src/chain/provider/mempool.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { WALLET_PROJECTION } from "#src/wallets/index/types.ts";
import { type CoinsInMempool, findPayments, type SeenPayment } from "#src/wallets/seen/payments.ts";
import {
  type AbsentPayment,
  countAbsence,
  deleteIncluded,
  type OpenPayment,
  readInputs,
  readLastExtension,
  readOpen,
  withdraw,
  type WithdrawalReason,
  writeReturned,
  writeSeen,
} from "#src/wallets/seen/rows.ts";

export interface MempoolWatchOptions {
  readonly store: Store;
  readonly port: Pick<ChainPort, "mempool" | "tip" | "utxosByRef">;
  /** Throws inside a transaction when the follower's lease is no longer held. */
  readonly fence: (sql: Queries) => Promise<void>;
  /** Appends to the runtime's ordered input log, in the transaction it is given. */
  readonly append: (sql: Queries, touched: readonly Touched[]) => Promise<void>;
  /** Wakes actors, after the commit. */
  readonly ring: (touched: readonly Touched[]) => void;
  readonly log: Log;
  /** Milliseconds between two reads of the mempool. */
  readonly pollMs: number;
}

/** Transactions that one transaction of the database looks up or writes. */
const BATCH = 200;
/** Consecutive reads without a transaction after which it is withdrawn. */
const ABSENCES = 2;
/** Blocks behind the network's tip from which on the mempool is not read: the index does not know the wallets' coins yet. */
const NEAR = 20;
/** The time between two reads is at least so many times what a read took. */
const REST = 4;
/** Milliseconds between two reads where the network does not support them. */
const UNSUPPORTED_MS = 60_000;

const current = (sql: Queries) => currentMembers(sql, WALLET_PROJECTION);

/** Watches until the signal aborts. */
export async function watchMempool(options: MempoolWatchOptions, signal: AbortSignal): Promise<void> {
  const { pollMs, log } = options;
  const watch = new MempoolWatch(options);
  while (!signal.aborted) {
    const begun = performance.now();
    let wait = pollMs;
    try {
      if (!await watch.poll()) wait = UNSUPPORTED_MS;
    } catch (error) {
      if (!signal.aborted) log.warn("the watch of the mempool is interrupted", { reason: reason(error) });
    }
    await sleep(Math.max(wait, REST * (performance.now() - begun)), signal);
  }
}

/** A transaction that concerns wallets. */
interface OwnTransaction {
  readonly transaction: MempoolTransaction;
  readonly payments: readonly SeenPayment[];
}

export class MempoolWatch {
  /** Transactions of the mempool whose owners were looked up. */
  private readonly examined = new Set<string>();
  /** Those of them that concern wallets, in the mempool's order, also while their payments have not ended. */
  private readonly own = new Map<string, OwnTransaction>();
  private owners: { readonly generation: bigint; readonly extended: number; readonly at: Tip } | undefined;

  constructor(private readonly options: Omit<MempoolWatchOptions, "pollMs">) {}

  /** Reads the mempool once and writes what has changed; false where the network does not support it. */
  async poll(): Promise<boolean> {
    const { store, port, log } = this.options;
    const cursor = await readCursorById(store.sql, MAIN);
    if (!cursor || cursor.networkTip.height - cursor.at.height >= NEAR) return true;
    await this.checkOwners(cursor.generation, cursor.at);
    const read = await port.mempool(this.examined);
    if (!read.ok) {
      log.debug("the mempool cannot be read", { reason: read.error.message });
      return read.error.code !== "query_unsupported";
    }
    const open = await readOpen(store.sql);
    this.prune(read.value, open);
    await this.examine(read.value.transactions);
    await this.writeNew(read.value, open);
    await this.settle(read.value, open);
    return true;
  }

  /**
   * Has all transactions looked up again where addresses may have got other owners: a wallet joined, an address pool was
   * extended, or a rollback was followed by other blocks.
   */
  private async checkOwners(generation: bigint, at: Tip): Promise<void> {
    const { sql } = this.options.store;
    const before = this.owners;
    const extended = await readLastExtension(sql);
    const same = before?.generation === generation && before.extended === extended && await isKeptPoint(sql, before.at);
    if (!same) this.examined.clear();
    this.owners = { generation, extended, at };
  }

  /** Forgets transactions that have left the mempool; those with open payments may have children in it. */
  private prune({ hashes }: MempoolRead, open: readonly OpenPayment[]): void {
    const kept = new Set(open.map(({ hash }) => hash));
    for (const hash of this.examined) if (!hashes.has(hash)) this.examined.delete(hash);
    for (const hash of this.own.keys()) if (!hashes.has(hash) && !kept.has(hash)) this.own.delete(hash);
  }

  /** Looks up whom transactions concern. */
  private async examine(transactions: readonly MempoolTransaction[]): Promise<void> {
    if (transactions.length === 0) return;
    const again = new Set(transactions.map(({ hash }) => hash));
    const coins: CoinsInMempool = new Map();
    for (const { transaction, payments } of this.own.values()) {
      if (!again.has(transaction.hash)) addCoins(coins, transaction, payments);
    }
    for (let i = 0; i < transactions.length; i += BATCH) {
      const some = transactions.slice(i, i + BATCH);
      const found = await findPayments(this.options.store.sql, some, coins);
      const byHash = new Map<string, SeenPayment[]>();
      for (const payment of found) addTo(byHash, payment.hash, payment);
      for (const transaction of some) {
        const payments = byHash.get(transaction.hash);
        if (payments) this.own.set(transaction.hash, { transaction, payments });
        else this.own.delete(transaction.hash);
        this.examined.add(transaction.hash);
      }
    }
  }

  /** Writes payments that have no row yet. */
  private async writeNew({ hashes }: MempoolRead, open: readonly OpenPayment[]): Promise<void> {
    const known = new Set(open.map(({ wallet, hash }) => `${wallet} ${hash}`));
    const payments = [...this.own.values()].flatMap((one) => hashes.has(one.transaction.hash) ? one.payments : [])
      .filter(({ wallet, hash }) => !known.has(`${wallet} ${hash}`));
    for (let i = 0; i < payments.length; i += BATCH) {
      await this.write((sql, at) => writeSeen(sql, payments.slice(i, i + BATCH), at, current));
    }
  }

  /** Ends the payments that have left the mempool, and notes those that are in it again. */
  private async settle({ hashes, complete }: MempoolRead, open: readonly OpenPayment[]): Promise<void> {
    const { port } = this.options;
    const absent = new Map<string, number>();
    const returned: string[] = [];
    for (const { hash, absent: times } of open) {
      if (!hashes.has(hash)) absent.set(hash, Math.max(times, absent.get(hash) ?? 0));
      else if (times > 0) returned.push(hash);
    }
    if (returned.length > 0) await this.write((sql) => writeReturned(sql, returned).then(() => []));
    if (absent.size === 0) return;
    // read after the mempool: a transaction that was in a block by then is in the blocks up to this tip
    const tip = complete ? await port.tip() : undefined;
    const left = [...absent.keys()];
    for (let i = 0; i < left.length; i += BATCH) {
      const some = left.slice(i, i + BATCH);
      const last = some.filter((hash) => (absent.get(hash) ?? 0) + 1 >= ABSENCES);
      const conflicts = tip?.ok ? await this.conflictsOf(last, hashes) : new Set<string>();
      await this.write(async (sql, at) => {
        await deleteIncluded(sql, some);
        if (!tip?.ok || !await isKeptPoint(sql, tip.value)) return [];
        const payments = (await countAbsence(sql, some, current)).filter((one) => one.absent >= ABSENCES);
        return await withdraw(
          sql,
          await Promise.all(payments.map(async (one) => ({
            ...one,
            reason: await reasonOf(sql, one, at, conflicts),
          }))),
        );
      });
    }
  }

  /** The transactions that spend an output which neither the ledger nor the mempool has. */
  private async conflictsOf(hashes: readonly string[], mempool: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    if (hashes.length === 0) return new Set();
    const inputs = await readInputs(this.options.store.sql, hashes);
    const wanted = [...new Set([...inputs.values()].flat())].map(parseRefKey).filter(({ txHash }) =>
      !mempool.has(txHash)
    );
    const unspent = await this.options.port.utxosByRef(wanted);
    if (!unspent.ok) return new Set();
    const there = new Set(unspent.value.value.map(({ ref }) => refKey(ref)));
    const gone = new Set(wanted.map(refKey).filter((key) => !there.has(key)));
    return new Set(hashes.filter((hash) => inputs.get(hash)?.some((key) => gone.has(key))));
  }

  /** Writes under the lease and the cursor's lock, with the events in the same transaction. */
  private async write(work: (sql: Queries, at: Tip) => Promise<readonly Touched[]>): Promise<void> {
    const { store, fence, append, ring } = this.options;
    const { touched } = await store.sql.begin(async (sql) => {
      await fence(sql);
      const at = await lockCursor(sql);
      const touched = await work(sql, at);
      await append(sql, touched);
      return { touched };
    });
    ring(touched);
  }
}

/** Adds the outputs of wallets that a transaction creates. */
function addCoins(coins: CoinsInMempool, transaction: MempoolTransaction, payments: readonly SeenPayment[]): void {
  for (const { wallet, outputs } of payments) {
    for (const index of outputs) {
      const made = transaction.outputs.find(({ ref }) => ref.index === index);
      if (made) addTo(coins, refKey(made.ref), { wallet, value: made.output.value });
    }
  }
}

async function reasonOf(
  sql: Queries,
  { hash, validTo }: AbsentPayment,
  at: Tip,
  conflicts: ReadonlySet<string>,
): Promise<WithdrawalReason> {
  const included = await findTransaction(sql, hash);
  if (included && !included.valid) return "failed";
  // the next block has at least the slot after the tip's
  if (validTo !== undefined && at.slot + 1 >= validTo) return "expired";
  return conflicts.has(hash) ? "conflict" : "left";
}
