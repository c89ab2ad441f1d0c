/** A token's facts over HTTP: all of them, by pages, by key prefix, by contained bytes, or those that changed since a state. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import * as answers from "#src/tokens/api/provedAnswers.ts";
import { factsQuery } from "#src/tokens/api/tokenFacts.ts";
import * as api from "#src/tokens/api/tokens.ts";
import { toHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import {
  endOfBlock,
  type FactPage,
  type FactPlace,
  type FactQuery,
  isEndOfBlock,
  readFactPage,
  readStateAt,
  readStateAtSlot,
  readTokenPoint,
  type StatePoint,
} from "#src/tokens/index/factPages.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { blockHashAt } from "#src/chain/index/cursor.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { etagOf, holds } from "#src/http/etag.ts";
import { JSON_TYPE, respond } from "#src/http/json.ts";
import { afterIn, linkNext } from "#src/http/paging.ts";
import { endpoint, type SchemaOutputs } from "#src/http/route.ts";
import { factsQuarantined, GONE, tokenGone, type TokenService } from "#src/tokens/http/service.ts";
import { type FactForm, factPieces, factText, PAGE, streamed } from "#src/tokens/http/facts.ts";
import { queryBytes } from "#src/tokens/http/factKey.ts";
import { provedFacts, PROVING } from "#src/tokens/http/provedAnswers.ts";
import { refRow, writerOf } from "#src/tokens/http/view.ts";
import type { Queries } from "#src/store/store.ts";

type FactsQuery = SchemaOutputs<typeof factsQuery>;

/** The refusal where a rollback has removed a client's state, or has moved it to where the rows do not tell what was then. */
export const rolledBack = () =>
  new HttpFailure(
    409,
    "rolled_back",
    "A rollback has removed or moved the state of the cursor; start again from the first page.",
  );

/** Version of the form of the answers: a new form changes the entity tags. */
const FORM_VERSION = "2";

/** Where a page of facts begins: its state, the place in it, and the state of `since` (null before the first). */
const factCursor = z.object({ state: z.string(), place: z.string(), since: z.string().nullable().optional() });

/** Adds `/token/{tokenId}/facts`. */
export function factRoutes(app: OpenAPIHono, service: TokenService): void {
  const { store, factSlots = false } = service;
  endpoint(app, "get", "/token/:tokenId/facts", {
    summary: "The facts of a token",
    description:
      "The `ETag` changes only with the token's state: a request with `If-None-Match` gets a 304 until then.",
    params: { tokenId: api.tokenId },
    query: { ...factsQuery, proof: answers.proof },
    answer: answers.anyProvedFacts,
    refusals: {
      ...GONE,
      ...PROVING,
      409:
        "`token_quarantined`; `rolled_back`: the state of `since` or `after` is no longer on the chain, or no longer where it was",
    },
  }, async ({ params: { tokenId: token }, query, context }) => {
    if (query.proof) return await service.limited(context, () => provedFacts(service, token));
    const prefix = queryBytes(context.req.url, "prefix", query.encoding);
    const contains = queryBytes(context.req.url, "contains", query.encoding);
    if (contains !== undefined && query.since !== undefined) {
      throw new HttpFailure(400, "bad_request", "contains and since do not go together.");
    }
    const { at, value: read } = await atPoint(
      store,
      (sql) => readFacts(sql, context, token, { ...query, slots: query.slots ?? factSlots }, { prefix, contains }),
    );
    context.header("etag", read.etag);
    context.header("cache-control", "no-cache");
    if (!read.page) return context.body(null, 304);
    const { page, state, query: factQuery } = read;
    const form: FactForm = {
      slots: query.slots ?? factSlots,
      write: writerOf(query.encoding),
      ...(query.since === undefined ? {} : { changed: toJson(stateView(state)) }),
    };
    if (query.limit === undefined && page.next !== undefined) {
      return streamed(context, factPieces(store, factQuery, page, form, at));
    }
    linkNext(
      context,
      page.next === undefined
        ? undefined
        : { state: state.ref, place: page.next, ...(query.since === undefined ? {} : { since: read.since ?? null }) },
    );
    if (!form.slots && form.changed === undefined && factQuery.order === "digest") {
      return respond(
        context,
        200,
        Object.fromEntries(page.facts.map(({ key, value }) => [form.write(key), form.write(value)])),
      );
    }
    return context.body(factText(page, form), 200, { "content-type": JSON_TYPE });
  });
}

/** The page of facts that a query asks for, with its entity tag; without a page where the client has it. */
async function readFacts(
  sql: Queries,
  c: Context,
  token: string,
  query: FactsQuery & { readonly slots: boolean },
  { prefix, contains }: Pick<FactQuery, "prefix" | "contains">,
) {
  const now = await readTokenPoint(sql, token);
  if (now.status === "unknown" || now.status === "ended") throw tokenGone(token, now.status);
  if (now.status === "quarantined") throw factsQuarantined(now.reason);
  const cursor = afterIn(query.after, factCursor);
  const state = cursor ? await stateAt(sql, token, cursor.state) : now.state;
  // Facts at a state within a block are only known by what changed since another one.
  if (!state.place || (query.since === undefined && !isEndOfBlock(state.place))) throw rolledBack();
  const since = query.since === undefined
    ? undefined
    : await sinceOf(sql, token, cursor?.since === undefined ? query.since : cursor.since ?? "-1", now.state.slot);
  const etag = etagOf(
    FORM_VERSION,
    token,
    state.root,
    state.ref,
    now.status,
    `${query.slots} ${query.encoding} ${query.limit} ${query.since} ${cursor?.place} ${prefix && toHex(prefix)} ${
      contains && toHex(contains)
    } ${query.ignoreCase ?? false}`,
    // a rollback may move the same states into other blocks, which only slots show
    query.slots || since !== undefined ? `${state.slot} ${await blockHashAt(sql, state.slot)}` : "",
  );
  const factQuery: FactQuery = {
    token,
    at: state.place,
    prefix,
    contains,
    ignoreCase: query.ignoreCase ?? false,
    since: since?.place,
    order: prefix !== undefined || contains !== undefined || query.limit !== undefined || cursor ? "key" : "digest",
  };
  if (holds(c, etag)) return { etag, state, since: since?.ref, query: factQuery };
  const page = await readFactPage(sql, factQuery, cursor?.place, query.limit ?? PAGE);
  if (!page) throw rolledBack();
  return { etag, state, since: since?.ref, query: factQuery, page: page satisfies FactPage };
}

async function stateAt(sql: Queries, token: string, ref: string): Promise<StatePoint> {
  const state = await readStateAt(sql, token, ref);
  if (!state) throw rolledBack();
  return state;
}

/**
 * The place after which a client needs the changes, and the state there, if the token existed; `newest` is the slot of the
 * token's state. A slot is the end of its block.
 */
async function sinceOf(
  sql: Queries,
  token: string,
  since: string,
  newest: number,
): Promise<{ readonly place: FactPlace; readonly ref?: string }> {
  if (/[-#]/.test(since.slice(1))) {
    const { place, ref } = await stateAt(sql, token, refRow(since));
    if (!place) throw rolledBack();
    return { place, ref };
  }
  const slot = Number(since);
  // the client's state is no longer in the chain
  if (slot > newest) throw rolledBack();
  const state = await readStateAtSlot(sql, token, slot);
  return { place: endOfBlock(slot), ...(state ? { ref: state.ref } : {}) };
}

function stateView({ slot, ref, root }: StatePoint) {
  return { slot, outputRefId: ref.replace("#", "-"), root };
}
