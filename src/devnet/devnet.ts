/**
 * The devnet: a network of one process, with blocks, mempool, epochs, faucet and rollbacks on request.
 *
 * Assumptions: one process at a time produces blocks, under a lease; another one waits for it. Slots follow the clock,
 * so a stopped devnet has no blocks: after a pause the next block has a later slot and the next height. A devnet whose time
 * was moved runs ahead of the clock by a number of slots that its rows hold; the time of a slot never changes.
 */
import { sleep } from "#src/base/clock.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import type { Network, Submission } from "#src/chain/provider/port.ts";
import type { BlocksMade, BlocksRequest } from "#src/devnet/blocks/blockPlan.ts";
import type { RollbackImpossible } from "#src/devnet/blocks/chain.ts";
import { LEASE } from "#src/devnet/blocks/lease.ts";
import type { Departure } from "#src/devnet/blocks/departures.ts";
import type { BadSlot, ClockAhead, JumpBlocks, JumpTarget, TooFarAhead } from "#src/devnet/blocks/jump.ts";
import type { PendingTransaction } from "#src/devnet/blocks/mempool.ts";
import type { Mining, MiningMode } from "#src/devnet/blocks/mining.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import type { SubmissionUnavailable, UndecodableSubmission } from "#src/devnet/blocks/submission.ts";
import { type BlocksResult, DevnetRunner, type RollbackTarget } from "#src/devnet/devnetRunner.ts";
import type { ActionId } from "#src/cardano/conway/governance.ts";
import {
  type CastVotes,
  type GoverningFailure,
  type ProposalRequest,
  propose,
  vote,
  type VoteRequest,
} from "#src/devnet/governance/governing.ts";
import { type OwnVoter, ownVoters } from "#src/devnet/governance/voters.ts";
import { checkAmount, type FaucetFailure } from "#src/devnet/faucet/faucet.ts";
import { type Attachment, minLovelace } from "#src/devnet/faucet/payment.ts";
import {
  type BadGenesis,
  checkGenesis,
  type Genesis,
  genesisDefaults,
  readGenesis,
} from "#src/devnet/genesis/genesis.ts";
import { keptSettings } from "#src/devnet/genesis/settings.ts";
import type { DevnetSettings } from "#src/devnet/options.ts";
import type { SnapshotOperations } from "#src/devnet/serve/snapshots.ts";
import { readSnapshots, type Snapshot } from "#src/devnet/snapshots/snapshots.ts";
import type { LedgerState } from "#src/ledger/state.ts";
import { holdLease } from "#src/runtime/placement/namedLease.ts";

/** The devnet's clock. */
export interface DevnetTime {
  /** The current slot; it need not have a block. */
  readonly slot: number;
  /** When it begins, in ms since 1970. */
  readonly time: number;
  /** The slot of the machine's clock. */
  readonly wallSlot: number;
  /** By how many slots the devnet runs ahead of that. */
  readonly offsetSlots: number;
  /** Slot of the next block, if it is made now: that which was set, else the current one, or that after the newest block's. */
  readonly nextSlot: number;
  readonly mode: MiningMode;
}

