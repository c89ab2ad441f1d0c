/** `…/migrations`: moves everything that a wallet has to other addresses; planned first, then done. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type MigrationTransactions, planMigration } from "#src/wallets/migrationCalls.ts";
import { readUnspent } from "#src/wallets/walletReads.ts";
import { signTransactions, withoutForgedOutputs } from "#src/wallets/vault/walletSigning.ts";
import type { Path } from "#src/cardano/keys/types.ts";
import { walletId } from "#src/wallets/api/params.ts";
import * as api from "#src/wallets/api/selections.ts";
import { transaction } from "#src/wallets/api/transactions.ts";
import type { Address } from "#src/cardano/address.ts";
import { as, decode, encode } from "#src/cardano/cbor.ts";
import { sumValues, type Value } from "#src/cardano/value.ts";
import { assetViews, lovelace } from "#src/wallets/http/amountViews.ts";
import { selectionView } from "#src/wallets/http/builtViews.ts";
import { entityOf, LONGEST_MS, type WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { madeOnce, ONCE, onceHeader } from "#src/wallets/http/idempotency.ts";
import { sentViews } from "#src/wallets/http/send.ts";
import { answered } from "#src/wallets/http/status.ts";
import { submitFor } from "#src/wallets/http/submission.ts";
import { LOCKED, SUBMIT } from "#src/wallets/http/transactions.ts";
import { payable } from "#src/wallets/http/paymentIntent.ts";
import { shownCoin, shownOutput } from "#src/wallets/builds/shown.ts";
import type { CoinSelection, OwnCoin } from "#src/wallets/builds/types.ts";
import type { WalletRow } from "#src/wallets/rows.ts";

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
    return planView(await planned(service, id, body.addresses), await served.stakePath?.(id) ?? []);
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
    return await sendPlan(service, row, body.passphrase, to, context, () => planned(service, id, body.addresses));
  });
}

/**
 * Signs and submits the transactions of a plan, once for all requests with the same `Idempotency-Key` (`body`
 * identifies the request); gives the pending transactions.
 */
export async function sendPlan(
  service: WalletService,
  row: WalletRow,
  passphrase: string,
  body: object,
  context: Context,
  plan: () => Promise<MigrationTransactions>,
) {
  const made = await madeOnce(service, context, row.id, body, async () => {
    const signed = answered(
      await withoutForgedOutputs(async () => {
        const unsigned = (await plan()).transactions.map(({ transaction, coins }) => ({
          transaction,
          coins,
          policies: [],
        }));
        return await signTransactions(service, row, unsigned, passphrase);
      }),
    );
    return encode(signed);
  });
  const hashes: string[] = [];
  for (const item of as(decode(made), "array").value) {
    hashes.push(await submitFor(service, as(item, "bytes").value, row.id));
  }
  return await sentViews(service, row, hashes);
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

function planView({ transactions, left }: MigrationTransactions, stakePath: Path) {
  const sum = (coins: readonly OwnCoin[], rewards: readonly bigint[] = []) =>
    balanceView(sumValues([
      ...coins.map(({ utxo }) => utxo.output.value),
      ...rewards.map((reward) => ({ lovelace: reward, assets: new Map() })),
    ]));
  return {
    ...selectionsView(transactions, stakePath),
    balance_leftover: sum(left),
    balance_selected: sum(
      transactions.flatMap(({ coins }) => coins),
      transactions.flatMap(({ scanned }) => [...scanned.withdrawals ?? []].map(([, amount]) => amount)),
    ),
  };
}

/** The transactions of a plan as coin selections, and their fees. */
export function selectionsView(transactions: MigrationTransactions["transactions"], stakePath: Path) {
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
            path: stakePath,
          })),
          certificates: [],
          depositsTaken: [],
          depositsReturned: [],
        } satisfies CoinSelection,
      )
    ),
    total_fee: lovelace(transactions.reduce((fees, { scanned }) => fees + (scanned.fee ?? 0n), 0n)),
  };
}

const balanceView = ({ lovelace: coin, assets }: Value) => ({ ada: lovelace(coin), assets: assetViews(assets) });
