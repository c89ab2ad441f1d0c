/** Tokens over HTTP, as the ledger has them. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/api/tokens.ts";
import { readRequests, readTokens } from "#src/cage/index/read.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { endpoint } from "#src/edge/route.ts";
import { GONE, type TokenService } from "#src/edge/tokens/service.ts";
import { statusView, tokenLine, tokenView, writerOf } from "#src/edge/tokens/view.ts";

/** Adds `/tokens` and `/token/{tokenId}`. */
export function tokenRoutes(app: OpenAPIHono, { store, alive }: TokenService): void {
  endpoint(app, "get", "/tokens", {
    summary: "All live tokens",
    answer: api.tokens,
  }, async () => {
    const [all, cursor] = await Promise.all([readTokens(store.sql), readCursor(store.sql)]);
    return { tokens: all.map(tokenLine), indexerStatus: statusView(cursor) };
  });

  endpoint(
    app,
    "get",
    "/token/:tokenId",
    {
      summary: "A token with its open requests",
      params: { tokenId: api.tokenId },
      query: { encoding: api.encoding },
      answer: api.token,
      refusals: GONE,
    },
    async ({ params: { tokenId }, query: { encoding } }) =>
      tokenView(await alive(tokenId), await readRequests(store.sql, tokenId), writerOf(encoding)),
  );
}
