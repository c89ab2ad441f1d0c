/**
 * A devnet for the tests of a dApp: a Cardano network in a process of its own, with its database, on Node and on Deno.
 *
 * Assumptions: a process of its own leaves the event loop and the memory of a test runner alone. It ends when its
 * standard input does, so nothing remains of a runner that was killed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { toHex } from "#src/base/bytes.ts";
import { addressText, baseAddress, rewardAddress } from "#src/cardano/address.ts";
import {
  DevnetClient,
  type DevnetSnapshot,
  type DevnetTime,
  type DevnetTip,
  type JumpBlocks,
  type MadeBlocks,
  type MiningMode,
  type TimeTarget,
} from "#src/client/devnet.ts";
import { call } from "#src/client/http.ts";
import { ACCOUNTS_MNEMONIC, devnetAccounts } from "#src/devnet/genesis/accounts.ts";
import { SERVER } from "#src/packages/devnetServer.ts";

export { ApiError } from "#src/client/http.ts";
export {
  DevnetClient,
  type DevnetNetwork,
  type DevnetSnapshot,
  type DevnetTime,
  type DevnetTip,
  type JumpBlocks,
  type MadeBlocks,
  type MiningMode,
  type TimeTarget,
} from "#src/client/devnet.ts";

/** Options of `startDevnet`. */
export interface DevnetOptions {
  /** Milliseconds between blocks, 100 by default; 0: blocks only by `block` and `fund`. */
  readonly blockMs?: number;
  /** Milliseconds of a slot, 100 by default. A slot has at most one block. */
  readonly slotMs?: number;
  /**
   * When blocks are made: `interval` every `blockMs` (the default), `submit` with each accepted transaction before the
   * submission is answered, `manual` by `block`, `fund` and jumps in time only.
   */
  readonly mining?: MiningMode;
  /** Slots of an epoch, 600 by default. A jump in time makes a block in each epoch: tests over weeks take long epochs. */
  readonly epochSlots?: number;
  /** Number of funded accounts, 20 by default, and their ada, 10,000 by default. */
  readonly accounts?: number;
  readonly accountsAda?: number;
  /** URL of a PostgreSQL database to use, whose devnet is continued. By default the devnet has its own database, which is removed at the end. */
  readonly databaseUrl?: string;
  /** Whether the token service, the wallet service and the operator service run too. False by default. */
  readonly services?: boolean;
  /** Ports; free ones by default. */
  readonly ports?: {
    readonly admin?: number;
    readonly blockfrost?: number;
    readonly nodeTcp?: number;
    readonly ogmios?: number;
    readonly kupo?: number;
    readonly utxorpc?: number;
  };
  /** Further options of the program, such as `["--protocol-version", "10"]`. */
  readonly options?: readonly string[];
  /** Called with each line that the devnet prints. */
  readonly onLine?: (line: string) => void;
  /** Milliseconds that a start may take, 60,000 by default: a busy machine is slow. */
  readonly startMs?: number;
}

/** Where a devnet listens. */
export interface DevnetUrls {
  /** The devnet's own API, and that of Yaci DevKit's admin host: `http://127.0.0.1:40001`. */
  readonly admin: string;
  /** The Blockfrost API, with its version: `http://127.0.0.1:40002/api/v1`. */
  readonly blockfrost: string;
  /** Path of the node socket. */
  readonly nodeSocket: string;
  /** Host and port of the node socket over TCP. */
  readonly nodeTcp: string;
  /** The Ogmios API, over WebSocket: `ws://127.0.0.1:40004`. Over HTTP it has the same host and port. */
  readonly ogmios: string;
  /** The Kupo API. */
  readonly kupo: string;
  /** UTxO RPC: gRPC, gRPC-Web and Connect. */
  readonly utxorpc: string;
  /** The token service, with `services`. */
  readonly tokens?: string;
  /** The wallet service with its prefix, with `services`. */
  readonly wallets?: string;
  /** The operator service, with `services`. */
  readonly operator?: string;
}

