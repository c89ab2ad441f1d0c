/** Runs a devnet's chain while this process holds the lease: opens it, produces blocks, and announces them. */
import { aborted, type Clock, sleep, systemClock } from "#src/base/clock.ts";
import { reason } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { currentSlot, slotAt } from "#src/cardano/parameters.ts";
import type { OwnPayer, OwnTransaction } from "#src/devnet/blocks/admission.ts";
import { type BlockPlan, type BlocksMade, type BlocksRequest, times } from "#src/devnet/blocks/blockPlan.ts";
import { DevnetChain, type RollbackImpossible } from "#src/devnet/blocks/chain.ts";
import { LeaseLost, underLease } from "#src/devnet/blocks/lease.ts";
import { cacheEvaluations } from "#src/devnet/blocks/evaluationCache.ts";
import {
  type BadSlot,
  checkAhead,
  checkBehind,
  checkJump,
  checkReach,
  type ClockAhead,
  type JumpBlocks,
  type JumpTarget,
  jumpTerms,
  nextInJump,
  targetSlot,
  type TooFarAhead,
} from "#src/devnet/blocks/jump.ts";
import { type Mining, MiningControl, miningOf } from "#src/devnet/blocks/mining.ts";
import { readHeightAt } from "#src/devnet/blocks/rows.ts";
import type { SubmissionUnavailable } from "#src/devnet/blocks/submission.ts";
import type { DevnetSettings } from "#src/devnet/options.ts";
import type { FaucetPayment } from "#src/devnet/faucet/faucet.ts";
import type { PaymentOutput } from "#src/devnet/faucet/payment.ts";
import { OwnTransactions } from "#src/devnet/faucet/publish.ts";
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

export type BlocksResult<E = BadSlot> = Result<BlocksMade, SubmissionUnavailable | E>;

