/** `…/consolidations`: merges small outputs of a wallet into few; planned first, then done. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { z } from "zod";
import { planConsolidation } from "#src/wallets/migrationCalls.ts";
import { readUnspent } from "#src/wallets/walletReads.ts";
import { walletId } from "#src/wallets/api/params.ts";
import * as api from "#src/wallets/api/selections.ts";
import { transaction } from "#src/wallets/api/transactions.ts";
import { ONCE, onceHeader } from "#src/wallets/http/idempotency.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { selectionsView, sendPlan } from "#src/wallets/http/migrations.ts";
import { route } from "#src/wallets/http/route.ts";
import { entityOf, LONGEST_MS, until, type WalletService } from "#src/wallets/http/service.ts";
import { answered } from "#src/wallets/http/status.ts";
import { LOCKED, SUBMIT } from "#src/wallets/http/transactions.ts";
import { ensureChangeAddress } from "#src/wallets/vault/randomAddresses.ts";

/** Adds both endpoints for sequential and random wallets. */
export function consolidationRoutes(app: OpenAPIHono, service: WalletService, served: ServedKind): void {
  const { store, builds } = service;
  const kind = served.named === "Byron" ? "random" : "shelley";
  const path = `/${served.prefix}/:walletId/consolidations`;
  const spec = { params: { walletId }, status: 202 } as const;
  const nothing = "`nothing_to_consolidate`";
  const planned = async (id: string, body: z.output<typeof api.consolidationPlanBody>, estimate: boolean) => {
    const which = { below: body.below.quantity, most: body.max_transactions, estimate };
    return answered(await planConsolidation(builds, entityOf(id), which, () => readUnspent(store, id), LONGEST_MS));
  };

  route(app, "post", `${path}/plan`, {
    ...spec,
    operation: `plan${served.named}Consolidation`,
    summary: "Plan a consolidation of small outputs",
    body: api.consolidationPlanBody,
    answer: api.consolidationPlan,
    refusals: { 403: nothing },
  }, async ({ params: { walletId: id }, body }) => {
    await served.require(id);
    const { transactions } = await planned(id, body, true);
    return {
      ...selectionsView(transactions, []),
      merged: transactions.reduce((sum, { coins }) => sum + coins.length, 0),
      into: transactions.reduce((sum, { scanned }) => sum + scanned.outputs.length, 0),
    };
  });

  route(app, "post", path, {
    ...spec,
    operation: `consolidate${served.named}Wallet`,
    summary: "Merge small outputs of the wallet into few, at its own addresses",
    body: api.consolidationBody,
    headers: onceHeader,
    answer: transaction.array(),
    refusals: { ...SUBMIT, ...ONCE, 403: `${nothing}, ${LOCKED}` },
  }, async ({ params: { walletId: id }, body, context }) => {
    const row = await service.wallet(id, kind);
    const { passphrase, ...which } = body;
    return await sendPlan(service, row, passphrase, { consolidation: which }, context, async () => {
      if (kind === "random") answered(await ensureChangeAddress(service, row, passphrase, until()));
      return await planned(id, which, false);
    });
  });
}
