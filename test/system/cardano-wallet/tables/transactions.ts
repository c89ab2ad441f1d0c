/** API/Shelley/Transactions.hs */
import { expect } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { Transaction } from "#src/client/wallets.ts";
import { cases, flow, type Row, row, type Table } from "../table.ts";
import { METADATA_TOO_LONG, noSuchTransaction, noSuchWallet, NOT_BENEFICIAL, WRONG_PASSPHRASE } from "../words.ts";
import {
  ADA,
  ASSETS,
  lovelace,
  type Made,
  METADATA,
  MIN_UTXO,
  PASSPHRASE,
  payment,
  type Reply,
  type World,
} from "../world.ts";
import { wrongFilters } from "./listFilters.ts";

type Id = Pick<Made, "id">;

const fees = (world: World, { id }: Id, body: object) => world.call("POST", `/wallets/${id}/payment-fees`, body);
const send = (world: World, { id }: Id, body: object, prefix = "wallets") =>
  world.call("POST", `/${prefix}/${id}/transactions`, { passphrase: PASSPHRASE, ...body });
const list = (world: World, { id }: Id, query = ""): Promise<Transaction[]> =>
  world.ok(200, "GET", `/wallets/${id}/transactions${query}`);

/** Payments of these amounts to addresses of no wallet. */
const away = (world: World, ...amounts: bigint[]) => ({
  payments: amounts.map((amount, i) => payment(world.elsewhere[i]!, amount)),
});
const estimated = (answer: Reply) => {
  const { estimated_min, estimated_max } = answer.body;
  return [BigInt(estimated_min.quantity), BigInt(estimated_max.quantity)] as const;
};
const between = ({ quantity }: { quantity: number | bigint }, [least, most]: readonly [bigint, bigint], more = 0n) => {
  expect(BigInt(quantity)).toBeGreaterThanOrEqual(least + more);
  expect(BigInt(quantity)).toBeLessThanOrEqual(most + more);
};
/** A funded wallet and an empty one. */
const pair = (world: World) => Promise.all([world.fixtureWallet(), world.emptyWallet()]);
/** Pays from one to the other. */
const pay = async (world: World, from: Id, to: Id, amount = MIN_UTXO) =>
  await world.pay(from.id, [payment(await world.address(to.id, 1), amount)]);

const UTXO_TOO_SMALL = {
  status: 403,
  code: "utxo_too_small",
  body: {
    info: {
      tx_output_index: 0,
      tx_output_lovelace_specified: lovelace(1_000_000),
      tx_output_lovelace_required_minimum: { unit: "lovelace" },
    },
  },
};
const NOT_ENOUGH = { status: 403, code: "not_enough_money" };
const TOO_BIG = { status: 403, code: "transaction_is_too_big" };
const NO_ASSET = {
  status: 404,
  code: "asset_not_present",
  message: "The requested asset is not associated with this wallet.",
};
/** A transaction that a wallet has just sent. */
const SENT = { status: 202, body: { direction: "outgoing", status: "pending" } };

const BAD_BODIES = {
  "empty": "",
  "no members": "{}",
  "not JSON": '{ payments: [{"address": 12312323, "amount: { "quantity": 1, "unit": "lovelace"} }] }',
};
const badBodies = (id: string, path: string): Row[] =>
  cases(id, BAD_BODIES, async (world, body) => {
    const { id } = await world.sharedEmpty();
    const answer = await world.call("POST", `/wallets/${id}/${path}`, body, { "content-type": "application/json" });
    world.check(answer, { status: 400, code: "bad_request" });
  });

const LONG = "a".repeat(65);
const HELLO = { 1: { string: "hello" } };
const VAST = Object.fromEntries(Array.from({ length: 512 }, (_, i) => [i, { bytes: "aa".repeat(32) }]));
/** As large as that of votes on proposals. */
const VOTE = {
  61284: {
    map: [
      ...["1a", "23", "e0"].map((byte, i) => ({ k: { int: i + 1 }, v: { bytes: byte.repeat(32) } })),
      { k: { int: 4 }, v: { int: 29_562_467 } },
    ],
  },
  61285: { map: [{ k: { int: 1 }, v: { bytes: "2c".repeat(64) } }] },
};

