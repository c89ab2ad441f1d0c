/**
 * A library of others against the devnet's Blockfrost API, in a process of its own. It is given nothing but URLs and the
 * words of a wallet; what it did is read from the devnet's blocks, through the port of the services.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import process from "node:process";
import { inject } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { addressText, enterpriseAddress, parseAddress, scriptAddress } from "#src/cardano/address.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { encode } from "#src/cardano/cbor.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../support/service/arbor.ts";
import { endChild } from "../support/base/processes.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { encodeProgram } from "../support/plutus/flatWriter.ts";
import type { LibraryName } from "./libraries.ts";
import { sharedInfra } from "../support/infra/infra.ts";
import { plutusHash } from "../support/plutus/scripts.ts";
import { until } from "../support/base/until.ts";
import { parseProgram } from "../support/plutus/uplcText.ts";
import { http } from "../support/service/user.ts";

/** Example words: never use them with real funds. The devnet's default accounts have others. */
export const WORDS = [...Array<string>(23).fill("abandon"), "art"];

/** The only redeemer that the scripts accept. */
export const REDEEMER = 42;
const ACCEPTS = (redeemer: string) =>
  `(force [[[(force (builtin ifThenElse)) [[(builtin equalsInteger) (con integer ${REDEEMER})] [(builtin unIData) ${redeemer}]]] (delay (con unit ()))] (delay (error))])`;
const FROM_CONTEXT =
  "[(force (builtin headList)) [(force (builtin tailList)) [(force (force (builtin sndPair))) [(builtin unConstrData) c]]]]";

export type Language = 1 | 2 | 3;

/** A script with its bytes as in a witness set. */
export interface Script {
  readonly language: Language;
  readonly script: string;
  readonly hash: string;
  readonly address: string;
}

function scriptOf(language: Language, text: string): Script {
  const bytes = encode(encodeProgram(parseProgram(text)));
  const hash = plutusHash(language, bytes);
  return { language, script: toHex(bytes), hash, address: addressText(scriptAddress(0, hash)) };
}

/** A validator of a language that accepts one redeemer. In Plutus V3 it is also a minting policy. */
export const validator = (language: Language): Script =>
  language === 3
    ? scriptOf(3, `(program 1.1.0 (lam c ${ACCEPTS(FROM_CONTEXT)}))`)
    : scriptOf(language, `(program 1.0.0 (lam d (lam r (lam c ${ACCEPTS("r")}))))`);

/** A minting policy of a language that accepts one redeemer. */
export const policy = (language: Language): Script =>
  language === 3 ? validator(3) : scriptOf(language, `(program 1.0.0 (lam r (lam c ${ACCEPTS("r")})))`);

/** A library's process. */
export interface Peer {
  /** Calls a function of the library's script. Rejects with the library's own message. */
  call<T = unknown>(name: string, args?: unknown): Promise<T>;
  stop(): Promise<void>;
}

/** How a library's process is started. */
export interface PeerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** Starts a library's process with the settings that it is given. */
export function startPeer({ program, args, cwd }: PeerCommand, settings: Record<string, unknown>): Peer {
  const child: ChildProcess = spawn(program, args, {
    cwd,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, PEER: JSON.stringify(settings) },
  });
  let complaints = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-4_000);
    if (process.env.ARBOR_TEST_OUTPUT) process.stderr.write(text);
  });
  const lines: Interface = createInterface({ input: child.stdout! });
  const answers = lines[Symbol.asyncIterator]();
  return {
    call: async <T>(name: string, args: unknown = {}) => {
      child.stdin!.write(`${JSON.stringify({ name, args })}\n`);
      const { value: line, done } = await answers.next();
      if (done) throw new Error(`the library's process ended: ${complaints}`);
      const answer = JSON.parse(line) as { value: T } | { error: string };
      if ("error" in answer) throw new Error(answer.error);
      return answer.value;
    },
    stop: async () => {
      child.stdin!.end();
      await endChild(child, "SIGTERM");
    },
  };
}

