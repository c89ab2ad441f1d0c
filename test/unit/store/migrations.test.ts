import { expect, it } from "vitest";
import { readMigration } from "#src/store/migrations.ts";

const folder = new URL("../../../src/chain/index/migrations/", import.meta.url);

it("the id of a schema migration is in its file's name, after the date", () => {
  const { id, sql } = readMigration(new URL("2026-11-22-chain-9.sql", folder));
  expect(id).toBe("chain-9");
  expect(sql).toContain("create index on chain_member (birth_slot);");
});

it.each(["chain-9.sql", "2026-11-22-chain.sql", "2026-11-22-chain-9.ts", "2026-11-22-9.sql"])(
  "a file named %s is refused as a schema migration",
  (name) => expect(() => readMigration(new URL(name, folder))).toThrow("is not named as a schema migration"),
);
