/** The client of this service as one ES module for browsers, `/client.js`. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import type { Log } from "#src/base/log.ts";
import type { Builders } from "#src/tokens/builds/jobs.ts";
import { bundledOnce, bundleFor } from "#src/http/clientBundle.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { sending } from "#src/http/pages.ts";
import { endpoint } from "#src/http/route.ts";

/** After a failure, how long none is tried again, in milliseconds. */
const AGAIN_MS = 30_000;
const NAME = "client.js";

/** Adds `/client.js`, made of the module whose URL is `client`. */
export function clientRoutes(
  app: OpenAPIHono,
  { builders, log, client }: { readonly builders: Pick<Builders, "run">; readonly log: Log; readonly client: string },
): void {
  const made = bundledOnce(async () => {
    const bundled = await bundleFor(builders, client);
    if (!bundled.ok) {
      log.error("the browser module cannot be bundled", { code: bundled.error.code, details: bundled.error.details });
    }
    return bundled;
  }, AGAIN_MS);
  endpoint(app, "get", `/${NAME}`, {
    summary: "The client of this service, as an ES module for browsers",
    description:
      '`import { TokenClient, verifyFact } from "/client.js"`. Bundled at the first request; has a strong `ETag`.',
    produces: "text/javascript",
    answer: z.string(),
    refusals: {
      503: "`bundle_unavailable`: this installation cannot bundle the module; other endpoints are not affected",
    },
  }, async ({ context }) => {
    const bundled = await made();
    if (!bundled.ok) {
      const message = "The browser module cannot be bundled; see the log of the service.";
      throw new HttpFailure(503, "bundle_unavailable", message);
    }
    return await sending(new Map([[NAME, bundled.value]]))(context, NAME);
  });
}
