/**
 * A client over one kept-alive connection with little overhead: the time of a call is from the first byte sent to the
 * last byte received, JSON is parsed afterwards. `fetch` alone takes as long as the shortest calls.
 */
import { connect, type Socket } from "node:net";
import { type Json, parseJson, toJson } from "#src/base/json.ts";

/** A response, and its time. */
export interface Timed {
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
  /** Parses the body. */
  json(): Json;
}

const BREAK = "\r\n\r\n";

export class Client {
  private constructor(private readonly socket: Socket, private readonly base: URL) {}

  /** Connects to a service; paths are appended to its URL. */
  static async open(base: string): Promise<Client> {
    const url = new URL(base);
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new Client(socket, url);
  }

  /** Sends a request; one call at a time. */
  call(method: string, path: string, body?: unknown): Promise<Timed> {
    const content = body === undefined ? "" : toJson(body);
    const request = [
      `${method} ${this.base.pathname.replace(/\/$/, "")}${path} HTTP/1.1`,
      `host: ${this.base.host}`,
      ...(body === undefined
        ? []
        : ["content-type: application/json", `content-length: ${Buffer.byteLength(content)}`]),
    ].join("\r\n") + BREAK + content;
    const chunks: Buffer[] = [];
    return new Promise((resolve, reject) => {
      let got = 0;
      let whole: number | undefined;
      let head = "";
      let begun = 0;
      const done = (error?: Error) => {
        this.socket.off("data", take).off("close", lost).off("error", lost);
        if (error) return reject(error);
        const ms = performance.now() - begun;
        const start = Buffer.byteLength(head) + BREAK.length;
        resolve({
          status: Number(head.slice(9, 12)),
          ms,
          bytes: got - start,
          json: () => {
            const text = Buffer.concat(chunks).subarray(start).toString();
            return text === "" ? null : parseJson(text);
          },
        });
      };
      const take = (chunk: Buffer) => {
        chunks.push(chunk);
        got += chunk.length;
        if (whole === undefined) {
          const soFar = Buffer.concat(chunks).toString("latin1");
          const end = soFar.indexOf(BREAK);
          if (end < 0) return;
          head = soFar.slice(0, end);
          const length = /^content-length: (\d+)/im.exec(head)?.[1];
          if (length === undefined && !head.startsWith("HTTP/1.1 204")) return done(new Error(`no length: ${head}`));
          whole = end + BREAK.length + Number(length ?? 0);
        }
        if (got >= whole) done();
      };
      const lost = () => done(new Error("the connection was closed"));
      this.socket.on("data", take).once("close", lost).once("error", lost);
      begun = performance.now();
      this.socket.write(request);
    });
  }

  close(): void {
    this.socket.destroy();
  }
}
