/** A client of a signing service, as its users write one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { expect } from "vitest";
import { Arbor } from "./arbor.ts";
import { Documented, type RawAnswer } from "../docs/openApiAnswers.ts";
import { type Infra, sharedInfra } from "../infra/infra.ts";
import type { Answer } from "./user.ts";

/** A folder for seed files, removed with the process. */
export function seedFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "arbor-seeds-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Options of a start with signing services for new wallets, one for each name, at free ports. */
export function signerEnv(...names: readonly string[]): Readonly<Record<string, string>> {
  const folder = seedFolder();
  return {
    ARBOR_SIGNER_SEED: names.map((name) => path.join(folder, name)).join(","),
    ARBOR_SIGNER_PORT: names.map(() => "0").join(","),
    ARBOR_SIGNER_GENERATE: "missing",
  };
}

/** An answer with its header `Retry-After`. */
export interface SignerAnswer extends Answer {
  readonly retryAfter: string | null;
}

export class SignerClient {
  constructor(readonly base: string, private readonly headers: Readonly<Record<string, string>> = {}) {}

  private readonly answers: { readonly method: string; readonly path: string; readonly answer: RawAnswer }[] = [];

  /** Differences between all answers and the service's OpenAPI document. */
  async faults(): Promise<string[]> {
    const answers = [...this.answers];
    const documented = new Documented(await this.good("GET", "/openapi.json"));
    return [...new Set(answers.flatMap(({ method, path, answer }) => documented.faults(method, path, answer)))];
  }

  /** Sends a request; gives its answer, whatever the status. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<SignerAnswer> {
    const response = await fetch(this.base + path, {
      method,
      headers: { ...this.headers, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const type = (response.headers.get("content-type") ?? "").replace(/;.*$/, "");
    this.answers.push({ method, path, answer: { status: response.status, type, text } });
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      body: text === "" ? undefined : JSON.parse(text),
    };
  }

  /** The body of an answer that must be good. */
  async good(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
    // deno-lint-ignore no-explicit-any
  ): Promise<any> {
    const answer = await this.call(method, path, body, headers);
    expect([method, path, answer.status, answer.body]).toEqual([method, path, 200, expect.anything()]);
    return answer.body;
  }

  /** The status and the code of a refusal. */
  async refused(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) {
    const { status, body: { code } } = await this.call(method, path, body, headers);
    return [status, code];
  }

  /** Waits for two blocks, as clients of this API do before they read. */
  async sync(): Promise<void> {
    await this.good("POST", "/indexer/wait-blocks", { n: 2 });
  }

  /** Creates a token; gives its id. */
  async boot(): Promise<string> {
    return (await this.good("POST", "/token")).tokenId;
  }

  /** Requests a change; gives the request's id. */
  async request(token: string, change: object, key?: string): Promise<string> {
    return await this.good("POST", `/token/${token}/request`, change, key ? { "idempotency-key": key } : {});
  }

  /** Applies requests; gives the hash and the new root. */
  async apply(token: string, requestIds: readonly string[]): Promise<{ txHash: string; value: string }> {
    return await this.good("PUT", `/token/${token}`, { requestIds });
  }

  /** The token, once two more blocks are there. */
  // deno-lint-ignore no-explicit-any
  async token(id: string): Promise<any> {
    await this.sync();
    return await this.good("GET", `/token/${id}`);
  }

  /** Its facts, once two more blocks are there. */
  async facts(id: string): Promise<Record<string, { value: string; slot: number }>> {
    await this.sync();
    return await this.good("GET", `/token/${id}/facts`);
  }

  /** Lovelace of the wallet's spendable outputs. */
  async lovelace(): Promise<bigint> {
    const { utxos } = await this.good("GET", "/wallet");
    return (utxos as { output: { amount: { unit: string; quantity: string }[] } }[])
      .flatMap(({ output }) => output.amount).filter(({ unit }) => unit === "lovelace")
      .reduce((sum, { quantity }) => sum + BigInt(quantity), 0n);
  }
}

/** A deployment whose signing services are processes of their own, each started as its users do. */
export class SignerProcesses {
  private readonly folder = seedFolder();
  private readonly started: Arbor[] = [];

  private constructor(
    readonly infra: Infra,
    /** The process with all other roles. */
    public main: Arbor,
  ) {}

  static async start(env: Readonly<Record<string, string>> = {}): Promise<SignerProcesses> {
    const infra = await sharedInfra();
    return new SignerProcesses(infra, await Arbor.start({ infra, ownProcess: true, env: { ...LEASE, ...env } }));
  }

  /** The seed file of a name. */
  seedOf(name: string): string {
    return path.join(this.folder, name);
  }

  /** Starts the service of a seed file. */
  async signer(name: string, env: Readonly<Record<string, string>> = {}) {
    const arbor = await Arbor.start({
      infra: this.infra,
      roles: "signer",
      entry: "src/app/signer.ts",
      env: {
        ...LEASE,
        ARBOR_SIGNER_SEED: this.seedOf(name),
        ARBOR_SIGNER_PORT: "0",
        ARBOR_SIGNER_GENERATE: "missing",
        ARBOR_TOPUP_URL: this.main.devnet,
        ...env,
      },
    });
    this.started.push(arbor);
    const headers = env.ARBOR_SIGNER_TOKEN ? { authorization: `Bearer ${env.ARBOR_SIGNER_TOKEN}` } : {};
    return { arbor, client: new SignerClient(arbor.signer, headers) };
  }

  /** Kills the process with all other roles, and starts it again with its devnet at the same port. */
  async restartMain(meanwhile: () => Promise<void>): Promise<void> {
    const devnet = new URL(this.main.devnet).port;
    await this.main.end("SIGKILL");
    await meanwhile();
    this.main = await Arbor.start({
      infra: this.infra,
      ownProcess: true,
      env: { ...LEASE, ARBOR_DEVNET_PORT: devnet },
    });
  }

  async end(): Promise<void> {
    for (const one of [...this.started, this.main]) await one.end();
    await this.infra.stop();
  }
}

/** A process that was killed, or is suspended, is replaced soon. */
const LEASE = { ARBOR_LEASE_MS: "1500" };