/** Amounts of asset 0 of wallets with assets. */
const asset = (world: World, quantity: number | bigint) => [{
  policy_id: world.bank.policy,
  asset_name: ASSETS[0],
  quantity,
}];
const HAS_ASSETS = expect.arrayContaining([expect.objectContaining({ assets: [expect.anything()] })]);
const ARRIVED = { total: [expect.anything()], available: [expect.anything()] };
const descriptionOf = (world: World) => ({
  policy_id: world.bank.policy,
  asset_name: ASSETS[0],
  fingerprint: expect.stringMatching(/^asset1[0-9a-z]{38}$/),
  metadata: METADATA,
});
/** An asset's metadata comes once its server has answered. */
const described = async (world: World, { id }: Id, path: string) =>
  await world.eventually("the asset has metadata", async () => {
    const asset = await world.ok(200, "GET", `/wallets/${id}/assets${path}`);
    expect(Array.isArray(asset) ? asset[0] : asset).toMatchObject(descriptionOf(world));
    expect((Array.isArray(asset) ? asset[0] : asset).metadata_error).toBeUndefined();
    return asset;
  });

/** The time of a block in picoseconds around it, as the real scenarios ask. */
const around = (time: string) => {
  const ms = Date.parse(time);
  const [whole] = new Date(ms).toISOString().split("Z");
  const [before] = new Date(ms - 1).toISOString().split("Z");
  return { earlier: `${before}999999999Z`, at: `${whole}Z`, later: `${whole}000000001Z` };
};
const range = (start?: string, end?: string) =>
  `?${new URLSearchParams({ ...(start ? { start } : {}), ...(end ? { end } : {}) })}`;
const timeOf = (one: Transaction) => one.inserted_at!.time;

/** Filters of two transactions, 1 ada and then 2 ada, by boundaries: time of the first or the second, in milliseconds more. */
const FILTERS: Readonly<
  Record<
    string,
    readonly [query: Readonly<Record<string, readonly [1 | 2, number] | string>>, found: readonly number[]]
  >
> = {
  "1": [{ start: [1, 0], end: [2, 0], order: "ascending" }, [1, 2]],
  "2": [{ start: [1, 0], end: [2, 1], order: "descending" }, [2, 1]],
  "3": [{ start: [1, 0], end: [2, -1] }, [1]],
  "4": [{ start: [1, 0] }, [2, 1]],
  "5": [{ start: [1, 1], end: [2, 1] }, [2]],
  "6": [{ start: [1, 1], end: [2, -1] }, []],
  "7": [{ start: [1, 1], order: "ascending" }, [2]],
  "8": [{ order: "descending", start: [1, 1], end: [2, 0] }, [2]],
  "9": [{ order: "ascending", start: [1, -1], end: [2, -1] }, [1]],
  "10": [{ order: "descending", start: [1, -1] }, [2, 1]],
  "11": [{ start: [1, -1], end: [2, 0] }, [2, 1]],
  "12": [{ start: [1, -1], end: [2, 1] }, [2, 1]],
  "13": [{}, [2, 1]],
  "14": [{ end: [2, 0] }, [2, 1]],
  "15": [{ end: [2, 1], order: "ascending" }, [1, 2]],
  "16": [{ end: [2, -1] }, [1]],
  "17": [{ start: [1, 0], end: [1, 0] }, [1]],
  "18": [{ start: [2, 0], end: [2, 0] }, [2]],
  "19": [{ max_count: "1" }, [2]],
  "20": [{ max_count: "1", order: "ascending" }, [1]],
};
/** A wallet that received both, and their times. */
const filtered = (world: World) =>
  world.once("filtered", async () => {
    const [source, target] = await pair(world);
    for (const ada of [1n, 2n]) {
      const { id } = await pay(world, source, target, ada * ADA);
      await world.untilInLedger(target.id, id);
    }
    const [second, first] = await list(world, target);
    return { id: target.id, times: [timeOf(first!), timeOf(second!)] };
  });

const SOMETIME = "01".repeat(32);
const UNKNOWN = "3e6ec12da4414aa0781ff8afa9717ae53ee8cb4aa55d622f65bc62619a4f7b12";
const kinds = { "wallets": "wallets", "byron-wallets": "byron-wallets" } as const;
const emptyOf = (world: World, prefix: keyof typeof kinds) =>
  prefix === "wallets" ? world.sharedEmpty() : world.sharedRandom();

