/**
 * The memory of the devnet's chain: a copy of its rows, and the mempool with the state that it judges on.
 *
 * Assumption: one operation at a time changes it, together with the rows.
 */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { inTurns } from "#src/base/steps.ts";
import { horizon } from "#src/cardano/eras.ts";
import { type Output, parseRefKey, refKey, type Utxo } from "#src/cardano/output.ts";
import type { Tip } from "#src/cardano/block.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import {
  type DroppedTransaction,
  Mempool,
  type SubmittedTransaction,
  type ValidateTransaction,
} from "#src/devnet/blocks/mempool.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import { eachUtxo, type MempoolRow, type NewBlock, readMempool, type UndoneBlocks } from "#src/devnet/blocks/writes.ts";
import { FaucetCoins } from "#src/devnet/faucet/faucetCoins.ts";
import { type Genesis, readBounds } from "#src/devnet/genesis/genesis.ts";
import { readColdKeys } from "#src/devnet/genesis/pools.ts";
import { ChangeSet, writeEntries, writeEntriesInSteps } from "#src/devnet/ledger/changes.ts";
import { readEntries } from "#src/devnet/ledger/entries.ts";
import { enterEpoch, type EpochBoundary, epochOf } from "#src/devnet/ledger/epoch.ts";
import { eraHistory } from "#src/devnet/serve/nodeGenesis.ts";
import type { AppendedBlocks } from "#src/devnet/snapshots/sideBlocks.ts";
import { type Applied, applyDelta } from "#src/ledger/delta.ts";
import { type LedgerState, type MutableLedgerState, newState, overlay } from "#src/ledger/state.ts";
import type { Store } from "#src/store/store.ts";

/** What a memory depends on. */
export interface MemorySettings {
  readonly genesis: Genesis;
  /** Validates a transaction by the rules of the ledger. */
  readonly judge: ValidateTransaction;
  /** Whether scripts run in transactions with a bound past the horizon. */
  readonly pastHorizon: boolean;
  /** The slot of the clock; the devnet may run ahead of it. */
  readonly slot: () => number;
}

/** The place of a chain: its newest block, its clock, and how often it was turned back. */
interface ChainPlace {
  readonly tip: Tip;
  readonly slotsAhead: number;
  readonly fork: number;
}

/** Transactions of the mempool's rows. */
export function submittedOf(rows: readonly MempoolRow[]): SubmittedTransaction[] {
  return rows.map(({ position, cbor }) => ({ position, cbor, transaction: scanTransaction(cbor) }));
}

export class ChainMemory {
  readonly state: MutableLedgerState;
  readonly coins: FaucetCoins;
  readonly mempool: Mempool;
  /** The slot that was set for the next block. */
  nextSlot: number | undefined;
  /** Position of the next transaction. */
  next = 0;
  /** What the mempool judges on: the state; after a rollback over a boundary, or a restart after one, the state as it will be in the next block's epoch. */
  #base: LedgerState;

