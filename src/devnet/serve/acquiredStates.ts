/**
 * Ledger states acquired by clients for several queries: each is of one point, and is kept while it is in use.
 *
 * Assumptions: most clients acquire the tip, so those at the same block share one database transaction. A state that
 * was evicted can be read again in a later transaction, as long as its block is on the chain. A client that would have
 * to wait for others is refused instead.
 */
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { SnapshotCache } from "#src/devnet/ledger/snapshotCache.ts";
import {
  type DevnetStateTarget,
  findBlock,
  StateRows,
  type StateUnavailable,
  type StateView,
} from "#src/devnet/serve/stateRows.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** An acquired state. */
export interface AcquiredState extends StateView {
  /** Releases the state: later queries throw. */
  release(): void;
}

/** A state was released, was idle for too long, or was evicted and cannot be read again. */
export class StateGone extends Error {
  override readonly name = "StateGone";
}

/** Every transaction that may be open is answering a query at this moment. */
type StatesBusy = { readonly code: "busy"; readonly message: string };

interface AcquiredStatesSettings {
  readonly store: Store;
  readonly genesis: Genesis;
  /** Open transactions at most, each on its own connection. */
  readonly maxOpen: number;
  /** Milliseconds without a query after which a state is released. */
  readonly idleMs: number;
}

/** States of one transaction that are kept for sharing. */
const MAX_SHARED = 4;

/** A database transaction, which sees the rows as of one newest block. */
interface SnapshotTransaction {
  readonly sql: Queries;
  readonly tip: Tip;
  /** The states used last, by the hash of their block. */
  readonly views: Map<string, StateRows>;
  /** Number of acquired states that use it. */
  users: number;
  /** Queries in progress. */
  queries: number;
  /** Time of the last query. */
  lastQuery: number;
  /** Why it has ended: no state uses it, it was evicted, or the connection was lost. */
  ended: "unused" | "room" | "lost" | undefined;
  readonly commit: () => void;
}

export class AcquiredStates {
  readonly #pool: Store;
  readonly #snapshots = new SnapshotCache();
  readonly #open = new Set<SnapshotTransaction>();
  readonly #transactions = new Set<Promise<void>>();
  /** Serialises the choice of a transaction, so that concurrent clients share one. */
  #choosing: Promise<unknown> = Promise.resolve();

  constructor(private readonly settings: AcquiredStatesSettings) {
    this.#pool = settings.store.beside({ max: settings.maxOpen, settings: {} });
  }

  /** Number of open transactions. */
  get open(): number {
    return this.#open.size;
  }

