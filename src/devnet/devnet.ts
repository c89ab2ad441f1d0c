/**
 * The devnet: a network of one process, with blocks, mempool, epochs, faucet and rollbacks on request.
 *
 * Assumptions: one process at a time produces blocks, under a lease; another one waits for it. Slots follow the clock,
 * so a stopped devnet has no blocks: after a pause the next block has a later slot and the next height.
 */
import { type Clock, sleep, systemClock } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Json } from "#src/base/json.ts";
import type { Tip } from "#src/cardano/block.ts";
import { slotAt, slotTime } from "#src/cardano/parameters.ts";
import type { Network, Submission } from "#src/chain/provider/port.ts";
import { DevnetChain, LEASE, LeaseLost, type RollbackImpossible } from "#src/devnet/blocks/chain.ts";
import { readHeightAt, readTip } from "#src/devnet/blocks/rows.ts";
import { cacheEvaluations } from "#src/devnet/blocks/evaluationCache.ts";
import { checkAmount, type FaucetFailure } from "#src/devnet/faucet/faucet.ts";
import {
  type BadGenesis,
  checkGenesis,
  createGenesis,
  type Genesis,
  genesisDefaults,
  type GenesisOptions,
  readGenesis,
} from "#src/devnet/genesis/genesis.ts";
import type { PendingTransaction } from "#src/devnet/blocks/mempool.ts";
import { minLovelace } from "#src/devnet/faucet/payment.ts";
import { publish, type ReferenceScript, splitFunds } from "#src/devnet/faucet/publish.ts";
import { serveSubmissions } from "#src/devnet/serve/submissions.ts";
import { keptSettings } from "#src/devnet/genesis/settings.ts";
import type { SubmissionUnavailable, Undecodable } from "#src/devnet/blocks/submission.ts";
import { BLOCK_SUBJECT } from "#src/devnet/serve/subjects.ts";
import type { LedgerState } from "#src/ledger/state.ts";
import { validate } from "#src/ledger/validate.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { fence, holdLease } from "#src/runtime/placement/namedLease.ts";
import type { Store } from "#src/store/store.ts";

/** Options of a start. Those of `GenesisOptions` only apply when a devnet is created. */
export interface DevnetOptions extends Partial<GenesisOptions> {
  /** Milliseconds between blocks; 0: only on request. 1,000 by default. */
  readonly blockMs?: number;
  /** Whether blocks are produced while the mempool is empty, as on real networks. True by default. */
  readonly emptyBlocks?: boolean;
  /** Size limit of the mempool in bytes; 4 MB by default. */
  readonly mempoolBytes?: number;
  /** Most lovelace of one faucet payment; a million ada by default. */
  readonly faucetLimit?: bigint;
  /** Reference scripts to publish at addresses, unless they are there already. */
  readonly publish?: readonly ReferenceScript[];
  /** Milliseconds until the lease of a killed devnet expires; 4,000 by default. */
  readonly leaseMs?: number;
  /** Milliseconds to wait for another devnet on the same database to stop; 30,000 by default. */
  readonly waitMs?: number;
}

export interface DevnetSettings {
  readonly store: Store;
  readonly bus: Bus;
  readonly evaluate: Evaluate;
  readonly log: Log;
  /** If the clock has `advance`, `makeBlock` advances it to the next slot. */
  readonly clock?: Clock & { advance?(ms: number): void };
  readonly options?: DevnetOptions;
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
    /** Pays lovelace to an address (bytes in hexadecimal). Resolves once the transaction is in the mempool. */
    pay(address: string, lovelace: bigint): Promise<Result<{ txHash: string }, FaucetFailure>>;
  };
  /** Milliseconds between blocks; 0: only on request. */
  readonly blockMs: number;
  tip(): Tip;
  /** Whether the chain is open in this process; false while another process holds the lease. */
  runs(): boolean;
  /** The current slot; it need not have a block. */
  slot(): number;
  /** Reads the ledger at the tip, between operations; undefined while the chain is not open in this process. */
  query<T>(use: (state: LedgerState, tip: Tip) => T): Promise<T | undefined>;
  /** The transactions of the mempool, in order. */
  mempool(): readonly PendingTransaction[];
  /** Submits a transaction; `accepted` means that it is stored. */
  submit(transaction: Uint8Array): Promise<Result<Submission, SubmissionUnavailable | Undecodable>>;
  /** Produces a block as soon as there is a free slot; another block that is produced meanwhile counts as well. */
  makeBlock(): Promise<Result<Tip, SubmissionUnavailable>>;
  /**
   * Undoes so many blocks, or all after a slot or a height. With `drop`, their transactions do not return to the
   * mempool.
   */
  rollback(
    to: { readonly blocks: number } | { readonly slot: number } | { readonly height: number },
    options?: { readonly drop?: boolean },
  ): Promise<Result<Tip, RollbackImpossible | SubmissionUnavailable>>;
  /** Waits for the running operation and releases the lease. The store and the bus stay open. */
  stop(): Promise<void>;
}