  private constructor(
    private readonly settings: MemorySettings,
    readonly outputs: Map<string, Output>,
    /** Cold keys of pools, by id. */
    readonly coldKeys: Map<string, Uint8Array>,
    public floor: number,
    private place: ChainPlace,
  ) {
    const { parameters, network, faucet } = settings.genesis;
    this.state = newState({ parameters, network: network.id, outputs });
    this.coins = new FaucetCoins(faucet.address);
    this.#base = this.state;
    this.mempool = new Mempool(() => this.#base, settings.judge);
  }

  /**
   * Reads the rows; the transactions of the mempool are `waiting`, for `refill`. What has no rows is taken from the memory
   * before.
   */
  static async read(
    { sql }: Pick<Store, "sql">,
    settings: MemorySettings,
    before?: Pick<ChainMemory, "next" | "nextSlot">,
  ): Promise<{ readonly memory: ChainMemory; readonly waiting: readonly SubmittedTransaction[] }> {
    const outputs = new Map<string, Output>();
    await sql.begin((sql) => eachUtxo(sql, ({ ref, output }) => outputs.set(refKey(ref), output)));
    const entries = await readEntries(sql);
    const coldKeys = await readColdKeys(sql);
    const { floor, slotsAhead, fork } = await readBounds(sql);
    const memory = new ChainMemory(settings, outputs, coldKeys, floor, { tip: await readTip(sql), slotsAhead, fork });
    writeEntries(memory.state, entries, "after");
    if (before) ({ next: memory.next, nextSlot: memory.nextSlot } = before);
    return { memory, waiting: submittedOf(await readMempool(sql)) };
  }

  get tip(): Tip {
    return this.place.tip;
  }

  get slotsAhead(): number {
    return this.place.slotsAhead;
  }

  get fork(): number {
    return this.place.fork;
  }

  /** The slot of the next block, if it is made now. */
  get slot(): number {
    return this.nextSlot ?? Math.max(this.settings.slot() + this.slotsAhead, this.tip.slot + 1);
  }

  /** The first slot whose time is not known at the tip: a script that needs it cannot be run. Undefined: that is not checked. */
  get horizon(): number | undefined {
    const { genesis, pastHorizon } = this.settings;
    return pastHorizon ? undefined : horizon(eraHistory(genesis, this.tip))?.slot;
  }

  /** All unspent outputs of the chain. */
  *utxos(): Iterable<Utxo> {
    for (const [key, output] of this.outputs) yield { ref: parseRefKey(key), output };
  }

  /** By how many slots the clock has to run ahead, at most as far as now, to have reached a block. */
  aheadAt({ slot }: Tip): number {
    return Math.min(this.slotsAhead, Math.max(0, slot - this.settings.slot()));
  }

  /** Continues from a block of the rows. */
  moveTo(place: ChainPlace): void {
    this.place = place;
    this.nextSlot = undefined;
  }

  /** Removes the effects of undone blocks. */
  async forget({ removed, restored, changes }: UndoneBlocks): Promise<void> {
    for (const ref of removed) this.outputs.delete(refKey(ref));
    for (const { ref, output } of restored) this.outputs.set(refKey(ref), output);
    await inTurns(writeEntriesInSteps(this.state, changes, "before"), new EventLoopPacer());
  }

  /** Adds the effects of blocks that were on the chain before. */
  async restore({ spent, created, changes }: AppendedBlocks): Promise<void> {
    for (const ref of spent) this.outputs.delete(refKey(ref));
    for (const { ref, output } of created) this.outputs.set(refKey(ref), output);
    await inTurns(writeEntriesInSteps(this.state, changes, "after"), new EventLoopPacer());
  }

  /** Adds the effects of new blocks. */
  apply(blocks: readonly NewBlock[]): void {
    for (const { transactions, coldKeys } of blocks) {
      for (const [pool, key] of coldKeys) this.coldKeys.set(pool, key);
      for (const applied of transactions) {
        applyDelta(this.state, applied);
        this.coins.confirm(applied);
      }
    }
  }

  /**
   * Advances the ledger to a slot. If that ends epochs, the mempool is validated again; else transactions past their
   * validity are dropped. Memory is then ahead of the rows until `changes` are written.
   */
  async advanceTo(
    slot: number,
    changes: ChangeSet,
  ): Promise<{ dropped: DroppedTransaction[]; boundaries: EpochBoundary[] }> {
    const { terms } = this.settings.genesis;
    const isOfEpoch = epochOf(slot, terms.epochLength) <= this.state.epoch;
    if (isOfEpoch && this.#base === this.state) return { dropped: await this.mempool.expire(slot), boundaries: [] };
    const boundaries = await enterEpoch(this.state, slot, terms, changes);
    this.#base = this.state;
    return { dropped: await this.mempool.refill([...this.mempool.entries()], slot), boundaries };
  }

  /** The state in the epoch of a slot, as a block in that slot finds it; the current state is not changed. */
  async #stateIn(slot: number): Promise<LedgerState> {
    const { terms } = this.settings.genesis;
    if (epochOf(slot, terms.epochLength) <= this.state.epoch) return this.state;
    const ahead = overlay(this.state);
    await enterEpoch(ahead, slot, terms, new ChangeSet(ahead));
    return ahead;
  }

  /** Fills the mempool again on the present chain; gives the transactions that are no longer valid. */
  async refill(waiting: readonly SubmittedTransaction[]): Promise<readonly DroppedTransaction[]> {
    const { slot } = this;
    this.#base = await this.#stateIn(slot);
    const dropped = await this.mempool.refill(waiting, slot);
    this.next = waiting.reduce((most, { position }) => Math.max(most, position + 1), this.next);
    await inTurns(this.coins.reset(this.outputs), new EventLoopPacer());
    this.countPending();
    return dropped;
  }

  /** The first transactions of the mempool are in a block now. */
  include(hashes: ReadonlySet<string>): void {
    this.mempool.removeIncluded(hashes);
    this.countPending();
  }

  /** Has the faucet's coins follow the mempool. */
  private countPending(): void {
    this.coins.setPending(this.#effects());
  }

  *#effects(): Iterable<Applied> {
    for (const { applied } of this.mempool.entries()) yield applied;
  }
}
