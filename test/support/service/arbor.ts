/**
 * The whole service: in the process of the test, or as a process of its own, as a user runs it.
 *
 * Starting a process costs 1.7 s of CPU time; the same service in the test's process costs a tenth. A process of its own
 * is for signals, kills, exit codes, metrics and what the program prints.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type App, startApp } from "#src/app/application.ts";
import { type Options, readOptions } from "#src/app/options.ts";
import { createLog } from "#src/base/log.ts";
import type { Builders } from "#src/threads/builders.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { endChild } from "../base/processes.ts";
import type { Infra } from "../infra/infra.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** Folder of a devnet's genesis files, apart from the folder of a devnet that runs here for other purposes. */
const folder = mkdtempSync(path.join(tmpdir(), "arbor-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export interface ArborOptions {
  readonly infra: Infra;
  readonly roles?: string;
  /** Milliseconds between blocks, 150 by default, with slots of 50 ms; 0: blocks only on request. */
  readonly blockMs?: number;
  /** `submit`: each transaction makes a block before its submission is answered, and no other block is made. */
  readonly mining?: "submit";
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the service is a process of its own; by default only with `entry` and `checkout`. */
  readonly ownProcess?: boolean;
  /** Another entry point than `startProcess.ts` beside this file, for injected faults. */
  readonly entry?: string;
  /** Whether a devnet has mainnet's magic and network id, in the test's process: no option of the product permits it. */
  readonly mainnet?: boolean;
  /** Settings of the log of tokens, in the test's process. */
  readonly tokenLog?: Options["tokenLog"];
  /** Folder of another checkout whose service is started; default: this checkout. */
  readonly checkout?: string;
}

/** Options by which services are the same. */
function textOf({ infra, ...rest }: ArborOptions): string {
  const { blockMs, checkout, entry, env = {}, mainnet, mining, ownProcess, roles, tokenLog } = rest;
  return JSON.stringify([
    infra.databaseUrl,
    env,
    blockMs,
    checkout,
    entry,
    mainnet,
    mining,
    ownProcess,
    roles,
    tokenLog,
  ]);
}

/** The environment of a service. */
function environmentOf({ infra, env, blockMs, mining, roles }: ArborOptions): Record<string, string | undefined> {
  return {
    ...process.env,
    DATABASE_URL: infra.databaseUrl,
    NATS_URL: infra.natsUrl,
    ...(infra.natsToken ? { NATS_TOKEN: infra.natsToken } : {}),
    ARBOR_FOLDER: folder,
    ARBOR_TOKEN_PORT: "0",
    ARBOR_WALLET_PORT: "0",
    ARBOR_DEVNET_PORT: "0",
    ARBOR_INDEXER_PORT: "0",
    ARBOR_NODE_PORT: "0",
    ARBOR_OGMIOS_PORT: "0",
    ARBOR_KUPO_PORT: "0",
    ARBOR_UTXORPC_PORT: "0",
    // most tests use none of the services for libraries
    ARBOR_DEVNET_WITHOUT: "ogmios,kupo,utxorpc",
    ARBOR_OPERATOR_PORT: "0",
    ARBOR_MINING: mining ?? (blockMs === 0 ? "manual" : "interval"),
    ARBOR_BLOCK_MS: String(blockMs ?? 150),
    ARBOR_SLOT_MS: "50",
    ARBOR_NTP_SERVERS: "none",
    ...(roles ? { ARBOR_ROLES: roles } : {}),
    ...env,
  };
}

/** Where the service runs, and how it ends. */
interface Running {
  /** The process; undefined in the test's process. */
  readonly child?: ChildProcess;
  /** URL by name. */
  readonly places: ReadonlyMap<string, string>;
  readonly printed: () => string;
  readonly end: (signal: "SIGTERM" | "SIGKILL" | "SIGINT") => Promise<void>;
}

/** The builder threads of all services in this process: loading their code takes half a second of CPU time. */
let builders: Builders | undefined;

/** Starts the service in this process. */
async function startHere(options: ArborOptions): Promise<Running> {
  const read = readOptions([], environmentOf(options));
  if (!read.ok) throw new Error(read.error.message);
  if (read.value === "help") throw new Error("help was requested");
  const lines: string[] = [];
  const print = (line: string) => {
    lines.push(line);
    if (process.env.ARBOR_TEST_OUTPUT) process.stderr.write(line + "\n");
  };
  const app: App = await startApp(
    {
      ...read.value,
      ...(options.mainnet ? { networkMagic: MAINNET_MAGIC } : {}),
      ...(options.tokenLog ? { tokenLog: options.tokenLog } : {}),
    },
    createLog(read.value.log, {}, print),
    print,
    { coldBuilders: true, connections: 8, builders: builders ??= startBuilders({ log: createLog("warn") }) },
  );
  void app.lost.then(print);
  return {
    places: new Map(app.listening.map(({ name, at }) => [name, at])),
    printed: () => lines.join("\n"),
    end: async (signal) => {
      if (signal !== "SIGTERM") throw new Error(`${signal} needs a process of its own: start it with ownProcess`);
      await app.stop();
    },
  };
}

/** Starts the service as a process, and waits until it reports that it is ready. */
async function startProcess(options: ArborOptions): Promise<Running> {
  const entry = options.entry ?? (options.checkout ? "src/app/start.ts" : "test/support/service/startProcess.ts");
  const child = spawn(process.execPath, ["run", "-A", entry], {
    cwd: options.checkout ?? root,
    stdio: ["ignore", "pipe", "pipe"],
    env: environmentOf(options),
  });
  let text = "";
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      text += chunk.toString();
      if (process.env.ARBOR_TEST_OUTPUT) process.stderr.write(chunk);
      if (/^Ready after/m.test(text)) resolve();
    };
    child.stdout!.on("data", take);
    child.stderr!.on("data", take);
    child.once("exit", (code) => reject(new Error(`the process ended with ${code}:\n${text}`)));
  });
  const found = text.matchAll(/^(\S.*?) {2,}(\S+:\d+(?:\/v2|\/api\/v1)?)$/gm);
  return {
    child,
    places: new Map([...found].map(([, name, at]) => [name!, at!])),
    printed: () => text,
    end: (signal) => endChild(child, signal),
  };
}

