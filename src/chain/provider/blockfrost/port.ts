/**
 * Port adapter for a Blockfrost service: Blockfrost's own, a compatible one, or one with a dialect.
 *
 * Assumptions: nothing is known locally, so everything is requested. Each answer is of whatever block is the newest at
 * that moment, so several make one answer only while that block stays the same.
 */
import { fromHex } from "#src/base/bytes.ts";
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { ok, type Result } from "#src/base/result.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { blockfrostDialect, type Dialect } from "#src/chain/provider/blockfrost/dialect.ts";
import {
  BlockfrostError,
  type BlockfrostFailure,
  hasFailed,
  isTransient,
} from "#src/chain/provider/blockfrost/errors.ts";
import { parse, transactionDocument } from "#src/chain/provider/blockfrost/documents.ts";
import { followService, readTip, requireFollowable, startBlock } from "#src/chain/provider/blockfrost/follow.ts";
import { BlockfrostHttp, type BlockfrostHttpSettings } from "#src/chain/provider/blockfrost/http.ts";
import { BlockfrostMempool } from "#src/chain/provider/blockfrost/mempool.ts";
import { BlockfrostOutputs } from "#src/chain/provider/blockfrost/outputs.ts";
import { BlockfrostQueries } from "#src/chain/provider/blockfrost/queries.ts";
import { unsupported } from "#src/chain/provider/answer.ts";
import { mapParallel } from "#src/base/parallel.ts";
import { withoutLedger } from "#src/chain/provider/ledgerPort.ts";
import { undecodable } from "#src/chain/provider/node/queries.ts";
import type { ChainPort, Network } from "#src/chain/provider/port.ts";

export interface BlockfrostPortSettings extends BlockfrostHttpSettings {
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

/** The port to the service at a URL. It sends nothing before the first query. */
export function blockfrostPort(settings: BlockfrostPortSettings): BlockfrostPort {
  const http = new BlockfrostHttp(settings);
  return servicePort(settings, http, blockfrostDialect(http));
}

/** The port to a service that has a dialect of its own. */
export function servicePort(
  settings: BlockfrostPortSettings,
  http: BlockfrostHttp,
  dialect: Dialect,
): BlockfrostPort {
  const { magic, log, from } = settings;
  const queries = new BlockfrostQueries(http, dialect, magic, log);
  const outputs = new BlockfrostOutputs(http, dialect.readTransaction);
  const mempool = new BlockfrostMempool(http, dialect);
  const closing = new AbortController();

  return {
    ...withoutLedger(dialect.who),
    accounts: (credentials) => queries.ofLedger(async () => dialect.accounts(await queries.network(), credentials)),
    epoch: () => queries.ofLedger(async (tip) => dialect.epoch(await queries.network(), tip)),
    eras: () => queries.ofLedger(async (tip) => dialect.eras(await queries.network(), tip)),
    ...dialect.drepStatus
      ? { drepStatus: (wanted) => queries.ofLedger(async () => await dialect.drepStatus?.(wanted) ?? []) }
      : {},
    ...dialect.actions
      ? { actions: (wanted) => queries.ofLedger(async () => await dialect.actions?.(wanted) ?? []) }
      : {},
    ...dialect.pools ? { pools: () => queries.ofLedger(async () => await dialect.pools?.() ?? []) } : {},
    genesis: async () => {
      const genesis = await queries.ofLedger(async () => dialect.genesis(await queries.network()));
      return genesis.ok ? ok(genesis.value.value) : genesis;
    },
    guarantees: dialect.guarantees,
    check: async () => {
      try {
        const { network } = await queries.network();
        await requireFollowable(http, dialect);
        if (from !== undefined) await startBlock(http, from);
        return ok(network);
      } catch (error) {
        if (error instanceof BlockfrostError) return { ok: false, error: error.failure };
        throw error;
      }
    },
    network: (signal) =>
      networkWhenReached(
        settings,
        http,
        queries,
        signal ? AbortSignal.any([signal, closing.signal]) : closing.signal,
      ),
    async *follow(points, signal) {
      const stop = AbortSignal.any([signal, closing.signal]);
      try {
        const known = await queries.network(stop);
        const { pollMs = Math.max(MIN_POLL_MS, known.blockMs / 4) } = settings;
        yield* followService({ http, dialect, known, pollMs, from }, points, stop);
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
      Promise.resolve(unsupported(`${dialect.who} lists at most the transactions that were submitted through it.`)),
    utxosByAddress: (wanted) =>
      queries.atTip(async (): Promise<readonly Utxo[]> => {
        const found = await mapParallel([...new Set(wanted)], PARALLEL, (address) => outputs.atAddress(address));
        return found.flat();
      }),
    utxosByRef: (refs) => {
      const distinct: OutRef[] = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
      return queries.atTip(() => dialect.unspent(distinct, outputs));
    },
    parameters: () => queries.atTip(dialect.parameters),
    transactionCbor: async (hash) => {
      const found = await http.find(`/txs/${hash}/cbor`);
      return found === undefined ? undefined : fromHex(parse(transactionDocument, found, "a transaction").cbor);
    },
    close: () => {
      closing.abort();
      http.close();
    },
  };
}

/** The network, once the service can be reached. */
async function networkWhenReached(
  { log, firstWaitMs = 300 }: BlockfrostPortSettings,
  http: BlockfrostHttp,
  queries: BlockfrostQueries,
  stop: AbortSignal,
): Promise<Network> {
  for (let wait = firstWaitMs;; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
    try {
      return (await queries.network(stop)).network;
    } catch (error) {
      if (!(error instanceof BlockfrostError)) throw error;
      if (stop.aborted) throw new Error(`stopped before the ${http.service} could be reached`);
      if (!isTransient(error.failure.code)) throw error;
      log.warn(`waiting for the ${http.service}`, { service: http.where, reason: error.message });
      await sleep(wait, stop);
    }
  }
}
