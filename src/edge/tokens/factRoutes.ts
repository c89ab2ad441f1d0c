/** A token's facts over HTTP: all of them, by pages, by key prefix, by contained bytes, or those that changed since a state. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import { anyFacts, factsQuery } from "#src/api/tokenFacts.ts";
import * as api from "#src/api/tokens.ts";
import { toHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import {
  type FactPage,
  type FactQuery,
  readFactPage,
  readStateAt,
  readTokenPoint,
  type StatePoint,
} from "#src/cage/index/factPages.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { blockHashAt } from "#src/chain/index/cursor.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { etagOf, holds } from "#src/edge/etag.ts";
import { JSON_TYPE, respond } from "#src/edge/json.ts";
import { afterIn, linkNext } from "#src/edge/paging.ts";
import { endpoint, type SchemaOutputs } from "#src/edge/route.ts";
import { factsQuarantined, GONE, tokenGone, type TokenService } from "#src/edge/tokens/service.ts";
import { type FactForm, factPieces, factText, PAGE, streamed } from "#src/edge/tokens/facts.ts";
import { queryBytes } from "#src/edge/tokens/factKey.ts";
import { refRow, writerOf } from "#src/edge/tokens/view.ts";
import type { Queries } from "#src/store/store.ts";

type FactsQuery = SchemaOutputs<typeof factsQuery>;

/** The refusal where the chain was rolled back behind a client's state. */
export const rolledBack = () =>
  new HttpFailure(
    409,
    "rolled_back",
    "A rollback has removed the state of the cursor; start again from the first page.",
  );

/** Version of the form of the answers: a new form changes the entity tags. */
const FORM_VERSION = "1";

/** Adds `/token/{tokenId}/facts`. */
export function factRoutes(app: OpenAPIHono, { store, factSlots = false }: TokenService): void {
  endpoint(app, "get", "/token/:tokenId/facts", {
    summary: "The facts of a token",
    description:
      "The `ETag` changes only with the token's state: a request with `If-None-Match` gets a 304 until then.",
    params: { tokenId: api.tokenId },
    query: factsQuery,
    answer: anyFacts,
    refusals: {
      ...GONE,
      409: "`token_quarantined`; `rolled_back`: the state of `since` or `after` is no longer on the chain",
    },
  }, async ({ params: { tokenId: token }, query, context }) => {
    const prefix = queryBytes(context.req.url, "prefix", query.encoding);
    const contains = queryBytes(context.req.url, "contains", query.encoding);
    if (contains !== undefined && query.since !== undefined) {
      throw new HttpFailure(400, "bad_request", "contains and since do not go together.");
    }
    const { at, value: read } = await atPoint(
      store,
      (sql) => readFacts(sql, context, token, query, { prefix, contains }),
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
    linkNext(context, page.next === undefined ? undefined : { state: state.ref, place: page.next });
    if (!form.slots && form.changed === undefined && factQuery.order === "digest") {
      return respond(
        context,
        200,
        Object.fromEntries(page.facts.map(({ key, value }) => [form.write(key), form.write(value)])),
      );
    }
    return context.body(factText(page, form), 200, { "content-type": JSON_TYPE });
  });

  async function readFacts(
    sql: Queries,
    c: Context,
    token: string,
    query: FactsQuery,
    { prefix, contains }: Pick<FactQuery, "prefix" | "contains">,
  ) {
    const now = await readTokenPoint(sql, token);
    if (now.status === "unknown" || now.status === "ended") throw tokenGone(token, now.status);
    if (now.status === "quarantined") throw factsQuarantined(now.reason);
    const cursor = afterIn(query.after, z.object({ state: z.string(), place: z.string() }));
    const state = cursor ? await stateAt(sql, token, cursor.state) : now.state;
    const since = query.since === undefined ? undefined : await slotOf(sql, token, query.since, now.state.slot);
    const slots = query.slots ?? factSlots;
    const etag = etagOf(
      FORM_VERSION,
      token,
      state.root,
      state.ref,
      now.status,
      `${slots} ${query.encoding} ${query.limit} ${query.since} ${cursor?.place} ${prefix && toHex(prefix)} ${
        contains && toHex(contains)
      } ${query.ignoreCase ?? false}`,
      // a rollback may move the same states into other blocks, which only slots show
      slots || since !== undefined ? `${state.slot} ${await blockHashAt(sql, state.slot)}` : "",
    );
    const factQuery: FactQuery = {
      token,
      slot: state.slot,
      prefix,
      contains,
      ignoreCase: query.ignoreCase ?? false,
      since,
      order: prefix !== undefined || contains !== undefined || query.limit !== undefined || cursor ? "key" : "digest",
    };
    if (holds(c, etag)) return { etag, state, query: factQuery };
    const page = await readFactPage(sql, factQuery, cursor?.place, query.limit ?? PAGE);
    if (!page) throw rolledBack();
    return { etag, state, query: factQuery, page: page satisfies FactPage };
  }
}

async function stateAt(sql: Queries, token: string, ref: string): Promise<StatePoint> {
  const state = await readStateAt(sql, token, ref);
  if (!state) throw rolledBack();
  return state;
}

/** The slot after which a client needs the changes; `newest` is that of the token's state. */
async function slotOf(sql: Queries, token: string, since: string, newest: number): Promise<number> {
  if (!since.includes("-", 1)) {
    // the client's state is no longer in the chain
    if (Number(since) > newest) throw rolledBack();
    return Number(since);
  }
  const state = await stateAt(sql, token, refRow(since));
  // of a block with several states no row tells which changes came after the first
  return state.superseded ? state.slot - 1 : state.slot;
}

function stateView({ slot, ref, root }: StatePoint) {
  return { slot, outputRefId: ref.replace("#", "-"), root };
}
