/**
 * One port for HTTP/1.1 and HTTP/2 without TLS, as clients of gRPC and browsers need it: the first bytes of a connection say
 * which it speaks (RFC 9113, 3.3).
 */
import { createServer as createHttp, type RequestListener } from "node:http";
import {
  createServer as createHttp2,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** Answers a request of either protocol. */
export type BothListener = (
  request: Parameters<RequestListener>[0] | Http2ServerRequest,
  response: Parameters<RequestListener>[1] | Http2ServerResponse,
) => void;

/** A port that is listened on. */
export interface Port {
  readonly host: string;
  readonly port: number;
  /** Takes no more connections, and ends those that there are. */
  stop(): Promise<void>;
}

/** Most connections at once, and streams of one. */
const MOST_CONNECTIONS = 500;
const MOST_STREAMS = 100;
/** How long a connection may wait with its first bytes, and then with the head of a request of HTTP/1.1, in ms. */
const FIRST_MS = 10_000;
/** How long the last answers may take to leave when the port stops, in ms. */
const LEAVE_MS = 300;
/** How the preface of HTTP/2 begins; no method of HTTP/1.1 that is served does. */
const PREFACE = new TextEncoder().encode("PRI");

/** Listens. Rejects with code `EADDRINUSE` where the port is taken; port 0 takes a free one. */
export async function listenToBoth(
  { host, port }: { readonly host: string; readonly port: number },
  answer: BothListener,
): Promise<Port> {
  const old = createHttp({ headersTimeout: FIRST_MS, requestTimeout: 2 * FIRST_MS }, answer);
  const modern = createHttp2({ settings: { maxConcurrentStreams: MOST_STREAMS } }, answer);
  // a malformed request ends its connection only
  old.on("clientError", (_, socket) => socket.destroy());
  modern.on("sessionError", () => {});
  const sessions = new Set<ServerHttp2Session>();
  modern.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setNoDelay(true);
    const late = setTimeout(() => socket.destroy(), FIRST_MS);
    socket.on("close", () => clearTimeout(late));
    const begin = () => {
      const chunk: Uint8Array | null = socket.read();
      if (!chunk) return;
      socket.unshift(chunk);
      const known = Math.min(chunk.length, PREFACE.length);
      const isModern = PREFACE.subarray(0, known).every((byte, index) => byte === chunk[index]);
      if (isModern && known < PREFACE.length) return;
      clearTimeout(late);
      socket.off("readable", begin);
      (isModern ? modern : old).emit("connection", socket);
    };
    socket.on("readable", begin);
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    host,
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // sessions end before their connections, which they write to
      for (const session of sessions) session.close();
      const ending = setTimeout(() => {
        for (const session of sessions) session.destroy();
        for (const socket of sockets) socket.destroy();
      }, LEAVE_MS);
      await closed;
      clearTimeout(ending);
    },
  };
}
