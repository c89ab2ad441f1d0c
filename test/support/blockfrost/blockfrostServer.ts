/**
 * A Blockfrost service over any chain port: real HTTP on loopback, in front of the port.
 *
 * It follows the port into memory and answers from there; submissions, the mempool and parameters come from the port.
 * Each request and each response is validated against Blockfrost's description of its API.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { created, type ScannedBlock, type ScannedTransaction, spent } from "#src/cardano/block.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import { scanBlock, scanTransaction } from "#src/cardano/scan.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { toJson } from "#src/base/json.ts";
import { answerProblem, type Matched, matchRequest } from "./blockfrostDescription.ts";
import {
  accountDocument,
  blockDocument,
  decimal,
  epochDocument,
  eras,
  erasDocument,
  mempoolDocument,
  networkDocument,
  outputDocument,
  parametersDocument,
  poolDocument,
  transactionDocument,
  whole,
} from "./blockfrostDocuments.ts";

/** A response that replaces the true one. */
export interface Fault {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of bytes after which the connection is cut. */
  readonly cutAfter?: number;
  /** Never answers. */
  readonly silent?: boolean;
}

export interface Served {
  readonly url: string;
  /** Paths with their queries, in the order of arrival. */
  readonly requests: string[];
  /** Violations of the description in requests and responses. */
  readonly problems: string[];
  /** Called before each response with the request's path and how often that path was requested. */
  fault: (path: string, times: number) => Fault | undefined;
  /** Endpoints that it does not serve, by the beginning of their path in the description. */
  lacks: readonly string[];
  /** Whether this block is the tip of the chain that is served. */
  reached(hash: string): boolean;
  close(): Promise<void>;
}

export interface ServedSettings {
  readonly projectId?: string;
  /** Unspent outputs that no transaction created. */
  readonly genesis?: readonly Utxo[];
  /** The body of a refusal. */
  readonly refusal?: (sentences: readonly string[]) => string;
}

const NOT_FOUND = { status_code: 404, error: "Not Found", message: "The requested component has not been found." };

