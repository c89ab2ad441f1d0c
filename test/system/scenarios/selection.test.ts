/**
 * Coin selection of payments: a separate coin for each output, none twice, all of it if no change is possible; and
 * insufficient coins.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { type Constructed, lovelace, WalletClient } from "#src/client/wallets.ts";
import { leastFee, leastLovelace, readByCsl } from "../../support/ledger/readByCsl.ts";
import { CslAccount } from "../../support/wallets/cslAccount.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";

describe("coins", () => {
  const addresses = Array.from({ length: 10 }, (_, i) => new CslAccount(newMnemonic(15)).address(i));
  const [receiver] = addresses;
  let scenario: Scenario;
  let client: WalletClient;

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    ({ client } = scenario);
  });
  afterAll(() => scenario?.stop());

  const of = async (...coins: bigint[]) => (await scenario.createWallet({ coins: coins.map((ada) => ada * ADA) })).id;
  const to = (...amounts: bigint[]) => ({
    payments: amounts.map((amount, i) => ({ address: addresses[i]!, amount: lovelace(amount) })),
  });
  const refs = ({ coin_selection }: Constructed) => coin_selection.inputs.map(({ id, index }) => `${id}#${index}`);
  const paths = ({ coin_selection }: Constructed) =>
    coin_selection.change.map(({ derivation_path }) => derivation_path.slice(3).join("/"));

  it("are too few if each output needs its own, unless the wallet uses round-robin", async () => {
    const id = await of(30n);
    const refusal = await scenario.refusal(client.construct(id, to(2n * ADA, 3n * ADA)));
    expect([refusal.status, refusal.code, refusal.message]).toEqual([
      403,
      "inputs_depleted",
      expect.stringContaining("not fragmented enough"),
    ]);
    expect(await scenario.refused(client.pay(id, { ...to(2n * ADA, 3n * ADA), passphrase: PASSPHRASE })))
      .toEqual([403, "inputs_depleted"]);
    expect(await scenario.refused(client.fees(id, to(2n * ADA, 3n * ADA)))).toEqual([403, "inputs_depleted"]);
    expect((await client.wallet(id)).selection).toBe("per-output");
    await client.change(id, { selection: "round-robin" });
    const { built, signed } = await scenario.land(id, to(2n * ADA, 3n * ADA));
    expect([refs(built).length, built.coin_selection.change.length]).toEqual([1, 2]);
    expect(readByCsl(signed).fee).toBe(leastFee(signed));
    await client.change(id, { selection: "per-output" });
    // now there are two: with the change
    const { built: again } = await scenario.land(id, to(2n * ADA, 3n * ADA));
    expect([refs(again).length, again.coin_selection.change.length]).toEqual([2, 2]);
    expect(new Set(paths(again)).size).toBe(2);
  });

  it("may be several for one output, and the fee is divided over the changes", async () => {
    const id = await of(4n, 4n, 4n, 9n);
    const { built, signed } = await scenario.land(id, to(10n * ADA, 5n * ADA));
    const { inputs, change } = built.coin_selection;
    expect(inputs.length).toBeGreaterThanOrEqual(3);
    const [all, given] = [inputs, change].map((list) =>
      list.reduce((sum, one) => sum + BigInt(one.amount.quantity), 0n)
    );
    expect(all! - given!).toBe(15n * ADA + BigInt(built.fee.quantity));
    expect(readByCsl(signed).fee).toBe(leastFee(signed));
  });

  it("that leave too little for an output add it to the fee", async () => {
    for (const left of [200_000n, 700_000n]) {
      const id = await of(5n);
      const { built, signed } = await scenario.land(id, to(5n * ADA - left));
      const read = readByCsl(signed);
      expect([built.coin_selection.change, read.outputs.length, read.fee]).toEqual([[], 1, left]);
      expect(read.fee).toBeGreaterThan(leastFee(signed));
      await scenario.untilAvailable(id, 0n);
    }
    // at exactly the fee there is no surplus
    const id = await of(5n);
    const { transaction } = await client.construct(id, to(5n * ADA - 200_000n));
    const least = leastFee((await client.sign(id, transaction, PASSPHRASE)).transaction);
    expect(await scenario.refused(client.construct(id, to(5n * ADA - least + 1n)))).toEqual([403, "cannot_cover_fee"]);
    const { built } = await scenario.land(id, to(5n * ADA - least));
    expect([built.coin_selection.change, BigInt(built.fee.quantity)]).toEqual([[], least]);
  });

  it("that are not enough are refused with the missing amounts", async () => {
    const id = await of(10n);
    const lacking = await scenario.refusal(client.construct(id, to(12n * ADA)));
    expect([lacking.status, lacking.code, lacking.details]).toEqual([
      403,
      "not_enough_money",
      { shortfall: { ada: lovelace(2_000_000), assets: [] } },
    ]);
    expect(await scenario.refused(client.construct(id, to(10n * ADA)))).toEqual([403, "cannot_cover_fee"]);
    // an estimate says what the fee would be
    const { estimated_min: low, estimated_max: high } = await client.fees(id, to(10n * ADA));
    expect(Number(low.quantity)).toBeGreaterThan(150_000);
    expect(Number(high.quantity)).toBeLessThan(1_000_000);
    const empty = await of();
    for (
      const request of [
        () => client.construct(empty, to(ADA)),
        () => client.construct(empty, { metadata: { "0": { int: 1 } } }),
        () => client.fees(empty, to(ADA)),
        () => client.pay(empty, { ...to(ADA), passphrase: PASSPHRASE }),
        () => client.delegationFees(empty),
      ]
    ) expect(await scenario.refused(request())).toEqual([403, "no_utxos_available"]);

    const small = await scenario.refusal(client.construct(id, to(ADA, 500_000n)));
    const { tx_output_lovelace_required_minimum: least, ...info } = small.details as Record<
      string,
      { quantity: number }
    >;
    expect([small.status, small.code, info]).toEqual([403, "utxo_too_small", {
      tx_output_index: 1,
      tx_output_lovelace_specified: lovelace(500_000),
    }]);
    // with the minimum it is accepted, and without an amount it gets the minimum
    const { signed } = await scenario.land(id, to(BigInt(least!.quantity)));
    const at = (transaction: string) => readByCsl(transaction).outputs.findIndex(({ address }) => address === receiver);
    expect(BigInt(least!.quantity)).toBeGreaterThanOrEqual(leastLovelace(signed, at(signed)));
    const { transaction } = await client.construct(id, to(0n));
    expect(readByCsl(transaction).outputs[at(transaction)]!.lovelace).toBe(BigInt(least!.quantity));
    // the ledger itself would accept no less
    const below = leastLovelace(signed, at(signed)) - 1n;
    expect(await scenario.refused(client.construct(id, to(below)))).toEqual([403, "utxo_too_small"]);
  });

  it("are reserved for one client at a time as long as others suffice", async () => {
    const id = await of(10n, 10n, 10n, 10n, 10n, 10n, 10n, 10n);
    const built = await Promise.all(Array.from({ length: 6 }, () => client.construct(id, to(3n * ADA))));
    for (let left = 2; left > 0; left--) built.push(await client.construct(id, to(3n * ADA)));
    const taken = built.flatMap(refs);
    expect([taken.length, new Set(taken).size]).toEqual([8, 8]);
    // once nothing else is left, reserved ones are used again
    const more = await client.construct(id, to(3n * ADA));
    expect(taken).toEqual(expect.arrayContaining(refs(more)));
    // all may be submitted; of two on one coin the ledger accepts one
    const sent = await Promise.all(built.map(async ({ transaction }) => {
      const signed = await client.sign(id, transaction, PASSPHRASE);
      return (await client.submit(id, signed.transaction)).id;
    }));
    const late = await client.sign(id, more.transaction, PASSPHRASE);
    const refused = await scenario.refusal(client.submit(id, late.transaction));
    expect([refused.status, refused.code]).toEqual([403, "created_invalid_transaction"]);
    await scenario.blocks();
    for (const hash of sent) await scenario.untilInLedger(id, hash);
    expect((await client.transactions(id)).filter(({ status }) => status !== "in_ledger")).toEqual([]);
  });

  it("that one client reserved and did not spend are used again, by one client at a time", async () => {
    const id = await of(10n, 10n, 10n, 10n, 10n, 10n, 10n, 10n);
    const payments = () => Array.from({ length: 8 }, () => to(3n * ADA));
    const left = (await Promise.all(payments().map((body) => client.construct(id, body)))).flatMap(refs);
    expect(new Set(left).size).toBe(8);
    // eight that pay at once need all of them
    const sent = await Promise.all(payments().map((body) => client.pay(id, { ...body, passphrase: PASSPHRASE })));
    await scenario.blocks();
    for (const { id: hash } of sent) await scenario.untilInLedger(id, hash);
    expect(await client.transactions(id, { max_count: 8 })).toMatchObject(sent.map(() => ({ direction: "outgoing" })));
  });
});