/** An account that a devnet funds at its genesis. Its keys are public. */
export interface DevnetAccount {
  /** Bech32, with a payment and a stake key. */
  readonly address: string;
  /** Bech32; not registered. */
  readonly stakeAddress: string;
  /** The recovery phrase, the same for all accounts. */
  readonly words: string;
  /** Index of the account in the paths of its keys: `m/1852'/1815'/index'/0/0` and `m/1852'/1815'/index'/2/0`. */
  readonly index: number;
  /** Extended keys of 64 bytes, in hexadecimal. */
  readonly paymentKey: string;
  readonly stakeKey: string;
}

/** A saved state of a devnet. */
export interface SnapshotHandle extends DevnetSnapshot {
  /** Goes back to this state, or forward to it. Services and clients that follow see a rollback. */
  restore(): Promise<DevnetTip>;
  delete(): Promise<void>;
}

/** A time ahead. The members are added up. */
export interface Duration {
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
}

/** How slots and times go together, in the form of `SLOT_CONFIG_NETWORK` of Lucid, Mesh and Blaze: milliseconds. */
export interface DevnetSlotConfig {
  readonly zeroTime: number;
  readonly zeroSlot: number;
  readonly slotLength: number;
}

/** A running devnet. Every method throws `ApiError` where the devnet refuses or does not respond. */
export interface TestDevnet extends AsyncDisposable {
  readonly urls: DevnetUrls;
  /** The client of its own API. */
  readonly client: DevnetClient;
  readonly accounts: readonly DevnetAccount[];
  /** Sends lovelace from the faucet; resolves with the transaction's hash when a block has it. */
  fund(address: string, lovelace: bigint): Promise<string>;
  /** Makes blocks now, in the next slots, or `gap` slots apart; gives the newest. `empty` leaves the mempool as it is. */
  block(count?: number, options?: { readonly gap?: number; readonly empty?: boolean }): Promise<DevnetTip>;
  /** The devnet's clock: the current slot, its time, and the slot of the next block. */
  time(): Promise<DevnetTime>;
  /** The current time of the devnet. Use it in place of `new Date()`: after a jump it is ahead of the machine's clock. */
  now(): Promise<Date>;
  /** Which slot begins when; it never changes. */
  slotConfig(): Promise<DevnetSlotConfig>;
  /**
   * Moves the clock at once: by a duration, by slots or epochs, or to a slot, a time (ms since 1970) or an epoch. The
   * mempool is in the first block on the way whose slot is valid for it.
   *
   * @throws {ApiError} `too_many_blocks` where the jump enters more than 10,000 epochs: start with `epochSlots`.
   */
  advance(to: Duration | TimeTarget, blocks?: JumpBlocks): Promise<MadeBlocks>;
  /**
   * Moves the devnet to the machine's clock where blocks are made on request, or after a pause.
   *
   * @throws {ApiError} `clock_ahead` after an `advance`: restore a snapshot instead.
   */
  sync(blocks?: JumpBlocks): Promise<MadeBlocks>;
  /** Sets the slot of the next block, or its time (ms since 1970), however that block is made. */
  setNext(next: { readonly slot: number } | { readonly time: number }): Promise<void>;
  /** Changes when blocks are made. */
  setMining(mode: MiningMode, blockMs?: number): Promise<void>;
  /** Undoes blocks; their transactions return to the mempool, or are discarded with `drop`. */
  rollback(count: number, options?: { readonly drop?: boolean }): Promise<DevnetTip>;
  /** Enters the next epochs now; gives the newest block. */
  epochs(count?: number): Promise<DevnetTip>;
  /** Saves the state: its block and its mempool. A snapshot without a name gets one. */
  snapshot(name?: string): Promise<SnapshotHandle>;
  /** Runs `work` and goes back to the state before it, also where it throws: chain, mempool, clock and mining. */
  withSnapshot<T>(work: () => Promise<T>): Promise<T>;
  /** Ends the devnet and removes its data. */
  stop(): Promise<void>;
}

