/** Single parts of the operator service, on a free port. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { silentLog } from "#src/base/log.ts";
import { handleErrors } from "#src/http/errors.ts";
import type { OperatorPart } from "#src/operators/http/app.ts";
import { type Listener, serve } from "#src/http/serve.ts";

/** Serves some parts without the guard; the OpenAPI document is at /openapi.json. */
export async function serveParts(...parts: readonly OperatorPart[]): Promise<Listener & { readonly url: string }> {
  const app = new OpenAPIHono();
  handleErrors(app, silentLog);
  for (const part of parts) part(app);
  app.doc31("/openapi.json", { openapi: "3.1.0", info: { title: "parts", version: "1" } });
  const listener = await serve(app, { host: "127.0.0.1", port: 0 });
  return { ...listener, url: `http://127.0.0.1:${listener.port}` };
}
