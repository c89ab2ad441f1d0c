/** The endpoints with which a signing service signs, beside those that it has from the token service. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/signer/api/signer.ts";
import { outputRef, submitted, tokenId } from "#src/tokens/api/tokens.ts";
import type { Json } from "#src/base/json.ts";
import { fail } from "#src/base/result.ts";
import { decodeDatum } from "#src/contract/datum.ts";
import { cageScripts } from "#src/contract/script.ts";
import { hexAddressText } from "#src/cardano/address.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import { atPoint, readAvailable } from "#src/chain/pending/spendable.ts";
import { ensureWatched } from "#src/chain/index/watchedAddresses.ts";
import { refusalOf } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import type { SignerEdgeOptions } from "#src/signer/http/options.ts";
import { type Sending, signerSend } from "#src/signer/http/send.ts";
import { BUILDING, GONE, timeHeader, timeOf, type TokenService } from "#src/tokens/http/service.ts";
import { answered } from "#src/tokens/http/status.ts";
import { refRow, refText } from "#src/tokens/http/view.ts";
import { transactionWatch } from "#src/tokens/http/watching.ts";
import { onceHeader } from "#src/wallets/http/idempotency.ts";

/** How long the answer to a top-up waits for the index, in milliseconds. */
const TOPUP_MS = 2_000;
const ONCE = "`request_in_progress`, `idempotency_key_reused`, `wallet_passphrase_differs`, `paused`";
const SENDING = {
  ...BUILDING,
  422: "`not_enough_money`, `too_large`, `script_refused`, `not_evaluated`, `refused_by_ledger`",
};
const headers = { ...onceHeader, ...timeHeader };
const faucetRefusal = refusalOf({ bad_amount: 400, no_faucet: 501, faucet_unavailable: 503 });

/** Sends what a build of a token's actor gives. */
type SendOf = (
  sending: Omit<Sending, "build">,
  prepare: () => Promise<{ readonly token: string; readonly name: string; readonly input: Record<string, Json> }>,
) => Promise<ScannedTransaction>;

/** Adds `/wallet`, and the changes of `/token` and `/request`. */
export function signerRoutes(app: OpenAPIHono, service: SignerEdgeOptions, tokens: TokenService): void {
  const { wallet } = service;
  const watch = transactionWatch(service.store.sql);
  const send = signerSend(service, watch);
  const sendOf: SendOf = (sending, prepare) =>
    send({
      ...sending,
      build: async (deadlineMs) => {
        const { token, name, input } = await prepare();
        return await service.build({ kind: "token", id: token }, name, { address: wallet.address, ...input }, {
          deadlineMs,
        });
      },
    });

  walletRoutes(app, service, watch);

  endpoint(app, "post", "/token", {
    summary: "Create a token of the wallet",
    body: api.bootBody,
    headers,
    answer: api.booted,
    refusals: { 403: "`not_owner`", ...SENDING, 409: ONCE },
  }, async ({ body = {}, context }) => {
    if (body.owner !== undefined && body.owner !== wallet.owner) {
      throw new HttpFailure(403, "not_owner", "Tokens of this service belong to its wallet, and to no other owner.");
    }
    const sent = await send({
      context,
      body,
      build: (deadlineMs) => service.boot({ address: wallet.address, wallet: null }, Date.now() + deadlineMs),
    });
    return { tokenId: bootedIn(sent) };
  });

  requestRoutes(app, tokens, sendOf);
  ownerRoutes(app, tokens, sendOf);
}

/** The wallet, and payments to it. */
function walletRoutes(
  app: OpenAPIHono,
  { store, wallet, wake, faucet }: SignerEdgeOptions,
  watch: ReturnType<typeof transactionWatch>,
): void {
  const walletAddress = hexAddressText(wallet.address);
  if (walletAddress === undefined) throw new TypeError("the wallet's address is no address");

  endpoint(app, "get", "/wallet", {
    summary: "The wallet of this service",
    answer: api.wallet,
    refusals: { 409: "`wallet_passphrase_differs`", 503: "`unavailable`, `index_behind`, `network_unreachable`" },
  }, async ({ context }) => {
    await wallet.open();
    answered(await ensureWatched(store, [wallet.address], wake, Date.now() + timeOf(context)));
    const { value: available } = await atPoint(store, (sql) => readAvailable(sql, wallet.address));
    const { owner } = wallet;
    return {
      ...{ walletAddress, address: walletAddress, signerHash: owner, owner },
      utxos: available.map(({ utxo }) => utxoView(utxo)),
    };
  });

  endpoint(app, "put", "/wallet/topup", {
    summary: "Pay ada from the network's faucet to the wallet",
    description: "The ada are spendable within two blocks. A repeated request pays again.",
    body: api.topupBody,
    answer: api.toppedUp,
    refusals: {
      400: "`bad_request`, `malformed_json`, `bad_amount`",
      501: "`no_faucet`: the network has none",
      503: "`faucet_unavailable`, `unavailable`",
    },
  }, async ({ body: { amount }, context }) => {
    const paid = faucet
      ? await faucet.topup(walletAddress, amount)
      : fail("no_faucet", "This network has no faucet: pay the address of GET /wallet.");
    if (!paid.ok) throw faucetRefusal(paid.error);
    const hash = paid.value;
    if (hash !== undefined) await watch({ hash, depth: 0, longestMs: TOPUP_MS, signal: context.req.raw.signal });
    return { message: "Top up successful" };
  });
}

