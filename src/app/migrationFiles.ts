/** The files of the schema migrations. */
import { readFileSync } from "node:fs";
import { type Migration, readMigration } from "#src/store/migrations.ts";

const root = new URL("../../", import.meta.url);

/** By path in the repository, in the order in which they are applied: that of `migrations.txt`. */
export const migrationFiles = readFileSync(new URL("./migrations.txt", import.meta.url), "utf8").trim().split(/\r?\n/);

/** The migration of one of these files. */
export const migrationOf = (file: string): Migration => readMigration(new URL(file, root));
