/** The operator service in front of a cluster of worker processes, and a client for it. */
import { request } from "node:http";
import { expect } from "vitest";
import type { ZodType } from "zod";
import { parseJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import type { AttentionSources } from "#src/operators/http/attention.ts";
import { operatorApi } from "#src/operators/http/api.ts";
import type { Lookups } from "#src/operators/http/lookups.ts";
import { operatorApp, type OperatorOptions } from "#src/operators/http/app.ts";
import { rollbackEndpoint } from "#src/operators/http/rollback.ts";
import { serve } from "#src/http/serve.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

/** A response of the service. */
export interface Said {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: unknown;
}

type Headers = { readonly [name: string]: string | undefined };

export interface OperatorClient {
  readonly url: string;
  /** Sends a request; the header that changes require is sent unless `headers` replaces it. */
  call(method: string, path: string, body?: unknown, headers?: Headers): Promise<Said>;
  get(path: string): Promise<Said>;
  post(path: string, body?: unknown): Promise<Said>;
  /** The body of a 200 response, which conforms to its schema and has no other members. */
  read<T>(path: string, schema: ZodType<T>): Promise<T>;
  stop(): Promise<void>;
}

/** A client; on Node's own HTTP, which sends any header. */
export function operatorClient(url: string, stop: () => Promise<void> = async () => {}): OperatorClient {
  const call: OperatorClient["call"] = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const given = Object.entries({ "arbor-operator": "1", ...headers });
      const sent = request(url + path, {
        method,
        headers: Object.fromEntries(given.filter((pair): pair is [string, string] => pair[1] !== undefined)),
      }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => text += part);
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: text === "" ? undefined : parseJson(text),
          }));
      });
      sent.on("error", reject);
      sent.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
    });
  const read: OperatorClient["read"] = async (path, schema) => {
    const { status, body } = await call("GET", path);
    expect({ status, body }).toMatchObject({ status: 200 });
    const parsed = schema.parse(body);
    expect(parsed).toEqual(body);
    return parsed;
  };
  return { url, call, read, get: (path) => call("GET", path), post: (path, body) => call("POST", path, body), stop };
}

/** Serves the operator's endpoints on a database and a bus. */
export async function startOperator(
  { store, bus, ask }: { store: Store; bus: Bus; ask: Ask },
  kinds: readonly ActorKind[],
  guard: OperatorOptions["guard"] = { loopback: true },
  index?: Lookups,
  attention: AttentionSources = {},
): Promise<OperatorClient> {
  const parts = [
    operatorApi({ store, bus, ask: ask.ask, kinds, aliveMs: 1_500, log: silentLog, index, attention }),
    rollbackEndpoint(bus),
  ];
  const listener = await serve(operatorApp({ guard, parts, log: silentLog }), { host: "127.0.0.1", port: 0 });
  return operatorClient(`http://127.0.0.1:${listener.port}`, listener.stop);
}
