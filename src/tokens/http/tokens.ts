/** Tokens over HTTP, as the ledger has them. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { after, limit, MOST } from "#src/tokens/api/tokenFacts.ts";
import * as answers from "#src/tokens/api/provedAnswers.ts";
import * as api from "#src/tokens/api/tokens.ts";
import { readNewestToken } from "#src/tokens/pendingTokens.ts";
import { countRequests, readRequests, readTokens } from "#src/tokens/index/read.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { refKey } from "#src/cardano/output.ts";
import { afterIn, linkNext } from "#src/http/paging.ts";
import { endpoint } from "#src/http/route.ts";
import { provedToken, provedTokens, PROVING } from "#src/tokens/http/provedAnswers.ts";
import { GONE, tokenGone, type TokenService } from "#src/tokens/http/service.ts";
import { statusView, tokenLine, tokenView, writerOf } from "#src/tokens/http/view.ts";

/** Adds `/tokens` and `/token/{tokenId}`. */
export function tokenRoutes(app: OpenAPIHono, service: TokenService): void {
  const { store, networkId, changesAtTop = false } = service;
  endpoint(app, "get", "/tokens", {
    summary: "All live tokens",
    query: { proof: answers.proof },
    answer: answers.anyTokens,
    refusals: PROVING,
  }, async ({ query: { proof }, context }) => {
    if (proof) return await service.limited(context, () => provedTokens(service));
    const [all, cursor] = await Promise.all([readTokens(store.sql), readCursor(store.sql)]);
    return { tokens: all.map(tokenLine), indexerStatus: statusView(cursor) };
  });

  endpoint(
    app,
    "get",
    "/token/:tokenId",
    {
      summary: "A token with its open requests",
      description:
        "As the ledger has it; `pending` is the state on which builds stand. The open requests are in the order of their output references. " +
        'With more than `limit`, the header `Link` (`rel="next"`) is the URL of the next page, which has the same token with the next ones.',
      params: { tokenId: api.tokenId },
      query: {
        encoding: api.encoding,
        requests: api.flag.optional().meta({
          type: "boolean",
          description: "Whether the open requests are listed; default true.",
        }),
        limit: limit.default(MOST).meta({
          type: "integer",
          minimum: 1,
          maximum: MOST,
          default: MOST,
          description: "Maximum number of open requests in the response; `counts.requests` is the number of all.",
        }),
        after,
        proof: answers.proof,
      },
      answer: changesAtTop ? answers.anySignedToken : answers.anyToken,
      refusals: { ...GONE, ...PROVING },
    },
    async ({ params: { tokenId }, query: { encoding, requests: listed = true, limit, after, proof }, context }) => {
      if (proof) return await service.limited(context, () => provedToken(service, tokenId));
      const from = afterIn(after, z.object({ request: z.string().regex(/^[0-9a-f]{64}#\d{1,5}$/) }))?.request;
      const { value: [requests, count, newest] } = await atPoint(
        store,
        (sql) =>
          Promise.all([
            listed ? readRequests(sql, tokenId, { after: from, limit: limit + 1 }) : [],
            countRequests(sql, tokenId),
            readNewestToken(sql, tokenId, networkId),
          ]),
      );
      const { ledger } = newest;
      if (!("state" in ledger)) throw tokenGone(tokenId, ledger.status);
      const page = requests.slice(0, limit);
      const last = page.at(-1);
      linkNext(context, last && requests.length > limit ? { request: refKey(last.utxo.ref) } : undefined);
      return tokenView(ledger.state, page, count, newest, writerOf(encoding), changesAtTop);
    },
  );
}
