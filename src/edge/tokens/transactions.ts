/** Transactions over HTTP: looked up in the ledger, and submitted. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/api/tokens.ts";
import { fromHex } from "#src/base/bytes.ts";
import { findTransaction } from "#src/chain/transactions.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { endpoint } from "#src/edge/route.ts";
import { type Desk, timeHeader as headers, timeOf } from "#src/edge/tokens/desk.ts";
import { refusal } from "#src/edge/tokens/status.ts";
import { submit } from "#src/edge/tokens/submit.ts";
import { transactionView } from "#src/edge/tokens/view.ts";

/** Adds `/transaction`. */
export function transactionRoutes(app: OpenAPIHono, { store, ask }: Desk): void {
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
    const answer = await submit(ask, fromHex(body.signedTransaction), timeOf(context));
    if (!answer.ok) throw refusal(answer.error);
    return answer.value;
  });
}