/** Starts the devnet of a database, creating it if there is none. Waits up to `waitMs` for another process to stop. */
export async function startDevnet(
  settings: DevnetSettings,
): Promise<Result<Devnet, Failure<"devnet_running" | "other_network"> | BadGenesis>> {
  const { store, bus, log, options = {} } = settings;
  const clock: NonNullable<DevnetSettings["clock"]> = settings.clock ?? systemClock;
  const { blockMs = 1_000, emptyBlocks = true, leaseMs = 4_000, waitMs = 30_000 } = options;
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
  let running: { readonly chain: DevnetChain; readonly genesis: Genesis } | undefined;
  let resolveGenesis: (genesis: Genesis | undefined) => void = () => {};
  const firstGenesis = new Promise<Genesis | undefined>((resolve) => resolveGenesis = resolve);

  const evaluate = cacheEvaluations(settings.evaluate);
  const notifyBlock = (tip: Tip) => {
    try {
      bus.publish(BLOCK_SUBJECT, tip as unknown as Json);
    } catch (error) {
      log.debug("no doorbell was rung", { reason: reason(error) });
    }
  };
  const slotOf = ({ network }: Genesis) => slotAt(network.slots, clock.now());

  const forge = async (chain: DevnetChain, genesis: Genesis): Promise<Tip | undefined> => {
    const tip = await chain.forge(slotOf(genesis));
    if (tip) notifyBlock(tip);
    return tip;
  };

  const makeBlocks = async (chain: DevnetChain, genesis: Genesis, signal: AbortSignal) => {
    while (!signal.aborted) {
      const { zeroTime } = genesis.network.slots;
      const sinceLast = (clock.now() - zeroTime) % blockMs;
      await sleep(blockMs - (sinceLast + blockMs) % blockMs, signal);
      if (signal.aborted || (!emptyBlocks && chain.mempool.size === 0)) continue;
      try {
        await forge(chain, genesis);
      } catch (error) {
        if (error instanceof LeaseLost) return;
        log.warn("no block was made", { reason: reason(error) });
      }
    }
  };

  /** Creates the devnet in an empty database. */
  const begin = (epoch: number): Promise<Genesis> =>
    store.sql.begin(async (sql) => {
      if ((await fence(sql, LEASE, epoch)).length === 0) {
        throw new LeaseLost("the lease under which this was begun has ended");
      }
      const genesisTime = options.genesisTime ?? Math.floor(clock.now() / 1_000) * 1_000;
      return await createGenesis(sql, { ...genesisOptions, genesisTime });
    }) as Promise<Genesis>;

  /** Runs while the lease is held. */
  const run = async (epoch: number, signal: AbortSignal) => {
    const genesis = await readGenesis(store.sql) ?? await begin(epoch);
    if (genesis.network.magic !== magic) return resolveGenesis(genesis);
    const { slots } = genesis.network;
    const chain = await DevnetChain.open({
      store,
      epoch,
      genesis,
      judge: (state, { cbor }, slot) => validate(state, cbor, slot, evaluate, slots),
      mempoolBytes: options.mempoolBytes ?? 4_000_000,
      slot: () => slotOf(genesis),
      log,
    });
    running = { chain, genesis };
    const unsubscribe = serveSubmissions(bus, (transaction) => chain.submit(transaction), log);
    try {
      await splitFunds(chain, genesis, log);
      for (const script of options.publish ?? []) await publish(chain, genesis, script, log);
      log.info("devnet runs", { magic, tip: chain.tip.height, slot: slotOf(genesis), epoch });
      resolveGenesis(genesis);
      if (blockMs > 0) await makeBlocks(chain, genesis, signal);
      else await aborted(signal);
    } finally {
      unsubscribe();
      running = undefined;
      await chain.idle();
    }
  };

  const lease = holdLease({
    store,
    bus,
    name: LEASE,
    owner: `devnet-${crypto.randomUUID()}`,
    ttlMs: leaseMs,
    log,
    onHeld: async (epoch, signal) => {
      while (!signal.aborted) {
        try {
          await run(epoch, signal);
          await aborted(signal);
        } catch (error) {
          log.error("the devnet stumbled and starts anew", { reason: reason(error) });
          await sleep(500, signal);
        }
      }
    },
  });

  const late = new AbortController();
  const genesis = await Promise.race([firstGenesis, sleep(waitMs, late.signal).then(() => undefined)]);
  late.abort();
  if (!genesis || genesis.network.magic !== magic) {
    await lease.stop();
    if (!genesis) return fail("devnet_running", "Another devnet runs on this database, and did not go away.");
    const held = genesis.network.magic;
    return fail("other_network", `This database holds a devnet with magic ${held}, not ${magic}.`, { held, magic });
  }

  const { slots } = genesis.network;
  const limit = options.faucetLimit ?? 1_000_000_000_000n;
  let lastTip = running?.chain.tip ?? await readTip(store.sql);
  return ok({
    network: genesis.network,
    genesis,
    ignoredOptions: keptSettings(options, genesis),
    blockMs,
    tip: () => lastTip = running?.chain.tip ?? lastTip,
    runs: () => running !== undefined,
    slot: () => slotOf(genesis),
    query: async (use) => await running?.chain.read(use),
    mempool: () => [...running?.chain.mempool.entries() ?? []],
    submit: async (transaction) => await running?.chain.submit(transaction) ?? notRunning(),
    faucet: {
      address: genesis.faucet.address,
      limit,
      pay: async (address, lovelace) => {
        const bounds = checkAmount(lovelace, { min: minLovelace(genesis.parameters, { address }), max: limit });
        if (!bounds.ok) return bounds;
        return await running?.chain.pay([{ address, lovelace }]) ?? notRunning();
      },
    },
    makeBlock: async () => {
      const before = running?.chain.tip.height ?? 0;
      while (running) {
        const { chain, genesis } = running;
        try {
          const tip = await forge(chain, genesis);
          if (tip) return ok(tip);
          // another block has taken the slot; it holds the transactions that were waiting at the time of the call
          if (chain.tip.height > before) return ok(chain.tip);
        } catch (error) {
          log.warn("no block was made", { reason: reason(error) });
          return notRunning();
        }
        const missing = Math.max(1, slotTime(slots, chain.lastSlot + 1) - clock.now());
        if (clock.advance) clock.advance(missing);
        else await sleep(missing);
      }
      return notRunning();
    },
    rollback: async (to, { drop = false } = {}) => {
      if (!running) return notRunning();
      const { chain } = running;
      try {
        const height = "height" in to
          ? to.height
          : "blocks" in to
          ? chain.tip.height - to.blocks
          : await readHeightAt(store.sql, to.slot);
        const done = await chain.rollback(height, drop);
        if (done.ok) notifyBlock(done.value);
        return done;
      } catch (error) {
        log.warn("no rollback was made", { reason: reason(error) });
        return notRunning();
      }
    },
    stop: () => lease.stop(),
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function notRunning(): { ok: false; error: SubmissionUnavailable } {
  return fail("devnet_unavailable", "The devnet does not run in this process at the moment; try again.");
}
