/** Clients that do not complete their requests: many raw connections, and the outcome of each. */
import { connect, type Socket } from "node:net";
import { until } from "../base/until.ts";

/** Raw connections to a service. */
export interface Unfinished {
  /** How many are still open. */
  readonly open: number;
  /** The answers, one text for each connection that got one. */
  readonly answers: readonly string[];
  /** Waits until the service has ended all of them. */
  ended(ms: number): Promise<void>;
  /** Ends the remaining ones. */
  stop(): void;
}

/** Number of connections that are opened at a time. */
const AT_ONCE = 250;

/** Opens connections, sends the beginning of a request on each, and then nothing. Resolves when all have sent it. */
export async function unfinished(port: number, count: number, beginning: (i: number) => string): Promise<Unfinished> {
  const sockets = new Set<Socket>();
  const answers: string[] = [];
  const one = (i: number) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write(beginning(i));
        resolve();
      });
      let text = "";
      sockets.add(socket);
      socket.setEncoding("latin1");
      socket.on("data", (part: string) => text += part);
      socket.on("error", reject);
      socket.on("close", () => {
        sockets.delete(socket);
        if (text !== "") answers.push(text);
      });
    });
  for (let i = 0; i < count; i += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, (_, k) => one(i + k)));
  }
  return {
    get open() {
      return sockets.size;
    },
    answers,
    ended: async (ms) => void await until("the connections' ends", () => Promise.resolve(sockets.size === 0), ms),
    stop: () => sockets.forEach((socket) => socket.destroy()),
  };
}

/** The beginning of a request's head. */
export const halfHead = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: `;

/** A head that announces a body, and the beginning of the body; chunked if no length is given. */
export function halfBody(path: string, length?: number): string {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`;
  return length === undefined
    ? `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"k`
    : `${head}Content-Length: ${length}\r\n\r\n{"k`;
}