/** A devnet whose services a library uses. */
export interface LibraryWorld {
  /** The devnet's HTTP service, and its Blockfrost API without a version. */
  readonly devnet: string;
  readonly api: string;
  /** Ogmios, over HTTP and WebSocket, Kupo, and UTxO RPC of the devnet: URLs with the scheme `http`. */
  readonly ogmios: string;
  readonly kupo: string;
  readonly utxorpc: string;
  readonly rows: RawChainPort;
  /** Pays from the faucet and waits for the block. */
  fund(address: string, ada: number): Promise<void>;
  /** The transaction in its block, which the API has as well. */
  landed(hash: string): Promise<ScannedTransaction>;
  /** Unspent outputs at an address. */
  outputs(address: string): Promise<readonly Utxo[]>;
  /** What the devnet's own service knows about a stake address. */
  account(stake: string): Promise<Record<string, unknown>>;
  /** An address that nobody has used. */
  fresh(): string;
  pool(): Promise<{ id: string; hash: string }>;
  /** Moves to the beginning of a later epoch. */
  enterEpochs(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a devnet with short epochs, as a process of its own. */
export async function startWorld(env: Readonly<Record<string, string>> = {}): Promise<LibraryWorld> {
  const infra = await sharedInfra();
  const arbor = await Arbor.start({
    infra,
    roles: "devnet",
    blockMs: 100,
    // pycardano's transactions may wait for 10,000 slots, and the end of the era history is 3k slots away
    env: {
      ARBOR_EPOCH_SLOTS: "200",
      ARBOR_BUILDERS: "1",
      ARBOR_POOLS: "1",
      ARBOR_SECURITY_PARAMETER: "4000",
      ARBOR_DEVNET_WITHOUT: "",
      ...env,
    },
  });
  const api = [...arbor.places.values()].find((url) => url.endsWith("/api/v1"))!.replace(/\/v1$/, "");
  const store = openStore(infra.databaseUrl, { max: 2 });
  const { natsUrl, natsToken: token } = infra;
  const bus = await connectBus({ url: natsUrl, ...(token ? { token } : {}) });
  const rows = devnetPort({ store, bus, log: silentLog, pollMs: 50 });
  const transactions = new Map<string, ScannedTransaction>();
  const following = new AbortController();
  const followed = (async () => {
    for await (const step of rows.follow([], following.signal)) {
      if (step.type === "forward") {
        for (const one of scanBlock(step.block).transactions) transactions.set(one.hash, one);
      }
    }
  })();
  const landed = async (hash: string) => {
    const found = await until(`transaction ${hash}`, async () => transactions.get(hash), 20_000);
    await until("the index", async () => (await fetch(`${api}/v0/txs/${hash}`)).status === 200, 20_000);
    return found;
  };
  let used = 0;
  const account = async (stake: string) => (await http(arbor.devnet, "GET", `/accounts/${stake}`)).body;
  const place = (name: string) => arbor.places.get(`${name} of the devnet`)!.replace(/^ws/, "http");
  return {
    devnet: arbor.devnet,
    api,
    ogmios: place("Ogmios API"),
    kupo: place("Kupo API"),
    utxorpc: place("UTxO RPC"),
    rows,
    landed,
    account,
    fund: async (address, ada) => {
      const paid = await http(arbor.devnet, "POST", "/faucet", { address, lovelace: ada * 1_000_000 });
      if (paid.status !== 200) throw new Error(`faucet: ${paid.status} ${JSON.stringify(paid.body)}`);
      await landed(paid.body.txHash);
    },
    outputs: async (address) => valueOf(await rows.utxosByAddress([valueOf(parseAddress(address)).hex])).value,
    fresh: () => {
      const hash = toHex(utf8(`address ${++used} of nobody`.padEnd(28)));
      return addressText(enterpriseAddress(0, { kind: "key", hash }));
    },
    enterEpochs: async (count) => {
      const entered = await http(arbor.devnet, "POST", "/epochs", { count });
      if (entered.status !== 200) throw new Error(`epochs: ${entered.status} ${JSON.stringify(entered.body)}`);
    },
    pool: async () => (await http(arbor.devnet, "GET", "/pools")).body.pools[0],
    stop: async () => {
      following.abort();
      await followed;
      await bus.close();
      await store.close();
      await arbor.end();
      await infra.stop();
    },
  };
}

/** CBOR of a transaction's metadata under a label, in hexadecimal. */
export function metadataOf({ auxiliaryData }: ScannedTransaction, label: number): string {
  return toHex(readAuxiliaryData(auxiliaryData!).metadata.get(BigInt(label))!);
}

/** A library of npm whose packages were installed into a folder; undefined without it. */
export function javascriptPeer(name: LibraryName): PeerCommand | undefined {
  const cwd = inject("libraries")[name];
  return cwd === "" ? undefined : { program: "node", args: ["peer.mjs"], cwd };
}
