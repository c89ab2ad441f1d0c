/** The processes of a disorder, which may be killed, and requests to them that are repeated until there is an answer. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { sleep } from "#src/base/clock.ts";
import { Arbor } from "../service/arbor.ts";
import { type Services, SignerPerson } from "./disorderPeople.ts";
import type { Infra } from "../infra/infra.ts";
import { seeded } from "../base/seededRandom.ts";
import { seedFolder } from "../service/signerClient.ts";
import type { Answer } from "../service/user.ts";

/** Longest time until an operation has an answer, in milliseconds. */
export const ANSWER_MS = 120_000;

/** A call under an idempotency key that succeeded. */
export interface Call {
  readonly what: string;
  readonly repeat: () => Promise<Answer>;
  readonly answer: Answer;
}

/** Roles by the name of a process; `signer N` is a process with that number of signing instances. */
export type Processes = Readonly<Record<string, string>>;

export class DisorderServices implements Services {
  private readonly processes = new Map<string, { arbor: Arbor; readonly ports: Record<string, string> }>();
  /** Users of the signing instances. */
  readonly signers: SignerPerson[] = [];
  readonly calls: Call[] = [];
  /** What must not happen, as text. */
  readonly wrong: string[] = [];
  /** Answers after which a request was sent again. */
  readonly again: Record<string, number> = {};
  private keys = 0;

  constructor(
    private readonly infra: Infra,
    private readonly roles: Processes,
    /** Of the choice which requests are sent twice. */
    private readonly seed: number,
  ) {}

  /** Starts all processes, in their order. */
  async start(): Promise<void> {
    const folder = seedFolder();
    for (const [name, roles] of Object.entries(this.roles)) {
      const instances = Number(/^signer (\d)$/.exec(roles)?.[1] ?? 0);
      const seeds = Array.from({ length: instances }, (_, i) => path.join(folder, `${name}-${i}`));
      await this.run(
        name,
        instances === 0 ? {} : {
          ARBOR_SIGNER_SEED: seeds.join(","),
          ARBOR_SIGNER_PORT: seeds.map(() => "0").join(","),
          ARBOR_SIGNER_GENERATE: "missing",
        },
      );
      for (const [i, seed] of seeds.entries()) {
        const place = i === 0 ? "signing service" : `signing service ${i + 1}`;
        const base = () => this.processes.get(name)!.arbor.places.get(place)!;
        const words = readFileSync(seed, "utf8").trim().split(" ");
        this.signers.push(new SignerPerson(this, `signer ${this.signers.length}`, base, words));
      }
    }
  }

  /** Ends a process with SIGKILL; `between` runs before it is there again, at the same ports. */
  async kill(name: string, between: () => Promise<void>): Promise<void> {
    await this.processes.get(name)!.arbor.end("SIGKILL");
    await between();
    await this.run(name, {});
  }

  hasDevnet(name: string): boolean {
    return this.roles[name]!.includes("devnet");
  }

  private place(name: string): string {
    for (const { arbor } of this.processes.values()) {
      const found = arbor.places.get(name);
      if (found !== undefined) return found;
    }
    throw new Error(`no process has the ${name}`);
  }

  get tokens(): string {
    return this.place("token service");
  }

  get wallets(): string {
    return this.place("wallet service");
  }

  get devnet(): string {
    return this.place("devnet and faucet");
  }

