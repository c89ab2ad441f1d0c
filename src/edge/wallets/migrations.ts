/** `…/migrations`: moves everything that a wallet has to other addresses; planned first, then done. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { type MigrationTransactions, planMigration } from "#actors/migrationCalls.ts";
import { readUnspent } from "#actors/walletReads.ts";
import { signTransactions, withoutForgedOutputs } from "#src/vault/walletSigning.ts";
import { STAKE_PATH } from "#src/wallet/keys/paths.ts";
import { walletId } from "#src/api/wallets/params.ts";
import * as api from "#src/api/wallets/selections.ts";
import { transaction } from "#src/api/wallets/transactions.ts";
import type { Address } from "#src/cardano/address.ts";
import { as, decode, encode } from "#src/cardano/cbor.ts";
import { sumValues, type Value } from "#src/cardano/value.ts";
import { assetViews, lovelace } from "#src/edge/wallets/amountViews.ts";
import { selectionView } from "#src/edge/wallets/builtViews.ts";
import { entityOf, LONGEST_MS, type WalletService } from "#src/edge/wallets/service.ts";
import { route } from "#src/edge/wallets/route.ts";
import type { ServedKind } from "#src/edge/wallets/kinds.ts";
import { madeOnce, ONCE, onceHeader } from "#src/edge/wallets/idempotency.ts";
import { sentViews } from "#src/edge/wallets/send.ts";
import { answered } from "#src/edge/wallets/status.ts";
import { submitFor } from "#src/edge/wallets/submission.ts";
import { LOCKED, SUBMIT } from "#src/edge/wallets/transactions.ts";
import { payable } from "#src/edge/wallets/paymentIntent.ts";
import { shownCoin, shownOutput } from "#src/wallet/build/shown.ts";
import type { CoinSelection, OwnCoin } from "#src/wallet/build/types.ts";

/** Adds both endpoints for wallets with a single owner. */
export function migrationRoutes(app: OpenAPIHono, service: WalletService, served: ServedKind): void {
  const named = served.named === "Byron" ? "Byron" : "Shelley";
  const path = `/${served.prefix}/:walletId/migrations`;
  const spec = {
    params: { walletId },
    status: 202,
  } as const;
  const nothing = "`nothing_to_migrate`";

  route(app, "post", `${path}/plan`, {
    ...spec,
    operation: `create${named}WalletMigrationPlan`,
    summary: "Plan a migration of the wallet",
    body: api.planBody,
    answer: api.migrationPlan,
    refusals: { 403: nothing },
  }, async ({ params: { walletId: id }, body }) => {
    await served.require(id);
    return planView(await planned(service, id, body.addresses));
  });

  route(app, "post", path, {
    ...spec,
    operation: `migrate${named}Wallet`,
    summary: "Migrate all funds of the wallet to other addresses, in as many transactions as needed",
    description: "The first transaction withdraws the rewards. Outputs whose fee exceeds their value are not migrated.",
    body: api.migrationBody,
    headers: onceHeader,
    answer: transaction.array(),
    refusals: { ...SUBMIT, ...ONCE, 403: `${nothing}, ${LOCKED}` },
  }, async ({ params: { walletId: id }, body, context }) => {
    const row = await service.wallet(id, ...served.kinds);
    const to = { addresses: body.addresses.map(({ hex }) => hex) };
    const made = await madeOnce(service, context, id, to, async () => {
      const signed = answered(
        await withoutForgedOutputs(async () => {
          const { transactions } = await planned(service, id, body.addresses);
          const unsigned = transactions.map(({ transaction, coins }) => ({ transaction, coins, policies: [] }));
          return await signTransactions(service, row, unsigned, body.passphrase);
        }),
      );
      return encode(signed);
    });
    const hashes: string[] = [];
    for (const item of as(decode(made), "array").value) {
      hashes.push(await submitFor(service, as(item, "bytes").value, id));
    }
    return await sentViews(service, row, hashes);
  });
}

/** The plan of a migration to some addresses; throws 403 `nothing_to_migrate`. */
async function planned(
  service: WalletService,
  id: string,
  addresses: readonly Address[],
): Promise<MigrationTransactions> {
  const hex = addresses.map((address, i) => payable(address, service.networkId, `addresses[${i}]`));
  const coinsOf = () => readUnspent(service.store, id);
  return answered(await planMigration(service.builds, entityOf(id), hex, coinsOf, LONGEST_MS));
}

function planView({ transactions, left }: MigrationTransactions) {
  const sum = (coins: readonly OwnCoin[], rewards: readonly bigint[] = []) =>
    balanceView(sumValues([
      ...coins.map(({ utxo }) => utxo.output.value),
      ...rewards.map((reward) => ({ lovelace: reward, assets: new Map() })),
    ]));
  return {
    selections: transactions.map(({ scanned, coins }) =>
      selectionView(
        {
          inputs: coins.map(shownCoin),
          outputs: scanned.outputs.map(shownOutput),
          change: [],
          collateral: [],
          withdrawals: [...scanned.withdrawals ?? []].map(([account, amount]) => ({
            account,
            lovelace: amount,
            path: STAKE_PATH,
          })),
          certificates: [],
          depositsTaken: [],
          depositsReturned: [],
        } satisfies CoinSelection,
      )
    ),
    total_fee: lovelace(transactions.reduce((fees, { scanned }) => fees + (scanned.fee ?? 0n), 0n)),
    balance_leftover: sum(left),
    balance_selected: sum(
      transactions.flatMap(({ coins }) => coins),
      transactions.flatMap(({ scanned }) => [...scanned.withdrawals ?? []].map(([, amount]) => amount)),
    ),
  };
}

const balanceView = ({ lovelace: coin, assets }: Value) => ({ ada: lovelace(coin), assets: assetViews(assets) });
