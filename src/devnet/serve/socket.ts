/**
 * The devnet's UNIX socket, as a node has one: whoever speaks node-to-client (wallets, indexers, `cardano-cli`) can use the devnet.
 *
 * Hypotheses: what can be read is read from rows, so that a client sees no more than what is written down; a query that is not answered
 * here ends the connection, as it does at a node that does not know it.
 */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { doorbell } from "#src/devnet/serve/blockSignal.ts";
import { followBlocks } from "#src/devnet/serve/follow.ts";
import { HeldStates } from "#src/devnet/serve/heldStates.ts";
import { nodeAnswers } from "#src/devnet/serve/nodeAnswers.ts";
import { nodeError, type NodeFailure } from "#src/node/errors.ts";
import { answerQuery } from "#src/node/queries/answering.ts";
import { encodeRejection } from "#src/node/rejections/rejections.ts";
import { type NodeServer, serveNode } from "#src/node/server/server.ts";
import type { NodeHandlers, ServedMempool } from "#src/node/server/handlers.ts";
import { CONWAY, eraName } from "#src/node/protocols/values.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

/** Database connections for states that clients hold: as many blocks can be asked at once. */
const STATES = 6;
/** Milliseconds between looks at the mempool, for who waits for another one. */
const LOOK_MS = 50;

export interface SocketSettings {
  /** Where the socket's file stands. */
  readonly path: string;
  readonly devnet: Devnet;
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  /** Milliseconds after which the block table is looked at although no doorbell rang; 1,000 unless said otherwise. */
  readonly pollMs?: number;
  /** Milliseconds after which a state that nobody asks is let go; 60,000 unless said otherwise. */
  readonly idleMs?: number;
  /** Bytes that the mempool takes, to be told; 4 MB unless said otherwise. */
  readonly mempoolBytes?: number;
}

/** Serves the devnet of this process at a socket, until it is closed. Fails where nobody can listen there. */
export async function serveSocket(settings: SocketSettings): Promise<Result<NodeServer, NodeFailure>> {
  const { path, store, devnet: { genesis }, log, idleMs = 60_000 } = settings;
  const states = new HeldStates({ store, genesis, most: STATES, idleMs });
  const served = await serveNode({ path }, handlersOf(settings, states), {
    onEnd: ({ failure }) =>
      log.debug("a client of the socket has gone", { code: failure.code, reason: failure.message }),
  });
  if (!served.ok) {
    await states.close();
    return served;
  }
  const server = served.value;
  return ok({
    address: server.address,
    get connections() {
      return server.connections;
    },
    close: async () => {
      await server.close();
      await states.close();
    },
  });
}

function handlersOf(settings: SocketSettings, states: HeldStates): NodeHandlers {
  const { devnet, store, bus, log, pollMs = 1_000, mempoolBytes = 4_000_000 } = settings;
  const { network, genesis } = devnet;
  const gone = () => nodeError("closed", "The devnet does not run in this process.");
  /** What throws here ends the client's connection; the log says why. */
  const telling = async <T>(what: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      log.debug(`${what} was not answered`, { reason: reason(error) });
      throw error;
    }
  };
  return {
    magic: network.magic,
    follow: async function* (points, signal) {
      const { wait, stop } = doorbell(bus, pollMs);
      try {
        yield* followBlocks(store, points, network.securityParameter, wait, signal);
      } finally {
        stop();
      }
    },
    submit: async ({ era, bytes }, signal) => {
      if (era !== CONWAY) {
        return encodeRejection([{ name: "EraMismatch", transaction: eraName(era), ledger: eraName(CONWAY) }]);
      }
      while (!signal.aborted) {
        const said = await devnet.submit(bytes);
        if (said.ok) {
          return said.value.outcome === "accepted" ? undefined : await rejection(devnet, said.value.failures, bytes);
        }
        const { code, message } = said.error;
        if (code === "undecodable") return encodeRejection([{ name: "DeserialiseFailure", message }]);
        if (code !== "mempool_full") throw gone();
        // a node's mempool that is full lets a client wait
        await sleep(LOOK_MS * 4, signal);
      }
      throw gone();
    },
    mempool: async (snapshot, signal) => {
      for (;;) {
        if (!devnet.runs() || signal.aborted) throw gone();
        const now = mempoolOf(devnet, mempoolBytes);
        if (!snapshot || !sameTransactions(snapshot, now)) return now;
        await sleep(LOOK_MS, signal);
      }
    },
    acquire: async (target) => {
      const held = await telling("a state", states.acquire(target));
      if (!held.ok) {
        const { code, message } = held.error;
        if (code !== "busy") return fail(code, message);
        log.warn("a client was sent away", { reason: message });
        throw nodeError("closed", message);
      }
      const answers = nodeAnswers(genesis, held.value);
      return ok({
        query: (query, version, signal) => telling("a query", answerQuery(answers, query, version, signal)),
        release: () => held.value.release(),
      });
    },
  };
}

/** The reason of a rejection, with the outputs that the transaction spends as far as the chain has them. */
async function rejection(
  devnet: Devnet,
  failures: readonly LedgerFailure[],
  transaction: Uint8Array,
): Promise<Uint8Array> {
  return await devnet.query(({ utxo }) => encodeRejection(failures, { transaction, spends: (ref) => utxo.get(ref) })) ??
    encodeRejection(failures, { transaction });
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
    a.transactions.every(({ hash }, index) => hash === b.transactions[index]!.hash);
}
