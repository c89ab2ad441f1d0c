/** The plan of a wallet migration, assembled from the parts that the wallet's actor builds. */
import type { Consolidation, PlanPart, WalletBuilds } from "#src/wallets/walletBuildCalls.ts";
import { fromHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { OwnCoin } from "#src/wallets/builds/types.ts";

/** A transaction of a plan, with the coins that it spends. */
export interface PlannedTransaction {
  readonly transaction: Uint8Array;
  readonly scanned: ReturnType<typeof scanTransaction>;
  readonly coins: readonly OwnCoin[];
}

/** All transactions of a wallet migration. */
export interface MigrationTransactions {
  readonly transactions: readonly PlannedTransaction[];
  /** Coins that stay: they cost more than they bring. */
  readonly left: readonly OwnCoin[];
}

/** Most times that a plan is made because the wallet changed meanwhile. */
const MOST_ATTEMPTS = 5;

/**
 * Plans a wallet migration: of all that a wallet has to some addresses (hexadecimal). `coinsOf` reads the wallet's unspent
 * coins. Fails as the builds do, and with `unavailable` where the wallet changes faster than it can be planned for.
 */
export function planMigration(
  builds: Pick<WalletBuilds, "migrate">,
  entity: EntityRef,
  addresses: readonly string[],
  coinsOf: () => Promise<readonly OwnCoin[]>,
  deadlineMs: number,
): Promise<Result<MigrationTransactions, Failure>> {
  return planned((part) => builds.migrate(entity, { addresses, ...part }, deadlineMs), coinsOf);
}

/** Plans a consolidation of a wallet's small coins; fails as `planMigration` does. */
export function planConsolidation(
  builds: Pick<WalletBuilds, "consolidate">,
  entity: EntityRef,
  which: Consolidation,
  coinsOf: () => Promise<readonly OwnCoin[]>,
  deadlineMs: number,
): Promise<Result<MigrationTransactions, Failure>> {
  return planned((part) => builds.consolidate(entity, { ...which, ...part }, deadlineMs), coinsOf);
}

type BuildPart = (part: PlanPart) => ReturnType<WalletBuilds["migrate"]>;

async function planned(
  buildPart: BuildPart,
  coinsOf: () => Promise<readonly OwnCoin[]>,
): Promise<Result<MigrationTransactions, Failure>> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const transactions = await readParts(buildPart);
    if (!transactions.ok) return transactions;
    const plan = transactions.value && assignCoins(transactions.value, await coinsOf());
    if (plan) return ok(plan);
  }
  return fail("unavailable", "The wallet changed while the migration was planned; try again.");
}

/** The transactions of all parts of one plan; `undefined` where the wallet changed between two parts. */
async function readParts(buildPart: BuildPart): Promise<Result<Uint8Array[] | undefined, Failure>> {
  const first = await buildPart({ part: 0, slot: null });
  if (!first.ok) return first;
  const { plan, slot, parts } = first.value;
  const transactions = [...first.value.transactions];
  for (let part = 1; part < parts; part++) {
    const next = await buildPart({ part, slot: Number(slot), plan });
    if (!next.ok) return next;
    if (next.value.plan !== plan) return ok(undefined);
    transactions.push(...next.value.transactions);
  }
  return ok(transactions.map(fromHex));
}

/** The coins of each transaction; `undefined` where one spends a coin that the wallet has no longer. */
function assignCoins(
  transactions: readonly Uint8Array[],
  coins: readonly OwnCoin[],
): MigrationTransactions | undefined {
  const left = new Map(coins.map((coin) => [refKey(coin.utxo.ref), coin]));
  const planned: PlannedTransaction[] = [];
  for (const transaction of transactions) {
    const scanned = scanTransaction(transaction);
    const spent: OwnCoin[] = [];
    for (const key of scanned.inputs.map(refKey)) {
      const coin = left.get(key);
      if (coin === undefined) return undefined;
      left.delete(key);
      spent.push(coin);
    }
    planned.push({ transaction, scanned, coins: spent });
  }
  return { transactions: planned, left: [...left.values()] };
}
