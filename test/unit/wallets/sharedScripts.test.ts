import fc from "fast-check";
import { expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { derivePath, HARD, rootKey, toPublic } from "#src/cardano/keys/derivation.ts";
import { encodeNative } from "#src/cardano/nativeScript.ts";
import { writeXpub } from "#src/cardano/keys/account.ts";
import { scriptAt, stakeScript } from "#src/wallets/shared/account.ts";
import { scriptsAt } from "#src/wallets/shared/scripts.ts";

const account = (n: number) =>
  writeXpub(toPublic(derivePath(rootKey(new Uint8Array(32).fill(n)), [HARD + 1854, HARD + 1815, HARD])));
const keys = { "cosigner#0": account(1), "cosigner#1": account(2) };

test("scripts of many addresses are those of each, cached or derived", async () => {
  const payment = { script: { all: ["cosigner#0", { any: ["cosigner#1", { active_from: 5 }] }] }, keys };
  const delegation = { script: "cosigner#1", keys };
  const one = new Map<string, string>();
  const place = fc.tuple(fc.nat(1), fc.oneof(fc.nat(5), fc.nat(40)));
  await fc.assert(
    fc.asyncProperty(fc.array(place, { maxLength: 6 }), fc.boolean(), async (places, delegating) => {
      const paths = places.map(([role, index]) => [HARD + 1854, HARD + 1815, HARD, role, index]);
      const made = await scriptsAt({ payment, ...(delegating ? { delegation } : {}) }, paths);
      const wanted = new Set(places.map(([role, index]) => {
        const name = `${role}/${index}`;
        if (!one.has(name)) one.set(name, toHex(encodeNative(scriptAt(payment, role, index))));
        return one.get(name)!;
      }));
      if (delegating) wanted.add(toHex(encodeNative(stakeScript(delegation))));
      expect(new Set(made.map(toHex))).toEqual(wanted);
      expect(made.length).toBe(wanted.size);
    }),
    { numRuns: 25 },
  );
});

test("a wallet with the same id and other cosigners has its own scripts", async () => {
  const script = { all: ["cosigner#0", "cosigner#1"] };
  const paths = [[HARD + 1854, HARD + 1815, HARD, 0, 0]];
  const ours = await scriptsAt({ payment: { script, keys } }, paths);
  const others = await scriptsAt({ payment: { script, keys: { ...keys, "cosigner#1": account(3) } } }, paths);
  expect(ours).not.toEqual(others);
});
