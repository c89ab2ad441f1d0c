/**
 * The devnet for node-to-client clients (wallets, indexers, `cardano-cli`), like a node: at a UNIX socket and over TCP.
 *
 * Assumptions: reads use rows, so a client sees only what is committed. A query that is not supported ends the
 * connection, as at a node.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { followBlocks } from "#src/devnet/serve/follow.ts";
import { AcquiredStates } from "#src/devnet/serve/acquiredStates.ts";
import { nodeAnswers } from "#src/devnet/serve/nodeAnswers.ts";
import { rejectionOf } from "#src/devnet/serve/rejection.ts";
import { submitWithRoom } from "#src/devnet/serve/submissions.ts";
import { nodeError, type NodeFailure } from "#src/node/errors.ts";
import { answerQuery } from "#src/node/queries/answering.ts";
import { encodeRejection } from "#src/node/rejections/rejections.ts";
import { type NodeServer, serveNode } from "#src/node/server/server.ts";
import type { NodeAddress } from "#src/node/transport/dial.ts";
import type { NodeHandlers, ServedMempool } from "#src/node/server/handlers.ts";
import { CONWAY, eraName } from "#src/node/protocols/values.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

/** Database connections for acquired states: at most this many blocks at once. */
const MAX_STATES = 6;
/** Milliseconds between polls of the mempool, for clients that wait for a change. */
const POLL_MS = 50;

export interface NodeServiceSettings {
  readonly devnet: Devnet;
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  /** Milliseconds after which the block table is polled without a notification; 1,000 by default. */
  readonly pollMs?: number;
  /** Milliseconds without a query after which an acquired state is released; 60,000 by default. */
  readonly idleMs?: number;
  /** Size limit of the mempool in bytes, for clients; 4 MB by default. */
  readonly mempoolBytes?: number;
}

/** A devnet as a node, which can be served at several addresses. */
export interface NodeService {
  /** Serves clients at an address until the service is closed. Fails if it cannot be listened on. */
  listen(address: NodeAddress): Promise<Result<NodeServer, NodeFailure>>;
  /** Closes all addresses and connections. */
  close(): Promise<void>;
}

/** The devnet of this process as a node. The acquired states of its clients share a limit, whatever their address. */
export function nodeService(settings: NodeServiceSettings): NodeService {
  const { store, devnet: { genesis }, log, idleMs = 60_000 } = settings;
  const states = new AcquiredStates({ store, genesis, maxOpen: MAX_STATES, idleMs });
  const handlers = handlersOf(settings, states);
  const servers: NodeServer[] = [];
  return {
    listen: async (address) => {
      const served = await serveNode(address, handlers, {
        onEnd: ({ failure }) =>
          log.debug("a client of the node socket has disconnected", { code: failure.code, reason: failure.message }),
      });
      if (served.ok) servers.push(served.value);
      return served;
    },
    close: async () => {
      await Promise.all(servers.splice(0).map((server) => server.close()));
      await states.close();
    },
  };
}

function handlersOf(settings: NodeServiceSettings, states: AcquiredStates): NodeHandlers {
  const { devnet, store, bus, log, pollMs = 1_000, mempoolBytes = 4_000_000 } = settings;
  const { network, genesis } = devnet;
  const gone = () => nodeError("closed", "The devnet is not running in this process.");
  /** Logs why work failed, and throws on: that ends the client's connection. */
  const logged = async <T>(what: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      log.debug(`${what} was not answered`, { reason: reason(error) });
      throw error;
    }
  };
  return {
    magic: network.magic,
    follow: (points, signal) => followBlocks({ store, bus, pollMs, k: network.securityParameter }, points, signal),
    submit: async ({ era, bytes }, signal) => {
      if (era !== CONWAY) {
        return encodeRejection([{ name: "EraMismatch", transaction: eraName(era), ledger: eraName(CONWAY) }]);
      }
      const said = await submitWithRoom(devnet, bytes, signal);
      if (!said) throw gone();
      if (!said.ok) return encodeRejection([{ name: "DeserialiseFailure", message: said.error.message }]);
      return said.value.outcome === "accepted" ? undefined : await rejectionOf(devnet, said.value.failures, bytes);
    },
    mempool: async (snapshot, signal) => {
      for (;;) {
        if (!devnet.runs() || signal.aborted) throw gone();
        const now = mempoolOf(devnet, mempoolBytes);
        if (!snapshot || !sameTransactions(snapshot, now)) return now;
        await sleep(POLL_MS, signal);
      }
    },
    acquire: async (target) => {
      const held = await logged("a state", states.acquire(target));
      if (!held.ok) {
        const { code, message } = held.error;
        if (code !== "busy") return fail(code, message);
        log.warn("a client was rejected", { reason: message });
        throw nodeError("closed", message);
      }
      const answers = nodeAnswers(genesis, held.value);
      return ok({
        query: (query, version, signal) => logged("a query", answerQuery(answers, query, version, signal)),
        release: () => held.value.release(),
      });
    },
  };
}

function mempoolOf(devnet: Devnet, capacity: number): ServedMempool {
  return {
    slot: devnet.slot() + 1,
    capacity,
    transactions: devnet.mempool().map(({ transaction: { hash }, cbor }) => ({ era: CONWAY, hash, bytes: cbor })),
  };
}

function sameTransactions(a: ServedMempool, b: ServedMempool): boolean {
  return a.transactions.length === b.transactions.length &&
    a.transactions.every(({ hash }, index) => hash === b.transactions[index]?.hash);
}
