/**
 * The devnet's chain while this process holds the lease: one chain, one mempool, one operation at a time.
 *
 * Assumptions: the rows are the truth, written in transactions that lock the lease's epoch. Memory is a copy, read
 * again whenever a write did not end as expected. No other process writes these rows while the epoch is valid.
 */
import { equalBytes } from "#src/base/bytes.ts";
import { reason } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { type Output, parseRefKey, type Utxo } from "#src/cardano/output.ts";
import type { KeptTree } from "#src/chain/utxoRoot/keptTree.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import {
  Admission,
  type AdmissionSettings,
  type OwnPayer,
  type OwnTransaction,
  type SubmissionResult,
} from "#src/devnet/blocks/admission.ts";
import type { SubmissionUnavailable } from "#src/devnet/blocks/submission.ts";
import { type BlockPlan, times } from "#src/devnet/blocks/blockPlan.ts";
import { ChainMemory, submittedOf } from "#src/devnet/blocks/chainMemory.ts";
import { underLease } from "#src/devnet/blocks/lease.ts";
import type { MiningControl } from "#src/devnet/blocks/mining.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import { DepartureLog } from "#src/devnet/blocks/departureLog.ts";
import { readDepartures, writeDepartures } from "#src/devnet/blocks/departureRows.ts";
import type { Departure } from "#src/devnet/blocks/departures.ts";
import { appendToTree, devnetTree, restoreTree, undoTree } from "#src/devnet/blocks/utxoTree.ts";
import { appendBlocks, deleteMempool, insertMempool, turnBack, undoBlocks } from "#src/devnet/blocks/writes.ts";
import { rebuildIndex } from "#src/devnet/index/rebuild.ts";
import { indexBlocks } from "#src/devnet/index/write.ts";
import {
  deleteSnapshot,
  restoreSnapshot,
  type SaveOptions,
  saveSnapshot,
  type Snapshot,
  type SnapshotNotSaved,
  type SnapshotUnknown,
} from "#src/devnet/snapshots/snapshots.ts";
import type { FaucetPayment } from "#src/devnet/faucet/faucet.ts";
import { makeBlocks } from "#src/devnet/blocks/makeBlocks.ts";
import {
  type DroppedTransaction,
  type Mempool,
  type SubmittedTransaction,
  transactionCbor,
} from "#src/devnet/blocks/mempool.ts";
import type { PaymentOutput } from "#src/devnet/faucet/payment.ts";
import type { LedgerState } from "#src/ledger/state.ts";
import { planLookups } from "#src/store/readPool.ts";
import type { Queries } from "#src/store/store.ts";
import { together } from "#src/store/together.ts";

export type RollbackImpossible = Failure<"rollback_impossible">;

interface ChainSettings extends AdmissionSettings {
  readonly epoch: number;
  /** Whether blocks are added to the index of the chain. */
  readonly index: boolean;
  /** Whether the tree over the unspent outputs is kept. */
  readonly utxoRoot: boolean;
  /** Outputs up to which a lost tree is built before blocks go on; see `KeptTree`. */
  readonly treeAtOnce?: number | undefined;
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly mining: MiningControl;
  /** Called with each new block, in order, once it is written. */
  readonly announce: (tip: Tip) => void;
}

const AFTER_RESTART = "It was no longer valid after a restart";

