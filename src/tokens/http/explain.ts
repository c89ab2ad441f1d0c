/** The summary of any transaction over HTTP, also of one that was built elsewhere; unknown parts are marked as such. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { explainBody, summary } from "#src/contract/summary/schema.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { building, timeOf, type TokenService } from "#src/tokens/http/service.ts";
import { answered } from "#src/tokens/http/status.ts";
import { summaryOf } from "#src/tokens/http/describe.ts";

/** Adds `/transaction/explain`. */
export function explainRoutes(app: OpenAPIHono, service: TokenService): void {
  building(service)(app, "post", "/transaction/explain", {
    summary: "Summarise what a signed or unsigned transaction does",
    body: explainBody,
    answer: summary,
    refusals: {
      400: "`bad_request`, `malformed_json`, `bad_address`, `undecodable`",
      503: "`overloaded`, `deadline`, `crashed`",
    },
  }, async ({ body, context }) => {
    const deadline = Date.now() + timeOf(context);
    const address = body.address === undefined
      ? undefined
      : answered(parseAddress(body.address, service.networkId)).hex;
    return await summaryOf(service, body.transaction, { deadline, address });
  });
}
