/**
 * Port adapter for a Blockfrost service: Blockfrost's own or a compatible one.
 *
 * Assumptions: nothing is known locally, so everything is requested. Each answer is of whatever block is the newest at
 * that moment, so several make one answer only while that block stays the same.
 */
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { ok, type Result } from "#src/base/result.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { parametersDocument, parse } from "#src/chain/provider/blockfrost/documents.ts";
import {
  BlockfrostError,
  type BlockfrostFailure,
  hasFailed,
  isTransient,
} from "#src/chain/provider/blockfrost/errors.ts";
import { followService, readTip, requireFollowable, startBlock } from "#src/chain/provider/blockfrost/follow.ts";
import { BlockfrostHttp, type BlockfrostHttpSettings } from "#src/chain/provider/blockfrost/http.ts";
import { readAccounts, readEpoch, readEras, readGenesis } from "#src/chain/provider/blockfrost/ledger.ts";
import { BlockfrostMempool } from "#src/chain/provider/blockfrost/mempool.ts";
import { BlockfrostOutputs } from "#src/chain/provider/blockfrost/outputs.ts";
import { parametersOf } from "#src/chain/provider/blockfrost/parameters.ts";
import { BlockfrostQueries } from "#src/chain/provider/blockfrost/queries.ts";
import { unsupported } from "#src/chain/provider/answer.ts";
import { mapParallel } from "#src/base/parallel.ts";
import type { Guarantee } from "#src/chain/provider/guarantees.ts";
import { withoutLedger } from "#src/chain/provider/ledgerPort.ts";
import { undecodable } from "#src/chain/provider/node/queries.ts";
import type { ChainPort, Network } from "#src/chain/provider/port.ts";

interface BlockfrostPortSettings extends BlockfrostHttpSettings {
  /** The network's magic; a service of another network is refused. */
  readonly magic: number;
  readonly log: Log;
  /**
   * Milliseconds between two polls of the newest block. By default a quarter of the average time between blocks: 5 s on
   * a public network, which is 17,280 requests a day.
   */
  readonly pollMs?: number;
  /** Hash of the block with which a new index begins; the chain's first block by default. */
  readonly from?: string;
}

/** The port to a service. */
export interface BlockfrostPort extends ChainPort {
  /** The network, in one attempt; or why the service cannot be used now, as a sentence for a person. */
  check(): Promise<Result<Network, BlockfrostFailure>>;
  close(): void;
}

const MAX_WAIT_MS = 30_000;
const MIN_POLL_MS = 50;
const PARALLEL = 4;

const GUARANTEES: readonly Guarantee[] = [
  { query: "tip", holds: "at a point" },
  {
    query: "inMempool",
    holds: "at the tip",
    note: "the service's own mempool; without one, what it took from here",
  },
  { query: "utxosByAddress", holds: "at the tip" },
  { query: "utxosByRef", holds: "at the tip" },
  { query: "parameters", holds: "at the tip", note: "fractions as the service's decimals" },
  { query: "accounts", holds: "at the tip", note: "without deposits" },
  { query: "epoch", holds: "at the tip" },
  { query: "eras", holds: "at the tip" },
  { query: "genesis", holds: "at the tip", note: "the hash of public networks alone" },
  { query: "mempool", holds: "not at all", note: "a service lists only what was submitted through it" },
  { query: "pools", holds: "not at all" },
  { query: "poolRanking", holds: "not at all" },
  { query: "dreps", holds: "not at all" },
];

/** The port to the service at a URL. It sends nothing before the first query. */
export function blockfrostPort(settings: BlockfrostPortSettings): BlockfrostPort {
  const { magic, log, from, firstWaitMs = 300 } = settings;
  const http = new BlockfrostHttp(settings);
  const queries = new BlockfrostQueries(http, magic, log);
  const outputs = new BlockfrostOutputs(http);
  const mempool = new BlockfrostMempool(http);
  const closing = new AbortController();

  return {
    ...withoutLedger("A Blockfrost service"),
    accounts: (credentials) => queries.ofLedger(async () => readAccounts(http, await queries.network(), credentials)),
    epoch: () => queries.ofLedger(async ({ slot }) => readEpoch(http, await queries.network(), slot)),
    eras: () => queries.ofLedger(async ({ slot }) => readEras(http, await queries.network(), slot)),
    genesis: async () => {
      const genesis = await queries.ofLedger(() => readGenesis(http));
      return genesis.ok ? ok(genesis.value.value) : genesis;
    },
    guarantees: GUARANTEES,
    check: async () => {
      try {
        const { network } = await queries.network();
        await requireFollowable(http);
        if (from !== undefined) await startBlock(http, from);
        return ok(network);
      } catch (error) {
        if (error instanceof BlockfrostError) return { ok: false, error: error.failure };
        throw error;
      }
    },
    network: async (signal) => {
      const stop = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      for (let wait = firstWaitMs;; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
        try {
          return (await queries.network(stop)).network;
        } catch (error) {
          if (!(error instanceof BlockfrostError)) throw error;
          if (stop.aborted) throw new Error("stopped before the Blockfrost service could be reached");
          if (!isTransient(error.failure.code)) throw error;
          log.warn("waiting for the Blockfrost service", { service: http.where, reason: error.message });
          await sleep(wait, stop);
        }
      }
    },
    async *follow(points, signal) {
      const stop = AbortSignal.any([signal, closing.signal]);
      try {
        const known = await queries.network(stop);
        const { pollMs = Math.max(MIN_POLL_MS, known.blockMs / 4) } = settings;
        yield* followService({ http, known, pollMs, from }, points, stop);
      } catch (error) {
        if (!hasFailed(error, "aborted") || !stop.aborted) throw error;
      }
    },
    tip: () => queries.query(() => readTip(http)),
    submit: async (transaction) => {
      const malformed = undecodable(transaction);
      if (malformed) return ok({ outcome: "refused", failures: [malformed] });
      return await queries.query(() => mempool.submit(Uint8Array.from(transaction)));
    },
    inMempool: (hash) => queries.query(() => mempool.holds(hash)),
    mempool: () =>
      Promise.resolve(unsupported("A Blockfrost service lists only transactions that were submitted through it.")),
    utxosByAddress: (wanted) =>
      queries.atTip(async (): Promise<readonly Utxo[]> => {
        const found = await mapParallel([...new Set(wanted)], PARALLEL, (address) => outputs.atAddress(address));
        return found.flat();
      }),
    utxosByRef: (refs) => {
      const distinct: OutRef[] = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
      return queries.atTip(() => outputs.unspent(distinct));
    },
    parameters: () =>
      queries.atTip(async () =>
        parametersOf(parse(parametersDocument, await http.get("/epochs/latest/parameters"), "the protocol parameters"))
      ),
    close: () => {
      closing.abort();
      http.close();
    },
  };
}
