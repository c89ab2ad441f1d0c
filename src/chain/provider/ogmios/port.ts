/**
 * Port adapter for an Ogmios server, optionally with Kupo.
 *
 * Assumptions: the server restarts, so a query reconnects if the connection broke. Each follower has a connection of its
 * own, so that blocks arrive during a query, and so have queries that read much of the ledger. Queries of one session
 * hold at one point. A server without `--include-cbor` gives a transaction as JSON, without its bytes: then
 * its id is trusted, its bytes are encoded here, and they do not hash to the id in general.
 */
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { ok, type Result } from "#src/base/result.ts";
import { created, type Point, type Tip } from "#src/cardano/block.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { type At, unsupported } from "#src/chain/provider/answer.ts";
import { publicGenesis } from "#src/chain/provider/genesisHash.ts";
import { undecodable } from "#src/chain/provider/node/queries.ts";
import { readParameters } from "#src/chain/provider/ogmios/answers.ts";
import { type ClientSettings, OgmiosClient } from "#src/chain/provider/ogmios/client.ts";
import type { OgmiosConnection } from "#src/chain/provider/ogmios/connection.ts";
import {
  asOgmiosError,
  isTransient,
  OgmiosError,
  ogmiosError,
  type OgmiosFailure,
} from "#src/chain/provider/ogmios/errors.ts";
import { followServer, type FollowState, tipOf } from "#src/chain/provider/ogmios/follow.ts";
import { connect, type KnownNetwork } from "#src/chain/provider/ogmios/genesis.ts";
import { Kupo, type KupoSettings } from "#src/chain/provider/ogmios/kupo.ts";
import {
  queryAccounts,
  queryActions,
  queryDreps,
  queryDrepStatus,
  queryEpoch,
  queryEras,
  queryOutputs,
  queryOutputsAt,
  queryPools,
  queryRanking,
} from "#src/chain/provider/ogmios/ledger.ts";
import { holds, readSnapshot, submit } from "#src/chain/provider/ogmios/mempool.ts";
import type { ChainPort, Guarantee, Network } from "#src/chain/provider/port.ts";
import { objectOf } from "#src/ogmios/form.ts";
import { readSubmissionError } from "#src/ogmios/readFailures.ts";
import { addressJson } from "#src/ogmios/values.ts";

export interface OgmiosPortSettings extends ClientSettings {
  /** URL of Kupo, for outputs by address; without it the server's node reads its whole set for each such query. */
  readonly kupoUrl?: string;
  /** The block after which a new index begins; the origin by default. */
  readonly from?: Point;
  /** Hash of the Byron genesis, for a network that is neither public nor starts in Byron: no query gives it. */
  readonly genesisHash?: string;
  /** Milliseconds before the second attempt to connect; 250 by default. Later waits double, up to 5 s. */
  readonly firstWaitMs?: number;
  /** Milliseconds at the tip after which a silent server is queried for it; 20,000 by default. */
  readonly quietMs?: number;
}

/** The port to a server. */
export interface OgmiosPort extends ChainPort {
  /** The network, in one attempt; or why the server cannot be used now, as a sentence for a person. */
  check(): Promise<Result<Network, OgmiosFailure>>;
  /** The block that Kupo has reached; missing where none is used. */
  kupoTip?(): Promise<Result<Point, OgmiosFailure>>;
  close(): void;
}

const MAX_WAIT_MS = 5_000;
/** Attempts to get the ledger's state at the block that Kupo has reached, and milliseconds between them. */
const KUPO_TRIES = 10;
const KUPO_WAIT_MS = 200;

const guaranteesWith = (kupo: boolean): readonly Guarantee[] => [
  { query: "tip", holds: "at a point" },
  { query: "inMempool", holds: "at the tip", note: "the mempool of the server's node" },
  { query: "mempool", holds: "at the tip", note: "the mempool of the server's node" },
  {
    query: "utxosByAddress",
    holds: "at a point",
    note: kupo
      ? "as far as Kupo has indexed; of addresses that its patterns leave out, the node reads its whole set"
      : "the node reads its whole set",
  },
  { query: "utxosByRef", holds: "at a point" },
  { query: "parameters", holds: "at a point" },
  { query: "accounts", holds: "at a point" },
  { query: "pools", holds: "at a point", note: "without retirements, changes to come, relays and deposits" },
  { query: "poolRanking", holds: "at a point" },
  {
    query: "dreps",
    holds: "at a point",
    note: "their stake as of the last epoch boundary; unless the list of their delegators exceeds 64 MB",
  },
  { query: "drepStatus", holds: "at a point", note: "their stake as of the last epoch boundary" },
  { query: "actions", holds: "at a point", note: "only those that were open at the last epoch boundary" },
  { query: "epoch", holds: "at a point" },
  { query: "eras", holds: "at a point" },
  { query: "genesis", holds: "at a point", note: "the hash of public networks, and of those that begin in Byron" },
];

