/** The token service over HTTP: every answer from rows, every build and submission from an actor. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import { fromHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import type { Log } from "#src/base/log.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { refKey } from "#src/cardano/output.ts";
import { readRequest, readRequests, readToken, readTokens, type TokenState } from "#src/cage/index/read.ts";
import { readCursor } from "#src/chain/cursor.ts";
import { findTransaction } from "#src/chain/transactions.ts";
import * as api from "#src/api/tokens.ts";
import { mountDocs } from "#src/edge/docs.ts";
import { answerFacts } from "#src/edge/tokens/facts.ts";
import { check, endpoint } from "#src/edge/route.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { publicApp } from "#src/edge/service.ts";
import { refusal } from "#src/edge/tokens/status.ts";
import { submit } from "#src/edge/tokens/submit.ts";
import { refRow, statusView, tokenLine, tokenView, transactionView } from "#src/edge/tokens/view.ts";
import { blockWaiter } from "#src/edge/tokens/wait.ts";
import type { Ask } from "#src/runtime/ask.ts";
import type { Store } from "#src/store/store.ts";

/** What this edge needs of the rest of the house. */
export interface TokenEdgeOptions {
  readonly store: Store;
  /** Network id of the addresses that are accepted. */
  readonly networkId: 0 | 1;
  /** Puts a command to an actor. */
  readonly ask: Ask["ask"];
  /** Asks an actor for a build. */
  readonly build: Ask["build"];
  /** Builds what has no entity yet. `address` is bytes in hexadecimal. */
  boot(address: string, deadline: number): Promise<Result<Json, Failure>>;
  /** Adds what says whether this process lives and is ready. */
  readonly health: (app: OpenAPIHono) => void;
  readonly log: Log;
  /** How long a wait for blocks may take, in ms. */
  readonly longestWaitMs?: number;
}

/** Longest time for a submission or a build. */
const LONGEST_MS = 30_000;
/** Header in which a client says how long it waits. */
const TIMEOUT = "arbor-timeout";
const WAIT_MS = 120_000;
const MAX_REQUESTS = 200;

