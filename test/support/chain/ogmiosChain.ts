/**
 * A chain in memory behind Ogmios' WebSocket: what the port asks for, and a hook by which a test delays, changes or
 * withholds an answer. The devnet's own server is another program; this one can lie.
 */
import { setTimeout as wait } from "node:timers/promises";
import { fromHex } from "#src/base/bytes.ts";
import { type Json, parseJson, toJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { origin, type Point } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { type OgmiosPort, ogmiosPort } from "#src/chain/provider/ogmios/port.ts";
import { blockJson } from "#src/ogmios/block.ts";
import { type TransactionForm, transactionJson } from "#src/ogmios/transaction.ts";
import { utxoJson } from "#src/ogmios/outputs.ts";
import { pointJson, readPoint, readRef, tipJson } from "#src/ogmios/values.ts";
import type { ChainFaults, MemoryChain } from "./memoryChain.ts";

type Message = { [name: string]: Json };

/** A request, with the number of its connection and of its kind there, both from 1. */
export interface OgmiosRequest {
  readonly method: string;
  readonly params: Message;
  readonly connection: number;
  readonly times: number;
}

/** What the server does instead of answering. */
type Misdeed = { readonly text: string } | "nothing" | "close" | "close in the middle";

/** Changes an answer; its `id`, `method`, `result` and `error` are its members. */
export type Alter = (request: OgmiosRequest, answer: Message) => Message | Misdeed | undefined;

export interface OgmiosChain {
  readonly url: string;
  readonly requests: OgmiosRequest[];
  readonly connections: () => number;
  /** Requests without an answer, at most so far. */
  readonly inFlight: () => number;
  alter: Alter | undefined;
  /** Closes every connection. */
  drop(): void;
  stop(): Promise<void>;
}

/** A block's JSON. */
type BlockJson = (block: MemoryChain["blocks"][number]) => Message;

/** Messages of version 6 of a server with `--include-cbor`. */
const WITH_CBOR: TransactionForm = { version: 6, cbor: true };

const MAGIC = 42;
const SHELLEY = {
  era: "shelley",
  startTime: "1970-01-01T00:00:00Z",
  networkMagic: MAGIC,
  network: "testnet",
  activeSlotsCoefficient: "1/20",
  securityParameter: 2160,
  epochLength: 432_000,
  slotLength: { milliseconds: 1_000 },
  maxLovelaceSupply: 45_000_000_000_000_000n,
};
const ERA = {
  start: { time: { seconds: 0 }, slot: 0, epoch: 0 },
  end: { time: { seconds: 0 }, slot: 0, epoch: 0 },
  parameters: { epochLength: 432_000, slotLength: { milliseconds: 1_000 }, safeZone: 129_600 },
};
const SUMMARIES = [...Array(6).fill(ERA), { ...ERA, end: { time: { seconds: 864_000 }, slot: 864_000, epoch: 2 } }];

const pointOf = ({ slot, hash }: Point): Point => ({ slot, hash });
const tipOf = ({ tip }: MemoryChain): Json => tipJson(tip.slot < 0 ? { ...origin, height: -1 } : tip);
const failed = (code: number, message: string) => ({ error: { code, message } });

/** One connection's protocols. */
class Session {
  readonly #way: Point[] = [];
  #cursor: Point = origin;
  #moved = true;
  #acquired: ReturnType<MemoryChain["utxos"]> | undefined;
  #mempool: { readonly held: Map<string, Uint8Array>; readonly left: [string, Uint8Array][] } | undefined;

  constructor(
    private readonly chain: MemoryChain,
    private readonly ended: () => boolean,
    private readonly form: TransactionForm,
    private readonly block: BlockJson,
  ) {}

  #has({ slot, hash }: Point): boolean {
    return slot < 0 || this.chain.blocks.some(({ scanned }) => scanned.slot === slot && scanned.hash === hash);
  }

  async answer(method: string, params: Message): Promise<Message> {
    const { chain } = this;
    switch (method) {
      case "findIntersection": {
        const found = (params.points as Json[]).map(readPoint).find((point) => this.#has(point));
        if (!found) return failed(1000, "No intersection found.");
        this.#cursor = found;
        this.#moved = true;
        const blocks = chain.blocks.map(({ scanned }) => pointOf(scanned)).filter(({ slot }) => slot <= found.slot);
        this.#way.splice(0, this.#way.length, ...blocks);
        return { result: { intersection: pointJson(found), tip: tipOf(chain) } };
      }
      case "nextBlock":
        return { result: await this.#next() };
      case "queryNetwork/tip":
        return { result: pointJson(pointOf(chain.tip)) };
      case "queryNetwork/genesisConfiguration":
        return { result: SHELLEY };
      case "queryLedgerState/eraSummaries":
        return { result: SUMMARIES };
      case "queryLedgerState/epoch":
        return { result: 0 };
      case "acquireLedgerState": {
        const point = readPoint(params.point);
        if (!this.#has(point)) return failed(2000, "Failed to acquire requested point.");
        const height = chain.blocks.find(({ scanned }) => scanned.hash === point.hash)?.scanned.height ?? 0;
        this.#acquired = chain.utxos(height);
        return { result: { acquired: "ledgerState", point: pointJson(point) } };
      }
      case "releaseLedgerState":
        this.#acquired = undefined;
        return { result: { released: "ledgerState" } };
      case "queryLedgerState/utxo": {
        const utxos = [...(this.#acquired ?? chain.utxos()).values()];
        const refs = (params.outputReferences as Json[] | undefined)?.map((ref) => refKey(readRef(ref)));
        const addresses = params.addresses as string[] | undefined;
        return {
          result: utxos.map((utxo) => [utxo, utxoJson(utxo)] as const)
            .filter(([{ ref }, { address }]) =>
              refs?.includes(refKey(ref)) ?? addresses?.includes(String(address)) ?? true
            )
            .map(([, json]) => json),
        };
      }
      case "acquireMempool":
        this.#mempool = { held: new Map(chain.mempool), left: [...chain.mempool] };
        return { result: { acquired: "mempool", slot: 1 } };
      case "releaseMempool":
        this.#mempool = undefined;
        return { result: { released: "mempool" } };
      case "hasTransaction":
        return this.#mempool ? { result: this.#mempool.held.has(String(params.id)) } : failed(4000, "no snapshot");
      case "nextTransaction": {
        if (!this.#mempool) return failed(4000, "no snapshot");
        const next = this.#mempool.left.shift();
        return { result: { transaction: next ? transactionJson(scanTransaction(next[1]), this.form) : null } };
      }
      case "submitTransaction": {
        const cbor = fromHex(String((params.transaction as Message).cbor));
        const { hash } = scanTransaction(cbor);
        if (chain.mempool.has(hash)) {
          return { error: { code: 3997, message: "The mempool rejected the transaction.", data: { error: "known" } } };
        }
        chain.mempool.set(hash, cbor);
        return { result: { transaction: { id: hash } } };
      }
      default:
        return failed(-32_600, `Invalid request: unknown method in ${method}.`);
    }
  }

  async #next(): Promise<Message> {
    for (; !this.ended(); await wait(1)) {
      const tip = tipOf(this.chain);
      if (!this.#has(this.#cursor)) {
        while (this.#way.length > 0 && !this.#has(this.#way.at(-1)!)) this.#way.pop();
        this.#cursor = this.#way.at(-1) ?? origin;
        this.#moved = true;
      }
      if (this.#moved) {
        this.#moved = false;
        return { direction: "backward", point: pointJson(this.#cursor), tip };
      }
      const { blocks } = this.chain;
      const next = blocks[blocks.findIndex(({ scanned }) => scanned.hash === this.#cursor.hash) + 1];
      if (!next) continue;
      this.#cursor = pointOf(next.scanned);
      this.#way.push(this.#cursor);
      return { direction: "forward", block: this.block(next), tip };
    }
    return {};
  }
}

/** Serves a chain. */
export function serveOgmiosChain(
  chain: MemoryChain,
  form: TransactionForm = WITH_CBOR,
  block: BlockJson = ({ bytes }) => blockJson(bytes, form),
): OgmiosChain {
  const sockets = new Set<WebSocket>();
  const requests: OgmiosRequest[] = [];
  let connections = 0;
  let most = 0;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    const connection = ++connections;
    const session = new Session(chain, () => socket.readyState !== WebSocket.OPEN, form, block);
    const lanes = new Map<string, Promise<void>>();
    const counts = new Map<string, number>();
    let open = 0;
    sockets.add(socket);
    socket.onclose = () => sockets.delete(socket);
    socket.onerror = () => {};
    const serve = async ({ id, method, params = {} }: Message) => {
      const name = String(method);
      const times = (counts.get(name) ?? 0) + 1;
      counts.set(name, times);
      const made: OgmiosRequest = { method: name, params: params as Message, connection, times };
      requests.push(made);
      const answer: Message = { jsonrpc: "2.0", method: name, ...await session.answer(name, made.params), id: id! };
      const altered = served.alter?.(made, answer) ?? answer;
      if (socket.readyState !== WebSocket.OPEN || altered === "nothing") return;
      open--;
      if (altered === "close") return socket.close(1011, `{"id":null,"code":-32000,"message":"The node was lost."}`);
      if (altered === "close in the middle") {
        socket.send(toJson(answer).slice(0, 20));
        return socket.close();
      }
      socket.send("text" in altered ? String(altered.text) : toJson(altered));
    };
    socket.onmessage = ({ data }) => {
      const message = parseJson(String(data)) as Message;
      most = Math.max(most, ++open);
      const lane = /Block|Intersection/.test(String(message.method))
        ? "chain"
        : /empool|Transaction/.test(String(message.method))
        ? "mempool"
        : "ledger";
      lanes.set(lane, (lanes.get(lane) ?? Promise.resolve()).then(() => serve(message)));
    };
    return response;
  });
  const served: OgmiosChain = {
    url: `ws://127.0.0.1:${server.addr.port}`,
    requests,
    connections: () => connections,
    inFlight: () => most,
    alter: undefined,
    drop: () => {
      for (const socket of sockets) socket.close();
    },
    stop: async () => {
      served.drop();
      await server.shutdown();
    },
  };
  return served;
}

/**
 * The port to such a server, which closes connections in the middle of messages and sends nonsense at random until
 * `calm`, and its end.
 */
export function ogmiosOf(
  chain: MemoryChain,
  { random, drop = 0 }: ChainFaults,
  calm: () => boolean = () => true,
): { readonly port: OgmiosPort; readonly connections: () => number; readonly stop: () => Promise<void> } {
  const served = serveOgmiosChain(chain, { version: 6, cbor: random() < 0.5 });
  served.alter = () => {
    if (calm() || random() >= drop) return undefined;
    return random() < 0.7 ? "close in the middle" : { text: "null" };
  };
  const port = ogmiosPort({ url: served.url, magic: MAGIC, log: silentLog, firstWaitMs: 5 });
  return {
    port,
    connections: served.connections,
    stop: async () => {
      port.close();
      await served.stop();
    },
  };
}
