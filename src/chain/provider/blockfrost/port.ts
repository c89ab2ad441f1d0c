/**
 * Port adapter for a Blockfrost service: Blockfrost's own or a compatible one.
 *
 * Assumptions: nothing is known locally, so everything is requested. Each answer is of whatever block is the newest at
 * that moment, so several make one answer only while that block stays the same.
 */
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { type Unanswered, unsupported } from "#src/chain/provider/answer.ts";
import type { Guarantee } from "#src/chain/provider/guarantees.ts";
import { parametersDocument, parse } from "#src/chain/provider/blockfrost/documents.ts";
import { ApiError, apiError, type ApiFailure, isTransient } from "#src/chain/provider/blockfrost/errors.ts";
import { followService, readTip, requireFollowable, startBlock } from "#src/chain/provider/blockfrost/follow.ts";
import { BlockfrostHttp, type BlockfrostHttpSettings } from "#src/chain/provider/blockfrost/http.ts";
import { type KnownNetwork, readNetwork } from "#src/chain/provider/blockfrost/network.ts";
import { readAccounts, readEpoch, readEras, readGenesis } from "#src/chain/provider/blockfrost/ledger.ts";
import { BlockfrostOutputs } from "#src/chain/provider/blockfrost/outputs.ts";
import { mapParallel } from "#src/chain/provider/blockfrost/rateLimiter.ts";
import { parametersOf } from "#src/chain/provider/blockfrost/parameters.ts";
import { decodeRefusal } from "#src/chain/provider/blockfrost/refusal.ts";
import { withoutLedger } from "#src/chain/provider/ledgerPort.ts";
import { undecodable } from "#src/chain/provider/node/queries.ts";
import type { At, ChainPort, Network, Submission, Unreachable } from "#src/chain/provider/port.ts";

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
  check(): Promise<Result<Network, ApiFailure>>;
  close(): void;
}

const MAX_WAIT_MS = 30_000;
const MIN_POLL_MS = 50;
/** Times that an answer is composed again because a block arrived meanwhile. */
const MAX_TRIES = 5;
const PARALLEL = 4;
/** Accepted transactions that are remembered, for services without mempool requests. */
const MAX_ACCEPTED = 1_000;

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
  { query: "pools", holds: "not at all" },
  { query: "poolRanking", holds: "not at all" },
  { query: "dreps", holds: "not at all" },
];

