/** Representatives over HTTP, on a devnet where one registers, publishes metadata, and is voted with. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { ApiError } from "#src/client/http.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { type OutsideServer, outsideServer } from "../../support/infra/externalServers.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

const PASSPHRASE = "Secure Passphrase";
const DEPOSIT = 500_000_000n;
const CONTENT = `Qm${"a".repeat(44)}`;
const ANCHOR = `ipfs://${CONTENT}`;
const SAID = JSON.stringify({
  "@context": {},
  hashAlgorithm: "blake2b-256",
  body: {
    givenName: { "@value": "Ada" },
    objectives: "Bridges",
    doNotList: false,
    references: [{ "@type": "Link", label: "Home", uri: "https://example.org" }],
  },
});

describe("representatives", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let client: WalletClient;
  let server: OutsideServer;
  let id = "";
  let key = "";

  const refused = async (request: Promise<unknown>) => {
    const error = await request.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ApiError);
    return [(error as ApiError).status, (error as ApiError).code];
  };
  const landed = (hash: string) =>
    until(`${hash} is in the ledger`, async () => (await client.transaction(id, hash)).status === "in_ledger");

  beforeAll(async () => {
    infra = await sharedInfra();
    server = await outsideServer(() => ({ body: SAID }));
    arbor = await Arbor.start({
      infra,
      env: { ARBOR_IPFS_GATEWAY_URL: server.url, ARBOR_OUTSIDE_PRIVATE: "false", ARBOR_POOL_METADATA_FETCHING: "none" },
    });
    client = new WalletClient(arbor.wallets);
    const made = await client.create({ name: "Ada", mnemonic_sentence: newMnemonic(), passphrase: PASSPHRASE });
    id = made.id;
    const [first] = await client.addresses(id);
    const paid = await http(arbor.devnet, "POST", "/faucet", { address: first!.id, lovelace: 2_000_000_000 });
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
    await until("paid", async () => (await client.wallet(id)).balance.available.quantity === 2_000_000_000);
    const inspected = await client.inspect(first!.id);
    key = inspected.spending_key_hash!;
  });
  afterAll(async () => {
    await arbor?.end();
    await server?.stop();
    await infra?.stop();
  });

  it("are none at first", async () => {
    expect(await client.dreps()).toEqual([]);
    expect(await client.drepSummary()).toEqual({
      total_drep_stake: { quantity: "0", unit: "lovelace" },
      active_drep_count: 0,
      inactive_drep_count: 0,
      total_drep_count: 0,
    });
    expect(await client.suggestedDreps()).toEqual([]);
    for (const other of [drepId({ kind: "key", hash: key }), "abstain", "no_confidence"]) {
      const error = await client.drep(other).catch((error: unknown) => error);
      expect(error).toMatchObject({
        status: 404,
        code: "not_found",
        message: "No DRep found for the given identifier.",
      });
    }
    expect(await refused(client.drep("nobody"))).toEqual([400, "bad_request"]);
    expect(await refused(client.suggestedDreps(0))).toEqual([400, "bad_request"]);
  });

  it("are listed with their metadata and their voting stake", async () => {
    // a key of the wallet's own registers: the wallet completes and signs everything but its certificate
    const hash = hash256(utf8(SAID));
    const partial = encodeTransaction({
      inputs: [],
      outputs: [],
      fee: 0n,
      certificates: [encode([16, [0, fromHex(key)], DEPOSIT, [ANCHOR, fromHex(hash)]])],
      requiredSigners: [key],
    });
    const { transaction, fee } = await client.balance(id, { transaction: toHex(partial) });
    const signed = await client.sign(id, transaction, PASSPHRASE);
    await landed((await client.submit(id, signed.transaction)).id);

    const drep = drepId({ kind: "key", hash: key });
    // it is found at once, although the list was read before
    expect(await client.drep(drep)).toMatchObject({ id: drep, status: "active" });
    const voted = await client.joinDrep(id, drep, PASSPHRASE);
    await landed(voted.id);
    // the network is not queried for its list again at once
    const [one] = await until("listed", async () => {
      const all = await client.dreps();
      return all.length === 1 && all[0]!.voting_power.quantity !== "0" && all;
    });
    const epoch = (await client.information()).node_tip.epoch_number;
    expect(one).toMatchObject({
      id: drep,
      credential: { type: "key_hash", hash: key },
      status: "active",
      deposit: { quantity: Number(DEPOSIT), unit: "lovelace" },
      anchor: { url: ANCHOR, data_hash: hash },
    });
    expect(one!.expiry_epoch).toBeLessThanOrEqual(epoch + 20);
    const left = 2_000_000_000 - Number(DEPOSIT) - Number(fee.quantity) - 2_000_000 - Number(voted.fee.quantity);
    expect(one!.voting_power.quantity).toBe(String(left));
    expect(await client.drepSummary()).toMatchObject({ total_drep_count: 1, active_drep_count: 1 });

    // a source of pool metadata is not needed for it
    expect(await client.settings()).toEqual({ pool_metadata_source: "none" });
    expect(await client.drep(drep)).toMatchObject({
      name: "Ada",
      metadata: {
        name: "Ada",
        objectives: "Bridges",
        motivations: null,
        do_not_list: false,
        references: [{ label: "Home", uri: "https://example.org" }],
      },
    });
    expect(await client.dreps()).toMatchObject([{ id: drep, name: "Ada" }]);
    expect(server.requests).toEqual([`GET /ipfs/${CONTENT}`]);
    // the largest are not listed first, and there are no others
    expect(await client.suggestedDreps(5)).toEqual([]);
  });
});
