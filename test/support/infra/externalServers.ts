/**
 * External servers for tests: a SMASH server, one of token metadata, one of pools' own metadata; over real HTTP, with
 * faults.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface OutsideServer {
  readonly url: string;
  /** Method and path of every request. */
  readonly requests: string[];
  /** Bodies of requests that had one. */
  readonly bodies: unknown[];
  stop(): Promise<void>;
}

/** Serves what `answer` returns: a status and a body, JSON unless it is a string; for undefined it never responds. */
export async function outsideServer(
  answer: (request: { method: string; path: string; body: unknown }) => {
    status?: number;
    body?: unknown;
    headers?: Record<string, string>;
  } | undefined,
): Promise<OutsideServer> {
  const requests: string[] = [];
  const bodies: unknown[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const part of request) text += String(part);
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    const { method = "", url: path = "" } = request;
    requests.push(`${method} ${path}`);
    if (body !== undefined) bodies.push(body);
    const given = answer({ method, path, body });
    if (given === undefined) return;
    response.writeHead(given.status ?? 200, { "content-type": "application/json", ...given.headers });
    response.end(typeof given.body === "string" ? given.body : JSON.stringify(given.body));
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: requests,
    bodies,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
