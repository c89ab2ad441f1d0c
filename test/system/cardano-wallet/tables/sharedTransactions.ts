/** API/Shared/Transactions.hs */
import { expect } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { Transaction } from "#src/client/wallets.ts";
import { cases, flow, row, type Table } from "../table.ts";
import { noSuchTransaction, noSuchWallet } from "../words.ts";
import { ADA, lovelace, MIN_UTXO, PASSPHRASE, payment, type World } from "../world.ts";
import { accountKey, active, create, fromKey, fromWords, funded, newKey, TWO } from "./sharedKeys.ts";
import { wrongFilters } from "./listFilters.ts";

const PREFIX = "shared-wallets";
const FUNDS = 100n * ADA;
const HELLO = { "1": { string: "hello" } };
const NO_TRANSACTION = "01".repeat(32);
const SHARED_TRANSACTIONS = "SHARED_TRANSACTIONS_";

const construct = (world: World, id: string, body: unknown) =>
  world.call("POST", `/${PREFIX}/${id}/transactions-construct`, body);
const decode = (world: World, id: string, transaction: string, prefix = PREFIX) =>
  world.ok(202, "POST", `/${prefix}/${id}/transactions-decode`, { transaction });
const sign = async (world: World, id: string, transaction: string): Promise<string> =>
  (await world.ok(202, "POST", `/${PREFIX}/${id}/transactions-sign`, { transaction, passphrase: PASSPHRASE }))
    .transaction;
const submit = (world: World, id: string, transaction: string) =>
  world.call("POST", `/${PREFIX}/${id}/transactions-submit`, { transaction });
const history = async (world: World, id: string, query = "") =>
  await world.ok(200, "GET", `/${PREFIX}/${id}/transactions${query}`) as Transaction[];
/** A funded wallet, and an empty one, that no scenario changes. */
const fixture = (world: World) => world.once("shared transactions", () => funded(world, [FUNDS]));
const empty = (world: World) => world.once("shared transactions empty", () => active(world));
const away = (world: World, amount: bigint) => ({ payments: [payment(world.elsewhere[0]!, amount)] });
const amounts = (found: readonly Transaction[]) => found.map(({ amount }) => BigInt(amount.quantity));
const plain = { withdrawals: [], collateral: [], script_validity: "valid" };

/** A transaction with metadata: only its fee is paid. */
const withMetadata = (id: string, metadata: unknown) =>
  flow(id, async (world) => {
    const wallet = await active(world, "30H");
    world.check(await construct(world, wallet.id, { metadata }), { status: 403, code: "no_utxos_available" });
    await world.bank.pay([{ address: await world.address(wallet.id, 0, PREFIX), lovelace: 10n * ADA }]);
    await world.untilAvailable(wallet.id, 10n * ADA, PREFIX);
    const { id: hash, built, signed } = await world.send(wallet.id, { metadata }, PREFIX);
    expect(built.coin_selection.metadata).toMatch(/./);
    for (const transaction of [built.transaction, signed]) {
      expect(await decode(world, wallet.id, transaction)).toMatchObject({ ...plain, fee: built.fee, metadata: HELLO });
    }
    const listed = await world.untilInLedger(wallet.id, hash, PREFIX);
    expect(listed.direction).toBe("outgoing");
    await world.untilAvailable(wallet.id, 10n * ADA - BigInt(built.fee.quantity), PREFIX);
    expect((await history(world, wallet.id)).map(({ direction }) => direction)).toEqual(["outgoing", "incoming"]);
  });