export const transactions: Table = {
  file: "Shelley.Transactions",
  rows: [
    flow("TRANS_MIN_UTXO_01", async (world) => {
      const source = await world.walletWith([5n * ADA]);
      const { info } = world.check(await send(world, source, away(world, 1n)), {
        status: 403,
        code: "utxo_too_small",
        body: { info: { tx_output_index: 0, tx_output_lovelace_specified: lovelace(1) } },
      });
      const least = info.tx_output_lovelace_required_minimum.quantity;
      expect(least).toBeGreaterThan(1);
      world.check(await send(world, source, away(world, BigInt(least))), SENT);
    }),
    flow("Regression ADP-626", async (world) => {
      const found = await list(
        world,
        await world.sharedFixture(),
        range("2009-09-09T09:09:09Z", new Date().toISOString()),
      );
      expect(found.length).toBeGreaterThan(0);
    }),
    flow("Regression #1004", async (world) => {
      const source = await world.fixtureWallet();
      const body = { payments: [payment(await world.address(source.id, 1), MIN_UTXO)] };
      const estimate = estimated(await fees(world, source, body));
      const sent: Transaction = world.check(await send(world, source, body), SENT);
      between(sent.amount, estimate);
      const listed = await world.untilInLedger(source.id, sent.id);
      between(listed.amount, estimate);
      expect([listed.direction, (await list(world, source))[0]!.id]).toEqual(["outgoing", sent.id]);
    }),
    flow("Regression #935", async (world) => {
      const [source, target] = await pair(world);
      // a block may come between the two requests
      await world.eventually("one is pending when it is listed", async () => {
        const sent = await pay(world, source, target);
        expect([sent.status, sent.inserted_at, typeof sent.pending_since]).toEqual(["pending", undefined, "object"]);
        const pending = (await list(world, source)).filter(({ id, status }) => id === sent.id && status === "pending");
        expect(pending).toMatchObject([{ direction: "outgoing", pending_since: sent.pending_since }]);
        expect(pending[0]!.inserted_at).toBeUndefined();
      });
    }),
    flow("TRANS_CREATE_01x", async (world) => {
      const [a, b] = await Promise.all([world.walletWith([3n * ADA]), world.walletWith([3n * ADA])]);
      const body = { payments: [payment(await world.address(b.id, 1), MIN_UTXO)] };
      const answer = await fees(world, a, body);
      const estimate = estimated(answer);
      for (const { quantity } of answer.body.minimum_coins) expect(quantity).toBeGreaterThan(960_000);
      const sent: Transaction = world.check(await send(world, a, body), SENT);
      between(sent.amount, estimate, MIN_UTXO);
      expect(sent.metadata).toBeUndefined();
      for (const input of sent.inputs) {
        expect(input).toMatchObject({ address: expect.any(String), amount: lovelace(3_000_000) });
      }
      const out = await world.untilInLedger(a.id, sent.id);
      expect(out.direction).toBe("outgoing");
      between(out.amount, estimate, MIN_UTXO);
      between(out.fee, estimate);
      const incoming = await world.untilInLedger(b.id, sent.id);
      expect([incoming.direction, incoming.amount]).toEqual(["incoming", lovelace(1_000_000)]);
      between(incoming.fee, estimate);
      // in the real scenario the inputs of others have neither address nor amount; here while the index keeps what was spent
      expect(incoming.inputs).toMatchObject(sent.inputs.map(({ id, index }) => ({ id, index })));
      expect([undefined, 3_000_000]).toContain(incoming.inputs[0]!.amount?.quantity);
      await world.untilAvailable(b.id, 4n * ADA);
      await world.untilAvailable(a.id, 2n * ADA - BigInt(sent.fee.quantity));
    }),
    flow("TRANS_CREATE_02x", async (world) => {
      const [source, target] = await pair(world);
      const addresses = await world.addresses(target.id);
      const body = { payments: [payment(addresses[1]!.id, MIN_UTXO), payment(addresses[2]!.id, MIN_UTXO)] };
      const estimate = estimated(await fees(world, source, body));
      const sent: Transaction = world.check(await send(world, source, body), SENT);
      between(sent.amount, estimate, 2n * MIN_UTXO);
      for (const input of sent.inputs) expect(input).toMatchObject({ amount: { unit: "lovelace" } });
      const { balance } = await world.wallet(source.id);
      expect(BigInt(balance.total.quantity)).toBe(100_000n * ADA - BigInt(sent.amount.quantity));
      expect(BigInt(balance.available.quantity)).toBeGreaterThanOrEqual(80_000n * ADA - 2n * ADA);
      expect((await world.untilAvailable(target.id, 2n * MIN_UTXO)).balance.total).toEqual(lovelace(2_000_000));
    }),
    flow("TRANS_CREATE_04", async (world) => {
      const body = away(world, MIN_UTXO);
      const [least] = estimated(await fees(world, await world.sharedFixture(), body));
      const source = await world.walletWith([MIN_UTXO + least / 2n]);
      world.check(await send(world, source, body), { status: 403, code: "cannot_cover_fee" });
    }),
    flow("TRANS_CREATE_04 (2)", async (world) => {
      const source = await world.once("one ada", () => world.walletWith([MIN_UTXO]));
      world.check(await send(world, source, away(world, 2n * MIN_UTXO)), NOT_ENOUGH);
    }),
    flow("TRANS_CREATE_04 (3)", async (world) => {
      const body = { ...away(world, MIN_UTXO), passphrase: "This password is wrong" };
      world.check(await send(world, await world.sharedFixture(), body), WRONG_PASSPHRASE);
    }),
    flow("TRANS_CREATE_07", async (world) => {
      const gone = await world.deleted();
      world.check(await send(world, gone, away(world, MIN_UTXO)), noSuchWallet(gone.id));
    }),
    ...badBodies("TRANS_CREATE_08", "transactions"),

    flow("TRANS_ASSETS_CREATE_01", async (world) => {
      const wallet = await world.sharedMultiAsset();
      expect(wallet.assets).toEqual({ available: wallet.assets.total, total: [expect.anything(), expect.anything()] });
      await described(world, wallet, "");
    }),
    flow("TRANS_ASSETS_CREATE_01a", async (world) => {
      const [source, target] = await Promise.all([world.multiAssetWallet(), world.emptyWallet()]);
      const address = await world.address(target.id, 1);
      const answer = await fees(world, source, { payments: [payment(address, 0, asset(world, 2))] });
      const [least] = answer.body.minimum_coins;
      world.check(await send(world, source, { payments: [payment(address, least.quantity, asset(world, 2))] }), SENT);
      const received = await world.untilAvailable(target.id, BigInt(least.quantity));
      expect(received.assets).toEqual({ available: asset(world, 2), total: asset(world, 2) });
    }),
    flow("TRANS_ASSETS_CREATE_02", async (world) => {
      const { payments: [paid] } = away(world, MIN_UTXO);
      const body = { payments: [{ ...paid, assets: asset(world, 2) }] };
      world.check(await send(world, await world.sharedMultiAsset(), body), UTXO_TOO_SMALL);
    }),
    flow("TRANS_ASSETS_CREATE_02a", async (world) => {
      const [source, target] = await Promise.all([world.multiAssetWallet(), world.emptyWallet()]);
      const body = { payments: [payment(await world.address(target.id, 1), 0, asset(world, 2))] };
      world.check(await send(world, source, body), SENT);
      await world.eventually("the assets arrive", async () => {
        expect((await world.wallet(target.id)).assets).toEqual(ARRIVED);
      });
    }),
    flow("TRANS_ASSETS_CREATE_02b", async (world) => {
      const [source, target] = await Promise.all([world.multiAssetWallet(), world.emptyWallet()]);
      const body = { payments: [payment(await world.address(target.id, 1), 0, asset(world, 2))] };
      const sent = world.check(await send(world, source, body), SENT);
      expect(sent.outputs).toEqual(HAS_ASSETS);
      for (const [wallet, direction] of [[source, "outgoing"], [target, "incoming"]] as const) {
        await world.untilInLedger(wallet.id, sent.id);
        const [newest] = await list(world, wallet);
        expect(newest).toMatchObject({ id: sent.id, direction, outputs: HAS_ASSETS });
      }
      expect((await world.wallet(target.id)).assets).toEqual(ARRIVED);
    }),
    ...cases(
      "TRANS_ASSETS_CREATE_02c",
      Object.fromEntries([64, 66, 68, 70].map((count) => [`${count} assets`, count])),
      async (world, count) => {
        const source = await world.walletWith([10n * ADA, 10n * ADA]);
        const addresses = await world.addresses(source.id);
        const name = (i: number) => `736561${i.toString(16).padStart(4, "0")}`;
        const bundle = (from: number) =>
          Object.fromEntries(Array.from({ length: count }, (_, i) => [name(from + i), 1n]));
        await world.bank.pay([0, count].map((from, i) => ({
          address: addresses[i]!.id,
          lovelace: 1_000n * ADA,
          assets: bundle(from),
        })));
        await world.untilAvailable(source.id, 2_020n * ADA);
        const assets = [0, 2 * count - 1].map((i) => ({
          policy_id: world.bank.policy,
          asset_name: name(i),
          quantity: 1,
        }));
        const { payments: [paid] } = away(world, 0n);
        world.check(await send(world, source, { payments: [{ ...paid, assets }] }), SENT);
      },
    ),
    flow("TRANS_ASSETS_LIST_01", async (world) => {
      expect(await described(world, await world.sharedMultiAsset(), "")).toHaveLength(2);
    }),
    row("TRANS_ASSETS_LIST_02", async (world) => ["GET", `/wallets/${(await world.sharedFixture()).id}/assets`], {
      status: 200,
      body: [],
    }),
    row("TRANS_ASSETS_LIST_02a", async (world) => ["GET", `/wallets/${(await world.sharedEmpty()).id}/assets`], {
      status: 200,
      body: [],
    }),
    flow("TRANS_ASSETS_GET_01", async (world) => {
      await described(world, await world.sharedMultiAsset(), `/${world.bank.policy}/${ASSETS[0]}`);
    }),
    row("TRANS_ASSETS_GET_02", async (world) => [
      "GET",
      `/wallets/${(await world.sharedMultiAsset()).id}/assets/${"00".repeat(28)}/78787878`,
    ], NO_ASSET),
    row("TRANS_ASSETS_GET_02a", async (world) => [
      "GET",
      `/wallets/${(await world.sharedMultiAsset()).id}/assets/${"00".repeat(28)}`,
    ], NO_ASSET),
    flow("TRANS_TTL_04", async (world) => {
      const source = await world.walletWith([10n * ADA]);
      const body = { ...away(world, MIN_UTXO), time_to_live: { quantity: 1_000_000_000, unit: "second" } };
      expect(world.check(await send(world, source, body), SENT).expires_at).toBeDefined();
    }),

    ...cases(
      "TRANSMETA_CREATE_01",
      {
        "no metadata": [undefined, [MIN_UTXO]],
        "a text": [HELLO, [MIN_UTXO]],
        "a vote, 1 output": [VOTE, [MIN_UTXO]],
        "a vote, 2 outputs": [VOTE, [1_107_670n, 498_283_127n]],
      } as const,
      async (world, [metadata, amounts]) => {
        const [source, target] = await pair(world);
        const addresses = await world.addresses(target.id);
        const body = {
          payments: amounts.map((amount, i) => payment(addresses[i]!.id, amount)),
          ...(metadata ? { metadata } : {}),
        };
        const selection = await world.ok(200, "POST", `/wallets/${source.id}/coin-selections/random`, body);
        const sum = (parts: { amount: { quantity: number } }[]) =>
          parts.reduce((all, { amount }) => all + amount.quantity, 0);
        const fee = sum(selection.inputs) - sum(selection.outputs) - sum(selection.change);
        expect(selection.outputs).toHaveLength(amounts.length);
        const sent = world.check(await send(world, source, body), SENT);
        expect(sent.metadata).toEqual(metadata);
        // the selection has no slots of validity, whose size varies
        expect(Math.abs(sent.fee.quantity - fee)).toBeLessThan(1_000);
        for (const [wallet, direction] of [[source, "outgoing"], [target, "incoming"]] as const) {
          const listed = await world.untilInLedger(wallet.id, sent.id);
          expect([listed.direction, listed.metadata]).toEqual([direction, metadata]);
          const [newest] = await list(world, wallet);
          expect([newest!.id, newest!.status, newest!.metadata]).toEqual([sent.id, "in_ledger", metadata]);
        }
      },
    ),
    ...Object.entries(
      {
        "TRANSMETA_CREATE_02a": [send, { 1: { string: LONG } }, METADATA_TOO_LONG],
        "TRANSMETA_CREATE_02b": [send, { 1: LONG }, METADATA_TOO_LONG],
        "TRANSMETA_CREATE_03": [send, VAST, TOO_BIG],
        "TRANSMETA_ESTIMATE_02a": [fees, { 1: { string: LONG } }, METADATA_TOO_LONG],
        "TRANSMETA_ESTIMATE_02b": [fees, { 1: LONG }, METADATA_TOO_LONG],
        "TRANSMETA_ESTIMATE_03": [fees, VAST, TOO_BIG],
      } as const,
    ).map(([id, [ask, metadata, expected]]) =>
      flow(id, async (world) => {
        const body = { ...away(world, MIN_UTXO), metadata };
        world.check(await ask(world, await world.sharedFixture(), body), expected);
      })
    ),
    ...Object.entries({ "TRANSMETA_ESTIMATE_01a": HELLO, "TRANSMETA_ESTIMATE_01b": { 1: "hello" } }).map((
      [id, metadata],
    ) =>
      flow(id, async (world) => {
        const [source, body] = [await world.sharedFixture(), away(world, MIN_UTXO)];
        const of = async (body: object) => {
          const answer = await fees(world, source, body);
          world.check(answer, { status: 202 });
          return estimated(answer);
        };
        const [[least, most], [plainLeast, plainMost]] = [await of({ ...body, metadata }), await of(body)];
        expect([least > plainLeast, most > plainMost]).toEqual([true, true]);
      })
    ),

    ...badBodies("TRANS_ESTIMATE_08", "payment-fees"),
    flow("TRANS_ESTIMATE_03a", async (world) => {
      const answer = await fees(world, await world.sharedFixture(), away(world, 100_000n * ADA));
      world.check(answer, { status: 202 });
      const [least, most] = estimated(answer);
      expect(least).toBeGreaterThanOrEqual(0n);
      expect(most).toBeLessThanOrEqual(ADA);
    }),
    flow("TRANS_ESTIMATE_04", async (world) => {
      const source = await world.once("one ada", () => world.walletWith([MIN_UTXO]));
      world.check(await fees(world, source, away(world, 2n * MIN_UTXO)), NOT_ENOUGH);
    }),
    flow("TRANS_ESTIMATE_07", async (world) => {
      const gone = await world.deleted();
      world.check(await fees(world, gone, away(world, MIN_UTXO)), noSuchWallet(gone.id));
    }),

    flow("TRANS_LIST_01", async (world) => {
      const [source, target] = await pair(world);
      const { id } = await pay(world, source, target);
      expect((await world.untilAvailable(target.id, MIN_UTXO)).balance.total).toEqual(lovelace(1_000_000));
      await world.untilInLedger(source.id, id);
      expect((await list(world, source)).slice(0, 2).map(({ direction }) => direction)).toEqual([
        "outgoing",
        "incoming",
      ]);
    }),
    ...cases("TRANS_LIST_02,03x", FILTERS, async (world, [query, found]) => {
      const { id, times } = await filtered(world);
      const search = Object.entries(query).map(([name, value]): [string, string] => [
        name,
        typeof value === "string" ? value : new Date(Date.parse(times[value[0] - 1]!) + value[1]).toISOString(),
      ]);
      const listed = await list(world, { id }, `?${new URLSearchParams(search)}`);
      expect(listed.map(({ amount }) => Number(amount.quantity) / 1_000_000)).toEqual(found);
    }),
    ...wrongFilters("TRANS_LIST_02,03", async (world) => `/wallets/${(await world.sharedEmpty()).id}`),
    flow("TRANS_LIST_02", async (world) => {
      const { id } = await world.sharedEmpty();
      const [start, end] = ["2009-09-09T09:09:09Z", "2001-01-01T01:01:01Z"];
      world.check(await world.call("GET", `/wallets/${id}/transactions${range(start, end)}`), {
        status: 400,
        code: "start_time_later_than_end_time",
        message: `The specified start time '${start}' is later than the specified end time '${end}'.`,
      });
    }),
    row(
      "TRANS_LIST_03",
      async (world) => ["GET", `/wallets/${(await world.sharedEmpty()).id}/transactions?minWithdrawal=0`],
      { status: 400, code: "min_withdrawal_wrong" },
    ),
    row(
      "TRANS_LIST_03 (2)",
      async (world) => ["GET", `/wallets/${(await world.sharedEmpty()).id}/transactions?minWithdrawal=1`],
      { status: 200, body: [] },
    ),
    flow("TRANS_LIST_04", async (world) => {
      const { id } = await world.deleted();
      world.check(await world.call("GET", `/wallets/${id}/transactions`), noSuchWallet(id));
    }),
    ...Object.entries({
      "TRANS_LIST_RANGE_01": (
        { earlier, at, later }: ReturnType<typeof around>,
      ) => [range(at, at), range(earlier, at), range(at, later), range(earlier, later)],
      "TRANS_LIST_RANGE_02": ({ later }: ReturnType<typeof around>) => [range(later), range(later, later)],
      "TRANS_LIST_RANGE_03": ({ earlier }: ReturnType<typeof around>) => [
        range(undefined, earlier),
        range(earlier, earlier),
      ],
    }).map(([id, ranges], i) =>
      flow(id, async (world) => {
        const wallet = await world.once("one ada", () => world.walletWith([MIN_UTXO]));
        const [one] = await list(world, wallet);
        for (const query of ranges(around(timeOf(one!)))) {
          expect((await list(world, wallet, query)).length, query).toBe(i === 0 ? 1 : 0);
        }
      })
    ),
    flow("TRANS_LIST_LIMIT_01", async (world) => {
      const { id } = await filtered(world);
      expect(await list(world, { id }, "?max_count=1")).toHaveLength(1);
    }),

    flow("TRANS_GET_01", async (world) => {
      const [source, target] = await pair(world);
      const { id } = await pay(world, source, target);
      expect((await world.untilAvailable(target.id, MIN_UTXO)).balance.total).toEqual(lovelace(1_000_000));
      expect((await world.untilInLedger(source.id, id)).direction).toBe("outgoing");
      expect((await world.untilInLedger(target.id, id)).direction).toBe("incoming");
    }),
    flow("TRANS_GET_02", async (world) => {
      const { id } = await world.deleted();
      world.check(await world.call("GET", `/wallets/${id}/transactions/${SOMETIME}`), noSuchWallet(id));
    }),
    flow("TRANS_GET_03", async (world) => {
      const { id } = await world.sharedFixture();
      world.check(await world.call("GET", `/wallets/${id}/transactions/${SOMETIME}`), noSuchTransaction(SOMETIME));
    }),
    flow("TRANS_GET_04", async (world) => {
      world.check(await send(world, await world.walletWith([5n * ADA]), away(world, MIN_UTXO)), SENT);
    }),
    flow("TRANS_DELETE_01", async (world) => {
      const [source, target] = await pair(world);
      const { id } = await pay(world, source, target);
      const forgotten = await world.call("DELETE", `/wallets/${source.id}/transactions/${id}`);
      // a block may have it already
      if (forgotten.status !== 204) world.check(forgotten, { status: 403, code: "transaction_already_in_ledger" });
      expect((await world.untilInLedger(source.id, id)).direction).toBe("outgoing");
      expect((await world.untilInLedger(target.id, id)).direction).toBe("incoming");
    }),
    flow("TRANS_DELETE_02", async (world) => {
      const source = await world.walletWith([5n * ADA]);
      const { id } = await world.pay(source.id, (away(world, MIN_UTXO)).payments);
      await world.untilInLedger(source.id, id);
      world.check(await world.call("DELETE", `/wallets/${source.id}/transactions/${id}`), {
        status: 403,
        code: "transaction_already_in_ledger",
        message: `The transaction with id: ${id} cannot be forgotten as it is already in the ledger.`,
      });
    }),
    ...cases("TRANS_DELETE_03", kinds, async (world, prefix) => {
      const { id } = await emptyOf(world, prefix);
      world.check(await world.call("DELETE", `/${prefix}/${id}/transactions/${UNKNOWN}`), noSuchTransaction(UNKNOWN));
    }),
    ...cases("TRANS_DELETE_06", kinds, async (world, prefix) => {
      const source = await world.walletWith([5n * ADA]);
      const { id: hash } = await world.pay(source.id, [payment(await world.address(source.id), MIN_UTXO)]);
      const { id } = await emptyOf(world, prefix);
      world.check(await world.call("DELETE", `/${prefix}/${id}/transactions/${hash}`), noSuchTransaction(hash));
    }),

    flow("SHELLEY_TX_REDEEM_04", async (world) => {
      const source = await world.walletWith([5n * ADA]);
      const sent = world.check(await send(world, source, { ...away(world, MIN_UTXO), withdrawal: "self" }), SENT);
      expect(sent.withdrawals).toEqual([]);
    }),
    flow("SHELLEY_TX_REDEEM_06", async (world) => {
      const body = { ...away(world, MIN_UTXO), withdrawal: "self" };
      const answer = await send(world, await world.sharedRandom(), body, "byron-wallets");
      world.check(answer, { status: 403, code: "invalid_wallet_type" });
    }),
    flow("SHELLEY_TX_REDEEM_01", async (world) => {
      const { id, balance } = await world.rewardWallet();
      const before = BigInt(balance.available.quantity);
      const body = { payments: [payment(await world.address(id), MIN_UTXO)], withdrawal: "self" };
      const sent: Transaction = await world.withdrawing(
        id,
        async () => world.check(await send(world, { id }, body), { status: 202 }),
      );
      expect(sent.withdrawals).toHaveLength(1);
      const reward = BigInt(sent.withdrawals[0]!.amount.quantity);
      await world.untilAvailable(id, before + reward - BigInt(sent.fee.quantity));
      await world.rewardsBelow(id, reward);
    }),
    flow("SHELLEY_TX_REDEEM_02", async (world) => {
      const self = await world.fixtureWallet();
      const { id: other, words } = await world.rewardWallet();
      const body = { payments: [payment(await world.address(self.id), MIN_UTXO)], withdrawal: words };
      const { sent, estimate } = await world.withdrawing(self.id, async () => {
        const estimate = estimated(await fees(world, self, body));
        const sent: Transaction = world.check(await send(world, self, body), {
          status: 202,
          body: { direction: "incoming" },
        });
        return { id: sent.id, sent, estimate };
      });
      between(sent.fee, estimate);
      expect(sent.withdrawals).toHaveLength(1);
      const reward = BigInt(sent.withdrawals[0]!.amount.quantity);
      expect(BigInt(sent.amount.quantity)).toBe(reward - BigInt(sent.fee.quantity));
      await world.rewardsBelow(other, reward);
      const theirs = await world.untilInLedger(other, sent.id);
      expect([theirs.direction, theirs.withdrawals.length]).toEqual(["outgoing", 1]);
      expect(BigInt(theirs.amount.quantity)).toBeGreaterThanOrEqual(reward);
      const ours = await world.untilInLedger(self.id, sent.id);
      expect([ours.direction, ours.amount]).toEqual(["incoming", sent.amount]);
      await world.untilAvailable(self.id, 100_000n * ADA + reward - BigInt(sent.fee.quantity));
    }),
    flow("SHELLEY_TX_REDEEM_03", async (world) => {
      const self = await world.fixtureWallet();
      const { words } = await world.rewardWallet();
      const body = { payments: [payment(await world.address(self.id), MIN_UTXO)], withdrawal: words };
      // an epoch that begins in between brings rewards again
      await world.eventually("nothing is left to withdraw", async () => {
        await world.withdrawing(self.id, async () => world.check(await send(world, self, body), { status: 202 }));
        world.check(await send(world, self, body), NOT_BENEFICIAL);
      });
    }),
    flow("SHELLEY_TX_REDEEM_05", async (world) => {
      const body = { ...away(world, MIN_UTXO), withdrawal: newMnemonic(15) };
      world.check(await send(world, await world.sharedFixture(), body), NOT_BENEFICIAL);
    }),
    flow("SHELLEY_TX_REDEEM_06a", async (world) => {
      const body = { ...away(world, MIN_UTXO), withdrawal: (await world.sharedReward()).words };
      world.check(await send(world, await world.sharedEmpty(), body), { status: 403, code: "no_utxos_available" });
    }),
    flow("SHELLEY_TX_REDEEM_07b", async (world) => {
      const body = { ...away(world, 2_000_000n * ADA), withdrawal: (await world.sharedReward()).words };
      world.check(await send(world, await world.sharedFixture(), body), NOT_ENOUGH);
    }),
  ],
};