/** Names of what the program prints where it listens. */
const PLACES: Readonly<Record<string, keyof DevnetUrls>> = {
  "devnet and faucet": "admin",
  "Blockfrost API of the devnet": "blockfrost",
  "Ogmios API of the devnet": "ogmios",
  "Kupo API of the devnet": "kupo",
  "UTxO RPC of the devnet": "utxorpc",
  "its node socket": "nodeSocket",
  "its node socket over TCP": "nodeTcp",
  "token service": "tokens",
  "wallet service": "wallets",
  "operator service": "operator",
};
/** Milliseconds that an orderly end may take. */
const STOP_MS = 20_000;
/** Milliseconds between two looks at the mempool. */
const POLL_MS = 20;

/**
 * Starts a devnet; resolves when it is ready.
 *
 * @throws {Error} with what the devnet printed, where it does not start.
 *
 * @example
 * ```ts
 * import { startDevnet } from "./src/packages/devnet.ts";
 *
 * await using devnet = await startDevnet();
 * const [alice] = devnet.accounts;
 * const begin = await devnet.snapshot();
 * await devnet.fund(alice!.address, 5_000_000n);
 * await begin.restore();
 * ```
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<TestDevnet> {
  const server = await startServer(options);
  const client = new DevnetClient(server.urls.admin);
  let snapshots = 0;
  let accounts: readonly DevnetAccount[] | undefined;
  const snapshot = async (name = `snapshot-${process.pid}-${++snapshots}`): Promise<SnapshotHandle> => ({
    ...await client.saveSnapshot(name),
    restore: () => client.restoreSnapshot(name),
    delete: () => client.deleteSnapshot(name),
  });
  return {
    urls: server.urls,
    client,
    // the keys are derived when a test asks for them, not while it waits for the start
    get accounts() {
      return accounts ??= accountsOf(options.accounts ?? 20);
    },
    fund: async (address, lovelace) => {
      const hash = await client.fund(address, lovelace);
      if ((await client.time()).mode === "manual") await client.blocks();
      while (await isWaiting(client, hash)) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      return hash;
    },
    block: async (count = 1, blocks) => (await client.blocks(count, blocks)).tip,
    time: () => client.time(),
    now: async () => new Date((await client.time()).time),
    slotConfig: async () => {
      const { genesisTime, slotLength } = await client.tip();
      return { zeroTime: genesisTime, zeroSlot: 0, slotLength };
    },
    advance: (to, blocks) => client.advance(targetOf(to), blocks),
    sync: (blocks) => client.sync(blocks),
    setNext: async (next) => void await client.setNext(next),
    setMining: async (mode, blockMs) => void await client.setMining(mode, blockMs),
    rollback: (blocks, rollback) => client.rollback({ blocks }, rollback),
    epochs: async (count = 1) => (await client.epochs(count)).tip,
    snapshot,
    withSnapshot: async (work) => {
      const before = await snapshot();
      try {
        return await work();
      } finally {
        await before.restore();
        await before.delete();
      }
    },
    stop: server.stop,
    [Symbol.asyncDispose]: server.stop,
  };
}

/** A duration in seconds; other targets as they are. */
function targetOf(to: Duration | TimeTarget): TimeTarget {
  if (!("days" in to || "hours" in to || "minutes" in to)) return to;
  const { days = 0, hours = 0, minutes = 0, seconds = 0, ...others } = to as Duration & TimeTarget;
  return { ...others, seconds: ((days * 24 + hours) * 60 + minutes) * 60 + seconds };
}

async function isWaiting({ base }: DevnetClient, hash: string): Promise<boolean> {
  const { transactions } = await call<{ transactions: { hash: string }[] }>(base, "GET", "/mempool");
  return transactions.some((transaction) => transaction.hash === hash);
}

/** The default accounts. */
function accountsOf(count: number): DevnetAccount[] {
  return devnetAccounts(count).map(({ index, payment, stake, paymentKey, stakeKey }) => {
    const stakeCredential = { kind: "key", hash: stake } as const;
    return {
      address: addressText(baseAddress(0, { kind: "key", hash: payment }, stakeCredential)),
      stakeAddress: addressText(rewardAddress(0, stakeCredential)),
      words: ACCOUNTS_MNEMONIC,
      index,
      paymentKey: toHex(paymentKey),
      stakeKey: toHex(stakeKey),
    };
  });
}

