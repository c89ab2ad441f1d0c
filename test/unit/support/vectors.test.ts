import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { vectors } from "../../support/base/vectors.ts";

const folder = new URL("../../vectors/", import.meta.url);

test("NOTICE states the SHA-256 of every archive and file of vectors", () => {
  const stated = new Map(
    [...readFileSync(new URL("NOTICE", folder), "utf8").matchAll(/^([0-9a-f]{64}) {2}(\S+)$/gm)]
      .map(([, hash, name]) => [name!, hash!]),
  );
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(fileURLToPath(folder), path.join(parentPath, name)))
    .filter((name) => !/^(NOTICE|LICENSE-)/.test(name));
  const actual = files.map((name) =>
    [
      name,
      createHash("sha256").update(readFileSync(new URL(name, folder))).digest("hex"),
    ] as const
  );
  expect(new Map(actual)).toEqual(stated);
});

test("a vector that is missing is an error, never a skipped test", () => {
  expect(() => vectors("blocks/none")).toThrow("no test vectors at blocks/none");
  expect(() => vectors("nothing/at/all")).toThrow();
});