interface Party {
  readonly id: string;
  readonly body: unknown;
}
/** A wallet of several owners on one server, with funds; all keys are known from the start. */
async function parties(world: World, script: (names: readonly string[]) => unknown, count: number): Promise<Party[]> {
  const words = Array.from({ length: count }, () => newMnemonic(15));
  const keys = Object.fromEntries(words.map((own, i) => [`cosigner#${i}`, accountKey(own)]));
  const all: Party[] = [];
  for (const own of words) {
    const body = fromWords({ words: own, keys, script: script(Object.keys(keys)) });
    all.push({ id: (await create(world, body)).id, body });
  }
  return await fund(world, all);
}
async function fund(world: World, all: Party[]): Promise<Party[]> {
  await world.bank.pay([{ address: await world.address(all[0]!.id, 1, PREFIX), lovelace: FUNDS }]);
  for (const { id } of all) await world.untilAvailable(id, FUNDS, PREFIX);
  return all;
}
/** Two owners who add each other's key. */
async function patched(world: World) {
  const words = [newMnemonic(15), newMnemonic(15)];
  const keys = words.map((own) => accountKey(own));
  const script = { all: ["cosigner#0", "cosigner#1"] };
  const bodies = words.map((own, i) => fromWords({ words: own, keys: { [`cosigner#${i}`]: "self" }, script }));
  const make = async () => {
    const all: Party[] = [];
    for (const [i, body] of bodies.entries()) {
      const { id } = await create(world, body);
      const other = { [`cosigner#${1 - i}`]: keys[1 - i]! };
      world.check(await world.call("PATCH", `/${PREFIX}/${id}/payment-script-template`, other), { status: 200 });
      all.push({ id, body });
    }
    return all;
  };
  return { make, all: await fund(world, await make()) };
}
/** A payment that the first two owners sign, in turn. Returns what is left. */
async function paid(world: World, all: readonly Party[]): Promise<bigint> {
  const [first, second] = all;
  const home = await world.emptyWallet();
  const body = { payments: [payment(await world.address(home.id, 1), MIN_UTXO)] };
  const built = world.check(await construct(world, first!.id, body), { status: 202 });
  const count = async (transaction: string, keys: number) => {
    for (const { id } of all) {
      const shown = await decode(world, id, transaction);
      expect(shown).toMatchObject({
        ...plain,
        fee: built.fee,
        witness_count: { verification_key: keys, bootstrap: 0 },
      });
      expect(shown.witness_count.scripts).toHaveLength(1);
      expect(shown.inputs.every((one: object) => "derivation_path" in one)).toBe(true);
      expect(shown.outputs.filter((one: object) => "derivation_path" in one)).toHaveLength(1);
    }
    const theirs = await decode(world, home.id, transaction, "wallets");
    expect(theirs).toMatchObject({ ...plain, fee: built.fee, witness_count: { verification_key: keys } });
  };
  await count(built.transaction, 0);
  const half = await sign(world, first!.id, built.transaction);
  await count(half, 1);
  world.check(await submit(world, first!.id, half), {
    status: 403,
    code: "missing_witnesses_in_transaction",
    body: { info: { expected_number_of_key_wits: 2, detected_number_of_key_wits: 1 } },
  });
  const whole = await sign(world, second!.id, half);
  await count(whole, 2);
  world.check(await submit(world, first!.id, whole), { status: 202 });
  const left = FUNDS - MIN_UTXO - BigInt(built.fee.quantity);
  for (const { id } of all) await world.untilAvailable(id, left, PREFIX);
  await world.untilAvailable(home.id, MIN_UTXO);
  return left;
}
const both = (names: readonly string[]) => ({ all: names });
const twoOf = (from: readonly string[]) => ({ some: { at_least: 2, from } });

/** A payment from one shared wallet to another one, on both sides. */
const sent = async (world: World, source: string, target: string, amount: bigint, index = 1) => {
  const address = await world.address(target, index, PREFIX);
  const done = await world.send(source, { payments: [payment(address, amount)] }, PREFIX);
  await world.untilInLedger(source, done.id, PREFIX);
  await world.untilInLedger(target, done.id, PREFIX);
  return { ...done, address };
};
/** A wallet with two transactions, and their times. */
const two = (world: World) =>
  world.once("shared two transactions", async () => {
    const { id } = await active(world);
    for (const [i, amount] of [MIN_UTXO, 2n * MIN_UTXO].entries()) {
      await world.bank.pay([{ address: await world.address(id, 0, PREFIX), lovelace: amount }]);
      await world.untilAvailable(id, i === 0 ? MIN_UTXO : 3n * MIN_UTXO, PREFIX);
    }
    const times = (await history(world, id, "?order=ascending")).map((one) => Date.parse(one.inserted_at!.time));
    return { id, times: times as [number, number] };
  });
