/** Released schema migrations: their names, their order within a module and their content. */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { schemaMigrations } from "#src/app/schema.ts";
import { expectFrozen } from "../../support/base/frozenFiles.ts";

/** SQL without comments, and with one space for any white space. */
const plainSql = (sql: string) => sql.replace(/--.*$/gm, "").replace(/\s+/g, " ").trim();

it("schema migrations are those of released databases", async () => {
  const ids = schemaMigrations.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const lines = schemaMigrations.map(({ id, sql }) =>
    `${id} ${createHash("sha256").update(plainSql(sql)).digest("hex")}`
  );
  await expectFrozen("schema-migrations.txt", lines.join("\n"));
});
