/** A wallet's history: every filter keeps its boundary, before and after blocks are rolled back. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lovelace, type Transaction, WalletClient } from "#src/client/wallets.ts";
import { until } from "../../support/base/until.ts";
import { ADA, ANSWERS_ALL, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";

describe.skipIf(!ANSWERS_ALL)("a history", () => {
  let scenario: Scenario;
  let client: WalletClient;
  let mine: string;
  let other: string;
  let withdrawal: string;

  beforeAll(async () => {
    // epochs of three seconds, all of whose blocks are of one pool: rewards come soon
    scenario = await Scenario.start({ env: { ARBOR_EPOCH_SLOTS: "60", ARBOR_POOLS: "1" } });
    ({ client } = scenario);
    ({ id: mine } = await scenario.createWallet({ coins: [900_000n * ADA, 40n * ADA] }));
    const [pool] = await client.stakePools(900_000n * ADA);
    const { id } = await client.joinPool(mine, pool!.id, PASSPHRASE);
    ({ id: other } = await scenario.createWallet());
    await scenario.untilInLedger(mine, id);
  });
  afterAll(() => scenario?.stop());

  const ids = (some: readonly Transaction[]) => some.map(({ id }) => id);
  const list = async (query: Record<string, string | number>) => ids(await client.transactions(mine, query));
  const iso = (ms: number) => new Date(ms).toISOString();
  const placed = ({ inserted_at, pending_since }: Transaction) => inserted_at ?? pending_since;
  const timeOf = (one: Transaction) => Date.parse(placed(one)!.time);
  /** Where it pays, and the addresses of the wallet's own inputs. */
  const addressesOf = ({ inputs, outputs }: Transaction) => [
    ...inputs.flatMap(({ address, derivation_path }) => derivation_path === undefined ? [] : [address!]),
    ...outputs.map(({ address }) => address),
  ];
  const largest = ({ withdrawals }: Transaction) =>
    Math.max(0, ...withdrawals.map(({ amount }) => Number(amount.quantity)));

  /**
   * Every filter at each of its boundaries, compared with the whole list as the plain model; on a history without
   * pending changes.
   */
  const assertFilters = async (): Promise<readonly Transaction[]> => {
    const all = await client.transactions(mine);
    const kept = (fits: (one: Transaction) => boolean) => ids(all.filter(fits));
    for (const [i, one] of all.entries()) {
      const next = all[i + 1];
      if (next) expect(placed(one)!.absolute_slot_number).toBeGreaterThanOrEqual(placed(next)!.absolute_slot_number);
    }
    expect(await list({ order: "descending" })).toEqual(ids(all));
    expect(await list({ order: "ascending" })).toEqual(ids(all).reverse());
    for (const time of new Set(all.map(timeOf))) {
      expect(await list({ start: iso(time) })).toEqual(kept((one) => timeOf(one) >= time));
      expect(await list({ start: iso(time + 1) })).toEqual(kept((one) => timeOf(one) > time));
      expect(await list({ end: iso(time) })).toEqual(kept((one) => timeOf(one) <= time));
      expect(await list({ end: iso(time - 1) })).toEqual(kept((one) => timeOf(one) < time));
      expect(await list({ start: iso(time), end: iso(time) })).toEqual(kept((one) => timeOf(one) === time));
    }
    const [first, last] = [timeOf(all.at(-1)!), timeOf(all[0]!)];
    expect(await list({ start: iso(first), end: iso(last) })).toEqual(ids(all));
    expect(await list({ start: iso(last + 1) })).toEqual([]);
    for (const count of [1, all.length - 1, all.length, all.length + 1]) {
      expect(await list({ max_count: count })).toEqual(ids(all).slice(0, count));
      expect(await list({ max_count: count, order: "ascending" })).toEqual(ids(all).reverse().slice(0, count));
    }
    expect(await list({ start: iso(first + 1), max_count: 2, order: "ascending" }))
      .toEqual(kept((one) => timeOf(one) > first).reverse().slice(0, 2));
    for (const address of new Set(all.flatMap(addressesOf))) {
      expect(await list({ address })).toEqual(kept((one) => addressesOf(one).includes(address)));
    }
    expect(await list({ address: await scenario.address(mine, 19) })).toEqual([]);
    for (const amount of new Set([1, ...all.map(largest).filter((one) => one > 0)])) {
      for (const least of [amount, amount + 1]) {
        expect(await list({ minWithdrawal: least })).toEqual(kept((one) => largest(one) >= least));
      }
    }
    const pages: string[] = [];
    for (let after: string | undefined, more = true; more;) {
      const page = await client.transactionPage(mine, { limit: 2, after });
      pages.push(...ids(page.entries));
      after = page.after;
      more = after !== undefined;
    }
    expect(pages).toEqual(ids(all));
    return all;
  };

  it("lists the transactions, the newest first", async () => {
    const joined = (await client.transactions(mine))[0]!;
    expect(joined).toMatchObject({ direction: "outgoing", deposit_taken: lovelace(2_000_000) });
    const sent = await scenario.land(mine, {
      payments: [{ address: await scenario.address(other), amount: lovelace(5n * ADA) }],
      metadata: { "1": { string: "rent" } },
    });
    const incoming = await scenario.faucet(await scenario.address(mine, 4), 6n * ADA);
    await scenario.untilInLedger(mine, incoming);
    const back = await scenario.land(other, {
      payments: [{ address: await scenario.address(mine, 5), amount: lovelace(2n * ADA) }],
    });
    await scenario.untilInLedger(mine, back.id);
    const all = await client.transactions(mine);
    expect(ids(all)).toEqual([back.id, incoming, sent.id, joined.id, expect.any(String), expect.any(String)]);
    expect(all.map(({ direction }) => direction)).toEqual([
      "incoming",
      "incoming",
      "outgoing",
      "outgoing",
      "incoming",
      "incoming",
    ]);
    expect(all[0]).toMatchObject({ amount: lovelace(2_000_000), fee: back.listed.fee });
    // where the money of others comes from is theirs, also where their wallet is of the same service
    expect(all[0]!.inputs.flatMap((input) => Object.keys(input))).toEqual(
      back.listed.inputs.flatMap(() => ["id", "index"]),
    );
    expect(all[2]).toMatchObject({
      amount: { quantity: 5_000_000 + Number(sent.built.fee.quantity) },
      metadata: { "1": { string: "rent" } },
      inputs: sent.built.coin_selection.inputs.map(({ id, amount, derivation_path }) => ({
        id,
        amount,
        derivation_path,
      })),
    });
    for (const one of all) {
      const { depth: _, ...withoutDepth } = one;
      const { depth, ...again } = await client.transaction(mine, one.id);
      expect(again).toEqual(withoutDepth);
      expect(depth!.unit).toBe("block");
      // the largest number of 64 bits stands for no end
      const ends = one.expires_at === undefined ? 2n ** 64n - 1n : BigInt(one.expires_at.absolute_slot_number);
      expect(one.validity_interval).toEqual({
        invalid_before: { quantity: 0, unit: "slot" },
        invalid_hereafter: { quantity: ends > 2n ** 53n ? ends : Number(ends), unit: "slot" },
      });
    }
  });

  it("has a withdrawal, once there are rewards", async () => {
    // an epoch boundary may come between any two of these: then the transaction is no longer valid, and is built again
    await until("there are rewards", async () => Number((await client.wallet(mine)).balance.reward.quantity) > 0);
    withdrawal = await until("a withdrawal is in the ledger", async () => {
      const sent = await scenario.constructSignSubmit(mine, { withdrawal: "self" }).catch(() => undefined);
      const ended = sent && await until("it is over", async () => {
        const { status } = await client.transaction(mine, sent.id);
        return status !== "pending" && status;
      });
      if (ended === "in_ledger") return sent!.id;
      if (ended === "expired") await client.forget(mine, sent!.id);
      return undefined;
    });
    expect(largest(await client.transaction(mine, withdrawal))).toBeGreaterThan(0);
    // later transactions, to be rolled back
    await scenario.untilInLedger(mine, await scenario.faucet(await scenario.address(mine, 6), 3n * ADA));
  });

  it("respects each filter's boundary", async () => {
    const all = await assertFilters();
    expect(all).toHaveLength(8);
    expect(all[1]!.id).toBe(withdrawal);
  });

  it("respects them after a rollback whose transactions did not return", async () => {
    const [newest, ...rest] = await client.transactions(mine);
    await scenario.rollbackFrom(newest!.inserted_at!, true);
    await until("it is gone", async () => (await client.transactions(mine)).length === rest.length);
    expect(ids(await assertFilters())).toEqual(ids(rest));
  });

  it("respects them after a rollback whose transactions returned in other slots", async () => {
    const before = await client.transactions(mine);
    const back = before.find(({ direction, withdrawals }) => direction === "incoming" && withdrawals.length === 0)!;
    await scenario.rollbackFrom(back.inserted_at!);
    // the withdrawal may be too late now, and is removed once it is forgotten
    await until("all of it rests", async () => {
      const now = await client.transactions(mine);
      for (const { id, status } of now) if (status === "expired") await client.forget(mine, id);
      return now.every(({ status }) => status === "in_ledger") &&
        now.find(({ id }) => id === back.id)?.inserted_at?.absolute_slot_number !==
          back.inserted_at!.absolute_slot_number;
    });
    const after = await assertFilters();
    const lasting = ids(before).filter((id) => id !== withdrawal);
    expect(new Set(ids(after).filter((id) => id !== withdrawal))).toEqual(new Set(lasting));
    const again = after.find(({ id }) => id === back.id)!;
    expect(timeOf(again)).toBeGreaterThan(timeOf(back));
  });

  it("accepts times in any form of ISO 8601, and refuses other filters with the reason", async () => {
    const all = await client.transactions(mine);
    const time = timeOf(all.at(-1)!);
    const second = iso(Math.floor(time / 1_000) * 1_000);
    const basic = second.replace(/[-:]|\.000/g, "");
    const local = iso(Date.parse(second) + 5_400_000).replace(".000Z", "+01:30");
    for (const start of [second, basic, local, local.replace("+01:30", "+0130")]) {
      expect(await list({ start })).toEqual(ids(all));
    }
    expect(await scenario.refused(list({ start: iso(time + 1), end: iso(time) })))
      .toEqual([400, "start_time_later_than_end_time"]);
    expect(await scenario.refused(list({ minWithdrawal: 0 }))).toEqual([400, "min_withdrawal_wrong"]);
    for (const wrong of [{ start: "yesterday" }, { order: "sideways" }, { max_count: 0 }, { address: "nowhere" }]) {
      expect(await scenario.refused(list(wrong as Record<string, string | number>))).toEqual([400, "bad_request"]);
    }
    expect(await scenario.refused(client.transaction(mine, "00".repeat(32)))).toEqual([404, "no_such_transaction"]);
    expect(await scenario.refused(client.transaction(mine, "nonsense"))).toEqual([400, "bad_request"]);
  });
});
