/** Other keys' addresses into which a path of a random wallet was copied: payments to them are not the wallet's. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { addressText, parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { newMnemonic } from "#src/cardano/mnemonic.ts";
import { lovelace } from "#src/client/wallets.ts";
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
