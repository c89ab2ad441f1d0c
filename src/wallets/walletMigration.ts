/** Wallet migration: unsigned transactions that move everything in a wallet to other addresses. */
import { z } from "zod";
import { type MigrationPlans, partOf } from "#src/wallets/migrationPlans.ts";
import { type Building, settingOf, type WalletBuildOptions } from "#src/wallets/walletBuilds.ts";
import { type Json, messaged } from "#src/base/json.ts";
import { type Failure, ok, type Result } from "#src/base/result.ts";
import { ROLES } from "#src/cardano/keys/derivation.ts";
import { readOverlay } from "#src/chain/pending/overlay.ts";
import { atPoint, readReserved } from "#src/chain/pending/spendable.ts";
import { readListedPending } from "#src/chain/pending/submissions.ts";
import type { ConsolidateInput, MigrateFailure, MigrateInput } from "#src/wallets/builds/types.ts";
import { readAccount, stakeAccountOf } from "#src/wallets/delegation/read.ts";
import { readBuildable, readOwnUtxos } from "#src/wallets/index/read.ts";

/** Input of the build: requests one part, because all transactions may not fit into one message. */
export const migrationInput = z.object({
  /** Bytes of the addresses, in hexadecimal. */
  addresses: z.array(z.string().regex(/^([0-9a-f]{2})+$/)).min(1),
  part: z.number().int().min(0),
  /** The slot in the first part, so that all parts belong to one plan; null for the first part. */
  slot: z.number().int().min(0).nullable(),
  /** The plan's id in the first part; without it, or when the plan is not in memory, the plan is computed again. */
  plan: z.string().nullable().default(null),
});

const whole = z.union([z.number().int(), z.bigint()]).transform((value) => BigInt(value));
/** Input of the build of a consolidation, by parts as a wallet migration. */
export const consolidationInput = migrationInput.omit({ addresses: true }).extend({
  below: whole,
  most: z.number().int().min(1),
  /** Whether it is a plan that is never signed. */
  estimate: z.boolean(),
});

/** Most change addresses that the outputs of a consolidation are divided over. */
const CHANGE_ADDRESSES = 16;

/**
 * One part of a consolidation: of the wallet's coins in the ledger that neither a pending transaction spends nor another
 * build has reserved.
 */
export async function consolidating(
  options: WalletBuildOptions,
  { id, oneChange }: Building,
  { part, slot: fixedSlot, plan, below, most, estimate }: z.output<typeof consolidationInput>,
  plans: MigrationPlans,
  consolidate: (input: ConsolidateInput) => Promise<Result<readonly Uint8Array[], Failure>>,
): Promise<Result<Json, Failure>> {
  const remembered = part === 0 || plan === null ? undefined : plans.next(id, plan, part);
  if (remembered) return ok(messaged(remembered));
  const setting = await settingOf(options, {});
  if (!setting.ok) return setting;
  const { at, value: { utxos, change } } = await atPoint(options.store, async (sql) =>
    await readBuildable(sql, id, {
      pending: await readListedPending(sql, id),
      overlay: readOverlay,
      reserved: readReserved,
      change: oneChange ? "first" : CHANGE_ADDRESSES,
      estimate,
    }));
  const known = setting.value(at.slot, fixedSlot ?? undefined);
  // a wallet without change addresses has made none yet, and then it has no coins
  const coins = change.length === 0 ? [] : utxos.filter(({ preference }) => preference === 0);
  const built = await consolidate({ ...known, below, most, funds: { coins, change } });
  if (!built.ok) return built;
  const made = { wallet: id, slot: known.slot, transactions: built.value };
  return ok(messaged(part === 0 ? plans.begin(made) : partOf(made, part)));
}

/** One part of a wallet migration, planned from the wallet's current coins. */
export async function migrating(
  options: WalletBuildOptions,
  { id, account }: Building,
  { addresses, part, slot: fixedSlot, plan }: z.output<typeof migrationInput>,
  plans: MigrationPlans,
  migrate: (input: MigrateInput) => Promise<Result<readonly Uint8Array[], MigrateFailure | Failure>>,
): Promise<Result<Json, Failure>> {
  const remembered = part === 0 || plan === null ? undefined : plans.next(id, plan, part);
  if (remembered) return ok(messaged(remembered));
  const setting = await settingOf(options, { withdrawal: "self" });
  if (!setting.ok) return setting;
  const { at, value: { coins, stake } } = await atPoint(options.store, async (sql) => ({
    coins: await readOwnUtxos(sql, id, await readListedPending(sql, id), readOverlay),
    stake: await readAccount(sql, id),
  }));
  const known = setting.value(at.slot, fixedSlot ?? undefined);
  const built = await migrate({
    ...known,
    funds: {
      coins,
      change: addresses.map((address) => ({ address, path: [] })),
      ...(stake ? { account: stakeAccountOf(stake, [...account, ROLES.stake, 0], known.parameters.keyDeposit) } : {}),
    },
  });
  if (!built.ok) return built;
  const made = { wallet: id, slot: known.slot, transactions: built.value };
  return ok(messaged(part === 0 ? plans.begin(made) : partOf(made, part)));
}
