/**
 * The handlers of a router, on Node's HTTP. Pages of any origin may call: what is answered is public, and what changes the
 * devnet needs signatures.
 */
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { type Log, reason } from "#src/base/log.ts";
import type { BothListener } from "#src/devnet/serve/utxorpc/transport/listener.ts";

const EXPOSED = "grpc-status, grpc-message, grpc-status-details-bin, grpc-encoding, connect-content-encoding";
/** How long browsers may remember what is allowed, in seconds. */
const REMEMBERED = "7200";

type Parameters2 = Parameters<BothListener>;

/** Answers requests by a router. */
export function routing(router: ConnectRouter, log: Log): BothListener {
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    // both kinds of request and response have these members; their types do not meet
    const [req, res] = [request, response] as [Parameters2[0] & { headers: Record<string, string> }, Answer];
    res.on("error", () => {});
    allowPages(req.headers, res);
    const handler = handlers.get(req.url?.split("?", 2)[0] ?? "");
    if (req.method === "OPTIONS") return end(res, 204);
    if (!handler) return end(res, 404);
    answer().catch((error) => {
      const { code } = ConnectError.from(error);
      // the client left, or its connection was cut
      if (code === Code.Aborted || code === Code.Canceled || isCut(error)) return;
      log.debug("a request was not answered", { path: handler.requestPath, reason: reason(error) });
      res.destroy();
    });

    async function answer(): Promise<void> {
      // throws for a request without authority
      const universal = universalRequestFromNodeRequest(request, response, undefined, undefined);
      await universalResponseToNodeResponse(await handler!(universal), response);
    }
  };
}

interface Answer {
  setHeader(name: string, value: string): unknown;
  writeHead(status: number): unknown;
  end(): unknown;
  destroy(): unknown;
  on(event: "error", listener: () => void): unknown;
}

function end(response: Answer, status: number): void {
  response.writeHead(status);
  response.end();
}

function allowPages(headers: Record<string, string | undefined>, response: Answer): void {
  if (headers.origin === undefined) return;
  response.setHeader("access-control-allow-origin", "*");
  response.setHeader("access-control-expose-headers", EXPOSED);
  const wanted = headers["access-control-request-headers"];
  if (headers["access-control-request-method"] === undefined) return;
  response.setHeader("access-control-allow-methods", "POST, OPTIONS");
  response.setHeader("access-control-max-age", REMEMBERED);
  if (wanted !== undefined) response.setHeader("access-control-allow-headers", wanted);
}

function isCut(error: unknown): boolean {
  const { message } = ConnectError.from(error);
  return /ECANCELED|ECONNRESET|EPIPE|ERR_HTTP2_INVALID_STREAM|ERR_STREAM/.test(message);
}