/** A devnet of this process. */
export interface Devnet {
  readonly network: Network;
  readonly genesis: Genesis;
  /** Options of this start that have no effect, because the devnet was created with others: a sentence. */
  readonly ignoredOptions: string | undefined;
  readonly faucet: {
    /** Bytes of the faucet's address in hexadecimal. */
    readonly address: string;
    /** Most lovelace of one payment. */
    readonly limit: bigint;
    /**
     * Pays lovelace to an address (bytes in hexadecimal), in an output with what is attached. Resolves once the
     * transaction is in the mempool.
     */
    pay(address: string, lovelace: bigint, attached?: Attachment): Promise<Result<{ txHash: string }, FaucetFailure>>;
  };
  /** Governance by the devnet's own keys; its transactions are in the mempool once a promise resolves. */
  readonly governing: {
    /** The voters whose keys the devnet has and that may vote now; undefined while the chain is not open in this process. */
    voters(): Promise<readonly OwnVoter[] | undefined>;
    /** Proposes an action; the faucet pays the deposit. */
    propose(
      request: ProposalRequest,
    ): Promise<Result<ActionId, GoverningFailure | SubmissionUnavailable>>;
    /** Votes on an action. */
    vote(request: VoteRequest): Promise<Result<CastVotes, GoverningFailure | SubmissionUnavailable>>;
  };
  /** Milliseconds between blocks; 0 in other modes than `interval`. */
  readonly blockMs: number;
  /** The first slot whose time is not known, so that scripts cannot see it; undefined: all are. */
  horizon(): number | undefined;
  tip(): Tip;
  /** A number that differs after every change of the chain or the mempool, even if the change was undone again. */
  changes(): number;
  /** Whether the chain is open in this process; false while another process holds the lease. */
  runs(): boolean;
  /** The current slot; it need not have a block. */
  slot(): number;
  /** The devnet's clock. */
  time(): DevnetTime;
  /** Reads the ledger at the tip, between operations; undefined while the chain is not open in this process. */
  query<T>(use: (state: LedgerState, tip: Tip) => T): Promise<T | undefined>;
  /** The transactions of the mempool, in order. */
  mempool(): readonly PendingTransaction[];
  /** The last transactions that were refused or departed without a block, newest first; forgotten at a restart. */
  departures(): readonly Departure[];
  /** Submits a transaction; `accepted` means that it is stored. */
  submit(transaction: Uint8Array): Promise<Result<Submission, SubmissionUnavailable | UndecodableSubmission>>;
  /** Produces a block now, in the next slot, with what the mempool holds. */
  makeBlock(): Promise<Result<Tip, SubmissionUnavailable | BadSlot>>;
  /** Produces blocks now, in the next slots, however far ahead of the clock that is. */
  makeBlocks(request: BlocksRequest): Promise<BlocksResult>;
  /**
   * Moves the clock: a block in the target slot and one in the first slot of each epoch on the way, and those of `blocks`.
   * The mempool goes into the first of them whose slot is in each transaction's validity interval.
   */
  advance(to: JumpTarget, blocks?: JumpBlocks, signal?: AbortSignal): Promise<BlocksResult>;
  /**
   * Moves the chain to the slot of the machine's clock, with the blocks of `advance`: after a pause, or where blocks are made
   * on request. So an epoch that was slept through has a block, by which pools earn.
   */
  catchUp(blocks?: JumpBlocks, signal?: AbortSignal): Promise<BlocksResult<BadSlot | ClockAhead>>;
  /** Sets the slot of the next block, however that is made; a rollback forgets it. */
  nextSlot(slot: number): Promise<Result<void, SubmissionUnavailable | BadSlot>>;
  /** Changes when blocks are made without a request, until the next start. */
  setMining(mining: Pick<Mining, "mode"> & Partial<Mining>): Promise<Result<void, SubmissionUnavailable>>;
  /**
   * Enters the next epoch at once: so many blocks in what is left of this one, by which pools earn, then a block in the
   * first slot of the next one, from where the devnet's clock goes on.
   */
  enterNextEpoch(blocks?: number): Promise<Result<Tip, SubmissionUnavailable | TooFarAhead>>;
  /**
   * Undoes so many blocks, or all after a slot or a height. With `drop`, their transactions do not return to the
   * mempool. Time goes back to the newest block's slot, unless the clock is later.
   */
  rollback(
    to: RollbackTarget,
    options?: { readonly drop?: boolean },
  ): Promise<Result<Tip, RollbackImpossible | SubmissionUnavailable>>;
  /** Named states to return to, with their clock. A restore rolls back to the last common block and forward again. */
  readonly snapshots: SnapshotOperations & { list(): Promise<Snapshot[]> };
  /** Goes back to the genesis: no block, and in the mempool only the devnet's own first transactions. */
  reset(): Promise<Result<Tip, RollbackImpossible | SubmissionUnavailable>>;
  /** Waits for the running operation and releases the lease. The store and the bus stay open. */
  stop(): Promise<void>;
}

