/** All schema migrations of the program, in the order in which they are applied: that of `migrations.txt`. */
import { readFileSync } from "node:fs";
import { type Migration, readMigration } from "#src/store/migrations.ts";

const root = new URL("../../", import.meta.url);

/** Their files, by path in the repository. */
export const migrationFiles = readFileSync(new URL("./migrations.txt", import.meta.url), "utf8").trim().split(/\r?\n/);

export const schemaMigrations: readonly Migration[] = migrationFiles.map((file) => readMigration(new URL(file, root)));
