/**
 * A Blockfrost service behind the port: Blockfrost's own, or anything that answers as it does.
 *
 * Hypotheses: the service knows the chain and we know nothing of it, so what a question needs is asked; each answer is of whatever block is the
 * newest then, so several make one only while that block stays the same.
 */
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { type Unanswered, unsupported } from "#src/chain/provider/answer.ts";
import type { Answering } from "#src/chain/provider/guarantees.ts";
import { parametersDocument, read } from "#src/chain/provider/blockfrost/documents.ts";
import { ApiError, apiError, type ApiFailure, mayPassLater } from "#src/chain/provider/blockfrost/errors.ts";
import { beginning, followable, followService, readTip } from "#src/chain/provider/blockfrost/follow.ts";
import { Http, type HttpSettings } from "#src/chain/provider/blockfrost/http.ts";
import { type Known, readNetwork } from "#src/chain/provider/blockfrost/network.ts";
import { readAccounts, readEpoch, readEras, readGenesis } from "#src/chain/provider/blockfrost/ledger.ts";
import { Outputs } from "#src/chain/provider/blockfrost/outputs.ts";
import { eachOf } from "#src/chain/provider/blockfrost/pace.ts";
import { parametersOf } from "#src/chain/provider/blockfrost/parameters.ts";
import { refusalOf } from "#src/chain/provider/blockfrost/refusal.ts";
import { withoutLedger } from "#src/chain/provider/ledgerPort.ts";
import { undecodable } from "#src/chain/provider/node/queries.ts";
import type { At, ChainPort, Network, Submission, Unreachable } from "#src/chain/provider/port.ts";

export interface BlockfrostPortSettings extends HttpSettings {
  /** The network's magic; a service of another network is refused. */
  readonly magic: number;
  readonly log: Log;
  /**
   * Milliseconds between two looks at the newest block; unless said otherwise a quarter of what lies between blocks on average: 5 s on a
   * public network, which is 17,280 requests a day.
   */
  readonly pollMs?: number;
  /** Hash of the block that a chain of which nothing is known is read from; its first one where undefined. */
  readonly from?: string;
}

/** The port to a service, and what ends its requests. */
export interface BlockfrostPort extends ChainPort {
  /** What the network is, asked once: or why the service cannot be used now, in a sentence for a person. */
  check(): Promise<Result<Network, ApiFailure>>;
  close(): void;
}

const LONGEST_WAIT = 30_000;
const LEAST_POLL = 50;
/** Times that an answer is begun anew because a block came meanwhile. */
const MOST_TRIES = 5;
const AT_ONCE = 4;
/** Transactions that are remembered as taken, for services that do not tell of their mempool. */
const KEPT = 1_000;

const ANSWERS: readonly Answering[] = [
  { question: "tip", holds: "at a point" },
  {
    question: "inMempool",
    holds: "at the tip",
    note: "the service's own mempool; without one, what it took from here",
  },
  { question: "utxosByAddress", holds: "at the tip" },
  { question: "utxosByRef", holds: "at the tip" },
  { question: "parameters", holds: "at the tip", note: "fractions as the service's decimals" },
  { question: "accounts", holds: "at the tip", note: "without deposits" },
  { question: "epoch", holds: "at the tip" },
  { question: "eras", holds: "at the tip" },
  { question: "genesis", holds: "at the tip", note: "the hash of public networks alone" },
  { question: "pools", holds: "not at all" },
  { question: "poolRanking", holds: "not at all" },
  { question: "dreps", holds: "not at all" },
];

