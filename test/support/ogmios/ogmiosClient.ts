/** A plain client of an Ogmios server: sends texts and waits for answers, whatever they are. */
import { WebSocket } from "ws";
import { isObject, type Json, parseJson, toJson } from "#src/base/json.ts";

/** An answer of the server. */
export type Answered = { readonly [name: string]: Json };

/** A request with an `id`; `params` only where there are some. */
export function request(method: string, params?: Json, id: Json = null): string {
  return toJson({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }), id });
}

export class OgmiosClient {
  /** Answers that were not taken yet. */
  readonly received: string[] = [];
  #waiting: (() => void)[] = [];
  #closed: { readonly code: number; readonly reason: string } | undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on("message", (data) => {
      this.received.push(String(data));
      this.#wake();
    });
    socket.on("close", (code, reason) => {
      this.#closed = { code, reason: String(reason) };
      this.#wake();
    });
    socket.on("error", () => {});
  }

  /** Connects to `ws://…`. Rejects where the server refuses. */
  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<OgmiosClient> {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    const client = new OgmiosClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return client;
  }

  send(text: string | Uint8Array): void {
    this.socket.send(text);
  }

  /** The next answer, as text. */
  async text(): Promise<string> {
    while (this.received.length === 0) {
      if (this.#closed) throw new Error(`the connection was closed: ${this.#closed.code} ${this.#closed.reason}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.received.shift()!;
  }

  /** The next answer. */
  async next(): Promise<Answered> {
    const json = parseJson(await this.text());
    if (!isObject(json)) throw new Error("an answer is no object");
    return json;
  }

  /** Sends a request and takes the next answer. */
  async ask(method: string, params?: Json, id?: Json): Promise<Answered> {
    this.send(request(method, params, id));
    return await this.next();
  }

  /** Waits until the server has closed the connection. */
  async closed(): Promise<{ readonly code: number; readonly reason: string }> {
    while (!this.#closed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#closed;
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
