/**
 * Lost transactions of tokens, built again: the same action on the newest state, for its owner to sign. What a transaction
 * does is read from its summary.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Summary } from "#src/contract/summary/schema.ts";
import * as api from "#src/tokens/api/tokens.ts";
import { toHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { addressText, enterpriseAddress, parseAddress, paymentKeyHash } from "#src/cardano/address.ts";
import { readPendingCbor } from "#src/chain/pending/chains.ts";
import { readSubmittedCbor } from "#src/chain/pending/submissions.ts";
import { findTransaction } from "#src/chain/index/transactions.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { summaryOf, withSummary } from "#src/tokens/http/describe.ts";
import { BUILDING, building, timeOf, type TokenService } from "#src/tokens/http/service.ts";
import { answered } from "#src/tokens/http/status.ts";
import { refRow } from "#src/tokens/http/view.ts";

/** What a transaction of a token does, and for which owner. */
type Action =
  & (
    | { readonly type: "boot" }
    | { readonly type: "request"; readonly token: string; readonly change: Summary["requests"][number]["change"] }
    | {
      readonly type: "update";
      readonly token: string;
      readonly apply: readonly string[];
      readonly refuse: readonly string[];
    }
    | { readonly type: "transfer"; readonly token: string; readonly to: string }
    | { readonly type: "retract"; readonly request: string }
    | { readonly type: "end"; readonly token: string }
  )
  & {
    /** Hash of the key whose signature the contract requires. */
    readonly owner: string;
    /** The owner's address, if the transaction states it. */
    readonly address?: string;
  };

/** Path of the endpoint for a transaction. */
export const rebuildPath = (hash: string): string => `/transaction/${hash}/rebuild`;

/** Adds `/transaction/{txHash}/rebuild`. */
export function rebuildRoutes(app: OpenAPIHono, service: TokenService): void {
  const { networkId, requester, buildable, tokenOf, built, boot } = service;
  building(service)(app, "get", "/transaction/:txHash/rebuild", {
    summary: "Build a lost transaction of a token again",
    description:
      "For a transaction that was submitted here and that the network has refused, or whose last slot has passed: an unsigned transaction that " +
      "does the same on the newest state. An update applies and refuses those of its requests that are still open; `left` has a reason " +
      "for each of the others. Of a chain, build, sign and submit one transaction after the other, in the order of `dependents`.",
    params: { txHash: api.txHash },
    query: { address: api.addressText.optional(), wallet: api.payingWallet.optional() },
    answer: api.rebuilt,
    refusals: {
      403: "`not_owner`, `foreign_address`",
      404:
        "`transaction_unknown`: not submitted here; `token_unknown`, `token_ended`, `request_unknown`, `no_such_wallet`",
      ...BUILDING,
      409:
        "`transaction_not_lost`: in a block or pending; `not_rebuildable`: not of a token; `requests_fail`, `request_pending`, " +
        "`token_pending`, `token_quarantined`, `owner_unchanged`, `paused`",
    },
  }, async ({ params: { txHash }, query, context }) => {
    const deadline = Date.now() + timeOf(context);
    const cbor = await readLost(service, txHash);
    const action = actionOf(await summaryOf(service, toHex(cbor), { deadline }), networkId);
    if (action === undefined) {
      const message = `The transaction ${txHash} is not one that this service builds for a token.`;
      throw new HttpFailure(409, "not_rebuildable", message);
    }
    const key = { kind: "key", hash: action.owner } as const;
    const address = query.address ?? action.address ?? addressText(enterpriseAddress(networkId, key));
    const from = { address: requester(address), wallet: query.wallet ?? null };
    const answer = await make(action, from);
    return isObject(answer) ? { ...answer, replaces: txHash, action: action.type, address } : answer;

    async function make(
      action: Action,
      from: { readonly address: string; readonly wallet: string | null },
    ): Promise<Json> {
      switch (action.type) {
        case "boot":
          return await withSummary(service, answered(await boot(from, deadline)), { deadline, address: from.address });
        case "request": {
          const { type, key, oldValue, newValue } = action.change;
          await buildable(action.token);
          const texts = {
            ...(oldValue === null ? {} : { oldValue }),
            ...(newValue === null ? {} : { newValue }),
          };
          return await built(context, action.token, "request", { ...from, type, key, strict: false, ...texts });
        }
        case "update": {
          await buildable(action.token);
          const [requests, refuse] = [action.apply.map(refRow), action.refuse.map(refRow)];
          return await built(context, action.token, "update", {
            ...from,
            dryRun: false,
            partial: true,
            requests,
            refuse,
          });
        }
        case "transfer":
          await buildable(action.token);
          return await built(context, action.token, "transfer", { ...from, to: action.to });
        case "retract": {
          const request = refRow(action.request);
          return await built(context, await tokenOf(request), "retract", { ...from, request });
        }
        case "end":
          await buildable(action.token);
          return await built(context, action.token, "end", from);
      }
    }
  });
}

