/** Runs a devnet's chain while this process holds the lease: opens it, produces blocks, and announces them. */
import { type Clock, sleep, systemClock } from "#src/base/clock.ts";
import { reason } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { currentSlot, slotAt, slotTime } from "#src/cardano/parameters.ts";
import { DevnetChain, LeaseLost, type RollbackImpossible, underLease } from "#src/devnet/blocks/chain.ts";
import { cacheEvaluations } from "#src/devnet/blocks/evaluationCache.ts";
import { readHeightAt } from "#src/devnet/blocks/rows.ts";
import type { SubmissionUnavailable } from "#src/devnet/blocks/submission.ts";
import type { DevnetSettings } from "#src/devnet/devnet.ts";
import { publish, splitFunds } from "#src/devnet/faucet/publish.ts";
import { createGenesis, type Genesis, type GenesisOptions, readGenesis } from "#src/devnet/genesis/genesis.ts";
import {
  remoteSnapshots,
  serveSnapshots,
  type SnapshotFailure,
  type SnapshotOperations,
} from "#src/devnet/serve/snapshots.ts";
import { serveSubmissions } from "#src/devnet/serve/submissions.ts";
import { BLOCK_SUBJECT } from "#src/devnet/serve/subjects.ts";
import { validate } from "#src/ledger/validate.ts";
import type { Evaluate } from "#src/plutus/types.ts";

/** How far a rollback goes: so many blocks, or all after a slot or a height. */
export type RollbackTarget = { readonly blocks: number } | { readonly slot: number } | { readonly height: number };

/** The devnet's clock cannot run further ahead. */
export type TooFarAhead = Failure<"too_far_ahead">;

/** How far a devnet's clock may run ahead: until then a time in milliseconds and its date have an exact form. */
const MOST_AHEAD_MS = 100 * 365 * 86_400_000;

export class DevnetRunner {
  /** Resolves with the database's genesis when the chain is open, or when it turns out to be of another network. */
  readonly opened: Promise<Genesis>;
  #resolveOpened: (genesis: Genesis) => void = () => {};
  #chain: DevnetChain | undefined;
  /** Of the chain, also while it is not open. */
  #slotsAhead = 0;
  readonly #clock: Clock & { advance?(ms: number): void };
  readonly #evaluate: Evaluate;

  /** Saves, restores and deletes snapshots, also where another process has the chain. */
  readonly snapshots: SnapshotOperations = {
    save: (name, options) => this.#snapshot((one) => one.save(name, options)),
    restore: (name) => this.#snapshot((one) => one.restore(name)),
    delete: (name) => this.#snapshot((one) => one.delete(name)),
  };

