/** Mempool monitoring: a snapshot, which is walked once. */
import { sleep } from "#src/base/clock.ts";
import type { PendingTransaction } from "#src/devnet/blocks/mempool.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { Answer } from "#src/devnet/serve/ogmios/envelope.ts";
import { DevnetLost, type Method, type Protocol } from "#src/devnet/serve/ogmios/method.ts";
import { ogmiosError } from "#src/ogmios/errors.ts";
import { hexOf, isGiven, OgmiosFormError } from "#src/ogmios/form.ts";
import { sizeJson } from "#src/ogmios/values.ts";

/** The mempool that is monitored. */
export interface MonitoredMempool {
  readonly devnet: Pick<Devnet, "mempool" | "changes" | "slot" | "runs">;
  /** Bytes that it may hold. */
  readonly capacity: number;
  /** A whole transaction in Ogmios' JSON. */
  transactionJson(cbor: Uint8Array): unknown;
}

/** Milliseconds between looks at the mempool of a client that waits for a change. */
const POLL_MS = 50;

const NOT_ACQUIRED = ogmiosError(4000, "You must acquire a mempool snapshot prior to accessing it.");

interface Snapshot {
  readonly transactions: readonly PendingTransaction[];
  readonly hashes: ReadonlySet<string>;
  /** Transactions that were given. */
  given: number;
}

/** The monitor of a client. */
export function mempoolMonitor(
  { devnet, capacity, transactionJson }: MonitoredMempool,
  signal: AbortSignal,
): Protocol {
  let held: Snapshot | undefined;

  const acquireMempool = async (): Promise<Answer> => {
    held = await changed(held);
    return { result: { acquired: "mempool", slot: devnet.slot() + 1 } };
  };

  /** A snapshot that differs from another one: waits for it. */
  const changed = async (before: Snapshot | undefined): Promise<Snapshot> => {
    let seen: number | undefined;
    for (; !signal.aborted; await sleep(POLL_MS, signal)) {
      if (!devnet.runs()) break;
      const changes = devnet.changes();
      if (changes === seen) continue;
      seen = changes;
      const transactions = devnet.mempool();
      if (before && isSame(before.transactions, transactions)) continue;
      return { transactions, hashes: new Set(transactions.map(({ transaction }) => transaction.hash)), given: 0 };
    }
    throw new DevnetLost("The mempool is no longer there.");
  };

  /** A method that needs a snapshot when its turn comes. */
  const withSnapshot = (answer: (held: Snapshot) => unknown) => ({
    run: async (): Promise<Answer> => held ? { result: answer(held) } : { error: NOT_ACQUIRED },
  });

  const nextTransaction: Method = ({ fields }) => {
    if (isGiven(fields) && fields !== "all") {
      throw new OgmiosFormError("Invalid argument to 'fields'. Expected 'all'");
    }
    return withSnapshot((held) => {
      const next = held.transactions[held.given];
      if (!next) return { transaction: null };
      held.given++;
      return { transaction: isGiven(fields) ? transactionJson(next.cbor) : { id: next.transaction.hash } };
    });
  };

  return {
    methods: {
      acquireMempool: () => ({ run: acquireMempool }),
      nextTransaction,
      hasTransaction: ({ id }) => {
        const hash = hexOf(id, "field 'id'", 32);
        return withSnapshot(({ hashes }) => hashes.has(hash));
      },
      sizeOfMempool: () =>
        withSnapshot(({ transactions }) => ({
          maxCapacity: sizeJson(capacity),
          currentSize: sizeJson(transactions.reduce((sum, { cbor }) => sum + cbor.length, 0)),
          transactions: { count: transactions.length },
        })),
      releaseMempool: () =>
        withSnapshot(() => {
          held = undefined;
          return { released: "mempool" };
        }),
    },
  };
}

function isSame(a: readonly PendingTransaction[], b: readonly PendingTransaction[]): boolean {
  return a.length === b.length && a.every(({ transaction }, index) => transaction.hash === b[index]?.transaction.hash);
}
