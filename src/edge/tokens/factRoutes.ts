/** A token's facts over HTTP. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/api/tokens.ts";
import { readCursor } from "#src/chain/cursor.ts";
import { endpoint } from "#src/edge/route.ts";
import { type Desk, GONE } from "#src/edge/tokens/desk.ts";
import { answerFacts } from "#src/edge/tokens/facts.ts";

/** Adds `/token/{tokenId}/facts`. */
export function factRoutes(app: OpenAPIHono, { store, alive }: Desk): void {
  endpoint(app, {
    method: "get",
    path: "/token/:tokenId/facts",
    summary: "The facts of a token",
    params: { tokenId: api.tokenId },
    answer: api.facts,
    refusals: GONE,
  }, async ({ params, context }) => {
    const { at } = await readCursor(store.sql);
    await alive(params.tokenId);
    return await answerFacts(context, store, params.tokenId, at);
  });
}