export class DevnetChain {
  /** A copy of the rows. */
  #memory: ChainMemory;
  #writes = 0;
  #changes = 0;
  /** Whether memory may differ from the rows. */
  #stale = false;
  readonly #departures: DepartureLog;
  readonly #admission: Admission;
  /** The tree over the unspent outputs; undefined: none is kept. */
  readonly #tree: KeptTree | undefined;
  /** Resolves when the operation begun last has ended, whatever its result. */
  #running: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly settings: ChainSettings,
    memory: ChainMemory,
    departures: readonly Departure[],
  ) {
    this.#memory = memory;
    const { store, epoch, now, log } = settings;
    this.#tree = settings.utxoRoot ? devnetTree(settings) : undefined;
    const write = (some: readonly Departure[]) => underLease(store, epoch, (sql) => writeDepartures(sql, some));
    this.#departures = new DepartureLog({ write, now, slot: () => this.nextSlot, log }, departures);
    this.#admission = new Admission(settings, {
      memory: () => this.#memory,
      departures: this.#departures,
      exclusive: (work) => this.#run(work),
      commit: async (waiting) => {
        if (waiting.length > 0) {
          await this.#write((sql) => insertMempool(sql, waiting));
          this.#stale = false;
        }
        if (this.settings.mining.present.mode === "submit") await this.#mineWaiting();
      },
    });
  }

  /** Opens the chain from its rows. First builds the index again, unless it is off or ends at the chain's tip. */
  static async open(settings: ChainSettings): Promise<DevnetChain> {
    if (settings.index) await completeIndex(settings);
    const departures = await readDepartures(settings.store.sql);
    const { memory, waiting } = await ChainMemory.read(settings.store, settings);
    const chain = new DevnetChain(settings, memory, departures);
    await chain.#refill(waiting, AFTER_RESTART);
    chain.#stale = false;
    await chain.#completeTree();
    return chain;
  }

  /** A number that grows with every operation that changes the chain or the mempool. */
  get changes(): number {
    return this.#changes;
  }

  get tip(): Tip {
    return this.#memory.tip;
  }

  /** The protocol parameters at the tip. */
  get parameters(): Parameters {
    return this.#memory.state.parameters;
  }

  /** The ledger state at the tip, without the mempool. */
  get state(): LedgerState {
    return this.#memory.state;
  }

  /** Unspent outputs of the chain at an address (bytes in hexadecimal). Scans all outputs. */
  outputsAt(address: string): Utxo[] {
    return [...this.#memory.utxos()].filter(({ output }) => output.address === address);
  }

  /** The first slot whose time is not known at the tip: a script that needs it cannot be run. Undefined: that is not checked. */
  get horizon(): number | undefined {
    return this.#memory.horizon;
  }

  /** By how many slots the devnet runs ahead of the clock. */
  get slotsAhead(): number {
    return this.#memory.slotsAhead;
  }

  /** The slot of the next block, if it is made now. */
  get nextSlot(): number {
    return this.#memory.slot;
  }

  /** Transactions that were refused or departed without a block. */
  get departures(): DepartureLog["departures"] {
    return this.#departures.departures;
  }

  get mempool(): Pick<Mempool, "entries" | "has" | "size" | "bytes"> {
    return this.#memory.mempool;
  }

  /** Submits a transaction; `accepted` once its row is committed. Like a node it refuses one that it has. */
  submit(cbor: Uint8Array): Promise<SubmissionResult> {
    return this.#admission.submit(cbor);
  }

  /** Pays from the faucet; resolves once the transaction is in the mempool. */
  pay(targets: readonly PaymentOutput[]): Promise<FaucetPayment> {
    return this.#admission.pay(targets);
  }

  /** Makes a transaction of the devnet's own, as `Admission.own` says. */
  own<E>(
    build: (payer: OwnPayer) => Result<Uint8Array, E>,
  ): Promise<Result<OwnTransaction, E | SubmissionUnavailable>> {
    return this.#admission.own(build);
  }

  /** Whether an output at an address holds this script, in the chain or in the mempool. */
  holdsScript(address: string, script: Uint8Array): Promise<boolean> {
    const is = (output: Output) =>
      output.address === address && output.script !== undefined && equalBytes(output.script, script);
    return this.#run(async () => {
      const { utxo } = this.#memory.mempool.view;
      for (const [key, output] of this.#memory.outputs) if (is(output) && utxo.get(parseRefKey(key))) return true;
      for (const { applied } of this.#memory.mempool.entries()) {
        if (applied.created.some(({ ref, output }) => is(output) && utxo.get(ref))) return true;
      }
      return false;
    });
  }

  /** Produces a block in a slot, or in that which was set; undefined if the newest block is not before it. */
  async forge(slot: number): Promise<Tip | undefined> {
    const [tip] = await this.forgeBlocks(times(1, ({ set = slot }) => set));
    return tip;
  }

  /**
   * Produces the blocks of a plan until it gives no slot after the newest block, or for some milliseconds; their slots
   * may be in the future: the devnet's clock then goes on from there. Gives the blocks, none where the plan has ended.
   * With `empty` the mempool stays as it is, but for transactions that expire.
   */
  forgeBlocks(plan: BlockPlan, { empty = false } = {}): Promise<readonly Tip[]> {
    return this.#run(() => this.#append(plan, empty));
  }

  /** Sets the slot of the next block, if `check` allows it with the slot of the newest one. */
  setNextSlot<E>(slot: number, check: (tip: number) => Result<void, E>): Promise<Result<void, E>> {
    return this.#run(async () => {
      const checked = check(this.#memory.tip.slot);
      if (checked.ok) this.#memory.nextSlot = slot;
      return checked;
    });
  }

  /** Produces blocks with the transactions of the mempool. */
  mineWaiting(): Promise<void> {
    return this.#run(() => this.#mineWaiting());
  }

  async #mineWaiting(): Promise<void> {
    for (let before = Infinity; this.#memory.mempool.size > 0 && this.#memory.mempool.size < before;) {
      before = this.#memory.mempool.size;
      await this.#append(times(1, ({ now, set = now }) => set));
    }
  }

  /** Runs within an operation. Blocks with transactions are the last of their database transaction. */
  async #append(plan: BlockPlan, empty = false): Promise<readonly Tip[]> {
    const { genesis, index, slot } = this.settings;
    const tree = this.#tree;
    const memory = this.#memory;
    const drop = (dropped: readonly DroppedTransaction[]) =>
      this.#departures.drop(dropped, "It was no longer valid when a block was made");
    const made = await makeBlocks(memory, plan, { genesis, slot, empty, drop });
    const { blocks, indexed, leaving, tips, slotsAhead, inOrder } = made;
    const tip = tips.at(-1);
    if (tip === undefined) return [];
    const k = genesis.network.securityParameter;
    const [, floor, , hasTree] = await this.#write((sql) =>
      together([
        planLookups(sql),
        appendBlocks(sql, blocks, { leaving, slotsAhead, k }),
        index && indexBlocks(sql, indexed),
        !tree || appendToTree(tree, sql, memory.tip, blocks),
      ])
    );
    memory.apply(blocks);
    memory.moveTo({ tip, slotsAhead, fork: memory.fork });
    memory.floor = floor;
    for (const one of tips) this.settings.announce(one);
    const included = new Set(leaving);
    if (inOrder) memory.include(included);
    else {
      const waiting = [...memory.mempool.entries()].filter(({ transaction }) => !included.has(transaction.hash));
      await this.#refill(waiting, "It was no longer valid after a block");
    }
    if (!hasTree) await this.#completeTree();
    this.#stale = false;
    return tips;
  }

  /**
   * Undoes every block above a height (-1: all). Their transactions return to the front of the mempool as far as they
   * are still valid; with `drop` they do not. With `emptied` the mempool loses what it holds as well. Time goes back to
   * the newest block's slot, unless the clock is later.
   */
  rollback(height: number, drop: boolean, emptied = false): Promise<Result<Tip, RollbackImpossible>> {
    return this.#run(async () => {
      if (!Number.isSafeInteger(height) || height < this.#memory.floor || height > this.#memory.tip.height) {
        return fail(
          "rollback_impossible",
          `The chain can be rolled back to heights ${this.#memory.floor} to ${this.#memory.tip.height} (-1: before the first block).`,
          { lowest: this.#memory.floor, highest: this.#memory.tip.height },
        );
      }
      const held: SubmittedTransaction[] = [...this.#memory.mempool.entries()];
      const waiting = emptied ? [] : held;
      const { undone, returned, removed, tip, slotsAhead, fork, hasTree } = await this.#write(async (sql) => {
        if (emptied) await deleteMempool(sql, held.map(({ transaction: { hash } }) => hash));
        const undone = await undoBlocks(sql, height, this.settings.index);
        const removed = undone.blocks.flatMap((bytes) => scanBlock(bytes).transactions);
        const transactions = drop ? [] : removed;
        const before = waiting.reduce((least, { position }) => Math.min(least, position), this.#memory.next);
        const returned = transactions.map((transaction, index): SubmittedTransaction => ({
          position: before - transactions.length + index,
          transaction,
          cbor: transactionCbor(transaction),
        }));
        await insertMempool(sql, returned);
        const tip = await readTip(sql);
        const hasTree = !this.#tree || await undoTree(this.#tree, sql, this.#memory.tip, tip, undone);
        const slotsAhead = this.#memory.aheadAt(tip);
        return { undone, returned, removed, tip, slotsAhead, fork: await turnBack(sql, slotsAhead), hasTree };
      });
      if (!hasTree) await this.#completeTree();
      const why = emptied ? "The devnet was reset" : "A rollback undid its block and dropped it";
      if (drop) this.#departures.withdraw(removed, why);
      if (emptied) this.#departures.withdraw(held.map(({ transaction }) => transaction), why);
      await this.#memory.forget(undone);
      this.#memory.moveTo({ tip, slotsAhead, fork });
      await this.#refill([...returned, ...waiting], "It was no longer valid after a rollback");
      this.#stale = false;
      return ok(this.#memory.tip);
    });
  }

  /** Saves the newest block and the mempool as a snapshot. */
  saveSnapshot(name: string, options: SaveOptions): Promise<Result<Snapshot, SnapshotNotSaved>> {
    return this.#run(async () => {
      const { mining } = this.settings;
      const saved = await this.#write((sql) => saveSnapshot(sql, name, options, mining.present));
      this.#stale = false;
      return saved;
    });
  }

  /**
   * Goes to the block of a snapshot: back to the last block that both chains have, and forward again. The mempool is
   * the snapshot's, as far as its transactions are still valid, and so are the clock's slots ahead and the mining.
   */
  restoreSnapshot(name: string): Promise<Result<Tip, SnapshotUnknown>> {
    return this.#run(async () => {
      const restored = await this.#write(async (sql) => {
        const done = await restoreSnapshot(sql, name, this.settings.index);
        if (!done.ok) return done;
        const { tip, clock } = done.value;
        const hasTree = !this.#tree || await restoreTree(this.#tree, sql, this.#memory.tip, tip, done.value);
        const slotsAhead = clock?.slotsAhead ?? this.#memory.aheadAt(tip);
        return ok({ ...done.value, slotsAhead, fork: await turnBack(sql, slotsAhead), hasTree });
      });
      if (!restored.ok) {
        this.#stale = false;
        return restored;
      }
      const { undone, appended, tip, mempool, clock, slotsAhead, fork, hasTree } = restored.value;
      const why = "A snapshot was restored that does not have it";
      this.#departures.withdraw(undone.blocks.flatMap((bytes) => scanBlock(bytes).transactions), why);
      this.#departures.withdraw([...this.#memory.mempool.entries()].map(({ transaction }) => transaction), why);
      await this.#memory.forget(undone);
      await this.#memory.restore(appended);
      this.#memory.moveTo({ tip, slotsAhead, fork });
      if (clock) this.settings.mining.set(clock);
      if (this.settings.index && !appended.isIndexed) await completeIndex(this.settings);
      if (!hasTree) await this.#completeTree();
      const waiting = submittedOf(mempool);
      await this.#refill(waiting, "It was no longer valid after a snapshot was restored");
      this.#stale = false;
      return ok(this.#memory.tip);
    });
  }

  /** Deletes a snapshot, and the blocks that were kept for it alone. */
  deleteSnapshot(name: string): Promise<Result<void, SnapshotUnknown>> {
    return this.#run(async () => {
      const deleted = await this.#write((sql) => deleteSnapshot(sql, name));
      this.#stale = false;
      return deleted;
    });
  }

  /** Reads the chain between two operations, without the mempool. */
  read<T>(use: (state: LedgerState, tip: Tip) => T): Promise<T> {
    return this.#run(async () => use(this.#memory.state, this.#memory.tip));
  }

  /** Waits for the running operation, and writes what only a restart needs. */
  async idle(): Promise<void> {
    await this.#tree?.close();
    await this.#running;
    await this.#departures.end();
  }

  /** Builds the tree again where it is lost. Runs before or within an operation; a large tree is complete after a later one. */
  async #completeTree(): Promise<void> {
    await this.#tree?.complete((work) => this.#run(work));
  }

  /** Writes under the lease. Memory counts as stale from here on, until the caller has updated it. */
  async #write<T>(work: (sql: Queries) => Promise<T>): Promise<T> {
    this.#stale = true;
    this.#writes++;
    return await underLease(this.settings.store, this.settings.epoch, work);
  }

  /**
   * Runs one operation after all earlier ones, on memory that agrees with the rows. If it fails, memory is read again.
   */
  #run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#running.then(async () => {
      if (this.#stale) await this.#load();
      try {
        return await work();
      } catch (error) {
        this.#stale = true;
        await this.#load().catch((again) =>
          this.settings.log.warn("the chain could not be read", { reason: reason(again) })
        );
        throw error;
      } finally {
        // not before: readers that see the change read memory as well as rows
        this.#changes = this.#writes;
      }
    });
    this.#running = result.catch(() => {});
    return result;
  }

  async #load(): Promise<void> {
    this.#stale = true;
    const { memory, waiting } = await ChainMemory.read(this.settings.store, this.settings, this.#memory);
    this.#memory = memory;
    await this.#refill(waiting, AFTER_RESTART);
    this.#stale = false;
  }

  /** Fills the mempool again on the present chain, and deletes the rows of transactions that are no longer valid. */
  async #refill(waiting: readonly SubmittedTransaction[], why: string): Promise<void> {
    const dropped = await this.#memory.refill(waiting);
    if (dropped.length === 0) return;
    this.#departures.drop(dropped, why);
    await this.#write((sql) => deleteMempool(sql, dropped.map(({ hash }) => hash)));
  }
}

/** Builds the index of the chain again unless it ends at the tip. */
function completeIndex({ store, epoch, genesis, log }: ChainSettings): Promise<void> {
  return rebuildIndex({ sql: store.sql, write: (work) => underLease(store, epoch, work), genesis, log });
}
