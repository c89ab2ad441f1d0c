/**
 * Wallets on a devnet with mainnet's magic and network id: every address is one of mainnet, every transaction pays to
 * such addresses, and addresses of test networks are refused wherever a request has one. In the provider `node` the
 * service is started with `--mainnet` and reads the devnet by its socket alone.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { addressText } from "#src/cardano/address.ts";
import { newSeed } from "#src/cardano/keys/signingKey.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { addressOf } from "#src/cli/keyFile.ts";
import type { ApiError } from "#src/client/http.ts";
import { signTransaction, TokenClient } from "#src/client/tokens.ts";
import { lovelace } from "#src/client/wallets.ts";
import { readByCsl } from "../../support/ledger/readByCsl.ts";
import { ADA, ANSWERS_POOLS, PASSPHRASE, PROVIDERS, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";
import { walletVectors } from "../../support/wallets/walletVectors.ts";

const BYRON = "byron-wallets";
const SHARED = "shared-wallets";
/** Addresses of test networks: payment, stake, Byron. */
const TEST = {
  payment: "addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz",
  stake: "stake_test1uqehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gssrtvn",
  byron: "2cWKMJemoBajSqLQ344qLzt8mCD1RigKsvbzTHEbkmrF82CTTjmhybMjV1Nstfz7uR2pg",
};
const WRONG = "Invalid network discrimination on address. Expecting Mainnet but got Testnet.";

/** The network of an address according to Emurgo's library: 0 or 1, for Byron 1 without a magic. */
function networkOf(address: string): number {
  return csl.ByronAddress.is_valid(address)
    ? csl.ByronAddress.from_base58(address).network_id()
    : csl.Address.from_bech32(address).network_id();
}

/** Every text in an answer that looks like an address. */
function addressesIn(answer: unknown): string[] {
  return JSON.stringify(answer).match(/"(addr|stake)(_test)?1[0-9a-z]+"|"(Ddz|Ae2)[0-9A-Za-z]+"/g)?.map((text) =>
    text.slice(1, -1)
  ) ?? [];
}

