/** Schema migrations that were released: their names, their order within a module and what they do. */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { schemaMigrations } from "#src/app/schema.ts";
import { expectFrozen } from "../../support/frozen.ts";

/** SQL without comments, and with one space for any white space. */
const plainSql = (sql: string) => sql.replace(/--.*$/gm, "").replace(/\s+/g, " ").trim();

it("schema migrations are those that databases out there have", async () => {
  const ids = schemaMigrations.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const lines = schemaMigrations.map(({ id, sql }) =>
    `${id} ${createHash("sha256").update(plainSql(sql)).digest("hex")}`
  );
  await expectFrozen("schema-migrations.txt", lines.join("\n"));
});