export async function serveBlockfrost(port: RawChainPort, settings: ServedSettings = {}): Promise<Served> {
  const stop = new AbortController();
  const chain = new Followed(port, settings.genesis ?? []);
  const following = chain.follow(stop.signal);
  const network = await port.network(stop.signal);
  const begun = await port.genesis();
  const counts = new Map<string, number>();
  const served = {
    requests: [] as string[],
    problems: [] as string[],
    fault: (_path: string, _times: number): Fault | undefined => undefined,
    lacks: [] as readonly string[],
  };

  const refused = (message: string) => ({ status: 400, body: { status_code: 400, error: "Bad Request", message } });
  const answer = async (matched: Matched, body: Uint8Array): Promise<{ status: number; body: unknown }> => {
    const found = (value: unknown) =>
      value === undefined ? { status: 404, body: NOT_FOUND } : { status: 200, body: value };
    const page = <T>(all: readonly T[]): T[] => {
      const count = Number(matched.query.count ?? 100);
      const start = (Number(matched.query.page ?? 1) - 1) * count;
      return (matched.query.order === "desc" ? [...all].reverse() : all).slice(start, start + count);
    };
    const pools = async () => {
      const answered = await port.pools();
      return answered.ok ? answered.value.value : [];
    };
    const block = matched.path.hash_or_number === undefined ? undefined : chain.find(matched.path.hash_or_number);
    const described = (one: ScannedBlock | undefined) =>
      one && blockDocument(chain.blocks, one, slotTime(network.slots, one.slot));
    switch (matched.template) {
      case "/genesis":
        return found({
          active_slots_coefficient: begun.ok ? decimal(begun.value.activeSlots) : 0.05,
          update_quorum: 5,
          max_lovelace_supply: begun.ok ? String(begun.value.maxSupply) : "45000000000000000",
          network_magic: network.magic,
          epoch_length: begun.ok ? begun.value.epochLength : 432000,
          system_start: Math.floor(slotTime(network.slots, 0) / 1000),
          slots_per_kes_period: 129600,
          slot_length: Math.max(1, Math.floor(network.slots.slotLength / 1000)),
          max_kes_evolutions: 62,
          security_param: network.securityParameter,
        });
      case "/network/eras": {
        const answered = await port.eras();
        return found(answered.ok ? erasDocument(answered.value.value) : eras(network.slots.slotLength));
      }
      case "/epochs/latest": {
        const epoch = await port.epoch();
        return found(epoch.ok ? epochDocument(epoch.value.value) : undefined);
      }
      case "/network":
        return found(networkDocument(await pools()));
      case "/pools/extended":
        return found(page(await pools()).map(poolDocument));
      case "/pools/retiring":
        return found(
          page((await pools()).filter(({ retiring }) => retiring !== undefined)).map((one) => ({
            pool_id: toBech32("pool", fromHex(one.pool)),
            epoch: one.retiring,
          })),
        );
      case "/accounts/{stake_address}": {
        const parsed = parseAddress(matched.path.stake_address!);
        if (!parsed.ok || parsed.value.kind !== "reward") return refused("Invalid or malformed stake address format.");
        const accounts = await port.accounts([parsed.value.stake]);
        return found(accounts.ok ? accountDocument(matched.path.stake_address!, accounts.value.value[0]!) : undefined);
      }
      case "/blocks/latest":
        return found(described(chain.blocks.at(-1)));
      case "/blocks/{hash_or_number}":
        return found(described(block));
      case "/blocks/{hash_or_number}/next":
        return found(block && page(chain.blocks.filter(({ height }) => height > block.height)).map(described));
      case "/blocks/{hash_or_number}/txs":
        return found(block && page(block.transactions).map(({ hash }) => hash));
      case "/blocks/{hash_or_number}/txs/cbor":
        return found(block && page(block.transactions).map((one) => ({ tx_hash: one.hash, cbor: toHex(whole(one)) })));
      case "/txs/{hash}/cbor": {
        const one = chain.transaction(matched.path.hash!);
        return found(one && { cbor: toHex(whole(one)) });
      }
      case "/txs/{hash}": {
        const one = chain.transaction(matched.path.hash!);
        return found(one && transactionDocument(one));
      }
      case "/txs/{hash}/utxos":
        return found(chain.outputsOf(matched.path.hash!));
      case "/addresses/{address}/utxos": {
        const parsed = parseAddress(matched.path.address!);
        if (!parsed.ok) {
          return {
            status: 400,
            body: {
              status_code: 400,
              error: "Bad Request",
              message: "Invalid address for this network or malformed address format.",
            },
          };
        }
        const utxos = chain.at(parsed.value.hex);
        return found(utxos && page(utxos));
      }
      case "/mempool/{hash}": {
        const held = await port.inMempool(matched.path.hash!);
        return found(held.ok && held.value ? mempoolDocument(matched.path.hash!) : undefined);
      }
      case "/tx/submit": {
        const said = await port.submit(body);
        if (!said.ok) {
          return {
            status: 500,
            body: { status_code: 500, error: "Internal Server Error", message: said.error.message },
          };
        }
        if (said.value.outcome === "accepted") return { status: 200, body: scanTransaction(body).hash };
        const sentences = said.value.failures.map(describeFailure);
        const message = settings.refusal?.(sentences) ?? `transaction submit error ${sentences.join(" ")}`;
        return { status: 400, body: { status_code: 400, error: "Bad Request", message } };
      }
      case "/epochs/latest/parameters": {
        const parameters = await port.parameters();
        return found(parameters.ok ? parametersDocument(parameters.value.value) : undefined);
      }
      default:
        throw new Error(`the test's service does not have ${matched.template}`);
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url!, "http://service");
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const headers = new Headers(request.headers as Record<string, string>);
    const target = url.pathname + url.search;
    served.requests.push(target);
    const times = (counts.get(target) ?? 0) + 1;
    counts.set(target, times);
    const fault = served.fault(target, times);
    if (fault?.silent) return;
    if (fault && fault.cutAfter === undefined) {
      response.writeHead(fault.status ?? 200, { "content-type": "application/json", ...fault.headers });
      return void response.end(fault.body ?? "{}");
    }
    let status: number;
    let body: unknown;
    if (!url.pathname.startsWith("/api/v0/")) {
      [status, body] = [400, { status_code: 400, error: "Bad Request", message: "Invalid path." }];
      served.problems.push(`a request to ${target}`);
    } else if (settings.projectId !== undefined && headers.get("project_id") !== settings.projectId) {
      [status, body] = [403, { status_code: 403, error: "Forbidden", message: "Invalid project token." }];
    } else {
      url.pathname = url.pathname.slice("/api/v0".length);
      const matched = matchRequest(request.method!, url, headers);
      if (typeof matched === "string") {
        served.problems.push(matched);
        [status, body] = [400, { status_code: 400, error: "Bad Request", message: matched }];
      } else if (served.lacks.includes(matched.template)) {
        [status, body] = [501, {
          status_code: 501,
          error: "Not Implemented",
          message: "The requested endpoint is not implemented.",
        }];
      } else {
        ({ status, body } = await answer(matched, new Uint8Array(Buffer.concat(parts))));
        const problem = answerProblem(matched, status, body);
        if (problem) served.problems.push(problem);
      }
    }
    const text = toJson(body);
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    if (fault?.cutAfter === undefined) return void response.end(text);
    response.write(text.slice(0, fault.cutAfter), () => response.destroy());
  };

  const server: Server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      served.problems.push(String(error));
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: at } = server.address() as AddressInfo;
  return Object.assign(served, {
    url: `http://127.0.0.1:${at}/api/v0`,
    reached: (hash: string) => (chain.blocks.at(-1)?.hash ?? "") === hash,
    close: async () => {
      stop.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await following;
    },
  });
}