const at = (ms: number, more = 0) => new Date(ms + more).toISOString();
const [A, B] = [MIN_UTXO, 2n * MIN_UTXO];
/** Queries by the times of two transactions, and the amounts that they find. */
const RANGES: Record<string, readonly [(first: number, second: number) => Record<string, string>, readonly bigint[]]> =
  {
    "1": [(a, b) => ({ start: at(a), end: at(b), order: "ascending" }), [A, B]],
    "2": [(a, b) => ({ start: at(a), end: at(b, 1), order: "descending" }), [B, A]],
    "3": [(a, b) => ({ start: at(a), end: at(b, -1) }), [A]],
    "4": [(a) => ({ start: at(a) }), [B, A]],
    "5": [(a, b) => ({ start: at(a, 1), end: at(b, 1) }), [B]],
    "6": [(a, b) => ({ start: at(a, 1), end: at(b, -1) }), []],
    "7": [(a) => ({ start: at(a, 1), order: "ascending" }), [B]],
    "8": [(a, b) => ({ order: "descending", start: at(a, 1), end: at(b) }), [B]],
    "9": [(a, b) => ({ order: "ascending", start: at(a, -1), end: at(b, -1) }), [A]],
    "10": [(a) => ({ order: "descending", start: at(a, -1) }), [B, A]],
    "11": [(a, b) => ({ start: at(a, -1), end: at(b) }), [B, A]],
    "12": [(a, b) => ({ start: at(a, -1), end: at(b, 1) }), [B, A]],
    "13": [() => ({}), [B, A]],
    "14": [(_, b) => ({ end: at(b) }), [B, A]],
    "15": [(_, b) => ({ end: at(b, 1), order: "ascending" }), [A, B]],
    "16": [(_, b) => ({ end: at(b, -1), order: "descending" }), [A]],
    "17": [(a) => ({ start: at(a), end: at(a) }), [A]],
    "18": [(_, b) => ({ start: at(b), end: at(b), order: "descending" }), [B]],
    "19": [() => ({ max_count: "1" }), [B]],
    "20": [() => ({ max_count: "1", order: "ascending" }), [A]],
  };
const ranged = async (world: World, id: string, query: Record<string, string>) =>
  amounts(await history(world, id, `?${new URLSearchParams(query)}`));