describe.each(PROVIDERS)("on mainnet, provider %s,", (provider) => {
  let scenario: Scenario;
  let mine: string;
  let other: string;
  let shared: string;
  let old: string;
  /** A Byron wallet with address pools. */
  let pooled: string;

  const answers: unknown[] = [];
  const kept = <T>(answer: T): T => {
    answers.push(answer);
    return answer;
  };
  const ready = (path: string) =>
    until(`${path} is ready`, async () => {
      return (await scenario.client.get<{ state: { status: string } }>(path)).state.status === "ready";
    }, 60_000);

  beforeAll(async () => {
    scenario = await Scenario.start({
      provider,
      mainnet: true,
      blockMs: 0,
      env: { ARBOR_POOLS: "1", ARBOR_EPOCH_SLOTS: "100000" },
    });
    await scenario.blocks();
  });
  afterAll(() => scenario?.stop());

  it("the service says where it is, once, and that no live mainnet node was met", async () => {
    const said = scenario.arbor.printed.match(/This is mainnet: .*/g);
    expect(said).toHaveLength(1);
    expect(said![0]).toContain("This release has met no live mainnet node");
    expect(await scenario.client.information()).toMatchObject({
      network_info: { protocol_magic: MAINNET_MAGIC, network_id: "mainnet" },
    });
  });

  it("the token service answers health checks only, unless it was started for mainnet", async () => {
    expect(scenario.arbor.printed).toContain("--tokens-on-mainnet");
    const tokens = scenario.arbor.places.get("token service (off)")!;
    expect(await http(tokens, "GET", "/health")).toMatchObject({ status: 200 });
    for (const [method, path] of [["GET", "/tokens"], ["GET", "/config"], ["POST", "/tokens/boot"], ["GET", "/"]]) {
      const { status, body } = await http(tokens, method!, path!, method === "POST" ? {} : undefined);
      expect([path, status, body.code]).toEqual([path, 403, "tokens_off"]);
    }
  });

  it("wallets have the addresses of mainnet that other programs derive", async () => {
    const { client } = scenario;
    const [golden] = walletVectors("wallet-next-address");
    expect(golden).toMatchObject({ input: { networkTag: 1, path: "1852H/1815H/0H/0/20 + 2/0" } });
    mine = (await scenario.createWallet({ words: golden!.input.mnemonic.split(" "), gap: 30 })).id;
    const listed = kept(await client.addresses(mine));
    expect(listed.find(({ derivation_path: path }) => path.join("/") === "1852H/1815H/0H/0/20")?.id)
      .toBe(golden!.expected.address);
    other = (await scenario.createWallet()).id;

    const random = walletVectors("byron-random-address").filter(({ input }) => input.protocolMagic === MAINNET_MAGIC);
    expect(random.length).toBeGreaterThan(0);
    old = (await client.createByron({
      style: "random",
      name: "Old",
      mnemonic_sentence: String(random[0]!.input.mnemonic).split(" "),
      passphrase: PASSPHRASE,
    })).id;
    await ready(`/${BYRON}/${old}`);
    for (const { input, expected } of random) {
      const index = 2 ** 31 + Number(/^0H\/(\d+)H$/.exec(String(input.path))![1]);
      const body = { passphrase: PASSPHRASE, address_index: index };
      const made = await client.send<{ id: string }>("POST", `/${BYRON}/${old}/addresses`, body);
      expect(made.id).toBe(expected.address);
      expect(csl.ByronAddress.from_base58(made.id).byron_protocol_magic()).toBe(MAINNET_MAGIC);
      expect(await client.inspect(made.id)).toMatchObject({ address_style: "Byron", network_tag: null });
    }

    for (const { input, expected } of walletVectors("sequential-byron-wallet")) {
      expect(input.protocolMagics[0]).toBe(MAINNET_MAGIC);
      const { id } = await client.createByron({
        style: input.style,
        ...(input.style === "trezor" ? { trezor_derivation: "device" as const } : {}),
        name: input.style,
        mnemonic_sentence: input.mnemonic.split(" "),
        passphrase: PASSPHRASE,
      });
      await ready(`/${BYRON}/${id}`);
      const [first] = kept(await client.addresses(id, {}, BYRON));
      expect(first!.id).toBe(expected.addresses[0][0]);
      expect(csl.ByronAddress.from_base58(first!.id).byron_protocol_magic()).toBe(MAINNET_MAGIC);
      pooled = id;
    }

    const { id } = await client.send<{ id: string }>("POST", `/${SHARED}`, {
      name: "Ours",
      mnemonic_sentence: newMnemonic(15),
      passphrase: PASSPHRASE,
      account_index: "0H",
      payment_script_template: { cosigners: { "cosigner#0": "self" }, template: { all: ["cosigner#0"] } },
      delegation_script_template: { cosigners: { "cosigner#0": "self" }, template: { all: ["cosigner#0"] } },
    });
    shared = id;
    await ready(`/${SHARED}/${shared}`);
    kept(await client.addresses(shared, {}, SHARED));
    const made = kept(await client.makeAddress({ payment: await client.key(mine, "utxo_external", "0") }));
    expect(networkOf(made.address)).toBe(1);
  });

  it.skipIf(!ANSWERS_POOLS)("they are paid, pay, mint and delegate", async () => {
    const { client } = scenario;
    await scenario.fund(mine, [500n * ADA, 100n * ADA, 100n * ADA]);
    const payments = [{ address: await scenario.address(other), amount: lovelace(5n * ADA) }];
    const paid = await scenario.land(mine, { payments });
    kept(paid.listed);
    for (const output of readByCsl(paid.signed).outputs) expect(networkOf(output.address)).toBe(1);

    const minted = await scenario.land(mine, {
      mint_burn: [{
        policy_script_template: "cosigner#0",
        asset_name: "6f6e65",
        operation: { mint: { quantity: 7n, receiving_address: await scenario.address(other, 1) } },
      }],
    } as never);
    kept(minted.listed);
    await until("the asset arrives", async () => (await client.assets(other)).length === 1);

    const [pool] = await client.stakePools(100n * ADA);
    const joined = await client.joinPool(mine, pool!.id, PASSPHRASE);
    await scenario.blocks();
    kept(await scenario.untilInLedger(mine, joined.id));
    const [stake] = kept(await client.stakeKeys(mine)).ours;
    expect(stake).toMatchObject({ delegation: { next: [{ target: pool!.id }] } });
    const { body: account } = await http(scenario.devnet, "GET", `/accounts/${stake!.key}`);
    expect(account).toMatchObject({ registered: true, pool: pool!.id });
    const coins = kept(await client.selectCoins(mine, { payments }));
    expect(coins.change.length).toBeGreaterThan(0);
  });

  it("a shared wallet pays, and Byron wallets of both kinds of addresses pay and migrate", async () => {
    const { client } = scenario;
    const [own] = await client.addresses(shared, {}, SHARED);
    await scenario.faucet(own!.id, 50n * ADA);
    const byron = await Promise.all([old, pooled].map(async (id) => {
      const addresses = (await client.addresses(id, {}, BYRON)).slice(0, 2).map((address) => address.id);
      for (const address of addresses) await scenario.faucet(address, 20n * ADA);
      return { id, funds: 20n * ADA * BigInt(addresses.length) };
    }));
    await scenario.blocks();
    const has = (path: string, amount: bigint) =>
      until(`${path} has ${amount}`, async () => {
        const wallet = await client.get<{ balance: { available: { quantity: number } } }>(path);
        return BigInt(wallet.balance.available.quantity) === amount;
      }, 60_000);
    await has(`/${SHARED}/${shared}`, 50n * ADA);
    const payments = [{ address: await scenario.address(other, 2), amount: lovelace(3n * ADA) }];
    kept((await scenario.land(shared, { payments }, SHARED)).listed);

    for (const { id, funds } of byron) {
      await has(`/${BYRON}/${id}`, funds);
      const sent = await client.pay(id, { payments, passphrase: PASSPHRASE }, { prefix: BYRON });
      await scenario.blocks();
      kept(await scenario.untilInLedger(id, sent.id, BYRON));
      const to = [await scenario.address(mine, 5)];
      const plan = kept(await client.migrationPlan(id, to, BYRON));
      expect(plan.selections).toHaveLength(1);
      const [migrated] = await client.migrate(id, { passphrase: PASSPHRASE, addresses: to }, { prefix: BYRON });
      await scenario.blocks();
      kept(await scenario.untilInLedger(id, migrated!.id, BYRON));
      await has(`/${BYRON}/${id}`, 0n);
    }
  });

  it.skipIf(!ANSWERS_POOLS)("every address that was shown is one of mainnet", () => {
    const shown = new Set(answers.flatMap(addressesIn));
    expect(shown.size).toBeGreaterThan(60);
    expect([...shown].filter((address) => networkOf(address) !== 1)).toEqual([]);
    expect([...shown].some((address) => address.startsWith("stake1"))).toBe(true);
  });

  it("addresses of test networks are refused by every operation that takes one", async () => {
    const { client } = scenario;
    const amount = lovelace(2n * ADA);
    const payments = [{ address: TEST.payment, amount }];
    const mint = { mint: { quantity: 1n, receiving_address: TEST.payment } };
    const policy = { policy_script_template: "cosigner#0", asset_name: "" };
    const passphrase = PASSPHRASE;
    const input = { id: "00".repeat(32), index: 0, address: TEST.payment, amount };
    const empty = { transaction: "84a300d90102800180020aa0f5f6" };
    const redeemer = { purpose: "rewarding", data: "00", stake_address: TEST.stake };
    const requests: [method: "GET" | "POST" | "PUT", path: string, body: unknown, place: string][] = [
      ["POST", `/wallets/${mine}/transactions-construct`, { payments }, "payments[0].address"],
      ["POST", `/wallets/${mine}/transactions-construct`, { mint_burn: [{ ...policy, operation: mint }] }, ""],
      ["POST", `/wallets/${mine}/transactions`, { payments, passphrase }, "payments[0].address"],
      ["POST", `/wallets/${mine}/payment-fees`, { payments }, "payments[0].address"],
      ["POST", `/wallets/${mine}/coin-selections/random`, { payments }, "payments[0].address"],
      ["POST", `/wallets/${mine}/migrations/plan`, { addresses: [TEST.payment] }, "addresses[0]"],
      ["POST", `/wallets/${mine}/migrations`, { addresses: [TEST.payment], passphrase }, "addresses[0]"],
      ["POST", `/wallets/${mine}/transactions-balance`, { ...empty, inputs: [input] }, "inputs[0].address"],
      ["POST", `/wallets/${mine}/transactions-balance`, { ...empty, redeemers: [redeemer] }, ""],
      ["GET", `/wallets/${mine}/transactions?address=${TEST.payment}`, undefined, ""],
      ["POST", `/${SHARED}/${shared}/transactions-construct`, { payments }, "payments[0].address"],
      ["GET", `/${SHARED}/${shared}/transactions?address=${TEST.payment}`, undefined, ""],
      ["POST", `/${BYRON}/${old}/transactions`, { payments, passphrase }, "payments[0].address"],
      ["POST", `/${BYRON}/${old}/payment-fees`, { payments }, "payments[0].address"],
      ["POST", `/${BYRON}/${old}/coin-selections/random`, { payments }, "payments[0].address"],
      ["POST", `/${BYRON}/${old}/migrations/plan`, { addresses: [TEST.byron] }, "addresses[0]"],
      ["POST", `/${BYRON}/${old}/migrations`, { addresses: [TEST.byron], passphrase }, "addresses[0]"],
      ["PUT", `/${BYRON}/${old}/addresses`, { addresses: [TEST.byron] }, "addresses[0]"],
      ["PUT", `/${BYRON}/${old}/addresses/${TEST.byron}`, undefined, ""],
      ["GET", `/${BYRON}/${old}/transactions?address=${TEST.byron}`, undefined, ""],
    ];
    for (const [method, path, body, place] of requests) {
      const { status, code, message } = await scenario.refusal(
        method === "GET" ? client.get(path) : client.send(method, path, body),
      );
      expect([path, status, code, message]).toEqual([path, 400, "bad_request", expect.stringContaining(WRONG)]);
      if (place !== "") expect(message).toBe(`Error in $.${place}: ${WRONG}`);
    }
    expect(await client.inspect(TEST.payment)).toMatchObject({ network_tag: 0 });
  });
});