/** Starts the devnet of a database, creating it if there is none. Waits up to `waitMs` for another process to stop. */
export async function startDevnet(
  settings: DevnetSettings,
): Promise<Result<Devnet, Failure<"devnet_running" | "other_network"> | BadGenesis>> {
  const { store, bus, log, options = {} } = settings;
  const { leaseMs = 4_000, waitMs = 30_000, faucetLimit: limit = 1_000_000_000_000n } = options;
  const genesisOptions = {
    ...genesisDefaults,
    ...(options.parameters ? { parametersSource: "given at the first start" } : {}),
    ...options,
  };
  const { magic } = genesisOptions;
  if (!await readGenesis(store.sql)) {
    const checked = checkGenesis(genesisOptions);
    if (!checked.ok) return checked;
  }
  const runner = new DevnetRunner(settings, genesisOptions);
  const lease = holdLease({
    store,
    bus,
    name: LEASE,
    owner: `devnet-${crypto.randomUUID()}`,
    ttlMs: leaseMs,
    log,
    onHeld: (epoch, signal) => runner.runAgain(epoch, signal),
  });

  const late = new AbortController();
  const genesis = await Promise.race([runner.opened, sleep(waitMs, late.signal).then(() => undefined)]);
  late.abort();
  if (!genesis || genesis.network.magic !== magic) {
    await lease.stop();
    if (!genesis) return fail("devnet_running", "Another devnet is running on this database and did not stop.");
    const held = genesis.network.magic;
    return fail("other_network", `This database contains a devnet with magic ${held}, not ${magic}.`, { held, magic });
  }

  let lastTip = runner.chain?.tip ?? await readTip(store.sql);
  return ok({
    network: genesis.network,
    genesis,
    ignoredOptions: keptSettings(options, genesis),
    get blockMs() {
      const { mode, blockMs } = runner.mining.present;
      return mode === "interval" ? blockMs : 0;
    },
    horizon: () => runner.chain?.horizon,
    tip: () => lastTip = runner.chain?.tip ?? lastTip,
    changes: () => runner.chain?.changes ?? 0,
    runs: () => runner.chain !== undefined,
    slot: () => runner.slotOf(genesis),
    time: () => {
      const { slots } = genesis.network;
      const slot = runner.slotOf(genesis);
      return {
        slot,
        time: slotTime(slots, slot),
        wallSlot: slot - runner.slotsAhead,
        offsetSlots: runner.slotsAhead,
        nextSlot: runner.chain?.nextSlot ?? Math.max(slot, lastTip.slot + 1),
        mode: runner.mining.present.mode,
      };
    },
    query: async (use) => await runner.chain?.read(use),
    mempool: () => [...runner.chain?.mempool.entries() ?? []],
    departures: () => runner.chain?.departures.newestFirst() ?? [],
    submit: (transaction) => runner.submit(genesis, transaction),
    faucet: {
      address: genesis.faucet.address,
      limit,
      pay: async (address, lovelace, attached = {}) => {
        const min = minLovelace(genesis.parameters, { address, ...attached });
        const bounds = checkAmount(lovelace, { min, max: limit });
        if (!bounds.ok) return bounds;
        return await runner.pay(genesis, { address, lovelace, ...attached });
      },
    },
    governing: {
      voters: async () => await runner.chain?.read((state) => ownVoters(genesis, state)),
      propose: (request) => propose((build) => runner.own(genesis, build), genesis, request),
      vote: (request) => vote((build) => runner.own(genesis, build), genesis, request),
    },
    makeBlock: async () => tipOf(await runner.makeBlocks(genesis, { count: 1 })),
    makeBlocks: (request) => runner.makeBlocks(genesis, request),
    advance: (to, blocks = "one", signal) => runner.advance(genesis, to, blocks, signal),
    catchUp: (blocks = "one", signal) => runner.catchUp(genesis, blocks, signal),
    nextSlot: (slot) => runner.setNextSlot(genesis, slot),
    setMining: (mining) => runner.setMining(genesis, mining),
    enterNextEpoch: async (blocks = 0) => tipOf(await runner.enterNextEpoch(genesis, blocks)),
    rollback: (to, { drop = false } = {}) => runner.rollback(to, drop),
    snapshots: { ...runner.snapshots, list: () => readSnapshots(store.sql) },
    reset: () => runner.reset(genesis),
    stop: () => lease.stop(),
  });
}

function tipOf<E>(made: Result<BlocksMade, E>): Result<Tip, E> {
  return made.ok ? ok(made.value.tip) : made;
}