export const sharedTransactions: Table = {
  file: "Shared.Transactions",
  rows: [
    flow(`${SHARED_TRANSACTIONS}CREATE_01`, async (world) => {
      const { id } = await create(world, fromKey(newKey(), { script: TWO }));
      world.check(await construct(world, id, { metadata: HELLO }), { status: 403, code: "shared_wallet_incomplete" });
    }),
    withMetadata(`${SHARED_TRANSACTIONS}CREATE_01 (2)`, HELLO),
    withMetadata(`${SHARED_TRANSACTIONS}CREATE_01 (3)`, { "1": "hello" }),
    flow(`${SHARED_TRANSACTIONS}CREATE_01a`, async (world) => {
      world.check(await construct(world, (await fixture(world)).id, {}), {
        status: 403,
        code: "created_invalid_transaction",
      });
    }),
    flow(`${SHARED_TRANSACTIONS}CREATE_01b`, async (world) => {
      const bound = (quantity: number) => ({ quantity, unit: "second" });
      const validity_interval = { invalid_before: bound(10), invalid_hereafter: bound(50) };
      world.check(await construct(world, (await fixture(world)).id, { validity_interval }), {
        status: 403,
        code: "created_invalid_transaction",
      });
    }),
    flow(`${SHARED_TRANSACTIONS}CREATE_04a`, async (world) => {
      const [{ id }, home] = await Promise.all([funded(world, [FUNDS]), world.emptyWallet()]);
      const body = { payments: [payment(await world.address(home.id, 1), MIN_UTXO)] };
      const { built, signed } = await world.send(id, body, PREFIX);
      for (const transaction of [built.transaction, signed]) {
        const ours = await decode(world, id, transaction);
        expect(ours).toMatchObject({ ...plain, fee: built.fee });
        expect(ours.inputs.every((one: object) => "derivation_path" in one)).toBe(true);
        expect(ours.outputs.filter((one: object) => "derivation_path" in one)).toHaveLength(1);
        const theirs = await decode(world, home.id, transaction, "wallets");
        expect(theirs).toMatchObject({ ...plain, fee: built.fee });
        expect(theirs.outputs).toContainEqual({
          ...body.payments[0],
          amount: lovelace(1_000_000),
          derivation_path: ["1852H", "1815H", "0H", "0", "1"],
        });
      }
      await world.untilAvailable(id, FUNDS - MIN_UTXO - BigInt(built.fee.quantity), PREFIX);
      await world.untilAvailable(home.id, MIN_UTXO);
    }),
    flow(`${SHARED_TRANSACTIONS}CREATE_04b`, async (world) => {
      const [source, target] = await Promise.all([funded(world, [FUNDS]), active(world)]);
      const { id, built } = await sent(world, source.id, target.id, MIN_UTXO);
      const cost = BigInt(built.fee.quantity);
      await world.untilAvailable(source.id, FUNDS - MIN_UTXO - cost, PREFIX);
      await world.untilAvailable(target.id, MIN_UTXO, PREFIX);
      const ours = await world.untilInLedger(source.id, id, PREFIX);
      const theirs = await world.untilInLedger(target.id, id, PREFIX);
      expect([ours.direction, BigInt(ours.amount.quantity), ours.fee]).toEqual([
        "outgoing",
        MIN_UTXO + cost,
        built.fee,
      ]);
      expect([theirs.direction, BigInt(theirs.amount.quantity), theirs.fee]).toEqual(["incoming", MIN_UTXO, built.fee]);
    }),
    flow(`${SHARED_TRANSACTIONS}CREATE_04c`, async (world) => {
      world.check(await construct(world, (await fixture(world)).id, away(world, 900_000n)), {
        status: 403,
        code: "utxo_too_small",
        body: { info: { tx_output_index: 0 } },
      });
    }),
    flow(`${SHARED_TRANSACTIONS}CREATE_04d`, async (world) => {
      world.check(await construct(world, (await fixture(world)).id, away(world, FUNDS)), {
        status: 403,
        code: "cannot_cover_fee",
      });
    }),
    flow(`${SHARED_TRANSACTIONS}CREATE_04e`, async (world) => {
      const { id } = await funded(world, [FUNDS, FUNDS]);
      const payments = [1, 2].map((index) => payment(world.elsewhere[index]!, MIN_UTXO));
      const { coin_selection: found, fee } = world.check(await construct(world, id, { payments }), { status: 202 });
      expect([found.inputs.length > 0, found.outputs.length, found.change.length > 0]).toEqual([true, 2, true]);
      expect(fee.quantity).toBeGreaterThan(0);
    }),
    flow(`${SHARED_TRANSACTIONS}CREATE_05a`, async (world) => {
      await paid(world, await parties(world, both, 2));
    }),
    flow(`${SHARED_TRANSACTIONS}CREATE_05b`, async (world) => {
      await paid(world, (await patched(world)).all);
    }),
    flow(`${SHARED_TRANSACTIONS}CREATE_05c`, async (world) => {
      await paid(world, await parties(world, twoOf, 3));
    }),
    flow(`${SHARED_TRANSACTIONS}CREATE_06`, async (world) => {
      const { all, make } = await patched(world);
      const left = await paid(world, all);
      for (const { id } of all) await world.ok(204, "DELETE", `/${PREFIX}/${id}`);
      for (const { id } of await make()) await world.untilAvailable(id, left, PREFIX);
    }),
    flow(`${SHARED_TRANSACTIONS}LIST_01`, async (world) => {
      const { id } = await funded(world, [FUNDS]);
      const { id: hash } = await world.send(id, away(world, MIN_UTXO), PREFIX);
      await world.untilInLedger(id, hash, PREFIX);
      expect((await history(world, id)).map(({ direction }) => direction)).toEqual(["outgoing", "incoming"]);
    }),
    ...cases(`${SHARED_TRANSACTIONS}LIST_02,03x`, RANGES, async (world, [query, expected]) => {
      const { id, times } = await two(world);
      expect(await ranged(world, id, query(...times))).toEqual(expected);
    }),
    ...wrongFilters(`${SHARED_TRANSACTIONS}LIST_02,03`, async (world) => `/${PREFIX}/${(await empty(world)).id}`),
    row(`${SHARED_TRANSACTIONS}LIST_02`, async (world) => [
      "GET",
      `/${PREFIX}/${(await empty(world)).id}/transactions?start=2009-09-09T09:09:09Z&end=2001-01-01T01:01:01Z`,
    ], {
      status: 400,
      code: "start_time_later_than_end_time",
      message:
        "The specified start time '2009-09-09T09:09:09Z' is later than the specified end time '2001-01-01T01:01:01Z'.",
    }),
    row(
      `${SHARED_TRANSACTIONS}LIST_03`,
      async (world) => ["GET", `/${PREFIX}/${(await empty(world)).id}/transactions?minWithdrawal=0`],
      { status: 400, code: "min_withdrawal_wrong" },
    ),
    flow(`${SHARED_TRANSACTIONS}LIST_03 (2)`, async (world) => {
      expect(await history(world, (await empty(world)).id, "?minWithdrawal=1")).toEqual([]);
    }),
    ...["", `/${NO_TRANSACTION}`].map((path) =>
      flow(`${SHARED_TRANSACTIONS}${path === "" ? "LIST_04" : "GET_02"}`, async (world) => {
        const { id } = await active(world);
        await world.ok(204, "DELETE", `/${PREFIX}/${id}`);
        world.check(await world.call("GET", `/${PREFIX}/${id}/transactions${path}`), noSuchWallet(id));
      })
    ),
    flow(`${SHARED_TRANSACTIONS}LIST_RANGE_01`, async (world) => {
      const { id, times: [time] } = await two(world);
      for (const [start, end] of [[0, 0], [-1, 0], [0, 1], [-1, 1]] as const) {
        expect(await ranged(world, id, { start: at(time, start), end: at(time, end) })).toEqual([A]);
      }
    }),
    flow(`${SHARED_TRANSACTIONS}LIST_RANGE_02`, async (world) => {
      const { id, times: [, time] } = await two(world);
      expect(await ranged(world, id, { start: at(time, 1) })).toEqual([]);
      expect(await ranged(world, id, { start: at(time, 1), end: at(time, 1) })).toEqual([]);
    }),
    flow(`${SHARED_TRANSACTIONS}LIST_RANGE_03`, async (world) => {
      const { id, times: [time] } = await two(world);
      expect(await ranged(world, id, { end: at(time, -1) })).toEqual([]);
      expect(await ranged(world, id, { start: at(time, -1), end: at(time, -1) })).toEqual([]);
    }),
    flow(`${SHARED_TRANSACTIONS}GET_01`, async (world) => {
      const [source, target] = await Promise.all([funded(world, [FUNDS]), active(world)]);
      const { id } = await sent(world, source.id, target.id, MIN_UTXO);
      const directions = await Promise.all([source, target].map((one) => world.untilInLedger(one.id, id, PREFIX)));
      expect(directions.map(({ direction }) => direction)).toEqual(["outgoing", "incoming"]);
    }),
    flow(`${SHARED_TRANSACTIONS}GET_03`, async (world) => {
      const path = `/${PREFIX}/${(await fixture(world)).id}/transactions/${NO_TRANSACTION}`;
      world.check(await world.call("GET", path), noSuchTransaction(NO_TRANSACTION));
    }),
    flow(`${SHARED_TRANSACTIONS}DELEGATION_01`, async (world) => {
      const [pool] = await world.pools();
      const delegations = [{ join: { pool, stake_key_index: "0H" } }];
      world.check(await construct(world, (await empty(world)).id, { delegations }), {
        status: 403,
        code: "delegation_invalid",
      });
    }),
    flow(`${SHARED_TRANSACTIONS}LIST_05`, async (world) => {
      const { id } = await active(world);
      const addresses = await world.addresses(id, PREFIX);
      const plan = [[0, 1n], [0, 2n], [1, 3n], [2, 1n], [2, 4n], [2, 5n]] as const;
      let total = 0n;
      for (const [index, times] of plan) {
        await world.bank.pay([{ address: addresses[index]!.id, lovelace: times * MIN_UTXO }]);
        total += times * MIN_UTXO;
        await world.untilAvailable(id, total, PREFIX);
      }
      expect(await history(world, id)).toHaveLength(6);
      for (const index of [0, 1, 2]) {
        const expected = plan.filter(([at]) => at === index).map(([, times]) => times * MIN_UTXO);
        const found = amounts(await history(world, id, `?address=${addresses[index]!.id}`));
        expect(found.toReversed()).toEqual(expected);
      }
    }),
    flow(`${SHARED_TRANSACTIONS}LIST_06`, async (world) => {
      const { id } = await active(world);
      const addresses = await world.addresses(id, PREFIX);
      await world.bank.pay([{ address: addresses[2]!.id, lovelace: 5_000n * ADA }]);
      await world.untilAvailable(id, 5_000n * ADA, PREFIX);
      const { id: hash } = await world.send(id, away(world, 4_990n * ADA), PREFIX);
      await world.untilInLedger(id, hash, PREFIX);
      const found = async (index: number) =>
        (await history(world, id, `?address=${addresses[index]!.id}`)).map(({ direction }) => direction);
      expect([await found(2), await found(1)]).toEqual([["outgoing", "incoming"], []]);
    }),
  ],
};
