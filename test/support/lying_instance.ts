/** An instance in front of an honest one that tells lies where a test has it do so; everything else, streams too, goes through. */
import { type Listener, serve } from "#src/edge/serve.ts";

/** What an instance makes of an answer; undefined where it stays as it is. `honest` asks the one behind it. */
export type Lie = (
  asked: { readonly method: string; readonly path: string; readonly body: unknown },
  // deno-lint-ignore no-explicit-any
  answer: any,
  honest: (method: string, path: string, body?: unknown) => Promise<unknown>,
) => Promise<unknown>;

export interface LyingInstance {
  readonly url: string;
  lie: Lie | undefined;
  stop(): Promise<void>;
}

export async function startLying(honestUrl: string): Promise<LyingInstance> {
  const honest = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const sent = body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    return await (await fetch(honestUrl + path, { method, ...sent })).json();
  };
  const instance: { lie: Lie | undefined } = { lie: undefined };
  const listener: Listener = await serve({
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const path = pathname + search;
      const sent = request.method === "GET" ? undefined : await request.text();
      const asked = new Headers(request.headers);
      for (const name of ["host", "connection", "content-length", "accept-encoding"]) asked.delete(name);
      const answer = await fetch(honestUrl + path, {
        method: request.method,
        headers: asked,
        signal: request.signal,
        ...(sent === undefined ? {} : { body: sent }),
      });
      const headers = new Headers(answer.headers);
      for (const name of ["content-length", "content-encoding", "transfer-encoding", "connection"]) {
        headers.delete(name);
      }
      const isJson = headers.get("content-type")?.startsWith("application/json");
      if (!instance.lie || !isJson || !answer.ok) {
        return new Response(answer.body, { status: answer.status, headers });
      }
      const text = await answer.text();
      const body = sent === undefined ? undefined : JSON.parse(sent);
      const told = await instance.lie({ method: request.method, path, body }, JSON.parse(text), honest);
      return new Response(told === undefined ? text : JSON.stringify(told), { status: answer.status, headers });
    },
  }, { host: "127.0.0.1", port: 0 });
  return Object.assign(instance, { url: `http://127.0.0.1:${listener.port}`, stop: () => listener.stop() });
}