  /** Starts a process, at the ports that it had before. */
  private async run(name: string, env: Record<string, string>): Promise<void> {
    const roles = this.roles[name]!.replace(/^signer .*/, "signer");
    const signer = roles === "signer";
    const ports = this.processes.get(name)?.ports ?? env;
    const arbor = await Arbor.start({
      ownProcess: true,
      infra: this.infra,
      roles,
      ...(signer ? { entry: "src/app/signer.ts" } : {}),
      env: {
        ARBOR_LEASE_MS: "1500",
        ARBOR_BUILDERS: "1",
        ...(signer ? { ARBOR_TOPUP_URL: this.devnet } : {}),
        ...ports,
      },
    });
    const port = (place: string) => new URL(arbor.places.get(place)!).port;
    const named = [
      ["token service", "ARBOR_TOKEN_PORT"],
      ["wallet service", "ARBOR_WALLET_PORT"],
      ["devnet and faucet", "ARBOR_DEVNET_PORT"],
    ] as const;
    const signing = [...arbor.places.keys()].filter((place) => place.startsWith("signing service"));
    this.processes.set(name, {
      arbor,
      ports: {
        ...ports,
        ...Object.fromEntries(
          named.flatMap(([place, variable]) => arbor.places.has(place) ? [[variable, port(place)]] : []),
        ),
        ...(signer ? { ARBOR_SIGNER_PORT: signing.map(port).join(",") } : {}),
      },
    });
  }

  async stop(): Promise<void> {
    for (const { arbor } of [...this.processes.values()].reverse()) await arbor.end();
  }

  /** What processes printed at the levels of warnings and errors. */
  get printed(): string {
    return [...this.processes].map(([name, { arbor }]) =>
      `${name}:\n${arbor.printed.split("\n").filter((line) => /warn|error/i.test(line)).slice(-40).join("\n")}`
    ).join("\n");
  }

  /** Sends a request until its answer is not "come back later". */
  async ask(
    base: () => string,
    method: string,
    place: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    for (const end = Date.now() + ANSWER_MS;; await sleep(100)) {
      let later: string;
      try {
        const response = await fetch(base() + place, {
          method,
          headers: { ...headers, ...(body ? { "content-type": "application/json" } : {}) },
          ...(body ? { body: JSON.stringify(body) } : {}),
        });
        const text = await response.text();
        const answer = { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
        const { status } = answer;
        const code = answer.body?.code ?? "";
        if (status === 503 && response.headers.get("retry-after") === null) {
          this.wrong.push(`${method} ${place} is 503 ${code} without Retry-After`);
        }
        if (status >= 500 && status !== 503) this.wrong.push(`${method} ${place} is ${status}: ${text.slice(0, 500)}`);
        if (status !== 503 && code !== "request_in_progress") return answer;
        later = `${status} ${code}`;
      } catch (error) {
        // a process that was killed
        if (!(error instanceof TypeError) && !(error instanceof SyntaxError)) throw error;
        later = "no answer";
      }
      this.again[later] = (this.again[later] ?? 0) + 1;
      if (Date.now() > end) throw new Error(`${method} ${place} has no answer in ${ANSWER_MS} ms: ${later}`);
    }
  }

  /** Sends a request under a new idempotency key, sometimes twice at a time: one answer. */
  async once(who: string, base: () => string, method: string, place: string, body?: object): Promise<Answer> {
    const number = this.keys++;
    const repeat = () => this.ask(base, method, place, body, { "idempotency-key": `disorder-${number}` });
    const answers = await Promise.all(seeded(this.seed + number)() < 0.3 ? [repeat(), repeat()] : [repeat()]);
    const good = answers.filter(({ status }) => status < 300);
    const [answer = answers[0]!] = good;
    const what = `${who}: ${method} ${place} ${JSON.stringify(body ?? {})}`;
    for (const other of good) this.expectSame(what, answer, other);
    if (answer.status < 300) this.calls.push({ what, repeat, answer });
    return answer;
  }

  /** Notes two answers under one key that differ. */
  expectSame(what: string, first: Answer, second: Answer): void {
    const of = ({ status, body }: Answer) => [status, typeof body === "object" ? body.id ?? body : body];
    if (JSON.stringify(of(first)) === JSON.stringify(of(second))) return;
    this.wrong.push(
      `${what} under one key has two answers: ${JSON.stringify(of(first))} ${JSON.stringify(of(second))}`,
    );
  }
}
