/** A service under measurement: with a payer, and functions that wait for wallets. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { lovelace } from "#src/cardano/value.ts";
import { until } from "../support/base/until.ts";
import { type Running, startArbor } from "./arbor.ts";
import { Bank } from "./wallet-bank.ts";
import { type Figure, type HttpRequest, type Published, sample } from "./wallet-figures.ts";
import { Client } from "./wallet-http.ts";

/**
 * Slots are short, so that blocks can be made for the preparation as fast as they fill; otherwise one is made each
 * second, as usual.
 */
const OPTIONS = ["--slot-ms", "50"];

const PATIENCE_MS = 600_000;

export class Site {
  readonly figures: Figure[] = [];

  private constructor(
    public running: Running,
    public client: Client,
    public bank: Bank,
    private readonly note: (line: string) => void,
  ) {}

  /** Starts a service on an empty folder, does the work, and ends it. */
  static async during(
    note: (line: string) => void,
    work: (site: Site) => Promise<void>,
  ): Promise<readonly Figure[]> {
    const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-bench-"));
    try {
      const running = await startArbor(folder, OPTIONS);
      const site = new Site(
        running,
        await Client.open(running.wallets),
        await Bank.open(running.devnet, folder),
        note,
      );
      try {
        await work(site);
      } finally {
        site.client.close();
        await site.running.end();
      }
      return site.figures;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Kills the service, starts it again and connects; `since` is the time of its start, from `performance.now()`. */
  async restart(): Promise<{ readonly since: number }> {
    await this.running.end("SIGKILL");
    this.client.close();
    const since = performance.now();
    this.running = await startArbor(this.running.folder, OPTIONS);
    this.client = await Client.open(this.running.wallets);
    return { since };
  }

  add(figure: Figure): void {
    this.figures.push(figure);
    const { at, what, value, unit, inside, cpu } = figure;
    const more = inside === undefined ? "" : `, inside ${inside.toFixed(2)} ms, CPU ${cpu?.toFixed(2)} ms`;
    this.note(`${at}: ${what} ${value.toFixed(2)} ${unit}${more}`);
  }

  /** Times a call and records the result. */
  async time(
    at: string,
    what: string,
    request: HttpRequest | (() => HttpRequest | Promise<HttpRequest>),
    published?: Published,
    most?: number,
  ): Promise<void> {
    const taken = await sample(this, typeof request === "function" ? request : () => request, most);
    this.add({ at, what, unit: "ms", ...taken, ...(published ? { published } : {}) });
  }

  /** Sends a request, and returns the JSON of a success. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.client.call(method, path, body);
    const json = answer.json();
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(json)}`);
    return json as T;
  }

  /** Creates a wallet; returns its id, and the response time in ms. */
  async create(body: object): Promise<{ readonly id: string; readonly ms: number }> {
    const answer = await this.client.call("POST", "/wallets", body);
    const json = answer.json() as { id: string };
    if (answer.status !== 201) throw new Error(`create: ${answer.status} ${JSON.stringify(json)}`);
    return { id: json.id, ms: answer.ms };
  }

  /** Pays addresses (bytes in hexadecimal), one output each, in as many transactions as needed. */
  async fund(addresses: readonly string[], ada: number): Promise<void> {
    await this.bank.payAll(addresses.map((address) => ({ address, value: lovelace(BigInt(ada) * 1_000_000n) })));
  }

  /** Waits until a wallet has read the chain up to the current tip, and is ready. */
  async caughtUp(id: string): Promise<void> {
    const { node_tip } = await this.ask<{ node_tip: { height: { quantity: number } } }>("GET", "/network/information");
    const { height } = await fetch(`${this.running.devnet}/tip`).then((answer) => answer.json()) as { height: number };
    const goal = Math.max(height, node_tip.height.quantity);
    await until(
      `wallet ${id}`,
      async () => {
        const wallet = await this.ask<WalletNow>("GET", `/wallets/${id}`);
        return wallet.state.status === "ready" && wallet.tip.height.quantity >= goal;
      },
      PATIENCE_MS,
      10,
    );
  }

  /** Waits until all wallets are ready. */
  async allReady(count: number): Promise<void> {
    await until(
      "all wallets",
      async () => {
        const wallets = await this.ask<WalletNow[]>("GET", "/wallets");
        return wallets.length === count && wallets.every(({ state }) => state.status === "ready");
      },
      PATIENCE_MS,
      10,
    );
  }
}

interface WalletNow {
  readonly state: { readonly status: string };
  readonly tip: { readonly height: { readonly quantity: number } };
}
