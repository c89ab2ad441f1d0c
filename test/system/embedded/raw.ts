/** A raw TCP client: sends any bytes and gives what it receives. */
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";

export interface Raw {
  readonly socket: Socket;
  /** Everything received so far, one character per byte. */
  received(): string;
  send(bytes: string | Uint8Array): void;
  /** Waits until the received text contains a text, and gives all of it; rejects after five seconds or at the end. */
  until(text: string): Promise<string>;
  /** Resolves with the received text when the server has ended the connection. */
  readonly ended: Promise<string>;
}

/** Connects and waits for INFO. */
export async function raw(port: number): Promise<Raw> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  let over = false;
  const listeners = new Set<() => void>();
  const notify = () => [...listeners].forEach((listener) => listener());
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    notify();
  });
  socket.on("error", () => {});
  const ended = new Promise<string>((resolve) =>
    socket.on("close", () => {
      over = true;
      notify();
      resolve(received);
    })
  );
  const until = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => finish(() => reject(new Error(`no ${text} in ${received}`))), 5_000);
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        listeners.delete(look);
        settle();
      };
      const look = () => {
        if (received.includes(text)) finish(() => resolve(received));
        else if (over) finish(() => reject(new Error(`ended without ${text}: ${received}`)));
      };
      listeners.add(look);
      look();
    });
  await until("\r\n");
  return {
    socket,
    received: () => received,
    send: (bytes) => void socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes),
    until,
    ended,
  };
}