/** A chain in memory, read from a port. */
class Followed {
  readonly blocks: ScannedBlock[] = [];

  constructor(private readonly port: RawChainPort, private readonly genesis: readonly Utxo[]) {}

  async follow(signal: AbortSignal): Promise<void> {
    for await (const step of this.port.follow([], signal)) {
      if (step.type === "forward") this.blocks.push(scanBlock(step.block));
      else while (this.blocks.length > 0 && this.blocks.at(-1)!.slot > step.point.slot) this.blocks.pop();
    }
  }

  find(name: string): ScannedBlock | undefined {
    return this.blocks.find(({ hash, height }) => hash === name || String(height) === name);
  }

  transaction(hash: string): ScannedTransaction | undefined {
    return this.blocks.flatMap(({ transactions }) => transactions).find((one) => one.hash === hash);
  }

  /** Every output ever created, with the transaction that spent it. */
  private history(): { utxo: Utxo; by: string | null; block: string; place: number }[] {
    const all = new Map(
      this.genesis.map((
        utxo,
      ) => [refKey(utxo.ref), { utxo, by: null as string | null, block: "0".repeat(64), place: 0 }]),
    );
    for (const { hash, transactions } of this.blocks) {
      for (const transaction of transactions) {
        for (const ref of spent(transaction)) {
          const one = all.get(refKey(ref));
          if (one) one.by = transaction.hash;
        }
        for (const utxo of created(transaction)) {
          all.set(refKey(utxo.ref), { utxo, by: null, block: hash, place: transaction.index });
        }
      }
    }
    return [...all.values()];
  }

  /** Unspent outputs at an address; undefined if the address was never used. */
  at(address: string): object[] | undefined {
    const here = this.history().filter(({ utxo }) => utxo.output.address === address);
    if (here.length === 0) return undefined;
    return here.filter(({ by }) => by === null).map(({ utxo, block, place }) => ({
      ...outputDocument(utxo.output),
      tx_hash: utxo.ref.txHash,
      tx_index: place,
      output_index: utxo.ref.index,
      block,
    }));
  }

  outputsOf(hash: string): object | undefined {
    const made = this.history().filter(({ utxo }) => utxo.ref.txHash === hash);
    const transaction = this.transaction(hash);
    if (made.length === 0 && !transaction) return undefined;
    const outputs: object[] = made.map(({ utxo, by }) => ({
      ...outputDocument(utxo.output),
      output_index: utxo.ref.index,
      collateral: transaction?.valid === false,
      consumed_by_tx: by,
    }));
    if (transaction?.valid && transaction.collateralReturn) {
      outputs.push({
        ...outputDocument(transaction.collateralReturn),
        output_index: transaction.outputs.length,
        collateral: true,
        consumed_by_tx: null,
      });
    }
    return { hash, inputs: [], outputs };
  }
}
