/** `…/addresses/next-unused`: the next address for a payer, shown or reserved. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { reservationBody, reservedAddress, walletAddress } from "#src/wallets/api/addresses.ts";
import { walletId } from "#src/wallets/api/params.ts";
import { readListedPending } from "#src/chain/pending/submissions.ts";
import { walletAddressView } from "#src/wallets/http/holdings.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { route } from "#src/wallets/http/route.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { refusal } from "#src/wallets/http/status.ts";
import { readNextUnused, reserveNextUnused } from "#src/wallets/index/unusedAddress.ts";

/** Adds both for a kind of wallets. */
export function unusedAddressRoutes(app: OpenAPIHono, service: WalletService, served: ServedKind): void {
  const { sql } = service.store;
  const { prefix, named } = served;
  const path = `/${prefix}/:walletId/addresses/next-unused`;
  const refusals = { 403: "`no_unused_address`" };

  route(app, "get", path, {
    operation: `getNextUnused${named}Address`,
    summary: "The next unused receiving address; callers at the same time get the same one",
    params: { walletId },
    answer: walletAddress,
    refusals,
  }, async ({ params: { walletId: id } }) => {
    await served.require(id);
    const found = await readNextUnused(sql, id, await readListedPending(sql, id));
    if (found === undefined) throw noneLeft(named);
    return walletAddressView(found);
  });

  route(app, "post", path, {
    operation: `reserveNextUnused${named}Address`,
    summary: "Reserve the next unused receiving address: every caller gets another one",
    params: { walletId },
    body: reservationBody,
    status: 201,
    answer: reservedAddress,
    refusals,
  }, async ({ params: { walletId: id }, body }) => {
    await served.require(id);
    const pending = await readListedPending(sql, id);
    const reservation = { seconds: body.reserve_for.quantity, reference: body.reference };
    const reserved = await sql.begin((sql) => reserveNextUnused(sql, id, pending, reservation));
    if (reserved === undefined) throw noneLeft(named);
    return { ...walletAddressView(reserved), reserved_until: reserved.until.toISOString() };
  });
}

const noneLeft = (named: ServedKind["named"]) =>
  refusal({
    code: "no_unused_address",
    message: named === "Byron"
      ? "The wallet has no unused address that it made: create one first."
      : "All unused addresses of the wallet's pool are reserved or about to be paid. The wallet does not notice payments to later addresses: " +
        "wait until one is used or a reservation ends, or restore the wallet with a greater address_pool_gap.",
  });
