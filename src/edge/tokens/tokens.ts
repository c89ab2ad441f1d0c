/** Tokens over HTTP, as the ledger has them. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/api/tokens.ts";
import { readNewestToken } from "#actors/pendingTokens.ts";
import { countRequests, readRequests, readTokens } from "#src/cage/index/read.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { endpoint } from "#src/edge/route.ts";
import { GONE, tokenGone, type TokenService } from "#src/edge/tokens/service.ts";
import { statusView, tokenLine, tokenView, writerOf } from "#src/edge/tokens/view.ts";

/** Adds `/tokens` and `/token/{tokenId}`. */
export function tokenRoutes(app: OpenAPIHono, { store, networkId }: TokenService): void {
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
      description: "As the ledger has it; `pending` is the state on which builds stand.",
      params: { tokenId: api.tokenId },
      query: {
        encoding: api.encoding,
        requests: api.flag.optional().meta({
          type: "boolean",
          description: "Whether the open requests are listed; default true.",
        }),
      },
      answer: api.token,
      refusals: GONE,
    },
    async ({ params: { tokenId }, query: { encoding, requests: listed = true } }) => {
      const { value: [requests, count, newest] } = await atPoint(
        store,
        (sql) =>
          Promise.all([
            listed ? readRequests(sql, tokenId) : [],
            countRequests(sql, tokenId),
            readNewestToken(sql, tokenId, networkId),
          ]),
      );
      const { ledger } = newest;
      if (!("state" in ledger)) throw tokenGone(tokenId, ledger.status);
      return tokenView(ledger.state, requests, count, newest, writerOf(encoding));
    },
  );
}
