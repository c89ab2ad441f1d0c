/** The schema migrations of the runtime alone, without those of wallets, tokens and the chain. */
import { migrationFiles, migrationOf } from "#src/app/migrationFiles.ts";
import type { Migration } from "#src/store/migrations.ts";

export const runtimeMigrations: readonly Migration[] = migrationFiles
  .filter((file) => /^src\/(store|runtime)\//.test(file))
  .map(migrationOf);
