/**
 * A proxy of an honest instance that falsifies the answers that a test selects; everything else, including streams, is
 * passed through.
 */
import { type Listener, serve } from "#src/http/serve.ts";

/** Replacement of an answer; undefined to leave it unchanged. `honest` requests from the instance behind the proxy. */
export type Falsify = (
  received: { readonly method: string; readonly path: string; readonly body: unknown },
  // deno-lint-ignore no-explicit-any
  answer: any,
  honest: (method: string, path: string, body?: unknown) => Promise<unknown>,
) => Promise<unknown>;

export interface FalsifyingProxy {
  readonly url: string;
  falsify: Falsify | undefined;
  /** The answer in text at a path, in place of the instance's; undefined to leave that unchanged. */
  falsifyText: ((path: string) => string | undefined) | undefined;
  stop(): Promise<void>;
}

export async function startFalsifyingProxy(honestUrl: string): Promise<FalsifyingProxy> {
  const honest = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const sent = body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    return await (await fetch(honestUrl + path, { method, ...sent })).json();
  };
  const instance: Pick<FalsifyingProxy, "falsify" | "falsifyText"> = { falsify: undefined, falsifyText: undefined };
  const listener: Listener = await serve({
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const path = pathname + search;
      const said = instance.falsifyText?.(path);
      if (said !== undefined) return new Response(said, { headers: { "content-type": "text/plain; charset=utf-8" } });
      const sent = request.method === "GET" ? undefined : await request.text();
      const received = new Headers(request.headers);
      for (const name of ["host", "connection", "content-length", "accept-encoding"]) received.delete(name);
      const answer = await fetch(honestUrl + path, {
        method: request.method,
        headers: received,
        signal: request.signal,
        ...(sent === undefined ? {} : { body: sent }),
      });
      const headers = new Headers(answer.headers);
      for (const name of ["content-length", "content-encoding", "transfer-encoding", "connection"]) {
        headers.delete(name);
      }
      const isJson = headers.get("content-type")?.startsWith("application/json");
      if (!instance.falsify || !isJson || !answer.ok) {
        return new Response(answer.body, { status: answer.status, headers });
      }
      const text = await answer.text();
      const body = sent === undefined ? undefined : JSON.parse(sent);
      const replacement = await instance.falsify({ method: request.method, path, body }, JSON.parse(text), honest);
      return new Response(replacement === undefined ? text : JSON.stringify(replacement), {
        status: answer.status,
        headers,
      });
    },
  }, { host: "127.0.0.1", port: 0 });
  return Object.assign(instance, { url: `http://127.0.0.1:${listener.port}`, stop: () => listener.stop() });
}