/** Runs the chain; where it is not open, operations give `devnet_unavailable`. */
export class DevnetRunner {
  /** Resolves with the database's genesis when the chain is open, or when it turns out to be of another network. */
  readonly opened: Promise<Genesis>;
  #resolveOpened: (genesis: Genesis) => void = () => {};
  #chain: DevnetChain | undefined;
  /** Of the chain, also while it is not open. */
  #slotsAhead = 0;
  readonly #own: OwnTransactions;
  /** When blocks are made without a request. */
  readonly mining: MiningControl;
  readonly #clock: Clock;
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
    this.mining = new MiningControl(miningOf(settings.options ?? {}));
    this.#own = new OwnTransactions(settings.options?.publish ?? [], settings.log);
    this.#evaluate = cacheEvaluations(settings.evaluate);
  }

  /** The chain while it is open in this process. */
  get chain(): DevnetChain | undefined {
    return this.#chain;
  }

  /** The current slot. */
  slotOf({ network: { slots } }: Genesis): number {
    return currentSlot({ slots, slotsAhead: this.slotsAhead }, this.#clock.now());
  }

  /** By how many slots the devnet runs ahead of the clock. */
  get slotsAhead(): number {
    return this.#chain?.slotsAhead ?? this.#slotsAhead;
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

  /** Produces blocks now, in the next slots. */
  makeBlocks(genesis: Genesis, { count, gap = 1, empty = false, signal }: BlocksRequest): Promise<BlocksResult> {
    return this.#forgeAll(genesis, signal, (chain) => {
      const last = Math.max(chain.nextSlot, chain.tip.slot + gap) + (count - 1) * gap;
      const checked = this.#check(genesis, last, last - (count - 1) * gap - 1);
      const plan = times(count, ({ tip, now, set = Math.max(now, tip + gap) }) => set);
      return checked.ok ? ok({ plan, empty }) : checked;
    });
  }

  /** Moves the clock: a block in the target slot, one in the first slot of each epoch on the way, and those of `blocks`. */
  advance(genesis: Genesis, to: JumpTarget, blocks: JumpBlocks, signal?: AbortSignal): Promise<BlocksResult> {
    return this.#forgeAll(genesis, signal, (chain) => {
      const terms = jumpTerms(genesis);
      const target = targetSlot(to, Math.max(this.slotOf(genesis), chain.tip.slot), terms);
      const ahead = checkAhead(target, this.#wallSlot(genesis), genesis.network.slots);
      const checked = ahead.ok ? checkJump(chain.tip.slot, target, blocks, terms) : ahead;
      const plan: BlockPlan = ({ tip }) => tip < target ? nextInJump(tip, target, blocks, terms) : undefined;
      return checked.ok ? ok({ plan }) : checked;
    });
  }

  /**
   * Moves the chain to the slot of the machine's clock, as `advance` does; makes no block where it is there. Refused where
   * the devnet runs ahead: time goes back by rollbacks and snapshots alone.
   */
  async catchUp(
    genesis: Genesis,
    blocks: JumpBlocks,
    signal?: AbortSignal,
  ): Promise<BlocksResult<BadSlot | ClockAhead>> {
    const chain = this.#chain;
    if (!chain) return notRunning();
    const wall = this.#wallSlot(genesis);
    const behind = checkBehind(Math.max(this.slotsAhead, chain.tip.slot - wall));
    if (!behind.ok) return behind;
    if (chain.tip.slot === wall) return ok({ tip: chain.tip, blocks: 0 });
    return await this.advance(genesis, { toSlot: wall }, blocks, signal);
  }

  /**
   * Moves the devnet into its next epoch: some blocks in the slots that are left of this epoch, by which pools earn, then
   * a block in the epoch's first slot. If the clock has reached a later epoch than the chain, there is only one block, of
   * now. Makes no block where the chain has left the epoch meanwhile.
   */
  enterNextEpoch(genesis: Genesis, blocks: number): Promise<BlocksResult<TooFarAhead>> {
    return this.#forgeAll(genesis, undefined, (chain) => {
      const { network: { slots }, terms: { epochLength } } = genesis;
      const { epoch } = chain.state;
      const boundary = (epoch + 1) * epochLength;
      const from = chain.nextSlot;
      const left = Math.max(0, boundary - from);
      const made = Math.min(blocks, left);
      const before = Array.from({ length: made }, (_, i) => from + Math.floor(i * left / made));
      const plan: BlockPlan = ({ tip, now, epoch: reached }) =>
        reached > epoch ? undefined : before.find((slot) => slot > tip) ?? Math.max(now, boundary);
      const checked = checkAhead(boundary, this.#wallSlot(genesis), slots);
      return checked.ok ? ok({ plan }) : checked;
    });
  }

  /** Sets the slot of the next block. */
  async setNextSlot(genesis: Genesis, slot: number): Promise<Result<void, SubmissionUnavailable | BadSlot>> {
    const chain = this.#chain;
    if (!chain) return notRunning();
    try {
      return await chain.setNextSlot(slot, (tip) => this.#check(genesis, slot, tip));
    } catch (error) {
      this.settings.log.warn("the slot of the next block was not set", { reason: reason(error) });
      return notRunning();
    }
  }

  /** Changes when blocks are made; `submit` makes them at once for the transactions that wait. */
  async setMining(
    genesis: Genesis,
    mining: Pick<Mining, "mode"> & Partial<Mining>,
  ): Promise<Result<void, SubmissionUnavailable>> {
    const chain = this.#chain;
    if (!chain) return notRunning();
    this.mining.set(mining);
    if (mining.mode !== "submit") return ok(undefined);
    try {
      await chain.mineWaiting();
      await this.#own.publishNew(chain, genesis);
      return ok(undefined);
    } catch (error) {
      this.settings.log.warn("no block was produced", { reason: reason(error) });
      return notRunning();
    }
  }

  /** Submits a transaction. */
  async submit(genesis: Genesis, transaction: Uint8Array): ReturnType<DevnetChain["submit"]> {
    return await this.#submitting(genesis, (chain) => chain.submit(transaction)) ?? notRunning();
  }

  /** Pays from the faucet. */
  async pay(genesis: Genesis, target: PaymentOutput): Promise<FaucetPayment> {
    return await this.#submitting(genesis, (chain) => chain.pay([target])) ?? notRunning();
  }

  /** Makes a transaction of the devnet's own with the faucet's coins. */
  async own<E>(
    genesis: Genesis,
    build: (payer: OwnPayer) => Result<Uint8Array, E>,
  ): Promise<Result<OwnTransaction, E | SubmissionUnavailable>> {
    return await this.#submitting(genesis, (chain) => chain.own(build)) ?? notRunning();
  }

  /** In the mode `submit` a submission may make the first block of a protocol version. */
  async #submitting<T>(genesis: Genesis, work: (chain: DevnetChain) => Promise<T>): Promise<T | undefined> {
    const chain = this.#chain;
    const done = chain && await work(chain);
    if (chain) await this.#own.publishNew(chain, genesis);
    return done;
  }

  #wallSlot({ network: { slots } }: Genesis): number {
    return slotAt(slots, this.#clock.now());
  }

  #check(genesis: Genesis, slot: number, tip: number): Result<void, BadSlot> {
    const ahead = checkAhead(slot, this.#wallSlot(genesis), genesis.network.slots);
    return ahead.ok ? checkReach(slot, tip) : ahead;
  }

  /** Produces the blocks of a plan, in pieces between which other operations run; until the signal aborts. */
  async #forgeAll<E>(
    genesis: Genesis,
    signal: AbortSignal | undefined,
    planned: (chain: DevnetChain) => Result<{ readonly plan: BlockPlan; readonly empty?: boolean }, E>,
  ): Promise<Result<BlocksMade, E | SubmissionUnavailable>> {
    const chain = this.#chain;
    if (!chain) return notRunning();
    const one = planned(chain);
    if (!one.ok) return one;
    let { tip } = chain;
    let blocks = 0;
    try {
      while (!signal?.aborted) {
        const tips = await chain.forgeBlocks(one.value.plan, one.value);
        await this.#own.publishNew(chain, genesis);
        if (tips.length === 0) break;
        tip = tips.at(-1) ?? tip;
        blocks += tips.length;
      }
      return ok({ tip: blocks === 0 ? chain.tip : tip, blocks });
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
      if (done.ok) this.#movedTo(chain, done.value);
      return done;
    } catch (error) {
      log.warn("the rollback failed", { reason: reason(error) });
      return notRunning();
    }
  }

  /**
   * Goes back to the genesis: undoes all blocks, empties the mempool, and submits the devnet's own first transactions
   * again.
   */
  async reset(genesis: Genesis): Promise<Result<Tip, RollbackImpossible | SubmissionUnavailable>> {
    const chain = this.#chain;
    if (!chain) return notRunning();
    try {
      const done = await chain.rollback(-1, true, true);
      if (!done.ok) return done;
      this.#announce(done.value);
      await this.#own.submitFirst(chain, genesis);
      return done;
    } catch (error) {
      this.settings.log.warn("the reset failed", { reason: reason(error) });
      return notRunning();
    }
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
        if (done.ok) this.#movedTo(chain, done.value);
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
      judge: (state, { cbor }, slot, submission) => validate(state, cbor, slot, this.#evaluate, slots, submission),
      pastHorizon: options.pastHorizon ?? false,
      mempoolBytes: options.mempoolBytes ?? 4_000_000,
      index: options.index ?? true,
      utxoRoot: options.utxoRoot ?? true,
      treeAtOnce: options.treeAtOnce,
      slot: () => slotAt(slots, this.#clock.now()),
      now: () => this.#clock.now(),
      mining: this.mining,
      announce: (tip) => this.#announce(tip),
      log,
    });
    this.#chain = chain;
    const served = [
      serveSubmissions(bus, (transaction) => this.submit(genesis, transaction), log),
      serveSnapshots(bus, this.#ownSnapshots(chain), log),
    ];
    try {
      await this.#own.submitFirst(chain, genesis);
      log.info("devnet runs", { magic, tip: chain.tip.height, slot: this.slotOf(genesis), epoch });
      this.#resolveOpened(genesis);
      await this.#keepPace(chain, genesis, signal);
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

  /** Produces blocks at the pace of the mode `interval`, whenever that is the mode. */
  async #keepPace(chain: DevnetChain, genesis: Genesis, signal: AbortSignal): Promise<void> {
    const { log, options: { emptyBlocks = true } = {} } = this.settings;
    while (!signal.aborted) {
      const { present: { mode, blockMs }, changed } = this.mining;
      const ended = AbortSignal.any([signal, changed]);
      if (mode !== "interval") {
        await aborted(ended);
        continue;
      }
      const sinceLast = (this.#clock.now() - genesis.network.slots.zeroTime) % blockMs;
      await sleep(blockMs - (sinceLast + blockMs) % blockMs, ended);
      if (ended.aborted || (!emptyBlocks && chain.mempool.size === 0)) continue;
      try {
        await chain.forge(this.slotOf(genesis));
        await this.#own.publishNew(chain, genesis);
      } catch (error) {
        if (error instanceof LeaseLost) return;
        log.warn("no block was produced", { reason: reason(error) });
      }
    }
  }

  /** Announces where a rollback or a restore has led: a hard fork may come again. */
  #movedTo(chain: DevnetChain, tip: Tip): void {
    this.#own.keepVersion(chain);
    this.#announce(tip);
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

/** The failure that the chain is not open in this process. */
export function notRunning(): { ok: false; error: SubmissionUnavailable } {
  return fail("devnet_unavailable", "The devnet is not running in this process; try again.");
}
