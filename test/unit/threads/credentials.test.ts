import { afterAll, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { deriveCredentialsInThreads } from "#src/wallets/builds/credentials.ts";
import { concat } from "#src/base/bytes.ts";
import { byronAddress } from "#src/cardano/byron.ts";
import { HARD, rootKey, toPublic } from "#src/cardano/keys/derivation.ts";
import { credentialOf } from "#src/wallets/index/credential.ts";
import { childHash, childOf, writeXpub } from "#src/cardano/keys/account.ts";

const builders = startBuilders({ threads: 1, log: silentLog });
afterAll(() => builders.stop());
const account = writeXpub(toPublic(rootKey(new Uint8Array(16))));

test("an order larger than a job gives all indices in order", async () => {
  const order = { wallet: "w", kind: "shelley" as const, account, role: 1 as const, from: 5, count: 2_010 };
  const derived = await deriveCredentialsInThreads(builders)(order);
  expect(derived).toHaveLength(2_010);
  for (const i of [0, 1, 1_999, 2_000, 2_009]) expect(derived[i]).toBe(`key-${childHash(account, 1, 5 + i)}`);
  expect(await deriveCredentialsInThreads(builders)({ ...order, count: 0 })).toEqual([]);
});

test("those of an icarus wallet are the roots of its addresses", async () => {
  const byron = { magic: 42 };
  const order = { wallet: "w", kind: "icarus" as const, role: 0 as const, from: 7, count: 2 };
  const derived = await deriveCredentialsInThreads(builders)({ ...order, account: { account, byron } });
  const addresses = [7, 8].map((index) => {
    const { key, chainCode } = childOf(account, 0, index);
    return byronAddress({ key: concat(key, chainCode), ...byron });
  });
  expect(derived).toEqual(addresses.map(credentialOf));
});

test("a failure of the threads rejects, without the account's key in the message", async () => {
  const order = { wallet: "w", kind: "shelley" as const, account, role: 0 as const, from: HARD, count: 1 };
  const refusal = await deriveCredentialsInThreads(builders)(order).catch((error: Error) => error.message);
  expect(refusal).toContain("no credentials");
  expect(refusal).not.toContain(account.slice(0, 16));
});