/** The port to the service at a URL. Nothing is asked before the first question. */
export function blockfrostPort(settings: BlockfrostPortSettings): BlockfrostPort {
  const { magic, log, from, firstWait = 300 } = settings;
  const http = new Http(settings);
  const outputs = new Outputs(http);
  const closing = new AbortController();
  const taken = new Set<string>();
  let known: Known | undefined;

  const know = async (signal?: AbortSignal): Promise<Known> => {
    if (known) return known;
    const found = await readNetwork(http, signal);
    if (found.network.magic !== magic) {
      throw apiError("refused", `${http.where} is of the network with magic ${found.network.magic}, not of ${magic}.`);
    }
    return known = found;
  };

  const reached = async <T>(work: () => Promise<T>): Promise<Result<T, Unreachable>> => {
    try {
      return ok(await work());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      log.warn("the Blockfrost service gave no answer", { service: http.where, ...error.failure });
      return fail("network_unreachable", error.failure.message);
    }
  };

  /** What work finds while the newest block, which it is given, stays the same. */
  const settled = async <T>(work: (tip: Tip) => Promise<T>): Promise<At<T>> => {
    let before = await readTip(http);
    for (let tries = 1;; tries++) {
      const value = await work(before);
      const after = await readTip(http);
      if (after.hash === before.hash) return { point: { slot: after.slot, hash: after.hash }, value };
      if (tries >= MOST_TRIES) {
        throw apiError("unreachable", `Blocks of ${http.where} come faster than it answers what was asked.`);
      }
      before = after;
    }
  };

  /** The same, where a service may have no such question at all. */
  const told = async <T>(work: (tip: Tip) => Promise<T>): Promise<Result<At<T>, Unanswered>> => {
    const answer = await reached(() =>
      settled(work).catch((error) => {
        if (error instanceof ApiError && error.failure.code === "lacking") return error.failure.message;
        throw error;
      })
    );
    if (!answer.ok) return answer;
    return typeof answer.value === "string" ? unsupported(answer.value) : ok(answer.value);
  };

  /** Whether the service holds a transaction that is in no block yet. */
  const pending = async (hash: string): Promise<boolean> => {
    try {
      return await http.find(`/mempool/${hash}`) !== undefined;
    } catch (error) {
      if (!(error instanceof ApiError) || error.failure.code !== "lacking") throw error;
      return taken.has(hash) && await http.find(`/txs/${hash}`) === undefined;
    }
  };

  const submit = async (transaction: Uint8Array<ArrayBuffer>): Promise<Submission> => {
    const { hash } = scanTransaction(transaction);
    try {
      const said = await http.post("/tx/submit", transaction);
      if (said !== hash) throw apiError("unusable", `${http.where} took transaction ${hash} for another one.`);
    } catch (error) {
      if (!(error instanceof ApiError) || error.failure.code !== "refused") throw error;
      // one that is there already is refused
      if (!await pending(hash) && await http.find(`/txs/${hash}`) === undefined) {
        return { outcome: "refused", failures: refusalOf(error.failure.message) };
      }
    }
    taken.add(hash);
    if (taken.size > KEPT) taken.delete(taken.values().next().value!);
    return { outcome: "accepted" };
  };

  return {
    ...withoutLedger("A Blockfrost service"),
    accounts: (credentials) => told(async () => readAccounts(http, await know(), credentials)),
    epoch: () => told(async ({ slot }) => readEpoch(http, await know(), slot)),
    eras: () => told(async ({ slot }) => readEras(http, await know(), slot)),
    genesis: async () => {
      const begun = await told(() => readGenesis(http));
      return begun.ok ? ok(begun.value.value) : begun;
    },
    answers: ANSWERS,
    check: async () => {
      try {
        const { network } = await know();
        await followable(http);
        if (from !== undefined) await beginning(http, from);
        return ok(network);
      } catch (error) {
        if (error instanceof ApiError) return { ok: false, error: error.failure };
        throw error;
      }
    },
    network: async (signal) => {
      const stop = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      for (let wait = firstWait;; wait = Math.min(wait * 2, LONGEST_WAIT)) {
        try {
          return (await know(stop)).network;
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          if (stop.aborted) throw new Error("stopped before the Blockfrost service could be reached");
          if (!mayPassLater(error.failure.code)) throw error;
          log.warn("waiting for the Blockfrost service", { service: http.where, reason: error.message });
          await sleep(wait, stop);
        }
      }
    },
    async *follow(points, signal) {
      const stop = AbortSignal.any([signal, closing.signal]);
      try {
        const known = await know(stop);
        const { pollMs = Math.max(LEAST_POLL, known.blockMs / 4) } = settings;
        yield* followService({ http, known, pollMs, from }, points, stop);
      } catch (error) {
        if (!(error instanceof ApiError && error.failure.code === "aborted" && stop.aborted)) throw error;
      }
    },
    tip: () => reached(() => readTip(http)),
    submit: async (transaction) => {
      const malformed = undecodable(transaction);
      if (malformed) return ok({ outcome: "refused", failures: [malformed] });
      return await reached(() => submit(Uint8Array.from(transaction)));
    },
    inMempool: (hash) => reached(() => pending(hash)),
    utxosByAddress: (wanted) =>
      reached(() =>
        settled(async () => {
          const found = await eachOf([...new Set(wanted)], AT_ONCE, (address) => outputs.atAddress(address));
          return found.flat() as readonly Utxo[];
        })
      ),
    utxosByRef: (refs) => {
      const distinct: OutRef[] = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
      return reached(() => settled(() => outputs.unspent(distinct)));
    },
    parameters: () =>
      reached(() =>
        settled(async () =>
          parametersOf(read(parametersDocument, await http.get("/epochs/latest/parameters"), "the protocol parameters"))
        )
      ),
    close: () => {
      closing.abort();
      http.close();
    },
  };
}