/** The app; `/openapi.json` describes it, `/docs` shows that to people. */
export function tokenApp(options: TokenEdgeOptions): OpenAPIHono {
  const { store } = options;
  const app = publicApp("tokens", options.log);

  const requester = (text: string): string => {
    const address = parseAddress(text, options.networkId);
    if (!address.ok) throw refusal(address.error);
    const { kind } = address.value;
    if ((kind !== "base" && kind !== "enterprise") || address.value.payment.kind !== "key") {
      throw refusal({
        code: "bad_address",
        message: "An address of a payment key is needed: base or enterprise.",
        details: { reason: "kind" },
      });
    }
    return address.value.hex;
  };
  const alive = async (token: string): Promise<TokenState> => {
    const found = await readToken(store.sql, token);
    if (found.status === "unknown") {
      throw new HttpFailure(404, "token_unknown", `There is no token ${token}.`);
    }
    if (found.status === "ended") throw new HttpFailure(404, "token_ended", `Token ${token} has ended.`);
    return found.state;
  };
  const built = async (context: Context, token: string, name: string, input: Json) => {
    const deadlineMs = timeOf(context);
    const answer = await options.build({ kind: "token", id: token }, name, input, { deadlineMs });
    if (!answer.ok) throw refusal(answer.error);
    return answer.value;
  };
  const building = {
    400: "`bad_request`, `malformed_json`, `bad_address`",
    422: "`not_enough_money`, `too_large`",
    503: "`overloaded`, `unavailable`, `index_behind`, `network_unreachable`, `deadline`, `crashed`",
  };
  // What needs the token's actor.
  const acting = { ...building, 409: "`paused`" };
  const address = { address: api.addressText };
  const headers = { [TIMEOUT]: api.timeLimit.optional() };
  const ofToken = { ...address, tokenId: api.tokenId };

  endpoint(app, {
    method: "get",
    path: "/transaction",
    summary: "A transaction of the ledger",
    query: { txHash: api.txHash },
    answer: api.transaction,
    refusals: { 404: "`transaction_unknown`: not in the ledger (yet)" },
  }, async ({ query }) => {
    const found = await findTransaction(store.sql, query.txHash);
    if (found) return transactionView(found);
    throw new HttpFailure(
      404,
      "transaction_unknown",
      `404 Not Found: transaction ${query.txHash} is not in the ledger.`,
    );
  });

  endpoint(app, {
    method: "post",
    path: "/transaction",
    summary: "Submit a signed transaction",
    body: api.submitBody,
    headers,
    answer: api.submitted,
    refusals: {
      400: "`bad_request`, `malformed_json`, `undecodable`",
      409: "`paused`",
      422: "`refused_by_ledger`, with the ledger's failures; `too_large`",
      503: "`unavailable`, `overloaded`",
    },
  }, async ({ body, context }) => {
    const answer = await submit(options.ask, fromHex(body.signedTransaction), timeOf(context));
    if (!answer.ok) throw refusal(answer.error);
    return answer.value;
  });

  endpoint(app, {
    method: "get",
    path: "/tokens",
    summary: "All tokens that are alive",
    answer: api.tokens,
  }, async () => {
    const [all, cursor] = await Promise.all([readTokens(store.sql), readCursor(store.sql)]);
    return { tokens: all.map(tokenLine), indexerStatus: statusView(cursor) };
  });

  const gone = { 404: "`token_unknown`, `token_ended`" };
  endpoint(app, {
    method: "get",
    path: "/token/:tokenId",
    summary: "A token with its open requests",
    params: { tokenId: api.tokenId },
    answer: api.token,
    refusals: gone,
  }, async ({ params }) => tokenView(await alive(params.tokenId), await readRequests(store.sql, params.tokenId)));

  endpoint(app, {
    method: "get",
    path: "/token/:tokenId/facts",
    summary: "The facts of a token",
    params: { tokenId: api.tokenId },
    answer: api.facts,
    refusals: gone,
  }, async ({ params, context }) => {
    const { at } = await readCursor(store.sql);
    await alive(params.tokenId);
    return await answerFacts(context, store, params.tokenId, at);
  });

  endpoint(app, {
    method: "get",
    path: "/transaction/:address/boot-token",
    summary: "Build the transaction that creates a token",
    params: address,
    headers,
    answer: api.unsignedBoot,
    refusals: building,
  }, async ({ params, context }) => {
    const deadline = Date.now() + timeOf(context);
    const answer = await options.boot(requester(params.address), deadline);
    if (!answer.ok) throw refusal(answer.error);
    return answer.value;
  });

  const requests = [
    ["insert", api.insertBody, "Build a request to add a fact"],
    ["update", api.updateBody, "Build a request to change a fact"],
    ["delete", api.deleteBody, "Build a request to remove a fact"],
  ] as const;
  for (const [type, schema, summary] of requests) {
    endpoint(app, {
      method: "post",
      path: `/transaction/:address/request-${type}/:tokenId`,
      summary,
      params: ofToken,
      body: schema as z.ZodType<{ key: string; newValue?: string; oldValue?: string }>,
      headers,
      answer: api.unsignedRequest,
      refusals: { ...gone, ...building, 409: "`token_quarantined`, `paused`" },
    }, async ({ params, body, context }) => {
      const from = requester(params.address);
      await alive(params.tokenId);
      return await built(context, params.tokenId, "request", { address: from, type, ...body } as Json);
    });
  }

  endpoint(app, {
    method: "get",
    path: "/transaction/:address/retract-change/:outputRef",
    summary: "Build the transaction that takes a request back",
    params: { ...address, outputRef: api.outputRef },
    headers,
    answer: api.unsigned,
    refusals: { 403: "`not_owner`", 404: "`request_unknown`", ...acting },
  }, async ({ params, context }) => {
    const from = requester(params.address);
    const found = await readRequest(store.sql, refRow(params.outputRef));
    if (!found) throw new HttpFailure(404, "request_unknown", `There is no open request ${params.outputRef}.`);
    return await built(context, found.token, "retract", { address: from, request: refKey(found.utxo.ref) });
  });

  endpoint(app, {
    method: "get",
    path: "/transaction/:address/update-token/:tokenId",
    summary: "Build the transaction that applies requests",
    params: ofToken,
    query: { request: z.array(api.outputRef).max(MAX_REQUESTS).default([]) },
    headers,
    answer: api.unsignedUpdate,
    refusals: {
      403: "`not_owner`",
      ...gone,
      ...building,
      400: "`bad_request`, `bad_address`, `request_missing`",
      409: "`requests_fail`, with a reason for each; `token_quarantined`, `paused`",
    },
  }, async ({ params, query, context }) => {
    const from = requester(params.address);
    const wanted = [...new Set(query.request)];
    if (wanted.length === 0) {
      throw new HttpFailure(
        400,
        "request_missing",
        "Name the requests to apply: ?request=<transaction hash>-<output index>.",
      );
    }
    await alive(params.tokenId);
    return await built(context, params.tokenId, "update", { address: from, requests: wanted.map(refRow) });
  });

  endpoint(app, {
    method: "get",
    path: "/transaction/:address/end-token/:tokenId",
    summary: "Build the transaction that ends a token",
    params: ofToken,
    headers,
    answer: api.unsigned,
    refusals: { 403: "`not_owner`", ...gone, ...acting },
  }, async ({ params, context }) => {
    const from = requester(params.address);
    await alive(params.tokenId);
    return await built(context, params.tokenId, "end", { address: from });
  });

  const waitBlocks = blockWaiter(() => readCursor(store.sql), options.longestWaitMs ?? WAIT_MS);
  const waiting = { 503: "`wait_too_long`" };
  endpoint(app, {
    method: "post",
    path: "/indexer/wait-blocks",
    summary: "Wait until the index has read n more blocks",
    body: api.waitBody,
    answer: api.height,
    refusals: waiting,
  }, ({ body, context }) => waitBlocks(body.n, context.req.raw.signal));
  endpoint(app, {
    method: "get",
    path: "/wait/:n",
    summary: "Wait until the index has read n more blocks",
    params: { n: z.string().regex(/^\d{1,4}$/).transform(Number).pipe(api.waitBody.shape.n) },
    answer: api.height,
    refusals: waiting,
  }, ({ params, context }) => waitBlocks(params.n, context.req.raw.signal));

  options.health(app);
  mountDocs(app);
  app.doc31("/openapi.json", {
    openapi: "3.1.0",
    info: {
      title: "Arbor token service",
      version: "1.0.0",
      description:
        "Authenticated facts on Cardano: unsigned transactions to sign, signed ones to submit, tokens to read.",
    },
  });
  return app;
}

/** How long a call may take, in milliseconds: what the client says it waits, at most `LONGEST_MS`. */
function timeOf(context: Context): number {
  const given = context.req.header(TIMEOUT);
  return given === undefined ? LONGEST_MS : Math.min(check(api.timeLimit, given, `header ${TIMEOUT}`), LONGEST_MS);
}
