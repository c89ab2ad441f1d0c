/** Requests with their outcome, and values of a key over time, over HTTP: also of tokens that have ended. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import { historyQuery, pastRequest, timeline, timelineQuery, tokenHistory } from "#src/tokens/api/tokenFacts.ts";
import { anyFactHistory, provedHistoryQuery } from "#src/tokens/api/keyHistory.ts";
import * as api from "#src/tokens/api/tokens.ts";
import { toHex } from "#src/base/bytes.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import { readTokenPoint } from "#src/tokens/index/factPages.ts";
import { type HistoryQuery, type PastRequest, readHistory, readPastRequest } from "#src/tokens/index/history.ts";
import { readTimeline, type TimelineEntry } from "#src/tokens/index/timeline.ts";
import { bytesText } from "#src/contract/text.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { afterIn, linkNext } from "#src/http/paging.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import { provedHistory } from "#src/tokens/http/keyHistory.ts";
import { timeHeader, tokenGone, type TokenService } from "#src/tokens/http/service.ts";
import { factKeyIn, queryBytes } from "#src/tokens/http/factKey.ts";
import { rolledBack } from "#src/tokens/http/factRoutes.ts";
import { changeView, refRow, refView, type WriteBytes, writerOf } from "#src/tokens/http/view.ts";
import { digest } from "#src/forestry/hash.ts";

/** Why histories outlive a token. */
const ALSO_ENDED =
  "Also of a token that has ended: it has no facts any more, but the ledger keeps the requests that made them, and anybody can read them there.";

const refusals = {
  404: "`token_unknown`",
  409: "`rolled_back`: the state of `after` is no longer on the chain",
};

/** Cursor of a timeline. */
const place = z.object({ slot: z.int(), position: z.int(), ref: z.string() });

/** A page of a token's requests, with the token's status; adds the `Link` to the next page. */
async function pageOf(
  { store }: TokenService,
  c: Context,
  query: HistoryQuery,
  { limit, after }: { limit: number; after?: string | undefined },
) {
  const ref = afterIn(after, z.object({ request: z.string() }))?.request;
  const { value: { token, page } } = await atPoint(store, async (sql) => ({
    token: await readTokenPoint(sql, query.token),
    page: await readHistory(sql, query, ref, limit),
  }));
  if (token.status === "unknown") throw tokenGone(query.token, token.status);
  if (!page) throw rolledBack();
  linkNext(c, page.next === undefined ? undefined : { request: page.next });
  return { status: token.status, requests: page.requests };
}

