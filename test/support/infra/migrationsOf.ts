/** Schema migrations of a part of the program, for tests that need its tables alone. */
import { migrationFiles } from "#src/app/migrationFiles.ts";
import { schemaMigrations } from "#src/app/schema.ts";
import type { Migration } from "#src/store/migrations.ts";

/** The schema migrations of folders of `src` and of the folders within them. */
export function migrationsOf(...folders: readonly string[]): Migration[] {
  const missing = folders.filter((folder) => !migrationFiles.some((file) => file.startsWith(`src/${folder}/`)));
  if (missing.length > 0) throw new Error(`No schema migrations in ${missing.join(", ")}`);
  return schemaMigrations.filter((_, i) => folders.some((folder) => migrationFiles[i]!.startsWith(`src/${folder}/`)));
}
