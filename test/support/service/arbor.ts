/** The whole service as separate processes, as a user runs it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { endChild } from "../base/processes.ts";
import type { Infra } from "../infra/infra.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** Folder of a devnet's genesis files, apart from the folder of a devnet that runs here for other purposes. */
const folder = mkdtempSync(path.join(tmpdir(), "arbor-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export interface ArborOptions {
  readonly infra: Infra;
  readonly roles?: string;
  /** Milliseconds between blocks, 150 by default, with slots of 50 ms. */
  readonly blockMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Another entry point than `startProcess.ts` beside this file, for injected faults. */
  readonly entry?: string;
  /** Folder of another checkout whose service is started; default: this checkout. */
  readonly checkout?: string;
}

/** Options by which services are the same. */
function textOf({ infra, env = {}, ...rest }: ArborOptions): string {
  return JSON.stringify([infra.databaseUrl, env, rest.blockMs, rest.checkout, rest.entry, rest.roles]);
}

export class Arbor {
  private constructor(
    readonly child: ChildProcess,
    /** The roles as given; all roles by default. */
    readonly roles: string,
    /** URL by name, as printed at the start. */
    readonly places: ReadonlyMap<string, string>,
    private readonly output: () => string,
  ) {}

  /** The service that the files of `together` share, with its options and the number of its users. */
  private static shared: { readonly arbor: Arbor; readonly options: string; users: number } | undefined;

  /** Starts a process that `start` with the same options gives from now on, until its last user ends it. */
  static async share(options: ArborOptions): Promise<Arbor> {
    const arbor = await Arbor.start(options);
    Arbor.shared = { arbor, options: textOf(options), users: 1 };
    return arbor;
  }

  /** Whether `end` would leave the process to its other users. */
  get hasOtherUsers(): boolean {
    return Arbor.shared?.arbor === this && Arbor.shared.users > 1;
  }

  /** Starts a process and waits until it reports that it is ready. */
  static async start(options: ArborOptions): Promise<Arbor> {
    const { shared } = Arbor;
    if (shared?.options === textOf(options)) {
      shared.users++;
      return shared.arbor;
    }
    const { infra } = options;
    const child = spawn(process.execPath, [
      "run",
      "-A",
      options.entry ?? (options.checkout ? "src/app/start.ts" : "test/support/service/startProcess.ts"),
    ], {
      cwd: options.checkout ?? root,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
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
        ARBOR_OPERATOR_PORT: "0",
        ARBOR_BLOCK_MS: String(options.blockMs ?? 150),
        ARBOR_SLOT_MS: "50",
        ARBOR_NTP_SERVERS: "none",
        ...(options.roles ? { ARBOR_ROLES: options.roles } : {}),
        ...options.env,
      },
    });
    let text = "";
    const places = new Map<string, string>();
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
    for (const match of text.matchAll(/^(\S.*?) {2,}(\S+:\d+(?:\/v2|\/api\/v1)?)$/gm)) places.set(match[1]!, match[2]!);
    return new Arbor(child, options.roles ?? "all", places, () => text);
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

  /** Everything that the process has printed. */
  get printed(): string {
    return this.output();
  }

  /** Ends the process with a signal and waits for its exit. A shared one stays until its last user has called this. */
  async end(signal: "SIGTERM" | "SIGKILL" | "SIGINT" = "SIGTERM"): Promise<void> {
    if (Arbor.shared?.arbor === this && --Arbor.shared.users > 0) return;
    await endChild(this.child, signal);
  }

  /** Sends a signal without waiting. */
  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    process.kill(this.child.pid!, signal);
  }
}
