/**
 * `…/coin-selections/random`: coins for a transaction that is built and signed elsewhere, such as by a hardware wallet.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { z } from "zod";
import { walletId } from "#src/wallets/api/params.ts";
import * as api from "#src/wallets/api/selections.ts";
import { coinSelection } from "#src/wallets/api/transactions.ts";
import { selectionView } from "#src/wallets/http/builtViews.ts";
import { requirePool } from "#src/wallets/http/delegation.ts";
import { entityOf, LONGEST_MS, type WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { answered, refusal } from "#src/wallets/http/status.ts";
import { BUILD } from "#src/wallets/http/transactions.ts";
import { byronIntent, sendIntent } from "#src/wallets/http/paymentIntent.ts";
import type { PaymentIntent } from "#src/wallets/builds/types.ts";

/** Adds it for sequential wallets and those of the first era. */
export function selectionRoutes(app: OpenAPIHono, service: WalletService, served: ServedKind): void {
  const selected = async (id: string, makeIntent: () => Promise<PaymentIntent>) => {
    await served.require(id);
    const built = answered(await service.builds.construct(entityOf(id), await makeIntent(), LONGEST_MS));
    return selectionView(built.selection);
  };
  const path = `/${served.prefix}/:walletId/coin-selections/random`;
  const spec = {
    summary: "Select coins for a transaction that another program builds",
    description:
      "Other builds avoid the selected outputs for two minutes. The fee is the inputs minus outputs, change and deposits.",
    params: { walletId },
    answer: coinSelection,
    refusals: BUILD,
  } as const;
  if (served.named === "Byron") {
    route(
      app,
      "post",
      path,
      {
        ...spec,
        operation: "byronSelectCoins",
        body: api.byronSelectBody,
        refusals: {
          403: `${
            BUILD[403]
          }; \`invalid_wallet_type\`: for a random wallet, of which no other program can sign; with the extension \`coin_control\` it is previewed`,
        },
      },
      async ({ params, body }) => {
        const row = await service.wallet(params.walletId, ...served.kinds);
        const intent = await byronIntent(body, service);
        // a client that knows the extension previews what the service itself will send
        if (row.kind === "random" && body.coin_control === undefined) throw notSequential();
        return await selected(row.id, async () => intent);
      },
    );
    return;
  }
  route(
    app,
    "post",
    path,
    {
      ...spec,
      operation: "selectCoins",
      body: api.selectBody,
      refusals: { ...BUILD, 404: "`no_such_wallet`, `no_such_pool`" },
    },
    ({ params, body }) => selected(params.walletId, () => selectionIntent(service, body)),
  );
}

const notSequential = () =>
  refusal({
    code: "invalid_wallet_type",
    message:
      "I cannot derive new address for this wallet type. Make sure to use a sequential wallet style, like Icarus.",
  });

/** The intent of such a body. A delegation comes without a vote: the answer has no certificate for it. */
async function selectionIntent(service: WalletService, body: z.output<typeof api.selectBody>): Promise<PaymentIntent> {
  const { delegation_action: action, payments, ...rest } = body;
  if (action === undefined) return await sendIntent({ ...rest, payments: payments ?? [] }, service);
  if (action.action === "quit") return { delegations: [{ index: 0 }], withdrawal: "self" };
  await requirePool(service, action.pool);
  return { delegations: [{ pool: action.pool, index: 0 }] };
}
