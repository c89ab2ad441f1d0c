/** A TCP proxy that can be interrupted and resumed, for tests of clients that must survive the loss of a connection. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export interface Proxy {
  readonly port: number;
  /** Ends all connections and accepts no more. */
  cut(): Promise<void>;
  /** Passes nothing on any more: connections stay open, and new ones are accepted. */
  freeze(): void;
  /** Accepts connections again, on the same port; those that were frozen end. */
  mend(): Promise<void>;
}

/** A proxy on a free loopback port. */
export async function startProxy(
  to: {
    readonly host: string;
    readonly port: number;
    /** Changes the server's data, as latin1 text; it must keep the length. */
    readonly answers?: (text: string) => string;
    /** Receives the clients' data, as latin1 text in pieces. */
    readonly onSent?: (connection: number, text: string) => void;
  },
): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  let server: Server | undefined;
  let connections = 0;
  const listen = (port: number) =>
    new Promise<number>((resolve, reject) => {
      const next = createServer((inside) => {
        const outside = connect(to.port, to.host);
        const connection = ++connections;
        inside.on("data", (bytes) => to.onSent?.(connection, bytes.toString("latin1")));
        for (const [from, into] of [[inside, outside], [outside, inside]] as const) {
          sockets.add(from);
          const { answers } = to;
          if (frozen) from.pause();
          else if (from === inside || answers === undefined) from.pipe(into);
          else from.on("data", (bytes) => into.write(answers(bytes.toString("latin1")), "latin1"));
          from.on("error", () => {});
          from.on("close", () => {
            sockets.delete(from);
            into.destroy();
          });
        }
      });
      next.once("error", reject);
      next.listen(port, "127.0.0.1", () => resolve((next.address() as AddressInfo).port));
      server = next;
    });
  const port = await listen(0);
  return {
    port,
    cut: async () => {
      const closed = new Promise<void>((resolve) => server === undefined ? resolve() : server.close(() => resolve()));
      server = undefined;
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend: async () => {
      if (!frozen) return void await listen(port);
      frozen = false;
      for (const socket of sockets) socket.destroy();
    },
  };
}