/** The port to the service at a URL. It sends nothing before the first query. */
export function blockfrostPort(settings: BlockfrostPortSettings): BlockfrostPort {
  const { magic, log, from, firstWaitMs = 300 } = settings;
  const http = new BlockfrostHttp(settings);
  const outputs = new BlockfrostOutputs(http);
  const closing = new AbortController();
  const accepted = new Set<string>();
  let known: KnownNetwork | undefined;

  const knowNetwork = async (signal?: AbortSignal): Promise<KnownNetwork> => {
    if (known) return known;
    const found = await readNetwork(http, signal);
    if (found.network.magic !== magic) {
      throw apiError("refused", `${http.where} is of the network with magic ${found.network.magic}, not of ${magic}.`);
    }
    return known = found;
  };

  const query = async <T>(work: () => Promise<T>): Promise<Result<T, Unreachable>> => {
    try {
      return ok(await work());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      log.warn("the Blockfrost service gave no answer", { service: http.where, ...error.failure });
      return fail("network_unreachable", error.failure.message);
    }
  };

  /** What `work` gives for the newest block, if that stays the same meanwhile; else it runs again. */
  const atTip = async <T>(work: (tip: Tip) => Promise<T>): Promise<At<T>> => {
    let before = await readTip(http);
    for (let tries = 1;; tries++) {
      const value = await work(before);
      const after = await readTip(http);
      if (after.hash === before.hash) return { point: { slot: after.slot, hash: after.hash }, value };
      if (tries >= MAX_TRIES) {
        throw apiError("unreachable", `Blocks of ${http.where} come faster than it answers what was asked.`);
      }
      before = after;
    }
  };

  /** The same, for a query that the service may not support. */
  const queryLedger = async <T>(work: (tip: Tip) => Promise<T>): Promise<Result<At<T>, Unanswered>> => {
    const answer = await query(() =>
      atTip(work).catch((error) => {
        if (error instanceof ApiError && error.failure.code === "lacking") return error.failure.message;
        throw error;
      })
    );
    if (!answer.ok) return answer;
    return typeof answer.value === "string" ? unsupported(answer.value) : ok(answer.value);
  };

  /** Whether the service's mempool holds a transaction. */
  const pending = async (hash: string): Promise<boolean> => {
    try {
      return await http.find(`/mempool/${hash}`) !== undefined;
    } catch (error) {
      if (!(error instanceof ApiError) || error.failure.code !== "lacking") throw error;
      return accepted.has(hash) && await http.find(`/txs/${hash}`) === undefined;
    }
  };

  const submit = async (transaction: Uint8Array<ArrayBuffer>): Promise<Submission> => {
    const { hash } = scanTransaction(transaction);
    try {
      const answer = await http.post("/tx/submit", transaction);
      if (answer !== hash) throw apiError("unusable", `${http.where} took transaction ${hash} for another one.`);
    } catch (error) {
      if (!(error instanceof ApiError) || error.failure.code !== "refused") throw error;
      // a transaction that the service already has is refused too
      if (!await pending(hash) && await http.find(`/txs/${hash}`) === undefined) {
        return { outcome: "refused", failures: decodeRefusal(error.failure.message) };
      }
    }
    accepted.add(hash);
    if (accepted.size > MAX_ACCEPTED) accepted.delete(accepted.values().next().value!);
    return { outcome: "accepted" };
  };

  return {
    ...withoutLedger("A Blockfrost service"),
    accounts: (credentials) => queryLedger(async () => readAccounts(http, await knowNetwork(), credentials)),
    epoch: () => queryLedger(async ({ slot }) => readEpoch(http, await knowNetwork(), slot)),
    eras: () => queryLedger(async ({ slot }) => readEras(http, await knowNetwork(), slot)),
    genesis: async () => {
      const begun = await queryLedger(() => readGenesis(http));
      return begun.ok ? ok(begun.value.value) : begun;
    },
    guarantees: GUARANTEES,
    check: async () => {
      try {
        const { network } = await knowNetwork();
        await requireFollowable(http);
        if (from !== undefined) await startBlock(http, from);
        return ok(network);
      } catch (error) {
        if (error instanceof ApiError) return { ok: false, error: error.failure };
        throw error;
      }
    },
    network: async (signal) => {
      const stop = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      for (let wait = firstWaitMs;; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
        try {
          return (await knowNetwork(stop)).network;
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
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
        const known = await knowNetwork(stop);
        const { pollMs = Math.max(MIN_POLL_MS, known.blockMs / 4) } = settings;
        yield* followService({ http, known, pollMs, from }, points, stop);
      } catch (error) {
        if (!(error instanceof ApiError && error.failure.code === "aborted" && stop.aborted)) throw error;
      }
    },
    tip: () => query(() => readTip(http)),
    submit: async (transaction) => {
      const malformed = undecodable(transaction);
      if (malformed) return ok({ outcome: "refused", failures: [malformed] });
      return await query(() => submit(Uint8Array.from(transaction)));
    },
    inMempool: (hash) => query(() => pending(hash)),
    utxosByAddress: (wanted) =>
      query(() =>
        atTip(async () => {
          const found = await mapParallel([...new Set(wanted)], PARALLEL, (address) => outputs.atAddress(address));
          return found.flat() as readonly Utxo[];
        })
      ),
    utxosByRef: (refs) => {
      const distinct: OutRef[] = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
      return query(() => atTip(() => outputs.unspent(distinct)));
    },
    parameters: () =>
      query(() =>
        atTip(async () =>
          parametersOf(
            parse(parametersDocument, await http.get("/epochs/latest/parameters"), "the protocol parameters"),
          )
        )
      ),
    close: () => {
      closing.abort();
      http.close();
    },
  };
}
