/**
 * A network that is ahead of this release: its provider states protocol version 12, which the start, the health and
 * builds report.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { silentLog } from "#src/base/log.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { genesisOutputs, readGenesis } from "#src/devnet/genesis/genesis.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { serveBlockfrost, type Served } from "../../support/blockfrost/blockfrostServer.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { agrees, plutusHash } from "../../support/plutus/scripts.ts";
import { until } from "../../support/base/until.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

const owner = new User();
let far: Infra;
let near: Infra;
let store: Store;
let bus: Bus;
let served: Served;
let devnet: Arbor;
let service: Arbor;

beforeAll(async () => {
  [far, near] = await Promise.all([sharedInfra(), sharedInfra()]);
  // Blockfrost gives the length of a slot in whole seconds
  const whole = { ARBOR_SLOT_MS: "1000", ARBOR_BLOCK_MS: "1000", ARBOR_BUILDERS: "1" };
  devnet = await Arbor.start({ infra: far, roles: "devnet", env: whole });
  store = openStore(far.databaseUrl, { max: 4 });
  bus = await connectBus({ url: far.natsUrl, ...(far.natsToken ? { token: far.natsToken } : {}) });
  const port = devnetPort({ store, bus, log: silentLog });
  const forged: RawChainPort["parameters"] = async () => {
    const found = await port.parameters();
    if (!found.ok) return found;
    const { point, value } = found.value;
    return { ok: true, value: { point, value: { ...value, protocolVersion: { major: 12, minor: 0 } } } };
  };
  const genesis = genesisOutputs((await readGenesis(store.sql))!);
  served = await serveBlockfrost({ ...port, parameters: forged }, { genesis });
  service = await Arbor.start({
    infra: near,
    env: {
      ARBOR_PROVIDER: "blockfrost",
      ARBOR_BLOCKFROST_URL: served.url,
      ARBOR_HEALTH_PORT: "0",
      ARBOR_BUILDERS: "1",
    },
  });
  await fund(devnet.devnet, service.tokens, owner);
}, 60_000);
afterAll(async () => {
  await service?.end();
  await served?.close();
  await devnet?.end();
  await bus?.close();
  await store?.close();
  await near?.stop();
  await far?.stop();
});

const code = "protocol_version_unknown";

test("the start reports it, and each service in its health, where it stays healthy", async () => {
  await until("the start reports it", async () => service.printed.includes(code));
  const protocolVersion = { network: { major: 12, minor: 0 }, newestKnown: 11, unknown: true };
  for (const place of [service.tokens, service.wallets.replace("/v2", ""), service.operator, service.health]) {
    const health = await http(place, "GET", "/health");
    expect([place, health.status, health.body.status]).toEqual([place, 200, "alive"]);
    expect(health.body.network).toMatchObject({ provider: "blockfrost", protocolVersion });
  }
  expect((await http(devnet.devnet, "GET", "/health")).body.network).toMatchObject({
    provider: "devnet",
    protocolVersion: { newestKnown: 11, unknown: false },
  });
});

test("a wallet's transaction that runs scripts reports it", async () => {
  const client = new WalletClient(service.wallets);
  const { id } = await client.create({
    name: "ahead",
    mnemonic_sentence: [...newMnemonic(15)],
    passphrase: "Secure Passphrase",
  });
  const address = (await client.addresses(id))[0]!.id;
  for (const lovelace of [50, 9, 9]) {
    await http(devnet.devnet, "POST", "/faucet", { address, lovelace: lovelace * 1_000_000 });
  }
  await until("its coins", async () => (await client.wallet(id)).balance.total.quantity === 68_000_000, 30_000);
  const minted = csl.Mint.new();
  const assets = csl.MintAssets.new();
  assets.insert(csl.AssetName.new(new Uint8Array([0xaa])), csl.Int.new_i32(7));
  minted.insert(csl.ScriptHash.from_hex(plutusHash(3, agrees)), assets);
  const body = csl.TransactionBody.new(csl.TransactionInputs.new(), csl.TransactionOutputs.new(), csl.BigNum.zero());
  const witnesses = csl.TransactionWitnessSet.new();
  const bare = csl.Transaction.new(body, witnesses).to_hex();
  body.set_mint(minted);
  const scripts = csl.PlutusScripts.new();
  scripts.add(csl.PlutusScript.new_v3(agrees));
  witnesses.set_plutus_scripts(scripts);
  const transaction = csl.Transaction.new(body, witnesses).to_hex();
  const redeemers = [{ purpose: "minting" as const, data: "182a", policy_id: plutusHash(3, agrees) }];
  expect((await client.balance(id, { transaction, redeemers })).warnings).toMatchObject([{ code }]);
  expect((await client.balance(id, { transaction: bare })).warnings).toBeUndefined();
});

test("builds that run scripts report it, and their transactions can still be submitted", async () => {
  const boot = await http(service.tokens, "GET", `/transaction/${owner.address}/boot-token`);
  expect(boot).toMatchObject({ status: 200, body: { warnings: [{ code }] } });
  await land(service.tokens, owner.sign(boot.body.unsignedTransaction));
  const token = boot.body.value;
  const build = (name: string) => http(service.tokens, "GET", `/transaction/${owner.address}/${name}/${token}`);
  expect(await build("end-token")).toMatchObject({ status: 200, body: { warnings: [{ code }] } });
  // a request runs no script
  const path = `/transaction/${owner.address}/request-insert/${token}`;
  const request = await http(service.tokens, "POST", path, { key: "k", newValue: "v" });
  expect(request).toMatchObject({ status: 200, body: { warnings: [] } });
});