/** The bytes of a submitted transaction that is in no block and no longer pending; throws the refusal of another one. */
async function readLost({ store: { sql } }: Pick<TokenService, "store">, hash: string): Promise<Uint8Array> {
  const [settled, pending, cbor] = await Promise.all([
    findTransaction(sql, hash),
    readPendingCbor(sql, hash),
    readSubmittedCbor(sql, hash),
  ]);
  if (settled || pending) {
    const status = settled ? "in_ledger" : "pending";
    const where = settled ? "in a block" : "pending";
    throw new HttpFailure(409, "transaction_not_lost", `The transaction ${hash} is ${where}.`, { status });
  }
  if (!cbor) throw new HttpFailure(404, "transaction_unknown", `No transaction ${hash} was submitted here.`);
  return cbor;
}

/** The one action of a token that a transaction consists of; `undefined` where it has none, or several. */
function actionOf(summary: Summary, network: 0 | 1): Action | undefined {
  const { tokens, requests, retracts } = summary;
  if (tokens.length + requests.length + retracts.length !== 1) return undefined;
  const [token, request, retracted] = [tokens[0], requests[0], retracts[0]];
  if (request) {
    const { tokenId, change, owner, refundAddress: address } = request;
    return { type: "request", token: tokenId, change, owner, address };
  }
  if (retracted) {
    const { outputRef, owner, refundAddress: address } = retracted;
    return { type: "retract", request: outputRef, owner, address };
  }
  if (!token) return undefined;
  const { before, after } = token.owner;
  const owner = before ?? after;
  if (owner === null) return undefined;
  const by = { owner, ...addressOf(summary, owner) };
  if (token.booted) return { type: "boot", ...by };
  if (token.ended) return { type: "end", token: token.tokenId, ...by };
  const refs = (some: Summary["tokens"][number]["applies"]) => some.map(({ outputRef }) => outputRef);
  const [apply, refuse] = [refs(token.applies), refs(token.refuses ?? [])];
  if (apply.length + refuse.length > 0) return { type: "update", token: token.tokenId, apply, refuse, ...by };
  if (after === null || after === owner) return undefined;
  return {
    type: "transfer",
    token: token.tokenId,
    to: enterpriseAddress(network, { kind: "key", hash: after }).hex,
    ...by,
  };
}

/** The first address of a key that a transaction spends from or pays to. */
function addressOf({ spends, pays }: Summary, key: string): { readonly address?: string } {
  const spent = spends.flatMap(({ output }) => output ? [output.address] : []);
  const addresses = [...spent, ...pays.map(({ address }) => address)];
  const address = addresses.find((text) => {
    const parsed = parseAddress(text);
    return parsed.ok && parsed.value.kind !== "reward" && paymentKeyHash(parsed.value.hex) === key;
  });
  return address === undefined ? {} : { address };
}
