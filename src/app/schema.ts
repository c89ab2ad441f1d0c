/** All schema migrations of the program, in the order in which they are applied. */
import { cageMigrations } from "#src/cage/index/migrations.ts";
import { ownedMigrations } from "#src/cage/index/owned.ts";
import { chainMigrations } from "#src/chain/index/migrations.ts";
import { devnetMigrations } from "#src/devnet/migrations.ts";
import { jetStreamMigrations } from "#src/embedded/jetstream/migrations.ts";
import { runtimeMigrations } from "#src/runtime/migrations.ts";
import type { Migration } from "#src/store/migrations.ts";
import { networkMigrations } from "#src/store/network.ts";
import { vaultMigrations } from "#src/vault/tables.ts";
import { delegationMigrations } from "#src/wallet/delegation/migrations.ts";
import { walletIndexMigrations } from "#src/wallet/index/migrations.ts";
import { poolMigrations } from "#src/wallet/pools/migrations.ts";
import { requestMigrations } from "#src/wallet/requests.ts";
import { walletMigrations } from "#src/wallet/rows.ts";
import { spendingMigrations } from "#src/wallet/spending.ts";
import { sharedWalletMigrations } from "#src/wallet/shared/rows.ts";

export const schemaMigrations: readonly Migration[] = [
  ...networkMigrations,
  ...runtimeMigrations,
  ...chainMigrations,
  ...cageMigrations,
  ...ownedMigrations,
  ...devnetMigrations,
  ...walletMigrations,
  ...sharedWalletMigrations,
  ...vaultMigrations,
  ...walletIndexMigrations,
  ...delegationMigrations,
  ...poolMigrations,
  ...requestMigrations,
  ...spendingMigrations,
  ...jetStreamMigrations,
];
