/**
 * Inputs to spend and to avoid, and the address of change, chosen by the author of a transaction, for wallets of every
 * kind. A request without these members is answered as before.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { type Constructed, lovelace, type Prefix } from "#src/client/wallets.ts";
import { CslAccount } from "../../support/wallets/cslAccount.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";

interface Entry {
  readonly id: string;
  readonly index: number;
  readonly address: string;
  readonly derivation_path: readonly string[];
  readonly ada: { readonly quantity: number };
}

const stranger = new CslAccount(newMnemonic(15)).address(0);
const MAINNET = "addr1v9f75vzuv4txe6phmajw7hn47yx4gcpe9esnqqckwjzypycq73kj3";

describe("coins and change that are chosen", () => {
  let scenario: Scenario;

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    await scenario.blocks();
  });
  afterAll(() => scenario?.stop());

  const unspent = async (id: string, prefix: Prefix = "wallets") =>
    (await scenario.client.get<{ entries: Entry[] }>(`/${prefix}/${id}/utxo`, { references: "true" })).entries;
  const ref = ({ id, index }: Pick<Entry, "id" | "index">) => ({ id, index });
  const construct = (id: string, body: object, prefix: Prefix = "wallets") =>
    scenario.client.construct(id, body as never, prefix);
  const inputs = ({ coin_selection }: Pick<Constructed, "coin_selection">) => coin_selection.inputs.map(ref);
  const pay = (...amounts: bigint[]) => ({
    payments: amounts.map((amount) => ({ address: stranger, amount: lovelace(amount) })),
  });

  /** Wallets of each kind with coins of 5, 50 and 20 ada, with their own addresses. */
  const wallets: Readonly<Record<Prefix, () => Promise<string>>> = {
    wallets: async () => (await scenario.createWallet({ coins: [5n * ADA, 50n * ADA, 20n * ADA] })).id,
    "byron-wallets": async () => {
      // coins of a random wallet are not selected for other programs
      const { id } = await scenario.client.createByron({
        style: "icarus",
        name: "Icarus",
        mnemonic_sentence: newMnemonic(15),
        passphrase: PASSPHRASE,
      });
      const addresses = (await scenario.client.addresses(id, {}, "byron-wallets")).slice(0, 3);
      return await funded(id, "byron-wallets", addresses.map((one) => one.id));
    },
    "shared-wallets": async () => {
      const { shared } = await scenario.createOtherKinds();
      await until(
        "it has addresses",
        async () => (await scenario.client.addresses(shared.id, {}, "shared-wallets")).length >= 3,
      );
      const addresses = (await scenario.client.addresses(shared.id, {}, "shared-wallets")).slice(0, 3);
      return await funded(shared.id, "shared-wallets", addresses.map(({ id }) => id));
    },
  };
  const funded = async (id: string, prefix: Prefix, addresses: readonly string[]) => {
    for (const [i, coin] of [5n, 50n, 20n].entries()) await scenario.faucet(addresses[i]!, coin * ADA);
    await scenario.blocks();
    await until("it has its coins", async () => (await unspent(id, prefix)).length === 3);
    return id;
  };
  const withAda = (entries: readonly Entry[], ada: number) =>
    entries.find(({ ada: { quantity } }) => quantity === ada * 1_000_000)!;

  it.each(["wallets", "byron-wallets", "shared-wallets"] as const)("are kept for %s", async (prefix) => {
    const id = await wallets[prefix]();
    const all = await unspent(id, prefix);
    expect(all).toHaveLength(3);
    const [five, fifty, twenty] = [5, 50, 20].map((ada) => withAda(all, ada));
    const selected = async (body: object) =>
      prefix === "byron-wallets"
        ? (await scenario.client.send<Constructed["coin_selection"]>(
          "POST",
          `/${prefix}/${id}/coin-selections/random`,
          body,
        ))
        : (await construct(id, body, prefix)).coin_selection;
    const spent = async (body: object) => (await selected(body)).inputs.map(ref);
    // the smallest alone would do, and is avoided; at least one, and exactly one for two payments
    expect(await spent({ ...pay(2n * ADA), coin_control: { avoid: [five, fifty].map((one) => ref(one!)) } }))
      .toEqual([ref(twenty!)]);
    expect(await spent({ ...pay(2n * ADA), coin_control: { inputs: [ref(five!), ref(fifty!)] } }))
      .toEqual(expect.arrayContaining([ref(five!), ref(fifty!)]));
    expect(await spent({ ...pay(2n * ADA, 3n * ADA), coin_control: { inputs: [ref(twenty!)], only: true } }))
      .toEqual([ref(twenty!)]);
    expect(await spent({ ...pay(30n * ADA), coin_control: { inputs: [ref(five!)], avoid: [ref(twenty!)] } }))
      .toEqual([ref(five!), ref(fifty!)]);
    // change at an address of the wallet, used or not, and only there
    const own = five!.address;
    const { change } = await selected({ ...pay(2n * ADA), change_address: { address: own } });
    expect(change.map(({ address, derivation_path: path }) => [address, path])).toEqual([[own, five!.derivation_path]]);
    const elsewhere = { ...pay(2n * ADA), change_address: { address: stranger, foreign: true } };
    expect((await selected(elsewhere)).change).toMatchObject([{ address: stranger, derivation_path: [] }]);
    const refused = (body: object) => scenario.refused(selected({ ...pay(2n * ADA), ...body }));
    expect(await refused({ change_address: { address: stranger } })).toEqual([403, "foreign_change_address"]);
    expect(await refused({ change_address: { address: MAINNET, foreign: true } })).toEqual([400, "bad_request"]);
    expect(await refused({ coin_control: { inputs: [ref(five!)], only: true }, ...pay(6n * ADA) }))
      .toEqual([403, "not_enough_money"]);
    expect(await refused({ coin_control: { inputs: [{ id: "00".repeat(32), index: 0 }] } }))
      .toEqual([403, "inputs_not_available"]);
  });

  it("are refused when they are foreign, spent, pending, or contradict each other", async () => {
    const [id, other] = [await wallets.wallets(), await wallets.wallets()];
    const { client } = scenario;
    const [own, theirs] = [await unspent(id), await unspent(other)];
    const spend = (...entries: readonly Pick<Entry, "id" | "index">[]) => ({
      ...pay(2n * ADA),
      coin_control: { inputs: entries.map(ref) },
    });
    const foreign = await scenario.refusal(construct(id, spend(own[0]!, theirs[0]!)));
    expect([foreign.status, foreign.code, foreign.details]).toEqual([403, "inputs_not_available", {
      inputs: [{ ...ref(theirs[0]!), reason: "unknown" }],
    }]);
    const sent = await client.pay(id, {
      ...spend(own[0]!),
      coin_control: { inputs: [ref(own[0]!)], only: true },
      passphrase: PASSPHRASE,
    });
    expect(sent.inputs.map(ref)).toEqual([ref(own[0]!)]);
    const spentReason = { inputs: [{ ...ref(own[0]!), reason: "spent" }] };
    expect((await scenario.refusal(construct(id, spend(own[0]!)))).details).toEqual(spentReason);
    await scenario.blocks();
    await scenario.untilInLedger(id, sent.id);
    expect((await scenario.refusal(client.fees(id, spend(own[0]!)))).details).toEqual(spentReason);
    expect(await scenario.refused(client.pay(id, { ...spend(own[0]!), passphrase: PASSPHRASE })))
      .toEqual([403, "inputs_not_available"]);
    const both = { inputs: [ref(own[1]!)], avoid: [ref(own[1]!)] };
    for (const control of [both, { only: true }, { inputs: [{ id: "zz", index: 0 }] }, { spend: [] }]) {
      expect(await scenario.refused(construct(id, { ...pay(ADA), coin_control: control }))).toEqual([
        400,
        "bad_request",
      ]);
    }
    // what is avoided need not be the wallet's
    await construct(id, { ...pay(2n * ADA), coin_control: { avoid: [ref(theirs[0]!), ref(own[0]!)] } });
    expect(
      await scenario.refused(
        construct(id, { ...pay(2n * ADA), coin_control: { avoid: (await unspent(id)).map(ref) } }),
      ),
    )
      .toEqual([403, "no_utxos_available"]);
  });

  it("reach the ledger: a payment with change at a used address of the wallet", async () => {
    const id = await wallets.wallets();
    const [address] = await scenario.client.addresses(id);
    const all = await unspent(id);
    const { built, listed } = await scenario.land(id, {
      ...pay(3n * ADA, 4n * ADA),
      coin_control: { inputs: [ref(withAda(all, 50))], only: true, avoid: [] },
      change_address: { address: address!.id, foreign: false },
    } as never);
    expect(inputs(built)).toEqual([ref(withAda(all, 50))]);
    expect(listed.outputs.filter((one) => one.address === address!.id)).toHaveLength(2);
    expect(await scenario.available(id)).toBe(75n * ADA - 7n * ADA - BigInt(built.fee.quantity));
    // without the query nothing names the outputs
    const { entries } = await scenario.client.get<{ entries: object[] }>(`/wallets/${id}/utxo`);
    expect(Object.keys(entries[0]!).sort()).toEqual(["ada", "ada_minimum", "assets"]);
  });
});
