/** `…/spending-limit`: the lovelace that a wallet may spend in 24 hours. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { walletId } from "#src/wallets/api/params.ts";
import * as api from "#src/wallets/api/spending.ts";
import { lovelace } from "#src/wallets/http/amountViews.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { route } from "#src/wallets/http/route.ts";
import { noSuchWallet, until, type WalletService } from "#src/wallets/http/service.ts";
import { answered } from "#src/wallets/http/status.ts";
import { clearLimit, readSpending, setLimit, spendingTime } from "#src/wallets/spending.ts";

const LOCKED = { 403: "`no_root_key`, `wrong_encryption_passphrase`" };

/** Adds the limit of a kind of wallets. */
export function spendingRoutes(app: OpenAPIHono, service: WalletService, served: ServedKind): void {
  const { store: { sql }, vault } = service;
  const path = `/${served.prefix}/:walletId/spending-limit`;
  const params = { walletId };

  route(app, "get", path, {
    operation: `get${served.named}SpendingLimit`,
    summary: "The spending limit of the wallet, and what counts towards it",
    params,
    answer: api.spendingState,
  }, async ({ params: { walletId: id } }) => {
    await served.require(id);
    const state = await readSpending(sql, id, await spendingTime(service, id));
    if (state === undefined) return {};
    const { perDay, spent } = state;
    return {
      per_day: lovelace(perDay),
      spent: lovelace(spent),
      remaining: lovelace(perDay > spent ? perDay - spent : 0n),
    };
  });

  route(app, "put", path, {
    operation: `put${served.named}SpendingLimit`,
    summary: "Limit the lovelace that may leave the wallet in 24 hours",
    params,
    body: api.limitBody,
    status: 204,
    refusals: LOCKED,
  }, async ({ params: { walletId: id }, body }) => {
    await served.require(id);
    answered(await vault.verify(id, body.passphrase, until()));
    if (!await setLimit(sql, id, body.per_day.quantity)) throw noSuchWallet(id);
  });

  route(app, "delete", path, {
    operation: `delete${served.named}SpendingLimit`,
    summary: "Remove the spending limit of the wallet",
    params,
    body: api.unlimitedBody,
    status: 204,
    refusals: LOCKED,
  }, async ({ params: { walletId: id }, body }) => {
    await served.require(id);
    answered(await vault.verify(id, body.passphrase, until()));
    await sql.begin((sql) => clearLimit(sql, id));
  });
}
