/** Other keys' addresses into which a path of a random wallet was copied: payments to them are not the wallet's. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { addressText, parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { lovelace } from "#src/client/wallets.ts";
import { byronPathKey, randomAddress } from "#src/cardano/keys/byronAddress.ts";
import { openRoot } from "#src/cardano/keys/root.ts";
import type { Path } from "#src/cardano/keys/types.ts";
import { byronAddress } from "../../support/chain/byron.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";

const BYRON = "byron-wallets";

let scenario: Scenario;
beforeAll(async () => {
  scenario = await Scenario.start();
});
afterAll(() => scenario?.stop());

it("hold nothing for it once its root key was available, and do not prevent its spends", async () => {
  const { client } = scenario;
  const { id } = await client.createByron({
    style: "random",
    name: "Robbed",
    mnemonic_sentence: newMnemonic(12),
    passphrase: PASSPHRASE,
  });
  const mine = await client.send<{ id: string }>("POST", `/${BYRON}/${id}/addresses`, { passphrase: PASSPHRASE });
  const read = parseAddress(mine.id);
  if (!read.ok || read.value.kind !== "byron") throw new Error(`${mine.id} is none of Byron`);
  const attributes = { 1: fromHex(read.value.byron.derivationPath!) };
  const forged = [1, 2, 3].map((n) => {
    const address = readAddressHex(byronAddress({ root: new Uint8Array(28).fill(n), attributes }));
    if (!address.ok) throw new Error(address.error.message);
    return addressText(address.value);
  });
  const held = async () => BigInt((await client.byronWallet(id)).balance.available.quantity);
  await scenario.faucet(mine.id, 20n * ADA);
  for (const address of forged) await scenario.faucet(address, 50n * ADA);
  // only the root key shows which are its own
  await until("paid", async () => await held() === 170n * ADA, 60_000);
  const { id: other } = await scenario.createWallet();
  const address = await scenario.address(other);
  const pay = (ada: bigint) =>
    client.pay(id, { payments: [{ address, amount: lovelace(ada * ADA) }], passphrase: PASSPHRASE }, { prefix: BYRON });
  expect(await scenario.refused(pay(160n))).toEqual([403, "not_enough_money"]);
  expect(await held()).toBe(20n * ADA);
  // they stay in the total, with the reason
  const { balance, unspendable } = await client.byronWallet(id);
  expect(BigInt(balance.total.quantity)).toBe(170n * ADA);
  const reason = "key_not_found_for_address";
  expect(unspendable).toEqual([{ reason, amount: { quantity: 150_000_000, unit: "lovelace" }, assets: [] }]);
  const sent = await pay(15n);
  await scenario.untilInLedger(id, sent.id, BYRON);
  const left = 5n * ADA - BigInt(sent.fee.quantity);
  await until("what is left", async () => await held() === left, 60_000);
  expect(BigInt((await client.statistics(id, BYRON)).total.quantity)).toBe(left);
  const listed = (await client.addresses(id, {}, BYRON)).map((one) => one.id);
  expect(listed.filter((address) => forged.includes(address))).toEqual([]);
  expect(listed).toContain(mine.id);
  // later payments to them are not the wallet's either
  await scenario.faucet(forged[1]!, 50n * ADA);
  await scenario.faucet(mine.id, 2n * ADA);
  await until("paid once more", async () => await held() === left + 2n * ADA, 60_000);
});

it("of before 2018 may record the soft form of their index, and are spent all the same", async () => {
  const { client } = scenario;
  const words = newMnemonic(12);
  const style = "random";
  const { id } = await client.createByron({ style, name: "Old", mnemonic_sentence: words, passphrase: PASSPHRASE });
  const at = async (path: Path, recorded: Path): Promise<string> => {
    const made = await openRoot({ mnemonic: { style, words }, passphrase: PASSPHRASE, paths: [path] });
    if (!made.ok) throw new Error(made.error.message);
    const { root, keys: [key] } = made.value;
    const read = readAddressHex(randomAddress({ pathKey: byronPathKey(root), path: recorded, key: key!, magic: 42 }));
    if (!read.ok) throw new Error(read.error.message);
    return addressText(read.value);
  };
  const addresses = [
    await at([HARD, HARD + 1], [HARD, 1]),
    await at([0, HARD + 2], [0, 2]),
    await at([HARD, 3], [HARD, 3]),
  ];
  for (const address of addresses) await scenario.faucet(address, 20n * ADA);
  const balance = async () => (await client.byronWallet(id)).balance;
  await until("paid", async () => BigInt((await balance()).available.quantity) === 60n * ADA, 60_000);
  const { id: other } = await scenario.createWallet();
  const payments = [{ address: await scenario.address(other), amount: lovelace(55n * ADA) }];
  const sent = await client.pay(id, { payments, passphrase: PASSPHRASE }, { prefix: BYRON });
  expect(sent.inputs).toHaveLength(3);
  await scenario.untilInLedger(id, sent.id, BYRON);
  expect((await client.byronWallet(id)).unspendable).toBeUndefined();
});
