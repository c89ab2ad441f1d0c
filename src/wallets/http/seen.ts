/** `GET …/{walletId}/transactions-seen`: payments that stand in the network's mempool. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { walletId } from "#src/wallets/api/params.ts";
import { SEEN_MOST, seenTransaction } from "#src/wallets/api/seen.ts";
import { page } from "#src/wallets/api/wallets.ts";
import { unsupported } from "#src/chain/provider/answer.ts";
import type { Eras } from "#src/cardano/eras.ts";
import { assetViews, lovelace } from "#src/wallets/http/amountViews.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { afterIn, linkNext } from "#src/http/paging.ts";
import { route } from "#src/wallets/http/route.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { answered } from "#src/wallets/http/status.ts";
import { blockView, expectedSlotView } from "#src/wallets/http/times.ts";
import { type ListedPayment, readSeen } from "#src/wallets/seen/rows.ts";

/** Lists the payments of a kind of wallets. */
export function seenRoutes(app: OpenAPIHono, service: WalletService, served: ServedKind): void {
  const { store, port } = service;
  const { prefix, named } = served;
  route(app, "get", `/${prefix}/:walletId/transactions-seen`, {
    operation: `list${named}SeenTransactions`,
    summary: "Transactions of the network's mempool that concern the wallet and that no block holds yet, oldest first",
    description: "An entry disappears when a block holds the transaction, or when it leaves the mempool without one. " +
      `A page has at most ${SEEN_MOST} entries.`,
    params: { walletId },
    query: page,
    answer: seenTransaction.array(),
    refusals: { 501: "`query_unsupported`" },
  }, async ({ params: { walletId: id }, query, context }) => {
    const { n: after } = afterIn(query.after, z.object({ n: z.int() })) ?? { n: 0 };
    await served.require(id);
    if (port.guarantees.some(({ query, holds }) => query === "mempool" && holds === "not at all")) {
      return answered(unsupported("The provider does not list the mempool's transactions."));
    }
    const limit = Math.min(query.limit ?? SEEN_MOST, SEEN_MOST);
    const payments = await readSeen(store.sql, id, { after, limit: limit + 1 });
    const eras = await service.eras(payments.at(-1)?.at.slot);
    const next = payments.length > limit ? payments[limit - 1] : undefined;
    linkNext(context, next && { n: next.n });
    return payments.slice(0, limit).map((payment) => seenView(payment, eras));
  });
}

/** A payment as the API shows it. */
function seenView(payment: ListedPayment, eras: Eras) {
  const { hash, direction, amount, assets, addresses, cut, validTo, at } = payment;
  return {
    id: hash,
    direction,
    amount: lovelace(amount),
    assets: assetViews(assets),
    addresses,
    ...(cut ? { incomplete: true } : {}),
    seen_at: blockView(eras, at),
    expires_at: validTo === undefined ? undefined : expectedSlotView(eras, validTo),
  };
}
