/**
 * A token over a devnet's hard fork from protocol version 10 to 11: transactions built before it are refused after it,
 * and the token continues.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { cageScripts } from "#src/contract/script.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../support/service/arbor.ts";
import { sharedInfra } from "../support/infra/infra.ts";
import { until } from "../support/base/until.ts";
import { fund, http, land, User } from "../support/service/user.ts";

/** Slots of an epoch; a slot has 50 ms, and blocks are made on request. */
const EPOCH = 600;

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let arbor: Arbor;
const owner = new User("base");
const other = new User();
const get = (path: string) => http(arbor.tokens, "GET", path);
const build = (name: string, token = "") => get(`/transaction/${owner.address}/${name}${token && `/${token}`}`);
const send = (signedTransaction: string) => http(arbor.tokens, "POST", "/transaction", { signedTransaction });
const insert = (user: User, token: string, key: string) =>
  http(arbor.tokens, "POST", `/transaction/${user.address}/request-insert/${token}`, { key, value: "v" });
const major = async () =>
  ((await http(arbor.devnet, "GET", "/parameters")).body as { protocolVersion: { major: number } }).protocolVersion
    .major;

/** The version of the contract that `/config` names, and whether versions 2 and 3 are published. */
async function current(): Promise<{ policyId: string; carried: boolean[] }> {
  const { policyId, publication } = (await get("/config")).body;
  const indexer = arbor.places.get("Blockfrost API of the devnet")!;
  const { body } = await http(indexer, "GET", `/addresses/${publication}/utxos`);
  const hashes = (body as { reference_script_hash: string | null }[]).map((one) => one.reference_script_hash);
  return { policyId, carried: cageScripts.slice(1).map(({ hash }) => hashes.includes(hash)) };
}

beforeAll(async () => {
  infra = await sharedInfra();
  arbor = await Arbor.start({
    infra,
    env: {
      ARBOR_PROTOCOL_VERSION: "10",
      ARBOR_HARD_FORK_EPOCH: "1",
      ARBOR_EPOCH_SLOTS: String(EPOCH),
      ARBOR_BUILDERS: "1",
    },
  });
  for (const user of [owner, other]) await fund(arbor.devnet, arbor.tokens, user);
}, 60_000);
afterAll(async () => {
  await arbor?.end();
  await infra?.stop();
});

test("a token continues over a hard fork, but not a transaction with the earlier cost models", async () => {
  const boot = await build("boot-token");
  const token = boot.body.value;
  // version 3 of the contract needs protocol version 11
  const [second, third] = cageScripts.slice(1).map(({ hash }) => hash) as [string, string];
  expect(boot.body.unsignedTransaction).toContain(second);
  expect(boot.body.unsignedTransaction).not.toContain(third);
  expect(await current()).toEqual({ policyId: second, carried: [true, false] });
  await land(arbor.tokens, owner.sign(boot.body.unsignedTransaction));
  await land(arbor.tokens, owner.sign((await insert(owner, token, "a")).body.unsignedTransaction));
  const early = await insert(other, token, "b");
  const stale = await build("update-token", token);
  expect([early.status, stale.status, await major()]).toEqual([200, 200, 10]);
  const signedStale = owner.sign(stale.body.unsignedTransaction);

  const wallets = new WalletClient(arbor.wallets);
  const words = [...newMnemonic(15)];
  const { id } = await wallets.create({ name: "over it", mnemonic_sentence: words, passphrase: "Secure Passphrase" });
  const { id: address } = (await wallets.addresses(id))[0]!;
  const paid = async (lovelace: number) =>
    expect((await http(arbor.devnet, "POST", "/faucet", { address, lovelace })).status).toBe(200);
  const holds = async (lovelace: number) =>
    await until(`a wallet of ${lovelace}`, async () => (await wallets.wallet(id)).balance.total.quantity === lovelace);
  await paid(5_000_000);
  await holds(5_000_000);

  await until("the hard fork", async () => await major() === 11, 90_000);

  // a request runs no scripts: one built before is valid after
  await land(arbor.tokens, other.sign(early.body.unsignedTransaction));
  const refused = await send(signedStale);
  expect(refused).toMatchObject({
    status: 422,
    body: { code: "refused_by_ledger", details: [{ name: "ScriptIntegrityHashMismatch" }] },
  });
  expect(JSON.stringify(refused.body)).toMatch(/built before these changed must be built again/);

  expect((await build("boot-token")).body.unsignedTransaction).toContain(third);
  // without another start of the devnet
  await until("version 3 is published", async () => (await current()).carried.every(Boolean));
  expect((await current()).policyId).toBe(third);
  const again = await build("update-token", token);
  expect(again).toMatchObject({ status: 200, body: { applied: [expect.any(String), expect.any(String)] } });
  // version 11's models result in other units, hence another fee
  expect(again.body.unsignedTransaction).not.toBe(stale.body.unsignedTransaction);
  await land(arbor.tokens, owner.sign(again.body.unsignedTransaction));
  expect((await get(`/token/${token}/facts`)).body).toEqual({ a: "v", b: "v" });

  await paid(7_000_000);
  await holds(12_000_000);
  const sent = await http(arbor.wallets, "POST", `/wallets/${id}/transactions`, {
    passphrase: "Secure Passphrase",
    payments: [{ address, amount: { quantity: 2_000_000, unit: "lovelace" } }],
  });
  expect(sent.status).toBe(202);
  await until(
    "the wallet's payment",
    async () => (await wallets.transaction(id, sent.body.id as string)).status === "in_ledger",
  );

  // back over the boundary and forth: the index follows, and the token has its earlier state
  const { body: tip } = await http(arbor.devnet, "GET", "/tip");
  const undone = await http(arbor.devnet, "POST", "/rollback", { slot: EPOCH - 1 });
  expect(undone.status).toBe(200);
  expect((tip as { slot: number }).slot).toBeGreaterThanOrEqual(EPOCH);
  await until("the hard fork again", async () => await major() === 11, 30_000);
  // the index may have processed the rollback or not yet; the update returns unchanged
  const ending = await until("the token can be ended", async () => {
    const built = await build("end-token", token);
    return built.status === 200 ? built.body.unsignedTransaction as string : undefined;
  }, 60_000);
  await until(
    "both facts",
    async () => Object.keys((await get(`/token/${token}/facts`)).body).sort().join() === "a,b",
    60_000,
  );
  await land(arbor.tokens, owner.sign(ending));
}, 200_000);