/** Requests to change a fact, and their retraction. */
function requestRoutes(app: OpenAPIHono, tokens: TokenService, sendOf: SendOf): void {
  endpoint(app, "post", "/token/:tokenId/request", {
    summary: "Request a change of a fact, paid by the wallet",
    description: "The answer is the request's id, a JSON string.",
    params: { tokenId },
    query: api.requestQuery,
    body: api.changeBody,
    headers,
    answer: api.requestRef,
    refusals: {
      ...GONE,
      ...SENDING,
      409:
        "unless `force` is set `fact_exists`, `fact_missing`, `fact_differs`: the request could not be applied once the open and " +
        `pending ones are; \`token_quarantined\`, \`token_pending\`, ${ONCE}`,
    },
  }, async ({ params: { tokenId: token }, query: { force = false }, body, context }) => {
    const sent = await sendOf({ context, body: force ? { ...body, force } : body }, async () => {
      await tokens.buildable(token);
      return { token, name: "request", input: { ...body, applicable: !force } };
    });
    return requestIn(sent);
  });

  endpoint(app, "delete", "/request/:outputRef", {
    summary: "Retract a request of the wallet",
    params: { outputRef },
    headers,
    answer: api.retracted,
    refusals: { 403: "`not_owner`", 404: "`request_unknown`", ...SENDING, 409: `\`request_pending\`, ${ONCE}` },
  }, async ({ params: { outputRef: ref }, context }) => {
    const { hash } = await sendOf({ context, body: {}, after: [hashOf(ref)] }, async () => {
      const request = refRow(ref);
      return { token: await tokens.tokenOf(request), name: "retract", input: { request } };
    });
    return { txHash: hash, value: null };
  });
}

/** What the wallet does as the owner of a token: apply requests, and end it. */
function ownerRoutes(app: OpenAPIHono, tokens: TokenService, sendOf: SendOf): void {
  endpoint(app, "put", "/token/:tokenId", {
    summary: "Apply requests to a token of the wallet",
    params: { tokenId },
    body: api.applyBody,
    headers,
    answer: api.applied,
    refusals: {
      403: "`not_owner`",
      ...GONE,
      ...SENDING,
      409: `\`requests_fail\`, with a reason for each; \`token_quarantined\`, \`token_pending\`, ${ONCE}`,
    },
  }, async ({ params: { tokenId: token }, body, context }) => {
    const requests = [...new Set(body.requestIds)];
    const sent = await sendOf({ context, body: { requests }, after: requests.map(hashOf) }, async () => {
      await tokens.buildable(token);
      return { token, name: "update", input: { requests: requests.map(refRow), dryRun: false } };
    });
    return { txHash: sent.hash, value: rootIn(sent) };
  });

  endpoint(app, "delete", "/token/:tokenId", {
    summary: "End a token of the wallet",
    params: { tokenId },
    headers,
    answer: submitted,
    refusals: { 403: "`not_owner`", ...GONE, ...SENDING, 409: `\`token_pending\`, ${ONCE}` },
  }, async ({ params: { tokenId: token }, context }) => {
    const { hash } = await sendOf({ context, body: {} }, async () => {
      await tokens.buildable(token);
      return { token, name: "end", input: {} };
    });
    return { txHash: hash };
  });
}

const hashOf = (ref: string): string => ref.slice(0, 64);

/** An output in the form of Mesh, which the wallets of this API have. */
function utxoView({ ref, output: { address, value } }: Utxo) {
  return {
    input: { outputIndex: ref.index, txHash: ref.txHash },
    output: {
      address: hexAddressText(address) ?? address,
      amount: [
        { unit: "lovelace", quantity: String(value.lovelace) },
        ...[...value.assets].map(([unit, quantity]) => ({ unit, quantity: String(quantity) })),
      ],
    },
  };
}

/** The token that a transaction of this service creates. */
function bootedIn({ mint }: ScannedTransaction): string {
  const asset = [...mint.keys()].find((one) => cageScripts.some(({ hash }) => hash === policyOf(one)));
  if (asset === undefined) throw new TypeError("the transaction creates no token");
  return nameOf(asset);
}

/** What an output of a transaction says to the contract, with its index. */
function datumIn({ outputs }: ScannedTransaction, type: "request" | "state") {
  for (const [index, { datum }] of outputs.entries()) {
    const read = datum && decodeDatum(datum);
    if (read?.type === type) return { index, read };
  }
  throw new TypeError(`the transaction has no output for a ${type}`);
}

function requestIn(transaction: ScannedTransaction): string {
  return refText({ txHash: transaction.hash, index: datumIn(transaction, "request").index });
}

function rootIn(transaction: ScannedTransaction): string {
  const { read } = datumIn(transaction, "state");
  if (read.type !== "state") throw new TypeError("the transaction has no state");
  return read.state.root;
}