export class Arbor {
  private constructor(
    private readonly running: Running,
    /** The roles as given; all roles by default. */
    readonly roles: string,
  ) {}

  /** The service that the files of `together` share, with its options and the number of its users. */
  private static shared: { readonly arbor: Arbor; readonly options: string; users: number } | undefined;

  /** Starts a service that `start` with the same options gives from now on, until its last user ends it. */
  static async share(options: ArborOptions): Promise<Arbor> {
    const arbor = await Arbor.start(options);
    Arbor.shared = { arbor, options: textOf(options), users: 1 };
    return arbor;
  }

  /** Whether `end` would leave the service to its other users. */
  get hasOtherUsers(): boolean {
    return Arbor.shared?.arbor === this && Arbor.shared.users > 1;
  }

  /** Starts a service and waits until it is ready. */
  static async start(options: ArborOptions): Promise<Arbor> {
    const { shared } = Arbor;
    if (shared?.options === textOf(options)) {
      shared.users++;
      return shared.arbor;
    }
    const { ownProcess = options.entry !== undefined || options.checkout !== undefined } = options;
    const running = await (ownProcess ? startProcess(options) : startHere(options));
    return new Arbor(running, options.roles ?? "all");
  }

  /** The same service with the places of a network beside it, which ends after it. */
  beside(network: Arbor, end: () => Promise<void>): Arbor {
    const { running } = this;
    return new Arbor({
      ...running,
      places: new Map([...network.places, ...running.places]),
      end: async (signal) => {
        await running.end(signal);
        await end();
      },
    }, this.roles);
  }

  /** The process of a service that has its own. */
  get child(): ChildProcess {
    const { child } = this.running;
    if (!child) throw new Error("the service runs in the test's process: start it with ownProcess");
    return child;
  }

  /** URL by name, as printed at the start. */
  get places(): ReadonlyMap<string, string> {
    return this.running.places;
  }

  /** The wallet service, with its prefix. */
  get wallets(): string {
    return this.places.get("wallet service")!;
  }

  get tokens(): string {
    return this.places.get("token service")!;
  }

  get devnet(): string {
    return this.places.get("devnet and faucet")!;
  }

  get operator(): string {
    return this.places.get("operator service")!;
  }

  /** The first signing service. */
  get signer(): string {
    return this.places.get("signing service")!;
  }

  /** The port given in ARBOR_HEALTH_PORT. */
  get health(): string {
    return this.places.get("health")!;
  }

  /** Everything that the service has printed. */
  get printed(): string {
    return this.running.printed();
  }

  /** Ends the service and waits for its end. A shared one stays until its last user has called this. */
  async end(signal: "SIGTERM" | "SIGKILL" | "SIGINT" = "SIGTERM"): Promise<void> {
    if (Arbor.shared?.arbor === this && --Arbor.shared.users > 0) return;
    await this.running.end(signal);
  }

  /** Sends a signal without waiting. */
  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGKILL" | "SIGTERM"): void {
    process.kill(this.child.pid!, signal);
  }
}
