/** Transactions over HTTP: looked up in the ledger, and submitted. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { concernsTokens } from "#src/tokens/pendingTokens.ts";
import * as api from "#src/tokens/api/tokens.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { inTime } from "#src/base/clock.ts";
import type { Failure } from "#src/base/result.ts";
import { readStateAmong } from "#src/tokens/index/read.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { readOutsideLedger } from "#src/chain/pending/outsideLedger.ts";
import { readSubmittedCbor } from "#src/chain/pending/submissions.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import { rebuildPath } from "#src/tokens/http/rebuild.ts";
import { timeHeader as headers, timeOf, type TokenService } from "#src/tokens/http/service.ts";
import { answered } from "#src/tokens/http/status.ts";
import { isSpent, submit } from "#src/chain/pending/submit.ts";
import { transactionView } from "#src/tokens/http/view.ts";
import { transactionWatch } from "#src/tokens/http/watching.ts";
import type { Queries } from "#src/store/store.ts";

/** The state of a token that a refused transaction needs and that is spent; undefined where it was refused for other reasons. */
async function movedState(sql: Queries, { code, details }: Failure, cbor: Uint8Array) {
  if (code !== "refused_by_ledger") return undefined;
  const failures = refusedInputs.safeParse(details);
  if (!failures.success) return undefined;
  const missing = failures.data.flatMap(({ inputs = [] }) => inputs);
  // a mempool names none, because all are spent
  const spent = missing.length === 0 && isSpent(details) ? scanTransaction(cbor).inputs : missing;
  return await readStateAmong(sql, spent.map(refKey));
}

/** The inputs that failures of the ledger name as missing. */
const refusedInputs = z.array(
  z.object({
    name: z.string(),
    inputs: z.array(z.object({ txHash: z.string(), index: z.number() })).optional().catch(undefined),
  }).transform((one) => one.name === "BadInputsUTxO" ? one : { name: one.name }),
);

/** Longest wait for the network, in milliseconds. */
const NETWORK_MS = 5_000;

/** Adds `/transaction`. */
export function transactionRoutes(app: OpenAPIHono, { store, ask, port }: TokenService): void {
  const watch = transactionWatch(store.sql);

  endpoint(app, "get", "/transaction", {
    summary: "A transaction on the ledger",
    description:
      "With `wait`, responds when a block contains the transaction and `depth` blocks follow, or after that time. If no block contains it, " +
      "the 404 has its status in the details: `mempool`, `pending` (submitted here and resubmitted to the network periodically), `rolled_back`, " +
      "`expired`, `refused` (at its submission) or `unknown`. Of an expired or refused one they name the keys that signed it, the transactions that depend on it, and what builds " +
      "it again.",
    query: { txHash: api.txHash, wait: api.waitMs.optional(), depth: api.depth.optional() },
    answer: api.transaction,
    refusals: {
      404: { description: "`transaction_unknown`: not on the ledger (yet)", schema: api.notInLedger },
      503: "`too_many_waiting`",
    },
  }, async ({ query, context }) => {
    const { txHash: hash, wait: longestMs = 0, depth = 0 } = query;
    const found = await watch({ hash, depth, longestMs, signal: context.req.raw.signal });
    if (found) return transactionView(found);
    const known = await readOutsideLedger(store.sql, port, hash);
    const cbor = known.status === "expired" || known.status === "refused"
      ? await readSubmittedCbor(store.sql, hash)
      : undefined;
    const rebuild = cbor && concernsTokens(scanTransaction(cbor)) ? { rebuild: rebuildPath(hash) } : {};
    throw new HttpFailure(
      404,
      "transaction_unknown",
      `404 Not Found: transaction ${hash} is not in the ledger.`,
      { ...known, ...rebuild },
    );
  });

  endpoint(app, "get", "/transaction/:txHash/cbor", {
    summary: "Bytes of a transaction",
    description:
      "Of one that was submitted here and is still kept, or that the network's provider can look up. Who needs to know what an input holds " +
      "computes the hash from the bytes: the answer needs no trust.",
    params: { txHash: api.txHash },
    answer: api.transactionCbor,
    refusals: { 404: "`transaction_unknown`: no bytes of it are known here" },
  }, async ({ params: { txHash } }) => {
    const cbor = await readSubmittedCbor(store.sql, txHash) ??
      await inTime(port.transactionCbor?.(txHash) ?? Promise.resolve(undefined), NETWORK_MS).catch(() => undefined);
    if (cbor) return { txHash, cbor: toHex(cbor) };
    throw new HttpFailure(404, "transaction_unknown", `No bytes of the transaction ${txHash} are known here.`);
  });

  endpoint(app, "post", "/transaction", {
    summary: "Submit a signed transaction",
    body: api.submitBody,
    headers,
    answer: api.submitted,
    refusals: {
      400: "`bad_request`, `malformed_json`, `undecodable`",
      409:
        "`state_moved`: another transaction has spent the token's state that it needs; `details.rebuild` builds it again. `paused`",
      422: "`refused_by_ledger`, with the ledger's failures; `too_large`",
      503: "`unavailable`, `overloaded`, `newer_version`",
    },
  }, async ({ body, context }) => {
    const cbor = fromHex(body.signedTransaction);
    const answer = await submit(ask, cbor, timeOf(context));
    const moved = answer.ok ? undefined : await movedState(store.sql, answer.error, cbor);
    if (!moved) return answered(answer);
    const { hash } = scanTransaction(cbor);
    throw new HttpFailure(
      409,
      "state_moved",
      `The state of the token ${moved.token} has moved: another transaction has spent it. GET ${
        rebuildPath(hash)
      } builds this one again, on the newest state.`,
      { tokenId: moved.token, spent: moved.ref.replace("#", "-"), txHash: hash, rebuild: rebuildPath(hash) },
    );
  });
}
