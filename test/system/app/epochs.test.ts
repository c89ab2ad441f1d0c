/**
 * Services on a devnet that is moved over epochs, in two processes: what they build right afterwards is valid, although
 * the devnet is hours ahead of the clock.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

/** Epochs of half an hour: five of them are past the validity of a transaction that is built by the clock. */
const env = { ARBOR_SLOT_MS: "50", ARBOR_EPOCH_SLOTS: "36000", ARBOR_BUILDERS: "1" };
const PASSPHRASE = "correct horse battery";
let infra: Infra;
let network: Arbor;
let services: Arbor;

beforeAll(async () => {
  infra = await sharedInfra();
  network = await Arbor.start({ infra, roles: "devnet,follower", env });
  services = await Arbor.start({ infra, roles: "edge,worker", env });
});
afterAll(async () => {
  await services?.end();
  await network?.end();
  await infra?.stop();
});

const devnet = async (method: string, path: string, body?: unknown) => {
  const answer = await http(network.devnet, method, path, body);
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  return answer.body;
};

test("tokens and wallets are built on right after POST /epochs", async () => {
  const user = new User();
  await fund(network.devnet, services.tokens, user);
  const client = new WalletClient(services.wallets);
  const wallet = await client.create({
    name: "Ahead",
    mnemonic_sentence: newMnemonic(15),
    passphrase: PASSPHRASE,
  });
  const addresses = await client.addresses(wallet.id);
  await devnet("POST", "/faucet", { address: addresses[0]!.id, lovelace: 50_000_000 });

  const before = await devnet("GET", "/tip");
  const { tip, epoch, entered } = await devnet("POST", "/epochs", { count: 5, blocks: 3 });
  expect([epoch, entered, tip.slot]).toEqual([5, 5, 5 * 36_000]);
  const after = await devnet("GET", "/tip");
  expect(after.currentSlot - before.currentSlot).toBeGreaterThan(4 * 36_000);

  const built = await http(services.tokens, "GET", `/transaction/${user.address}/boot-token`);
  expect([built.status, built.body]).toEqual([200, expect.anything()]);
  await land(services.tokens, user.sign(built.body.unsignedTransaction));
  await until(
    "the token",
    async () => (await http(services.tokens, "GET", `/token/${built.body.value}`)).status === 200,
  );

  await until("the wallet's balance", async () => (await client.wallet(wallet.id)).balance.available.quantity > 0);
  const payment = await http(services.wallets, "POST", `/wallets/${wallet.id}/transactions`, {
    passphrase: PASSPHRASE,
    payments: [{ address: user.address, amount: { quantity: 2_000_000, unit: "lovelace" } }],
  });
  expect(payment.status).toBe(202);
  await until(
    "the payment in a block",
    async () =>
      (await http(services.wallets, "GET", `/wallets/${wallet.id}/transactions/${payment.body.id}`)).body.status ===
        "in_ledger",
  );
  // the wallet service's slot of the network is the devnet's
  await until("both tips in the epoch", async () => {
    const { node_tip, network_tip, sync_progress } = (await http(services.wallets, "GET", "/network/information")).body;
    return node_tip.epoch_number === 5 && network_tip.epoch_number === 5 && sync_progress.status === "ready";
  });
});

test("a restart goes on in the same epoch", async () => {
  await network.end();
  network = await Arbor.start({ infra, roles: "devnet,follower", env });
  const tip = await devnet("GET", "/tip");
  expect(tip.currentSlot).toBeGreaterThanOrEqual(5 * 36_000);
  const { currentEpoch } = await devnet("GET", "/epoch");
  expect(currentEpoch).toBe(5);
  await until("blocks go on", async () => (await devnet("GET", "/tip")).height > tip.height);
});
