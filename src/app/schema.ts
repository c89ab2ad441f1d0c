/** All schema migrations of the program, in the order in which they are applied. */
import { migrationFiles, migrationOf } from "#src/app/migrationFiles.ts";
import type { Migration } from "#src/store/migrations.ts";

export const schemaMigrations: readonly Migration[] = migrationFiles.map(migrationOf);
