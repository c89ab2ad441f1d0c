/** `GET /token/{tokenId}/requests`: open requests by pages, with what would happen to each if they were applied now. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { readNewestToken } from "#src/tokens/pendingTokens.ts";
import * as answers from "#src/tokens/api/provedAnswers.ts";
import { openRequestsQuery } from "#src/tokens/api/tokenFacts.ts";
import * as api from "#src/tokens/api/tokens.ts";
import { countRequests, type PagedRequest, readRequestPage } from "#src/tokens/index/read.ts";
import { readOutlooks, type RequestOutlook } from "#src/tokens/index/warnings.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { refKey } from "#src/cardano/output.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { rolledBack } from "#src/tokens/http/factRoutes.ts";
import { provedRequests, PROVING } from "#src/tokens/http/provedAnswers.ts";
import { tokenGone, type TokenService } from "#src/tokens/http/service.ts";
import { requestView, writerOf } from "#src/tokens/http/view.ts";
import { endpoint } from "#src/http/route.ts";
import { afterIn, linkNext } from "#src/http/paging.ts";

/** Adds `/token/{tokenId}/requests`. */
export function openRequestRoutes(app: OpenAPIHono, service: TokenService): void {
  const { store, networkId, changesAtTop = false } = service;
  endpoint(app, "get", "/token/:tokenId/requests", {
    summary: "Open requests of a token, with what would happen to each if they were applied now",
    description:
      "Also of a token that has ended: what is open then can only be retracted. With `proof` also of one that is unknown here.",
    params: { tokenId: api.tokenId },
    query: { ...openRequestsQuery, proof: answers.proof },
    answer: changesAtTop ? answers.anySignedOpenRequests : answers.anyOpenRequests,
    refusals: {
      ...PROVING,
      404: "`token_unknown`",
      409: "`rolled_back`: the request of `after` is no longer on the chain",
    },
  }, async ({ params: { tokenId }, query: { owner, limit, after, encoding, proof }, context }) => {
    if (proof) return await service.limited(context, () => provedRequests(service));
    const from = afterIn(after, z.object({ request: z.string() }))?.request;
    const { value: { newest, total, found, outlooks } } = await atPoint(store, async (sql) => {
      const [newest, total, found] = await Promise.all([
        readNewestToken(sql, tokenId, networkId),
        countRequests(sql, tokenId),
        readRequestPage(sql, { token: tokenId, owner }, from, limit + 1),
      ]);
      const isLive = newest.after.status === "live";
      return {
        newest,
        total,
        found,
        outlooks: isLive ? await readOutlooks(sql, tokenId, found ?? [], newest) : new Map(),
      };
    });
    const { status } = newest.ledger;
    if (status === "unknown") throw tokenGone(tokenId, status);
    if (!found) throw rolledBack();
    const page = found.slice(0, limit);
    const last = page.at(-1);
    linkNext(context, last && found.length > limit ? { request: refKey(last.utxo.ref) } : undefined);
    const write = writerOf(encoding);
    const requests = page.map((one) => {
      const ref = refKey(one.utxo.ref);
      return {
        ...requestView(one, write, changesAtTop),
        ...openView(one, newest.spent.get(ref), outlooks.get(ref)),
      };
    });
    return { tokenId, status, total, requests };
  });
}

function openView(request: PagedRequest, pending: string | undefined, outlook?: RequestOutlook) {
  const { utxo: { ref, output }, made, fee, refundAddress } = request;
  const address = readAddressHex(refundAddress);
  return {
    refundAddress: address.ok ? addressText(address.value) : refundAddress,
    lovelace: output.value.lovelace,
    fee,
    opened: { slot: made.slot, txHash: ref.txHash },
    ...(pending === undefined ? {} : { pending }),
    ...(outlook && { outlook: outlookView(outlook) }),
  };
}

function outlookView({ failure, older }: RequestOutlook) {
  const named = older === undefined ? {} : { older: older.replace("#", "-") };
  if (!failure) {
    const message = older === undefined
      ? "It would be applied."
      : "It would be applied, after an older request for the same key.";
    return { applies: true, message, ...named };
  }
  const message = older === undefined
    ? failure.message
    : failure.message.replace(/\.$/, " once an older request for it is applied.");
  return { applies: false, code: failure.code, message, ...named };
}