/** Arguments of the program. */
function argumentsOf(options: DevnetOptions): string[] {
  const { ports = {}, databaseUrl, services = false } = options;
  const values: Readonly<Record<string, string | number | undefined>> = {
    "block-ms": options.blockMs ?? 100,
    "slot-ms": options.slotMs ?? 100,
    mining: options.mining,
    "epoch-slots": options.epochSlots,
    accounts: options.accounts,
    "accounts-ada": options.accountsAda,
    "devnet-port": ports.admin ?? 0,
    "indexer-port": ports.blockfrost ?? 0,
    "node-port": ports.nodeTcp ?? 0,
    "ogmios-port": ports.ogmios ?? 0,
    "kupo-port": ports.kupo ?? 0,
    "utxorpc-port": ports.utxorpc ?? 0,
    "nats-port": 0,
    ...(services ? { "token-port": 0, "wallet-port": 0, "operator-port": 0 } : { roles: "devnet" }),
    "database-url": databaseUrl,
  };
  return [
    ...Object.entries(values).flatMap(([name, value]) => value === undefined ? [] : [`--${name}`, String(value)]),
    ...(databaseUrl === undefined ? ["--in-memory"] : []),
    ...options.options ?? [],
  ];
}

/**
 * A small space for new objects, in MB: four devnets fit where three did, and blocks take as long. Bun's engine has no such
 * setting.
 */
const SPACE = "--max-semi-space-size=2";

/** Arguments of the runtime before the program. */
function runtimeArguments(): string[] {
  if ("Deno" in globalThis) return ["run", "-A", "--quiet", "--no-lock", `--v8-flags=${SPACE}`];
  return "Bun" in globalThis ? [] : [SPACE];
}

/** Starts the process and waits until it is ready. */
async function startServer(options: DevnetOptions): Promise<{ urls: DevnetUrls; stop(): Promise<void> }> {
  // settings of a service on this machine are not those of a test
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(ARBOR_|NATS_|DATABASE_URL$)/.test(name)),
  );
  const child = spawn(process.execPath, [...runtimeArguments(), fileURLToPath(SERVER), ...argumentsOf(options)], {
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  const lines: string[] = [];
  const urls: { -readonly [K in keyof DevnetUrls]?: string } = {};
  const stop = async () => {
    child.ref();
    child.stdin.end();
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await exited;
    clearTimeout(late);
  };
  let late: ReturnType<typeof setTimeout> | undefined;
  const ready = new Promise<void>((resolve, reject) => {
    late = setTimeout(() => reject(new Error("The devnet was not ready in time.")), options.startMs ?? 60_000);
    const take = (line: string) => {
      options.onLine?.(line);
      if (lines.push(line) > 200) lines.shift();
      const [, name = "", at = ""] = /^(\S.*?) {2,}(\S+)$/.exec(line) ?? [];
      const place = PLACES[name];
      if (place) urls[place] = at;
      if (line.startsWith("Ready after")) resolve();
    };
    for (const stream of [child.stdout, child.stderr]) eachLine(stream, take);
    exited.then(([code]) => reject(new Error(`The devnet ended with ${code}.`)), reject);
  });
  try {
    await ready;
    const { admin, blockfrost = "", nodeSocket = "", nodeTcp = "", ogmios = "", kupo = "", utxorpc = "" } = urls;
    if (admin === undefined) throw new Error("The devnet did not print where it listens.");
    // a runner that ends without a stop ends the devnet too, and need not wait for it
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) unref(stream);
    return { urls: { ...urls, admin, blockfrost, nodeSocket, nodeTcp, ogmios, kupo, utxorpc }, stop };
  } catch (error) {
    await stop().catch(() => {});
    const said = lines.length === 0 ? "" : ` It printed:\n${lines.join("\n")}`;
    throw new Error(`${error instanceof Error ? error.message : error}${said}`);
  } finally {
    clearTimeout(late);
  }
}

function unref(stream: object): void {
  if ("unref" in stream && typeof stream.unref === "function") stream.unref();
}

/** Calls `each` for every line of a stream. */
function eachLine(stream: NodeJS.ReadableStream, each: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk) => {
    const parts = `${rest}${chunk}`.split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) each(part);
  });
}
