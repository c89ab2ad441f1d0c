import { expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { derivePath, HARD, rootKey, toPublic } from "#src/cardano/keys/derivation.ts";
import { writeXpub } from "#src/cardano/keys/account.ts";
import { hashOf, scriptAt } from "#src/wallets/shared/account.ts";
import { sharedCredentials } from "#src/wallets/shared/credentials.ts";

const account = (n: number) =>
  writeXpub(toPublic(derivePath(rootKey(new Uint8Array(32).fill(n)), [HARD + 1854, HARD + 1815, HARD])));

test("derivation in bulk gives the same credentials as single derivations", async () => {
  const template = {
    script: { all: ["cosigner#1", { some: { at_least: 1, from: ["cosigner#0", { active_from: 5 }, "cosigner#1"] } }] },
    keys: { "cosigner#0": account(1), "cosigner#1": account(2) },
  };
  for (const [role, from] of [[0, 0], [1, 7]] as const) {
    const made = await sharedCredentials({ template, role, from, count: 5 });
    if (!made.ok) throw new Error("not derived");
    const one = [0, 1, 2, 3, 4].map((i) => hashOf(scriptAt(template, role, from + i)));
    expect(toHex(made.value.hashes)).toBe(one.join(""));
  }
});

test("a missing key throws", async () => {
  const template = { script: { all: ["cosigner#0", "cosigner#1"] }, keys: { "cosigner#0": account(1) } };
  await expect(sharedCredentials({ template, role: 0, from: 0, count: 1 })).rejects.toThrow("cosigner#1");
});
