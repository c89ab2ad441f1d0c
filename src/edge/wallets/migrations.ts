/** `…/migrations`: all that a wallet has goes to other addresses; first shown as a plan, then done. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { walletId } from "#src/api/wallets/params.ts";
import * as api from "#src/api/wallets/selections.ts";
import { transaction } from "#src/api/wallets/transactions.ts";
import { fromHex } from "#src/base/bytes.ts";
import type { Address } from "#src/cardano/address.ts";
import { as, decode, encode } from "#src/cardano/cbor.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { sumValues, type Value } from "#src/cardano/value.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { assetViews, lovelace } from "#src/edge/wallets/amountViews.ts";
import { selectionView } from "#src/edge/wallets/builtViews.ts";
import { type Desk, entityOf, LONGEST_MS } from "#src/edge/wallets/context.ts";
import { route } from "#src/edge/wallets/service.ts";
import { unspent } from "#src/edge/wallets/holdings.ts";
import type { Served } from "#src/edge/wallets/kinds.ts";
import { madeOnce, ONCE, onceHeader } from "#src/edge/wallets/idempotency.ts";
import { sentViews } from "#src/edge/wallets/send.ts";
import { signedWithout, signTransactions, STAKE_PATH } from "#src/edge/wallets/signing.ts";
import { answered } from "#src/edge/wallets/status.ts";
import { submitFor } from "#src/edge/wallets/submission.ts";
import { LOCKED, SUBMIT } from "#src/edge/wallets/transactions.ts";
import { payable } from "#src/edge/wallets/paymentIntent.ts";
import { shownCoin, shownOutput } from "#src/wallet/build/shown.ts";
import type { CoinSelection, OwnCoin } from "#src/wallet/build/types.ts";

/** Plans made anew because the wallet changed meanwhile. */
const RACES = 5;

/** Adds both for sequential wallets and those of the first era. */
export function migrationRoutes(app: OpenAPIHono, desk: Desk, served: Served): void {
  const named = served.named === "Byron" ? "Byron" : "Shelley";
  const kind = named === "Byron" ? "random" : "shelley";
  const spec = {
    method: "post",
    path: `/${served.prefix}/:walletId/migrations`,
    params: { walletId },
    status: 202,
  } as const;
  const nothing = "`nothing_to_migrate`";

  route(app, {
    ...spec,
    path: `${spec.path}/plan`,
    operation: `create${named}WalletMigrationPlan`,
    summary: "What a migration would be",
    body: api.planBody,
    answer: api.migrationPlan,
    refusals: { 403: nothing },
  }, async ({ params: { walletId: id }, body }) => {
    await served.found(id);
    return planView(await planned(desk, id, body.addresses));
  });

  route(app, {
    ...spec,
    operation: `migrate${named}Wallet`,
    summary: "Move all that the wallet has to other addresses, in as many transactions as it takes",
    description: "Rewards ride in the first one. What costs more than it brings stays where it is.",
    body: api.migrationBody,
    headers: onceHeader,
    answer: transaction.array(),
    refusals: { ...SUBMIT, ...ONCE, 403: `${nothing}, ${LOCKED}` },
  }, async ({ params: { walletId: id }, body, context }) => {
    const row = await desk.wallet(id, kind);
    const to = { addresses: body.addresses.map(({ hex }) => hex) };
    const made = await madeOnce(desk, context, id, to, async () => {
      return await signedWithout(async () => {
        const { loads } = await planned(desk, id, body.addresses);
        const unsigned = loads.map(({ transaction, coins }) => ({ transaction, coins, policies: [] }));
        return encode(await signTransactions(desk, row, unsigned, body.passphrase));
      });
    });
    const hashes: string[] = [];
    for (const item of as(decode(made), "array").value) hashes.push(await submitFor(desk, as(item, "bytes").value, id));
    return await sentViews(desk, row, hashes);
  });
}

/** A transaction of a plan, with the coins that it spends. */
interface Load {
  readonly transaction: Uint8Array;
  readonly scanned: ReturnType<typeof scanTransaction>;
  readonly coins: readonly OwnCoin[];
}

interface Plan {
  readonly loads: readonly Load[];
  /** What stays. */
  readonly left: readonly OwnCoin[];
}

/** What a migration to some addresses is now; throws 403 `nothing_to_migrate`. */
async function planned(desk: Desk, id: string, addresses: readonly Address[]): Promise<Plan> {
  const hex = addresses.map((address, i) => payable(address, desk.networkId, `addresses[${i}]`));
  for (let race = 0; race < RACES; race++) {
    const transactions = await parts(desk, id, hex);
    const plan = transactions && withCoins(transactions, await unspent(desk, id));
    if (plan) return plan;
  }
  throw new HttpFailure(503, "unavailable", "The wallet changes faster than it can be planned for: try again.");
}

/** All transactions of one plan; nothing where the wallet changed while they were asked for. */
async function parts({ builds }: Desk, id: string, addresses: readonly string[]) {
  const ask = async (part: number, known: { readonly slot: number | null; readonly plan?: string }) =>
    answered(await builds.migrate(entityOf(id), { addresses, part, ...known }, LONGEST_MS));
  const first = await ask(0, { slot: null });
  const transactions = [...first.transactions];
  for (let part = 1; part < first.parts; part++) {
    const next = await ask(part, { slot: Number(first.slot), plan: first.plan });
    if (next.plan !== first.plan) return undefined;
    transactions.push(...next.transactions);
  }
  return transactions.map(fromHex);
}

function withCoins(transactions: readonly Uint8Array[], coins: readonly OwnCoin[]): Plan | undefined {
  const left = new Map(coins.map((coin) => [refKey(coin.utxo.ref), coin]));
  const loads: Load[] = [];
  for (const transaction of transactions) {
    const scanned = scanTransaction(transaction);
    const mine: OwnCoin[] = [];
    for (const key of scanned.inputs.map(refKey)) {
      const coin = left.get(key);
      if (coin === undefined) return undefined;
      left.delete(key);
      mine.push(coin);
    }
    loads.push({ transaction, scanned, coins: mine });
  }
  return { loads, left: [...left.values()] };
}

function planView({ loads, left }: Plan) {
  const sum = (coins: readonly OwnCoin[]) => balanceView(sumValues(coins.map(({ utxo }) => utxo.output.value)));
  return {
    selections: loads.map(({ scanned, coins }) =>
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
    total_fee: lovelace(loads.reduce((fees, { scanned }) => fees + scanned.fee!, 0n)),
    balance_leftover: sum(left),
    balance_selected: sum(loads.flatMap(({ coins }) => coins)),
  };
}

const balanceView = ({ lovelace: coin, assets }: Value) => ({ ada: lovelace(coin), assets: assetViews(assets) });
