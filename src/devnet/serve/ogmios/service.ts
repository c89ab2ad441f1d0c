/**
 * The devnet as an Ogmios server: WebSocket connections and single requests over HTTP at one port.
 *
 * Assumptions: everything that is answered is public, and what changes the chain needs signatures; so pages of every
 * origin may call it. Blocks and the ledger's state are read from rows: a client sees only what is committed.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocketServer } from "ws";
import { sleep } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import { toJson } from "#src/base/json.ts";
import { samePoint } from "#src/cardano/block.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { readNewest } from "#src/devnet/blocks/rows.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { AcquiredStates } from "#src/devnet/serve/acquiredStates.ts";
import { followBlocks } from "#src/devnet/serve/follow.ts";
import { MAX_REQUEST, ogmiosApp } from "#src/devnet/serve/ogmios/app.ts";
import { chainSync, type SyncedChain } from "#src/devnet/serve/ogmios/chainSync.ts";
import { Connection } from "#src/devnet/serve/ogmios/connection.ts";
import { evaluation } from "#src/devnet/serve/ogmios/evaluate.ts";
import { ServerCounts, ServerHealth } from "#src/devnet/serve/ogmios/health.ts";
import { ledgerStateQueries } from "#src/devnet/serve/ogmios/ledgerState.ts";
import { mempoolMonitor, type MonitoredMempool } from "#src/devnet/serve/ogmios/mempool.ts";
import { type OpenProtocols, Session, type Transport } from "#src/devnet/serve/ogmios/session.ts";
import { submission } from "#src/devnet/serve/ogmios/submission.ts";
import { BLOCK_SUBJECT } from "#src/devnet/serve/subjects.ts";
import { type Listener, serve } from "#src/http/serve.ts";
import { hostCheck } from "#src/http/sites.ts";
import { blockJson } from "#src/ogmios/block.ts";
import type { OgmiosVersion } from "#src/ogmios/form.ts";
import { type TransactionForm, transactionJson } from "#src/ogmios/transaction.ts";
import type { MeasureRedeemers } from "#src/plutus/types.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

/** Database connections for acquired states: at most this many blocks at once. */
const MAX_STATES = 6;
/** Connections at most; further ones are refused. */
const MAX_CONNECTIONS = 256;
/** Milliseconds that clients have for their half of a close. */
const CLOSE_MS = 500;

export interface OgmiosServiceSettings {
  readonly devnet: Devnet;
  readonly store: Store;
  readonly bus: Bus;
  /** Measures the redeemers of a transaction, in a thread. */
  readonly measure: MeasureRedeemers;
  readonly log: Log;
  /** The version whose forms messages have; 6 (of 6.14) by default. */
  readonly version?: OgmiosVersion;
  /** Whether transactions have their CBOR. */
  readonly includeCbor?: boolean;
  /** Further names under which the server is called. */
  readonly hosts?: readonly string[];
  /** The folder with a folder for each page; without it there is no page. */
  readonly pages?: URL;
  /** Milliseconds after which the block table is polled without a notification; 1,000 by default. */
  readonly pollMs?: number;
  /** Milliseconds without a query after which an acquired state is released; 60,000 by default. */
  readonly idleMs?: number;
  /** Size limit of the mempool in bytes, for clients; 4 MB by default. */
  readonly mempoolBytes?: number;
}

/** A devnet as an Ogmios server. */
export interface OgmiosService {
  /** Serves clients until the service is closed. Rejects with code `EADDRINUSE` when the port is taken. */
  listen(at: { readonly host: string; readonly port: number }): Promise<Listener>;
  /** Closes all connections, with the reason that the devnet stops. */
  close(): Promise<void>;
}

/** The devnet of this process as an Ogmios server. */
export function ogmiosService(settings: OgmiosServiceSettings): OgmiosService {
  const { devnet, store, bus, log, pages, version = 6, hosts = [], idleMs = 60_000 } = settings;
  const states = new AcquiredStates({ store, genesis: devnet.genesis, maxOpen: MAX_STATES, idleMs });
  const counts = new ServerCounts();
  const health = new ServerHealth({ devnet, version, counts });
  const protocols = protocolsOf(settings, states);
  const open = (transport: Transport) => new Session(protocols, transport, counts, log);
  const app = ogmiosApp({ health, open, pages, hosts, log, counts });
  const accepts = hostCheck(hosts);
  const connections = new Set<Connection>();
  const listeners: Listener[] = [];
  const unsubscribe = bus.subscribe(BLOCK_SUBJECT, () => health.update());

  const upgrade = (server: WebSocketServer) => (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!accepts(request.headers.host ?? "")) return refuse(socket, "403 Forbidden");
    if (connections.size >= MAX_CONNECTIONS) return refuse(socket, "503 Service Unavailable");
    tune(request);
    server.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = new Connection(webSocket, open);
      const ended = counts.begin();
      connections.add(connection);
      webSocket.on("close", () => {
        connections.delete(connection);
        ended();
      });
    });
  };

  /** Ends all connections, each with the reason. */
  const endAll = async () => {
    for (const connection of connections) connection.lose();
    for (let waited = 0; connections.size > 0 && waited < CLOSE_MS; waited += 10) await sleep(10);
    for (const connection of connections) connection.drop();
  };

  return {
    listen: async ({ host, port }) => {
      const { WebSocketServer } = await import("ws");
      const server = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        maxPayload: MAX_REQUEST,
        perMessageDeflate: false,
      });
      const listener = await serve(app, { host, port, upgrade: upgrade(server) });
      listeners.push(listener);
      return { ...listener, stop: () => Promise.all([endAll(), listener.stop()]).then(() => {}) };
    },
    close: async () => {
      unsubscribe();
      await Promise.all([endAll(), ...listeners.splice(0).map((listener) => listener.stop())]);
      await states.close();
    },
  };
}

/** The protocols of a client. */
function protocolsOf(settings: OgmiosServiceSettings, states: AcquiredStates): OpenProtocols {
  const { devnet, store, bus, version = 6, includeCbor = false, pollMs = 1_000, mempoolBytes = 4_000_000 } = settings;
  const { network, genesis } = devnet;
  const form: TransactionForm = { version, cbor: includeCbor };
  const chain: SyncedChain = {
    follow: (points, signal) => followBlocks({ store, bus, pollMs, k: network.securityParameter }, points, signal),
    firstOf: async (points) => {
      const { found, older, tip } = await readNewest(store.sql, points.map(({ hash }) => hash));
      const known = new Map((found ? [found, ...older] : []).map((one) => [one.hash, one]));
      const isOnChain = (point: typeof points[number]) => {
        const one = known.get(point.hash);
        return point.hash === "" || (one !== undefined && samePoint(one, point));
      };
      return { found: points.find(isOnChain), tip };
    },
    blockText: (bytes) => toJson(blockJson(bytes, form)),
  };
  const mempool: MonitoredMempool = {
    devnet,
    capacity: mempoolBytes,
    transactionJson: (cbor) => transactionJson(scanTransaction(cbor), form),
  };
  const evaluate = evaluation(settings, version);
  return (signal) => [
    chainSync(chain, signal),
    ledgerStateQueries({ genesis, version }, states),
    submission({ devnet, version, evaluate }, signal),
    mempoolMonitor(mempool, signal),
  ];
}

/** Sends small frames at once, and notices peers that are gone. */
function tune({ socket }: IncomingMessage): void {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
}

function refuse(socket: Duplex, status: string): void {
  socket.on("error", () => {});
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
