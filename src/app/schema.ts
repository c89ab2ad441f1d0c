/** All schema migrations of the program, in the order in which they are applied. */
import { cageMigrations } from "#src/tokens/index/migrations.ts";
import { ownedMigrations } from "#src/tokens/index/owned.ts";
import { chainMigrations } from "#src/chain/index/migrations.ts";
import { devnetMigrations } from "#src/devnet/migrations.ts";
import { jetStreamMigrations } from "#src/embedded/nats/jetstream/migrations.ts";
import { runtimeMigrations } from "#src/runtime/migrations.ts";
import type { Migration } from "#src/store/migrations.ts";
import { networkMigrations } from "#src/store/network.ts";
import { vaultMigrations } from "#src/wallets/vault/tables.ts";
import { delegationMigrations } from "#src/wallets/delegation/migrations.ts";
import { walletIndexMigrations } from "#src/wallets/index/migrations.ts";
import { poolMigrations } from "#src/wallets/pools/migrations.ts";
import { requestMigrations } from "#src/wallets/requests.ts";
import { walletMigrations } from "#src/wallets/rows.ts";
import { spendingMigrations } from "#src/wallets/spending.ts";
import { sharedWalletMigrations } from "#src/wallets/shared/rows.ts";

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
