/** All schema migrations of the program, in the order in which they are applied. */
import { walletTables } from "#src/app/wallets.ts";
import { cageMigrations } from "#src/cage/index/migrations.ts";
import { chainMigrations } from "#src/chain/index/migrations.ts";
import { devnetMigrations } from "#src/devnet/migrations.ts";
import { runtimeMigrations } from "#src/runtime/migrations.ts";
import type { Migration } from "#src/store/migrations.ts";
import { networkMigrations } from "#src/store/network.ts";

export const schemaMigrations: readonly Migration[] = [
  ...networkMigrations,
  ...runtimeMigrations,
  ...chainMigrations,
  ...cageMigrations,
  ...devnetMigrations,
  ...walletTables,
];