  /**
   * Acquires a state. Its queries throw `StateGone` after `idleMs` without one, and if it was evicted and its block is no
   * longer on the chain.
   */
  async acquire(target: DevnetStateTarget): Promise<Result<AcquiredState, StateUnavailable | StatesBusy>> {
    const taken = await this.#take(target);
    return taken.ok ? ok(this.#acquired(taken.value)) : taken;
  }

  /** Ends all transactions. */
  async close(): Promise<void> {
    await this.#choosing;
    for (const frame of this.#open) this.#end(frame, "unused");
    // a pool that is closed while a transaction ends waits for its whole timeout, so end the transactions first
    await Promise.all(this.#transactions);
    await this.#pool.close();
  }

  #acquired(first: { readonly frame: SnapshotTransaction; readonly view: StateRows }): AcquiredState {
    const { idleMs } = this.settings;
    const { tip } = first.view;
    let { frame, view } = first;
    let open = true;
    const release = () => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      this.#removeUser(frame);
    };
    let timer = setTimeout(release, idleMs);
    const again = async () => {
      const taken = await this.#take(tip);
      if (!taken.ok) throw new StateGone(`the state was evicted and cannot be read again: ${taken.error.message}`);
      ({ frame, view } = taken.value);
      if (!open) this.#removeUser(frame);
    };
    const asking = async <T>(ask: (view: StateView) => Promise<T>): Promise<T> => {
      clearTimeout(timer);
      try {
        if (open && frame.ended === "room") await again();
        if (!open) throw new StateGone("the state was released, or was idle for too long");
        return await whileQuerying(frame, () => ask(view));
      } finally {
        if (open) timer = setTimeout(release, idleMs);
        else if (frame.users === 0 && frame.queries === 0) this.#end(frame, "unused");
      }
    };
    return {
      tip,
      utxosByAddress: (addresses) => asking((view) => view.utxosByAddress(addresses)),
      utxosByRef: (refs) => asking((view) => view.utxosByRef(refs)),
      utxos: () => asking((view) => view.utxos()),
      registry: (kinds, keys) => asking((view) => view.registry(kinds, keys)),
      ledger: (kinds) => asking((view) => view.ledger(kinds)),
      release,
    };
  }

  /** A state; its transaction counts one more user. */
  async #take(
    target: DevnetStateTarget,
  ): Promise<Result<{ frame: SnapshotTransaction; view: StateRows }, StateUnavailable | StatesBusy>> {
    const chosen = this.#choosing.then(() => this.#choose());
    this.#choosing = chosen.catch(() => {});
    const frame = await chosen;
    if (!frame) return fail("busy", `All ${this.settings.maxOpen} states that can be open at once are in use.`);
    let taken = false;
    try {
      const { tip, sql, views } = frame;
      const found = target === "tip"
        ? ok({ ...tip, newest: tip.height })
        : await whileQuerying(frame, () => findBlock(sql, target));
      if (!found.ok) return found;
      let view = views.get(found.value.hash);
      if (!view) {
        for (const oldest of [...views.keys()].slice(0, Math.max(0, views.size - MAX_SHARED + 1))) views.delete(oldest);
        views.set(found.value.hash, view = new StateRows(sql, this.settings.genesis, this.#snapshots, found.value));
      }
      taken = true;
      return ok({ frame, view });
    } finally {
      if (!taken) this.#removeUser(frame);
    }
  }

  /** A transaction at the present tip, with one more user; undefined if all are busy. */
  async #choose(): Promise<SnapshotTransaction | undefined> {
    const tip = await readTip(this.settings.store.sql);
    const [same] = [...this.#open].filter((frame) => frame.tip.hash === tip.hash);
    if (same) {
      same.users++;
      return same;
    }
    if (this.#open.size >= this.settings.maxOpen) {
      const [longest] = [...this.#open].filter(({ queries }) => queries === 0).sort((a, b) =>
        a.lastQuery - b.lastQuery
      );
      if (!longest) return undefined;
      this.#end(longest, "room");
    }
    return await this.#begin();
  }

  #begin(): Promise<SnapshotTransaction> {
    return new Promise((resolve, reject) => {
      let frame: SnapshotTransaction | undefined;
      const transaction = this.#pool.sql.begin("isolation level repeatable read read only", async (sql) => {
        const tip = await readTip(sql);
        await new Promise<void>((commit) => {
          frame = {
            sql,
            tip,
            views: new Map(),
            users: 1,
            queries: 0,
            lastQuery: performance.now(),
            ended: undefined,
            commit,
          };
          this.#open.add(frame);
          resolve(frame);
        });
      }).catch((error) => {
        if (frame) this.#end(frame, "lost");
        reject(error);
      }).then(() => void this.#transactions.delete(transaction));
      this.#transactions.add(transaction);
    });
  }

  #removeUser(frame: SnapshotTransaction): void {
    if (--frame.users === 0 && frame.queries === 0) this.#end(frame, "unused");
  }

  #end(frame: SnapshotTransaction, why: NonNullable<SnapshotTransaction["ended"]>): void {
    frame.ended ??= why;
    this.#open.delete(frame);
    frame.commit();
  }
}

/** Runs a query; the transaction is not evicted meanwhile. */
async function whileQuerying<T>(frame: SnapshotTransaction, ask: () => Promise<T>): Promise<T> {
  frame.queries++;
  try {
    return await ask();
  } finally {
    frame.queries--;
    frame.lastQuery = performance.now();
  }
}