describe("tokens on mainnet", () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await Scenario.start({
      provider: "devnet",
      mainnet: true,
      blockMs: 0,
      env: { ARBOR_TOKENS_ON_MAINNET: "true", ARBOR_POOLS: "1" },
    });
    await scenario.blocks();
  });
  afterAll(() => scenario?.stop());

  it("are created at addresses of mainnet, where the service was started for them", async () => {
    expect(scenario.arbor.printed).not.toContain("token service is off");
    const tokens = new TokenClient(scenario.arbor.tokens);
    const config = (await http(scenario.arbor.tokens, "GET", "/config")).body;
    expect(config).toMatchObject({ network: { id: 1, magic: MAINNET_MAGIC } });
    expect(networkOf(config.publication)).toBe(1);
    const key = newSeed();
    const address = addressText(addressOf(key, 1));
    await scenario.faucet(address, 100n * ADA);
    await scenario.blocks();
    const refused = await tokens.boot(TEST.payment).then(() => undefined, (error: ApiError) => error);
    expect([refused?.status, refused?.code]).toEqual([400, "bad_address"]);
    const { checked, value: token } = await until("the coin is indexed", async () => {
      return await tokens.boot(address).catch((error: ApiError) => {
        if (["not_enough_money", "index_behind"].includes(error.code)) return undefined;
        throw error;
      });
    }, 60_000);
    const signed = signTransaction(checked, key);
    for (const output of readByCsl(signed.cbor).outputs) expect(networkOf(output.address)).toBe(1);
    await tokens.submit(signed);
    await until("the token is listed", async () => {
      await scenario.blocks();
      const { body } = await http(scenario.arbor.tokens, "GET", "/tokens");
      return body.tokens.some(({ tokenId, status }: Record<string, unknown>) => tokenId === token && status === "live");
    }, 60_000);
  });
});
