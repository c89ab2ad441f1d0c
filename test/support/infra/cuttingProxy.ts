/** A proxy of a PostgreSQL server that ends one of its connections on request, or at a given message. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** How a connection ends: orderly, or with a reset. */
export type Cut = "end" | "reset";

export interface CutWay {
  readonly port: number;
  /** Ends the connection that the server's process `pid` serves. */
  cut(pid: number, how: Cut): void;
  /** Ends every connection. */
  cutAll(how: Cut): void;
  /**
   * From now on a connection is cut when `from` sends a message that contains `text`: a client's message does not
   * arrive; a server's message arrives and is the last.
   */
  cutAt(from: "client" | "server", text: string, how: Cut): void;
  /** Undoes `cutAt`. */
  spare(): void;
  close(): Promise<void>;
}

/** BackendKeyData: its type and its length. */
const KEY = Buffer.from([0x4b, 0, 0, 0, 12]);

/** A proxy of the server of a URL, on a free loopback port. */
export async function startCutWay(url: URL): Promise<CutWay> {
  const { hostname, port } = url;
  const ways = new Set<{ readonly client: Socket; readonly server: Socket; pid: number | undefined }>();
  let rule: { readonly from: "client" | "server"; readonly text: string; readonly how: Cut } | undefined;
  const end = (client: Socket, how: Cut) => how === "reset" ? client.resetAndDestroy() : client.end();
  const listener = createServer((client) => {
    const server = connect(Number(port), hostname);
    const way = { client, server, pid: undefined as number | undefined };
    ways.add(way);
    const matches = (from: "client" | "server", data: Buffer) => rule?.from === from && data.includes(rule.text);
    client.on("data", (data: Buffer) => matches("client", data) ? end(client, rule!.how) : server.write(data));
    server.on("data", (data: Buffer) => {
      const at = way.pid === undefined ? data.indexOf(KEY) : -1;
      if (at >= 0) way.pid = data.readUInt32BE(at + KEY.length);
      client.write(data);
      if (matches("server", data)) end(client, rule!.how);
    });
    for (const [one, other] of [[client, server], [server, client]] as const) {
      one.on("error", () => {});
      one.on("close", () => {
        ways.delete(way);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    cut: (pid, how) => {
      const way = [...ways].find((way) => way.pid === pid);
      if (way === undefined) throw new Error(`no connection of process ${pid}`);
      end(way.client, how);
    },
    cutAll: (how) => {
      for (const { client } of ways) end(client, how);
    },
    cutAt: (from, text, how) => void (rule = { from, text, how }),
    spare: () => void (rule = undefined),
    close: async () => {
      for (const { client } of ways) client.destroy();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
}
