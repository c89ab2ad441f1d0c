/**
 * Assets and policies over HTTP: the wallet's policy key, minting and burning, every asset that it ever held, and the
 * metadata of a token metadata server, over real HTTP with faults. Policies and fingerprints are computed independently
 * here.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { blake2b } from "@noble/hashes/blake2.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { mnemonicEntropy, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { type OutsideServer, outsideServer } from "../../support/infra/externalServers.ts";
import { readByCsl } from "../../support/ledger/readByCsl.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";

const MOST = 2n ** 63n - 1n;
const HARD = 0x8000_0000;
const words = newMnemonic(15);
/** Asset names for which the server gives metadata, none, no response, or an invalid response. */
const [KNOWN, UNKNOWN, DOWN, ODD] = ["6b6e6f776e", "", "646f776e", "6f6464"] as const;

const fingerprint = (policy: string, name: string) => toBech32("asset", blake2b(fromHex(policy + name), { dkLen: 20 }));

describe("assets and policies", () => {
  let scenario: Scenario;
  let registry: OutsideServer;
  let mine: string;
  let other: string;
  let policy: string;

  const policyKey = policyKeyOf(words);
  const mint = (name: string, quantity: bigint, more: object = {}) => ({
    policy_script_template: "cosigner#0",
    asset_name: name,
    operation: { mint: { quantity, ...more } },
  });
  const construct = (id: string, body: object) => scenario.client.construct(id, body as never);
  const held = async (id: string) =>
    new Map((await scenario.client.wallet(id)).assets.total.map((one) => [one.asset_name, BigInt(one.quantity)]));

  beforeAll(async () => {
    registry = await outsideServer(({ path, body }) => {
      const { subjects } = body as { subjects: string[] };
      if (path !== "/metadata/query") return { status: 404, body: {} };
      if (subjects.some((one) => one.endsWith(DOWN))) return { status: 503, body: {} };
      if (subjects.some((one) => one.endsWith(ODD))) return { body: "<html>" };
      const named = (subject: string) => ({
        subject,
        name: { value: "Potato", signatures: [] },
        description: { value: "A vegetable" },
        ticker: { value: "PTT" },
        decimals: { value: 6 },
        url: { value: "https://potato.example" },
        logo: { value: "iVBORw0KGgo=" },
      });
      return { body: { subjects: subjects.filter((one) => one.endsWith(KNOWN)).map(named) } };
    });
    scenario = await Scenario.start({
      blockMs: 0,
      env: { ARBOR_TOKEN_METADATA_SERVER: registry.url, ARBOR_OUTSIDE_PRIVATE: "true" },
    });
    await scenario.blocks();
    mine = (await scenario.createWallet({ words, coins: Array(6).fill(20n * ADA) })).id;
    other = (await scenario.createWallet()).id;
  });
  afterAll(async () => {
    await scenario?.stop();
    await registry?.stop();
  });

  it("need a policy key, which a wallet from a mnemonic has from the start", async () => {
    const { client } = scenario;
    const key = toBech32("policy_vk", policyKey.as_bytes());
    expect(await client.policyKey(mine)).toBe(key);
    expect(await client.get(`/wallets/${mine}/policy-key?hash=true`))
      .toBe(toBech32("policy_vkh", policyKey.hash().to_bytes()));
    for (let i = 0; i < 2; i++) expect(await client.makePolicyKey(mine, PASSPHRASE)).toBe(key);
    expect(await client.policyKey(mine)).toBe(key);
    expect(await scenario.refused(client.makePolicyKey(mine, "another passphrase")))
      .toEqual([403, "wrong_encryption_passphrase"]);
  });

  it("need a policy key, which a wallet without a root key lacks", async () => {
    const { client } = scenario;
    const { id } = await client.create({ name: "Watched", account_public_key: "0".repeat(128) });
    for (
      const request of [
        () => client.policyKey(id),
        () => client.policyId(id, "cosigner#0"),
        () => construct(id, { mint_burn: [mint(KNOWN, 1n)] }),
      ]
    ) {
      const { status, code, message } = await scenario.refusal(request());
      expect([status, code]).toEqual([403, "missing_policy_public_key"]);
      expect(message).toMatch(/POST to endpoint \S*\/policy-key/);
    }
    expect(await scenario.refused(client.makePolicyKey(id, PASSPHRASE))).toEqual([403, "no_root_key"]);
  });

  it("have the id of the script of a template", async () => {
    const { client } = scenario;
    const leaf = csl.NativeScript.new_script_pubkey(csl.ScriptPubkey.new(policyKey.hash()));
    const until = csl.NativeScript.new_timelock_expiry(
      csl.TimelockExpiry.new_timelockexpiry(csl.BigNum.from_str("99")),
    );
    const both = csl.NativeScripts.new();
    both.add(leaf);
    both.add(until);
    policy = leaf.hash().to_hex();
    expect(await client.policyId(mine, "cosigner#0")).toEqual({ policy_id: policy });
    expect(await client.policyId(mine, { all: ["cosigner#0", { active_until: 99 }] })).toEqual({
      policy_id: csl.NativeScript.new_script_all(csl.ScriptAll.new(both)).hash().to_hex(),
    });
    for (
      const template of ["cosigner#1", { all: ["cosigner#0", "cosigner#1"] }, { all: [] }, {
        any: ["cosigner#0", "cosigner#0"],
      }]
    ) {
      expect(await scenario.refused(client.policyId(mine, template)))
        .toEqual([403, "created_wrong_policy_script_template"]);
    }
  });

  it("are minted, as many as possible, to the stated address", async () => {
    const address = await scenario.address(other);
    const { signed, listed } = await scenario.land(mine, {
      mint_burn: [
        mint(KNOWN, MOST),
        mint(UNKNOWN, 5n),
        mint(DOWN, 7n),
        mint(ODD, 9n, { receiving_address: address }),
      ],
    });
    const read = readByCsl(signed);
    expect(read.mint).toEqual({
      [policy + KNOWN]: MOST,
      [policy + UNKNOWN]: 5n,
      [policy + DOWN]: 7n,
      [policy + ODD]: 9n,
    });
    expect(read.signedBy).toContain(policyKey.hash().to_hex());
    expect(read.nativeScripts).toBe(1);
    expect(read.outputs.find((one) => one.address === address)!.assets).toEqual({ [policy + ODD]: 9n });
    expect(listed.mint).toMatchObject({
      wallet_policy_key_index: "0H",
      tokens: [{
        policy_id: policy,
        assets: expect.arrayContaining([
          { asset_name: KNOWN, quantity: MOST, fingerprint: fingerprint(policy, KNOWN) },
        ]),
      }],
    });
    expect(await held(mine)).toEqual(new Map([[UNKNOWN, 5n], [DOWN, 7n], [KNOWN, MOST]]));
    expect(await held(other)).toEqual(new Map([[ODD, 9n]]));
    const bounds = [403, "mint_or_burn_asset_quantity_out_of_bounds"];
    expect(await scenario.refused(construct(mine, { mint_burn: [mint(KNOWN, 0n)] }))).toEqual(bounds);
    expect(await scenario.refused(construct(mine, { mint_burn: [mint(KNOWN, MOST + 1n)] }))).toEqual(bounds);
    expect(await scenario.refused(construct(mine, { mint_burn: [mint("00".repeat(33), 1n)] })))
      .toEqual([403, "asset_name_too_long"]);
  });

  it("are shown with the server's metadata, or the reason why there is none", async () => {
    const { client } = scenario;
    const plain = (name: string) => ({ policy_id: policy, asset_name: name, fingerprint: fingerprint(policy, name) });
    const known = {
      ...plain(KNOWN),
      metadata: {
        name: "Potato",
        description: "A vegetable",
        ticker: "PTT",
        decimals: 6,
        url: "https://potato.example",
        logo: "iVBORw0KGgo=",
      },
    };
    expect(await client.asset(mine, policy, KNOWN)).toEqual(known);
    // an asset without a name has the policy as its path
    expect(await client.asset(mine, policy)).toEqual(plain(UNKNOWN));
    expect(await client.asset(mine, policy, DOWN)).toEqual({ ...plain(DOWN), metadata_error: "fetch" });
    expect(await client.asset(other, policy, ODD)).toEqual({ ...plain(ODD), metadata_error: "parse" });
    expect(registry.requests).toEqual(Array(4).fill("POST /metadata/query"));
    // a response is cached for a while
    expect(await client.asset(mine, policy, KNOWN)).toEqual(known);
    expect(registry.requests).toHaveLength(4);
    for (const name of [ODD, "00"]) {
      expect(await scenario.refused(client.asset(mine, policy, name))).toEqual([404, "asset_not_present"]);
    }
    expect(await scenario.refused(client.asset(mine, "00".repeat(28)))).toEqual([404, "asset_not_present"]);
  });

  it("are listed as long as the wallet exists, also when they are burned or sent away", async () => {
    const burn = { policy_script_template: "cosigner#0", asset_name: DOWN, operation: { burn: { quantity: 7 } } };
    const { signed, listed } = await scenario.land(mine, { mint_burn: [burn] });
    expect(readByCsl(signed).mint).toEqual({ [policy + DOWN]: -7n });
    expect(listed.burn.tokens[0]!.assets).toEqual([
      { asset_name: DOWN, quantity: 7, fingerprint: fingerprint(policy, DOWN) },
    ]);
    const payment = {
      address: await scenario.address(other, 1),
      amount: { quantity: 2_000_000, unit: "lovelace" as const },
      assets: [{ policy_id: policy, asset_name: UNKNOWN, quantity: 5 }],
    };
    await scenario.land(mine, { payments: [payment] });
    expect(await held(mine)).toEqual(new Map([[KNOWN, MOST]]));
    expect(await held(other)).toEqual(new Map([[UNKNOWN, 5n], [ODD, 9n]]));
    const names = async (id: string) => (await scenario.client.assets(id)).map((one) => one.asset_name).sort();
    expect(await names(mine)).toEqual([UNKNOWN, DOWN, KNOWN].sort());
    expect(await names(other)).toEqual([UNKNOWN, ODD].sort());
    expect((await scenario.client.asset(mine, policy, DOWN)).fingerprint).toBe(fingerprint(policy, DOWN));
    const gone = construct(mine, { mint_burn: [burn] });
    expect(await scenario.refused(gone)).toEqual([403, "not_enough_money"]);
  });
});

/** The policy key of a mnemonic: 1855H/1815H/0H. */
function policyKeyOf(words: readonly string[]): csl.PublicKey {
  const entropy = mnemonicEntropy(words);
  if (!entropy.ok) throw new Error(entropy.error.message);
  return csl.Bip32PrivateKey.from_bip39_entropy(entropy.value, new Uint8Array())
    .derive(HARD + 1855).derive(HARD + 1815).derive(HARD).to_public().to_raw_key();
}
