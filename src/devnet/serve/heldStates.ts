/**
 * The states of the ledger that clients hold to ask them several things: each at one point, as long as somebody asks.
 *
 * Hypotheses: most clients ask at the tip, so that those who come at the same block share one transaction of the database; a state
 * that was let go to make room can be read again out of a later transaction, as long as its block is on the chain; who would have to wait
 * for others is better told so.
 */
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { Snapshots } from "#src/devnet/ledger/snapshots.ts";
import { findBlock, type NotHeld, StateRows, type StateTarget, type StateView } from "#src/devnet/serve/stateRows.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** A state that is held for somebody. */
export interface HeldState extends StateView {
  /** Lets it go; it answers nothing any more. */
  release(): void;
}

/** Every transaction that may be open is answering somebody at this moment. */
export type Busy = { readonly code: "busy"; readonly message: string };

export interface HeldStatesSettings {
  readonly store: Store;
  readonly genesis: Genesis;
  /** Transactions that may be open at once, each on a connection of its own. */
  readonly most: number;
  /** Milliseconds after which a state that nobody asks is let go. */
  readonly idleMs: number;
}

/** States of one transaction that are kept for others to share. */
const SHARED = 4;

/** A transaction, which sees the rows as they were when a block was the newest. */
interface Frame {
  readonly sql: Queries;
  readonly tip: Tip;
  /** States by the hash of their block, for others who come at it: the last few. */
  readonly views: Map<string, StateRows>;
  /** Who holds a state of it. */
  holders: number;
  /** Questions under way. */
  asking: number;
  /** When it was asked last. */
  asked: number;
  /** Why it has ended: nobody held a state of it, it made room, or the database lost it. */
  ended: "unused" | "room" | "lost" | undefined;
  readonly commit: () => void;
}

export class HeldStates {
  readonly #own: Store;
  readonly #snapshots = new Snapshots();
  readonly #frames = new Set<Frame>();
  readonly #transactions = new Set<Promise<void>>();
  /** Frames are chosen one after the other, so that those who come together share one. */
  #choosing: Promise<unknown> = Promise.resolve();

  constructor(private readonly settings: HeldStatesSettings) {
    this.#own = settings.store.beside({ max: settings.most, settings: {} });
  }

  /** Transactions that are open. */
  get open(): number {
    return this.#frames.size;
  }

  /** Holds a state. It throws when nothing was asked for `idleMs`, and when it had to make room and its block is no more on the chain. */
  async acquire(target: StateTarget): Promise<Result<HeldState, NotHeld | Busy>> {
    const taken = await this.#take(target);
    return taken.ok ? ok(this.#held(taken.value)) : taken;
  }

  /** Ends all transactions. */
  async close(): Promise<void> {
    await this.#choosing;
    for (const frame of this.#frames) this.#end(frame, "unused");
    // The end of a pool waits out its whole time where a transaction ends while the pool does.
    await Promise.all(this.#transactions);
    await this.#own.close();
  }

  #held(first: { readonly frame: Frame; readonly view: StateRows }): HeldState {
    const { idleMs } = this.settings;
    const { tip } = first.view;
    let { frame, view } = first;
    let open = true;
    const release = () => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      this.#leave(frame);
    };
    let timer = setTimeout(release, idleMs);
    const again = async () => {
      const taken = await this.#take(tip);
      if (!taken.ok) throw new Error(`the state had to make room and cannot be read again: ${taken.error.message}`);
      ({ frame, view } = taken.value);
      if (!open) this.#leave(frame);
    };
    const asking = async <T>(ask: (view: StateView) => Promise<T>): Promise<T> => {
      clearTimeout(timer);
      try {
        if (open && frame.ended === "room") await again();
        if (!open) throw new Error("the state was let go, or held too long without a question");
        return await during(frame, () => ask(view));
      } finally {
        if (open) timer = setTimeout(release, idleMs);
        else if (frame.holders === 0 && frame.asking === 0) this.#end(frame, "unused");
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

  /** A state, counted as held. */
  async #take(target: StateTarget): Promise<Result<{ frame: Frame; view: StateRows }, NotHeld | Busy>> {
    const chosen = this.#choosing.then(() => this.#choose());
    this.#choosing = chosen.catch(() => {});
    const frame = await chosen;
    if (!frame) return fail("busy", `All ${this.settings.most} states that can be read at once are being asked.`);
    let taken = false;
    try {
      const { tip, sql, views } = frame;
      const found = target === "tip"
        ? ok({ ...tip, newest: tip.height })
        : await during(frame, () => findBlock(sql, target));
      if (!found.ok) return found;
      let view = views.get(found.value.hash);
      if (!view) {
        for (const oldest of [...views.keys()].slice(0, Math.max(0, views.size - SHARED + 1))) views.delete(oldest);
        views.set(found.value.hash, view = new StateRows(sql, this.settings.genesis, this.#snapshots, found.value));
      }
      taken = true;
      return ok({ frame, view });
    } finally {
      if (!taken) this.#leave(frame);
    }
  }

  /** A frame of the chain as it is now, counted as held; undefined where there is no room for one. */
  async #choose(): Promise<Frame | undefined> {
    const tip = await readTip(this.settings.store.sql);
    const [same] = [...this.#frames].filter((frame) => frame.tip.hash === tip.hash);
    if (same) {
      same.holders++;
      return same;
    }
    if (this.#frames.size >= this.settings.most) {
      const [longest] = [...this.#frames].filter(({ asking }) => asking === 0).sort((a, b) => a.asked - b.asked);
      if (!longest) return undefined;
      this.#end(longest, "room");
    }
    return await this.#begin();
  }

  #begin(): Promise<Frame> {
    return new Promise((resolve, reject) => {
      let frame: Frame | undefined;
      const transaction = this.#own.sql.begin("isolation level repeatable read read only", async (sql) => {
        const tip = await readTip(sql);
        await new Promise<void>((commit) => {
          frame = {
            sql,
            tip,
            views: new Map(),
            holders: 1,
            asking: 0,
            asked: performance.now(),
            ended: undefined,
            commit,
          };
          this.#frames.add(frame);
          resolve(frame);
        });
      }).catch((error) => {
        if (frame) this.#end(frame, "lost");
        reject(error);
      }).then(() => void this.#transactions.delete(transaction));
      this.#transactions.add(transaction);
    });
  }

  #leave(frame: Frame): void {
    if (--frame.holders === 0 && frame.asking === 0) this.#end(frame, "unused");
  }

  #end(frame: Frame, why: NonNullable<Frame["ended"]>): void {
    frame.ended ??= why;
    this.#frames.delete(frame);
    frame.commit();
  }
}

/** Asks a frame, which is not let go meanwhile. */
async function during<T>(frame: Frame, ask: () => Promise<T>): Promise<T> {
  frame.asking++;
  try {
    return await ask();
  } finally {
    frame.asking--;
    frame.asked = performance.now();
  }
}