/** The port to the server at a URL. It connects at the first query. */
export function ogmiosPort(settings: OgmiosPortSettings): OgmiosPort {
  const { magic, log, from, kupoUrl, firstWaitMs = 250 } = settings;
  const client = new OgmiosClient(settings);
  // queries that read much of the ledger take long: others do not wait for them
  const longReads = new OgmiosClient(settings);
  const { where, closed } = client;
  const kupo = kupoUrl === undefined ? undefined : new Kupo({ url: kupoUrl } satisfies KupoSettings, closed);
  let genesisHash: { readonly hash: string | undefined } | undefined;

  const whenReached = async (signal?: AbortSignal): Promise<KnownNetwork> => {
    const stop = signal ? AbortSignal.any([signal, closed]) : closed;
    for (let wait = firstWaitMs;; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
      const read = await client.network();
      if (read.ok) return read.value;
      if (!isTransient(read.error.code)) throw new OgmiosError(read.error);
      log.warn("waiting for Ogmios", { server: where, reason: read.error.message });
      await sleep(wait, stop);
      if (stop.aborted) throw new Error("stopped before Ogmios could be reached");
    }
  };

  const follow = (points: readonly Point[], begin: Point | undefined, stop: AbortSignal) =>
    followServer(
      {
        connect: async (signal) => (await connect(settings, signal)).connection,
        where,
        from: begin,
        firstWaitMs,
        longestWaitMs: MAX_WAIT_MS,
        ...(settings.quietMs === undefined ? {} : { quietMs: settings.quietMs }),
        onState: logState(log, where),
      },
      points,
      stop,
    );

  /** The parent that the chain's first block names, once there is one. */
  const firstParent = async (): Promise<string | undefined> => {
    for await (const step of follow([], undefined, closed)) {
      if (step.type === "scanned") return step.block.previous;
    }
    return undefined;
  };

  const readGenesisHash = async (): Promise<string | undefined> => {
    const stated = settings.genesisHash ?? publicGenesis(magic);
    if (stated !== undefined || genesisHash) return stated ?? genesisHash?.hash;
    const tip = await client.attempt(readTip);
    if (!tip.ok || tip.value.slot < 0) return undefined;
    genesisHash = { hash: await firstParent() };
    return genesisHash.hash;
  };

  /** Outputs that Kupo names, as the ledger has them; undefined for addresses that it does not index. */
  const byKupo = async (index: Kupo, addresses: readonly string[]): Promise<At<readonly Utxo[]> | undefined> => {
    if (!await index.indexes(addresses)) return undefined;
    for (let tries = 1;; tries++) {
      const { point, value: refs } = await index.unspent(addresses);
      const held = await client.atPoint(point, (ledger) => queryOutputs(ledger, refs));
      if (held?.value.length === refs.length) return held;
      if (held) {
        throw ogmiosError(
          "unusable",
          `Kupo at ${index.where} has ${refs.length} outputs at slot ${point.slot}, and the ledger ${held.value.length} of them.`,
        );
      }
      if (tries >= KUPO_TRIES) {
        throw ogmiosError(
          "unreachable",
          `Kupo at ${index.where} is at slot ${point.slot} (${
            point.hash.slice(0, 8)
          }), of which Ogmios at ${where} has no ledger: ` +
            "it is far behind, or follows another chain.",
        );
      }
      // after a rollback, the two are of one chain again within a moment
      await sleep(KUPO_WAIT_MS, closed);
    }
  };

  return {
    guarantees: guaranteesWith(kupo !== undefined),
    check: async () => {
      const read = await client.network();
      return read.ok ? ok(read.value.network) : read;
    },
    ...kupo ? { kupoTip: () => kupoTip(kupo) } : {},
    network: async (signal) => (await whenReached(signal)).network,
    async *follow(points, signal) {
      yield* follow(points, from, AbortSignal.any([signal, closed]));
    },
    tip: () => client.query(readTip),
    submit: async (transaction) => {
      const malformed = undecodable(transaction);
      if (malformed) return ok({ outcome: "refused", failures: [malformed] });
      const scanned = scanTransaction(transaction);
      const answer = await client.query((connection) => submit(connection, transaction, scanned.hash));
      if (!answer.ok) return answer;
      if (answer.value === "accepted") return ok({ outcome: "accepted" });
      // one that the node already has is refused too
      const pending = await client.ofMempool((connection) => holds(connection, scanned.hash));
      if (!pending.ok) return pending;
      if (pending.value) return ok({ outcome: "accepted" });
      const outputs = created(scanned).map(({ ref }) => ref);
      const unspent = await client.atTip((ledger) => queryOutputs(ledger, outputs));
      if (!unspent.ok) return unspent;
      if (unspent.value.value.length > 0) return ok({ outcome: "accepted" });
      return ok({ outcome: "refused", failures: [readSubmissionError(answer.value.json)] });
    },
    inMempool: (txHash) => client.ofMempool((connection) => holds(connection, txHash)),
    mempool: (unneeded) => longReads.ofMempool((connection) => readSnapshot(connection, unneeded)),
    utxosByAddress: async (wanted) => {
      const addresses = [...new Set(wanted)].map(addressJson);
      try {
        const named = kupo && await byKupo(kupo, addresses);
        if (named) return ok(named);
      } catch (error) {
        return client.unreachable(asOgmiosError(error, where).failure);
      }
      return await longReads.atTip((ledger) => queryOutputsAt(ledger, addresses));
    },
    utxosByRef: (refs) => client.atTip((ledger) => queryOutputs(ledger, refs)),
    parameters: () => client.atTip(async (ledger) => readParameters(await ledger.query("protocolParameters"))),
    accounts: (credentials) => client.ofLedger((ledger) => queryAccounts(ledger, credentials)),
    pools: () => longReads.ofLedger(queryPools),
    poolRanking: (stake) => longReads.ofLedger((ledger) => queryRanking(ledger, stake)),
    dreps: () => longReads.ofLedger(queryDreps),
    drepStatus: (credentials) => client.ofLedger((ledger) => queryDrepStatus(ledger, credentials)),
    actions: async (ids) => {
      const found = await client.ofLedger((ledger) => queryActions(ledger, ids));
      if (!found.ok) return found;
      const { point, value } = found.value;
      return value ? ok({ point, value }) : unsupported(
        "One of the actions was not open at the last epoch boundary: the server does not say whether it is new or has ended.",
      );
    },
    epoch: async () => {
      const read = await client.network();
      if (!read.ok) return client.unreachable(read.error);
      return await client.ofLedger((ledger) => queryEpoch(ledger, read.value.genesis.systemStart));
    },
    eras: async () => {
      const read = await client.network();
      if (!read.ok) return client.unreachable(read.error);
      return await client.ofLedger((ledger) => queryEras(ledger, read.value.genesis.systemStart));
    },
    genesis: async () => {
      const read = await client.network();
      if (!read.ok) return client.unreachable(read.error);
      try {
        return ok({ hash: await readGenesisHash(), ...read.value.genesis });
      } catch (error) {
        return client.unreachable(asOgmiosError(error, where).failure);
      }
    },
    close: () => {
      longReads.close();
      client.close();
    },
  };
}

/** The newest block, with its height: the server states both at once where it intersects, which moves no follower here. */
async function readTip(connection: OgmiosConnection): Promise<Tip> {
  const { tip } = objectOf(await connection.request("findIntersection", { points: ["origin"] }), "the intersection");
  return tipOf(tip);
}

async function kupoTip(kupo: Kupo): Promise<Result<Point, OgmiosFailure>> {
  try {
    return ok(await kupo.tip());
  } catch (error) {
    return { ok: false, error: asOgmiosError(error, kupo.where).failure };
  }
}

const logState = (log: Log, server: string) => (state: FollowState) => {
  if (state.type === "connected") log.info("connected to Ogmios", { server });
  else log.warn("Ogmios cannot be followed", { server, reason: state.failure.message, code: state.failure.code });
};
