/** A wallet's migration: unsigned transactions that carry all that it has in the ledger to other addresses. */
import { z } from "zod";
import { type MigrationPlans, partOf } from "#actors/migrationPlans.ts";
import { type Building, settingOf, type WalletBuildOptions } from "#actors/walletBuilds.ts";
import { type Json, messaged } from "#src/base/json.ts";
import { type Failure, ok, type Result } from "#src/base/result.ts";
import { ROLES } from "#src/cardano/derivation.ts";
import { atPoint, readSpenders } from "#src/chain/pending/spendable.ts";
import { readListedPending } from "#src/chain/pending/submissions.ts";
import type { MigrateFailure, MigrateInput } from "#src/wallet/build/types.ts";
import { readAccount, stakeAccountOf } from "#src/wallet/delegation/read.ts";
import { readOwnUtxos } from "#src/wallet/index/read.ts";

/** What is asked for: a part of the transactions, for all together may not fit into one message. */
export const migrationAsked = z.object({
  /** Bytes of the addresses, in hexadecimal. */
  addresses: z.array(z.string().regex(/^([0-9a-f]{2})+$/)).min(1),
  part: z.number().int().min(0),
  /** The slot that the first part told, so that all parts are of one plan; null for the first. */
  slot: z.number().int().min(0).nullable(),
  /** The plan that the first part told; without it, or where nobody remembers it, it is made again. */
  plan: z.string().nullable().default(null),
});

/** A part of what a migration would be, out of what the wallet holds now. */
export async function migrating(
  options: WalletBuildOptions,
  { id, account }: Building,
  { addresses, part, slot: asked, plan }: z.output<typeof migrationAsked>,
  plans: MigrationPlans,
  migrate: (input: MigrateInput) => Promise<Result<readonly Uint8Array[], MigrateFailure | Failure>>,
): Promise<Result<Json, Failure>> {
  const remembered = part === 0 || plan === null ? undefined : plans.next(id, plan, part);
  if (remembered) return ok(messaged(remembered));
  const setting = await settingOf(options, { withdrawal: "self" });
  if (!setting.ok) return setting;
  const { at, value: { coins, stake } } = await atPoint(options.store, async (sql) => ({
    coins: await readOwnUtxos(sql, id, await readListedPending(sql, id), readSpenders),
    stake: await readAccount(sql, id),
  }));
  const known = setting.value(at.slot, asked ?? undefined);
  const built = await migrate({
    ...known,
    means: {
      coins,
      change: addresses.map((address) => ({ address, path: [] })),
      ...(stake ? { account: stakeAccountOf(stake, [...account, ROLES.stake, 0], known.parameters.keyDeposit) } : {}),
    },
  });
  if (!built.ok) return built;
  const made = { wallet: id, slot: known.slot, transactions: built.value };
  return ok(messaged(part === 0 ? plans.begin(made) : partOf(made, part)));
}