/** Adds `/token/{tokenId}/timeline`, `/token/{tokenId}/history`, `/token/{tokenId}/requests/{outputRef}` and `/token/{tokenId}/facts/{key}/history`. */
export function historyRoutes(app: OpenAPIHono, service: TokenService): void {
  const { store } = service;

  endpoint(app, "get", "/token/:tokenId/history", {
    summary: "Requests of a token, with their status",
    description: ALSO_ENDED,
    params: { tokenId: api.tokenId },
    query: historyQuery,
    answer: tokenHistory,
    refusals,
  }, async ({ params: { tokenId }, query, context }) => {
    const key = queryBytes(context.req.url, "key", query.encoding);
    const { status, owner } = query;
    const wanted = { token: tokenId, owner, status, path: key && toHex(digest(key)) };
    const found = await pageOf(service, context, wanted, query);
    const write = writerOf(query.encoding);
    return { tokenId, status: found.status, requests: found.requests.map((one) => requestView(one, write)) };
  });

  endpoint(app, "get", "/token/:tokenId/timeline", {
    summary: "What happened to a token and its requests",
    description: ALSO_ENDED,
    params: { tokenId: api.tokenId },
    query: timelineQuery,
    answer: timeline,
    refusals: { 404: refusals[404] },
  }, async ({ params: { tokenId }, query: { limit, after, encoding }, context }) => {
    const { value: [token, page] } = await atPoint(
      store,
      (sql) => Promise.all([readTokenPoint(sql, tokenId), readTimeline(sql, tokenId, afterIn(after, place), limit)]),
    );
    if (token.status === "unknown") throw tokenGone(tokenId, token.status);
    linkNext(context, page.next && { ...page.next });
    const write = writerOf(encoding);
    return { tokenId, status: token.status, entries: page.entries.map((one) => entryView(one, write)) };
  });

  endpoint(app, "get", "/token/:tokenId/requests/:outputRef", {
    summary: "A request, open or ended",
    params: { tokenId: api.tokenId, outputRef: api.outputRef },
    query: { encoding: historyQuery.encoding },
    answer: pastRequest,
    refusals: { 404: "`request_unknown`" },
  }, async ({ params: { tokenId, outputRef }, query: { encoding } }) => {
    const found = await readPastRequest(store.sql, tokenId, refRow(outputRef));
    if (!found) throw new HttpFailure(404, "request_unknown", `Token ${tokenId} has no request ${outputRef}.`);
    return requestView(found, writerOf(encoding));
  });

  for (const path of ["/token/:tokenId/facts/:key/history", "/token/:tokenId/facts//history"]) {
    endpoint(app, "get", path, {
      summary: path.includes(":key") ? "Values of a key" : "Values of the empty key",
      description: ALSO_ENDED,
      params: { tokenId: api.tokenId, ...(path.includes(":key") ? { key: z.string() } : {}) },
      query: provedHistoryQuery,
      headers: timeHeader,
      answer: anyFactHistory,
      refusals: {
        404: "`token_unknown`, `not_logged`: with `proof`, the log has not all of these states",
        409:
          "`rolled_back`: the state of `after` is no longer on the chain; `token_quarantined`: with `proof`, the facts of these states are not verified",
        413: "`answer_too_large`",
        503: "`overloaded`, `deadline`, `crashed`",
      },
    }, async ({ params: { tokenId }, query, context }) => {
      const requested = factKeyIn(context.req.url, query.encoding);
      if (query.proof) return await provedHistory(service, context, tokenId, requested, query);
      if (query.from !== undefined || query.to !== undefined) {
        throw new HttpFailure(400, "bad_request", "from and to go with proof alone.");
      }
      const wanted = { token: tokenId, path: toHex(requested.path), status: "applied" } as const;
      const { status, requests } = await pageOf(service, context, wanted, query);
      const key = requested.key ?? requests[0]?.key;
      const named = key && { key: bytesText(key), keyHex: toHex(key) };
      return { tokenId, ...named, status, history: requests.map(factChangeView) };
    });
  }
}

const closedView = ({ slot, tx }: NonNullable<PastRequest["closed"]>) => ({ slot, txHash: tx ?? null });

function requestView(request: PastRequest, write: WriteBytes) {
  const { ref, owner, key, operation, lovelace, fee, slot, status, closed } = request;
  return {
    ...refView(parseRefKey(ref)),
    owner,
    change: changeView(key, operation, write),
    lovelace,
    fee,
    status,
    opened: { slot, txHash: parseRefKey(ref).txHash },
    closed: closed && closedView(closed),
  };
}

function entryView({ type, slot, tx, owner, request }: TimelineEntry, write: WriteBytes) {
  return {
    ...{ type, slot, txHash: tx ?? null, owner },
    ...(request && {
      outputRefId: request.ref.replace("#", "-"),
      change: changeView(request.key, request.operation, write),
      lovelace: request.lovelace,
      fee: request.fee,
    }),
  };
}

function factChangeView({ ref, owner, key, operation, closed }: PastRequest) {
  const change = changeView(key, operation);
  return {
    ...change,
    value: operation.type === "delete" ? null : change.value,
    valueHex: operation.type === "delete" ? null : toHex(operation.value),
    ...(operation.type === "insert"
      ? {}
      : { oldValueHex: toHex(operation.type === "update" ? operation.old : operation.value) }),
    ...(closed && closedView(closed)),
    ...refView(parseRefKey(ref)),
    owner,
  };
}