  constructor(
    private readonly settings: DevnetSettings,
    private readonly genesisOptions: Omit<GenesisOptions, "genesisTime">,
  ) {
    this.opened = new Promise((resolve) => this.#resolveOpened = resolve);
    this.#clock = settings.clock ?? systemClock;
    this.#evaluate = cacheEvaluations(settings.evaluate);
  }

  /** The chain while it is open in this process. */
  get chain(): DevnetChain | undefined {
    return this.#chain;
  }

  /** The current slot. */
  slotOf({ network: { slots } }: Genesis): number {
    return currentSlot({ slots, slotsAhead: this.#chain?.slotsAhead ?? this.#slotsAhead }, this.#clock.now());
  }

  /** Runs until the signal aborts; starts again after an error. */
  async runAgain(epoch: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#run(epoch, signal);
        await aborted(signal);
      } catch (error) {
        this.settings.log.error("the devnet failed and is restarted", { reason: reason(error) });
        await sleep(500, signal);
      }
    }
  }

  /** Produces a block as soon as there is a free slot; another block that is produced meanwhile counts as well. */
  async makeBlock(genesis: Genesis): Promise<Result<Tip, SubmissionUnavailable>> {
    const before = this.#chain?.tip.height ?? 0;
    while (this.#chain) {
      const chain = this.#chain;
      try {
        const tip = await this.#forge(chain, genesis);
        if (tip) return ok(tip);
        // another block has taken the slot; it holds the transactions that were waiting at the time of the call
        if (chain.tip.height > before) return ok(chain.tip);
      } catch (error) {
        this.settings.log.warn("no block was produced", { reason: reason(error) });
        return notRunning();
      }
      const due = slotTime(genesis.network.slots, chain.lastSlot + 1 - chain.slotsAhead);
      const missing = Math.max(1, due - this.#clock.now());
      if (this.#clock.advance) this.#clock.advance(missing);
      else await sleep(missing);
    }
    return notRunning();
  }

  /**
   * Moves the devnet into its next epoch at once: some blocks in the slots that are left of this epoch, by which pools
   * earn, then a block in the epoch's first slot, from where the devnet's clock goes on. If the clock has reached a
   * later epoch than the chain, there is only one block, of now.
   */
  async enterNextEpoch(genesis: Genesis, blocks: number): Promise<Result<Tip, SubmissionUnavailable | TooFarAhead>> {
    const chain = this.#chain;
    if (!chain) return notRunning();
    const { network: { slots }, terms } = genesis;
    if ((chain.slotsAhead + terms.epochLength) * slots.slotLength > MOST_AHEAD_MS) {
      return fail("too_far_ahead", "The devnet's clock cannot run more than 100 years ahead.");
    }
    const { epoch } = chain.state;
    const from = Math.max(this.slotOf(genesis), chain.lastSlot + 1);
    const left = Math.max(0, (epoch + 1) * terms.epochLength - from);
    const made = Math.min(blocks, left);
    try {
      for (let i = 0; i < made; i++) {
        const tip = await chain.forgeAhead(from + Math.floor(i * left / made));
        if (tip) this.#announce(tip);
      }
      return ok(await this.#produce(chain, genesis, () => chain.forgeNextEpoch(epoch)));
    } catch (error) {
      this.settings.log.warn("no block was produced", { reason: reason(error) });
      return notRunning();
    }
  }

  /** Undoes blocks; with `drop`, their transactions do not return to the mempool. */
  async rollback(
    to: RollbackTarget,
    drop: boolean,
  ): Promise<Result<Tip, RollbackImpossible | SubmissionUnavailable>> {
    const { store, log } = this.settings;
    const chain = this.#chain;
    if (!chain) return notRunning();
    try {
      const height = "height" in to
        ? to.height
        : "blocks" in to
        ? chain.tip.height - to.blocks
        : await readHeightAt(store.sql, to.slot);
      const done = await chain.rollback(height, drop);
      if (done.ok) this.#announce(done.value);
      return done;
    } catch (error) {
      log.warn("the rollback failed", { reason: reason(error) });
      return notRunning();
    }
  }

  /**
   * Goes back to the genesis: undoes all blocks, empties the mempool, and submits the devnet's own first transactions
   * again. The clock does not go back.
   */
  async reset(genesis: Genesis): Promise<Result<Tip, RollbackImpossible | SubmissionUnavailable>> {
    const chain = this.#chain;
    if (!chain) return notRunning();
    try {
      const done = await chain.rollback(-1, true, true);
      if (!done.ok) return done;
      this.#announce(done.value);
      await this.#submitFirst(chain, genesis);
      return done;
    } catch (error) {
      this.settings.log.warn("the reset failed", { reason: reason(error) });
      return notRunning();
    }
  }

  /** The devnet's own first transactions, unless the chain has them. */
  async #submitFirst(chain: DevnetChain, genesis: Genesis): Promise<void> {
    await splitFunds(chain, genesis, this.settings.log);
    await this.#publish(chain, genesis);
  }

  /** Publishes the scripts that the ledger accepts, unless the chain has them. */
  async #publish(chain: DevnetChain, genesis: Genesis): Promise<void> {
    const { log, options } = this.settings;
    for (const script of options?.publish ?? []) await publish(chain, genesis, script, log);
  }

  async #snapshot<T>(
    work: (snapshots: SnapshotOperations) => Promise<Result<T, SnapshotFailure>>,
  ): Promise<Result<T, SnapshotFailure>> {
    try {
      return await work(this.#chain ? this.#ownSnapshots(this.#chain) : remoteSnapshots(this.settings.bus));
    } catch (error) {
      this.settings.log.warn("an operation on a snapshot failed", { reason: reason(error) });
      return notRunning();
    }
  }

  #ownSnapshots(chain: DevnetChain): SnapshotOperations {
    return {
      save: (name, options) => chain.saveSnapshot(name, options),
      restore: async (name) => {
        const done = await chain.restoreSnapshot(name);
        if (done.ok) this.#announce(done.value);
        return done;
      },
      delete: (name) => chain.deleteSnapshot(name),
    };
  }

  async #run(epoch: number, signal: AbortSignal): Promise<void> {
    const { store, bus, log, options = {} } = this.settings;
    const genesis = await readGenesis(store.sql) ?? await this.#create(epoch);
    const { magic, slots } = genesis.network;
    if (magic !== this.genesisOptions.magic) return this.#resolveOpened(genesis);
    const chain = await DevnetChain.open({
      store,
      epoch,
      genesis,
      judge: (state, { cbor }, slot) => validate(state, cbor, slot, this.#evaluate, slots),
      mempoolBytes: options.mempoolBytes ?? 4_000_000,
      index: options.index ?? true,
      slot: () => slotAt(slots, this.#clock.now()),
      now: () => this.#clock.now(),
      log,
    });
    this.#chain = chain;
    const served = [
      serveSubmissions(bus, (transaction) => chain.submit(transaction), log),
      serveSnapshots(bus, this.#ownSnapshots(chain), log),
    ];
    try {
      await this.#submitFirst(chain, genesis);
      log.info("devnet runs", { magic, tip: chain.tip.height, slot: this.slotOf(genesis), epoch });
      this.#resolveOpened(genesis);
      if (options.blockMs === 0) await aborted(signal);
      else await this.#makeBlocks(chain, genesis, signal);
    } finally {
      for (const unsubscribe of served) unsubscribe();
      this.#slotsAhead = chain.slotsAhead;
      this.#chain = undefined;
      await chain.idle();
    }
  }

  /** Creates the devnet in an empty database. */
  #create(epoch: number): Promise<Genesis> {
    const { store, options } = this.settings;
    return underLease(store, epoch, async (sql) => {
      const genesisTime = options?.genesisTime ?? Math.floor(this.#clock.now() / 1_000) * 1_000;
      return await createGenesis(sql, { ...this.genesisOptions, genesisTime });
    });
  }

  async #makeBlocks(chain: DevnetChain, genesis: Genesis, signal: AbortSignal): Promise<void> {
    const { log, options: { blockMs = 1_000, emptyBlocks = true } = {} } = this.settings;
    while (!signal.aborted) {
      const sinceLast = (this.#clock.now() - genesis.network.slots.zeroTime) % blockMs;
      await sleep(blockMs - (sinceLast + blockMs) % blockMs, signal);
      if (signal.aborted || (!emptyBlocks && chain.mempool.size === 0)) continue;
      try {
        await this.#forge(chain, genesis);
      } catch (error) {
        if (error instanceof LeaseLost) return;
        log.warn("no block was produced", { reason: reason(error) });
      }
    }
  }

  async #forge(chain: DevnetChain, genesis: Genesis): Promise<Tip | undefined> {
    return await this.#produce(chain, genesis, () => chain.forge(this.slotOf(genesis)));
  }

  /** Produces a block and announces it. The first one of a protocol version is followed by the scripts that need it. */
  async #produce<T extends Tip | undefined>(
    chain: DevnetChain,
    genesis: Genesis,
    produce: () => Promise<T>,
  ): Promise<T> {
    const before = chain.parameters.protocolVersion.major;
    const tip = await produce();
    if (tip) this.#announce(tip);
    if (chain.parameters.protocolVersion.major !== before) await this.#publish(chain, genesis);
    return tip;
  }

  /** Publishes a new tip on the bus. */
  #announce(tip: Tip): void {
    const { bus, log } = this.settings;
    try {
      bus.publish(BLOCK_SUBJECT, { ...tip });
    } catch (error) {
      log.debug("a new tip was not announced", { reason: reason(error) });
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** The failure that the chain is not open in this process. */
export function notRunning(): { ok: false; error: SubmissionUnavailable } {
  return fail("devnet_unavailable", "The devnet is not running in this process; try again.");
}
