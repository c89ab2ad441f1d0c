/** API/Shelley/Addresses.hs */
import { expect } from "vitest";
import { cases, flow, type Row, row, type Table } from "../table.ts";
import { noSuchWallet } from "../words.ts";
import { ADA, MIN_UTXO, PASSPHRASE, payment, type World } from "../world.ts";

const KEYS = [
  "addr_shared_vkh1zxt0uvrza94h3hv4jpv0ttddgnwkvdgeyq8jf9w30mcs6y8w3nq",
  "addr_shared_vkh1y3zl4nqgm96ankt96dsdhc86vd5geny0wr7hu8cpzdfcqskq2cp",
  "addr_shared_vkh175wsm9ckhm3snwcsn72543yguxeuqm7v9r6kl6gx57h8gdydcd9",
] as const;
const STAKES = [
  "stake_shared_vkh1nqc00hvlc6cq0sfhretk0rmzw8dywmusp8retuqnnxzajtzhjg5",
  "stake_shared_vkh1nac0awgfa4zjsh4elnjmsscz0huhss8q2g0x3n7m539mwaa5m7s",
] as const;
const some = (at_least: number, from: readonly string[] = KEYS) => ({ some: { from, at_least } });
const TWO_OF_THREE = some(2);
const TWO_OF_THREE_HASH = "script1qxu7mh9eaxt6fh2z87hwz46wgy7z8kjyqmlmfcrvnfa02aj9778";
const EITHER_STAKE = { any: STAKES };
const EITHER_STAKE_HASH = "script1y9c2v4j9efmhxmyuefyfzd7t8lcdfra0x3pagy20ekrpvfxxxyz";

/** The key of one wallet at role 0, index 0, in its three forms, and the same for its stake key. */
const PAYMENT = {
  key: "addr_vk1lqglg77z6kajsdz4739q22c0zm0yhuy567z6xk2vc0z5ucjtkwpschzd2j",
  extended:
    "addr_xvk1lqglg77z6kajsdz4739q22c0zm0yhuy567z6xk2vc0z5ucjtkwp3k2zz8796vdstcu7q0qp232wyvzjes0qkpmt7gzwa0x2q75h3qcgl5y4q0",
  hash: "addr_vkh1gza7wc699kqnjv55ldmj74x0acledxfd7z8zvlvjcwnj2h09mcs",
};
const STAKE = {
  key: "stake_vk16apaenn9ut6s40lcw3l8v68xawlrlq20z2966uzcx8jmv2q9uy7qau558d",
  extended:
    "stake_xvk16apaenn9ut6s40lcw3l8v68xawlrlq20z2966uzcx8jmv2q9uy7yak6lmcyst8yclpm3yalrspc7q2wy9f6683x6f9z4e3gclhs5snslcst62",
  hash: "stake_vkh1xswlmp8ut5aw8w3mlk2kjpzjxd3dc8r68vzc4azane3n6r07ddx",
};
const ENTERPRISE = "addr_test1vpqthemrg5kczwfjjnahwt65elhrl95e9hcgufnajtp6wfgdmxm9u";
const REWARD = "stake_test1uq6pmlvyl3wn4ca6807e26gy2gek9hqu0gastzh5tk0xx0gdfvj8f";
const DELEGATING =
  "addr_test1qpqthemrg5kczwfjjnahwt65elhrl95e9hcgufnajtp6wff5rh7cflza8t3m5wlaj45sg53nvtwpc73mqk90ghv7vv7ser7yl4";

/** Bodies of which all give one address. */
const golden = (id: string, address: string, ...bodies: readonly object[]): Row =>
  flow(id, async (world) => {
    for (const body of bodies) expect(await world.ok(202, "POST", "/addresses", body)).toEqual({ address });
  });
const accepted = (id: string, body: object): Row => row(id, () => ["POST", "/addresses", body], { status: 202 });
const refused = (id: string, message: string, body: object): Row =>
  row(id, () => ["POST", "/addresses", body], { status: 400, code: "bad_request", message });

const ILL_FORMED = "The script is ill-formed and is not going to be accepted by the ledger.";
const timelocked = (keys: readonly unknown[], more: object[] = []) => ({
  all: [...keys, { active_from: 120 }, ...more],
});
const CONTRADICTORY = timelocked([KEYS[0]], [{ active_until: 100 }]);

const WRONG_INDEX = {
  status: 403,
  message: "It looks like you've provided a derivation index that is out of bound. The index is well-formed, but I " +
    "require indexes valid for hardened derivation only. That is, indexes between 0H and 2147483647H.",
};

const states = async (world: World, id: string, query = "") =>
  (await world.ok(200, "GET", `/wallets/${id}/addresses${query}`) as { state: string }[]).map(({ state }) => state);
const times = (count: number, state: string) => Array.from({ length: count }, () => state);
const inspected = (id: string, address: string, body: object): Row =>
  row(id, () => ["GET", `/addresses/${address}`], { status: 200, body });

export const addresses: Table = {
  file: "Shelley.Addresses",
  rows: [
    flow("BYRON_ADDRESS_LIST", async (world) => {
      const { id } = await world.sharedRandom();
      world.check(await world.call("GET", `/wallets/${id}/addresses`), noSuchWallet(id));
    }),
    flow("ADDRESS_LIST_01", async (world) => {
      const { id } = await world.sharedEmpty();
      const listed = await world.addresses(id);
      expect(listed.map(({ state, derivation_path }) => [state, derivation_path])).toEqual(
        Array.from({ length: 20 }, (_, i) => ["unused", ["1852H", "1815H", "0H", "0", String(i)]]),
      );
    }),
    flow("ADDRESS_LIST_01 (2)", async (world) => {
      const { id } = await world.emptyWallet({ gap: 15 });
      expect(await states(world, id)).toEqual(times(15, "unused"));
    }),
    flow("ADDRESS_LIST_02", async (world) => {
      const { id } = await world.sharedFixture();
      expect(await states(world, id, "?state=used")).toEqual(times(10, "used"));
      expect(await states(world, id, "?state=unused")).toEqual(times(20, "unused"));
    }),
    flow("ADDRESS_LIST_02 (2)", async (world) => {
      const { id } = await world.sharedEmpty();
      expect(await states(world, id, "?state=used")).toEqual([]);
      expect(await states(world, id, "?state=unused")).toEqual(times(20, "unused"));
    }),
    ...cases(
      "ADDRESS_LIST_02 (3)",
      Object.fromEntries(
        ["usedd", "uused", "unusedd", "uunused", "USED", "UNUSED", "-1000", "44444444", "*"].map((one) => [one, one]),
      ),
      async (world, state) => {
        const { id } = await world.sharedEmpty();
        world.check(await world.call("GET", `/wallets/${id}/addresses?state=${state}`), {
          status: 400,
          code: "bad_request",
          message:
            "Error parsing query parameter state failed: Unable to decode the given text value. Please specify " +
            "one of the following values: used, unused.",
        });
      },
    ),
    flow("ADDRESS_LIST_03", async (world) => {
      const [source, target] = await Promise.all([world.fixtureWallet(), world.emptyWallet({ gap: 10 })]);
      const all = await world.addresses(target.id);
      expect(all.map(({ state }) => state)).toEqual(times(10, "unused"));
      for (const { id } of all) await world.pay(source.id, [payment(id, MIN_UTXO)]);
      await world.untilAvailable(target.id, 10n * MIN_UTXO);
      expect(await states(world, target.id)).toEqual([...times(10, "used"), ...times(10, "unused")]);
    }),
    flow("ADDRESS_LIST_04", async (world) => {
      const { id } = await world.deleted();
      world.check(await world.call("GET", `/wallets/${id}/addresses`), noSuchWallet(id));
    }),
    flow("ADDRESS_LIST_05", async (world) => {
      expect(await world.address((await world.sharedEmpty()).id)).toMatch(/^addr_test/);
    }),
    flow("ADDRESS_LIST_06", async (world) => {
      const [a, b] = await Promise.all([world.fixtureWallet(), world.emptyWallet()]);
      expect([await states(world, a.id), await states(world, b.id)])
        .toEqual([[...times(10, "used"), ...times(20, "unused")], times(20, "unused")]);
      const { id } = await world.pay(a.id, [payment(await world.address(b.id), 10n * ADA)]);
      // the change address is listed at once
      expect(await states(world, a.id)).toHaveLength(31);
      for (const one of [a, b]) await world.untilInLedger(one.id, id);
      expect((await states(world, a.id)).sort()).toEqual([...times(20, "unused"), ...times(11, "used")]);
      expect(await states(world, b.id)).toEqual(["used", ...times(20, "unused")]);
    }),

    inspected("ADDRESS_INSPECT_01", "Ae2tdPwUPEYz6ExfbWubiXPB6daUuhJxikMEb4eXRp5oKZBKZwrbJ2k7EZe", {
      address_style: "Icarus",
      address_type: 8,
    }),
    inspected(
      "ADDRESS_INSPECT_02",
      "37btjrVyb4KE2ByiPiJUQfAUBGaMyKScg4mnYjzVAsN2PUxj1WxTg98ien3oAo8vKBhP2KTuC9wi76vZ9kDNFkjbmzywdLTJgaz8n3RD3Rueim3Pd3",
      { address_style: "Byron", address_type: 8 },
    ),
    inspected("ADDRESS_INSPECT_03", "stake1u8pn5jr7cfa0x8ndtdufyg5lty3avg3zd2tq35c06hpsh8gptdza4", {
      address_style: "Shelley",
      address_type: 14,
    }),
    row("ADDRESS_INSPECT_04", () => ["GET", "/addresses/patate"], { status: 400 }),
    inspected(
      "ADDRESS_INSPECT_05",
      "addr_test1qzamu40sglnsrylzv9jylekjmzgaqsg5v5z9u6yk3jpnnxjwck77fqu8deuumsvnazjnjhwasc2eetfqpa2pvygts78ssd5388",
      {
        address_style: "Shelley",
        spending_key_hash_bech32: "addr_vkh1hwl9tuz8uuqe8cnpv387d5kcj8gyz9r9q30x395vsvue5e44fh7",
        stake_key_hash_bech32: "stake_vkh1fmzmmeyrsah8nnwpj0522w2amkrpt89dyq84g9s3pwrc7dqjnfu",
        address_type: 0,
      },
    ),

    golden(
      "ANY_ADDRESS_POST_01",
      "addr_test1wrrqr8fmk4ulc7pgycd96fuqcg40e5ecuway0ypc2tsnteqqu6qs0",
      { payment: KEYS[0] },
      { payment: "script1ccqe6wa40878s2pxrfwj0qxz9t7dxw8rhfreqwzjuy67gk2ausz" },
    ),
    golden(
      "ANY_ADDRESS_POST_02",
      "addr_test1wrjtlgneqelxxlckcsgrkd7rd6ycrgegu5th24x0f058gmqvc8s20",
      { payment: { any: KEYS.slice(0, 2) } },
      { payment: "script1ujl6y7gx0e3h79kyzqan0smw3xq6x289za64fn6tap6xc7rsm0z" },
    ),
    golden(
      "ANY_ADDRESS_POST_03",
      "addr_test1wpq0ghwy73wapjcdwqxm6ytwe66j8eccsmn9jptshrjerashp7y82",
      { payment: { all: KEYS.slice(0, 2) } },
      { payment: "script1gr69m385thgvkrtspk73zmkwk537wxyxuevs2u9cukglvtlkz4k" },
    ),
    golden(
      "ANY_ADDRESS_POST_04",
      "addr_test1wqqmnmwuh85e0fxaggl6ac2hfeqncg76gsr0ld8qdjd84agpc0nuz",
      { payment: TWO_OF_THREE },
      { payment: TWO_OF_THREE_HASH },
    ),
    golden(
      "ANY_ADDRESS_POST_05",
      "stake_test17qshpfjkgh98wumvnn9y3yfhevllp4y04u6y84q3flxcv9s2kvrnx",
      { stake: EITHER_STAKE },
      { stake: EITHER_STAKE_HASH },
    ),
    golden(
      "ANY_ADDRESS_POST_06",
      "addr_test1xqqmnmwuh85e0fxaggl6ac2hfeqncg76gsr0ld8qdjd84afpwzn9v3w2waeke8x2fzgn0jel7r2glte5g02pzn7dsctqlvxt2w",
      { payment: TWO_OF_THREE, stake: EITHER_STAKE },
      { payment: TWO_OF_THREE, stake: EITHER_STAKE_HASH },
      { payment: TWO_OF_THREE_HASH, stake: EITHER_STAKE },
      { payment: TWO_OF_THREE_HASH, stake: EITHER_STAKE_HASH },
    ),
    golden("ANY_ADDRESS_POST_07a", ENTERPRISE, { payment: PAYMENT.key }),
    golden("ANY_ADDRESS_POST_07b", ENTERPRISE, { payment: PAYMENT.extended }),
    golden("ANY_ADDRESS_POST_07c", ENTERPRISE, { payment: PAYMENT.hash }),
    golden("ANY_ADDRESS_POST_08a", REWARD, { stake: STAKE.key }),
    golden("ANY_ADDRESS_POST_08b", REWARD, { stake: STAKE.extended }),
    golden("ANY_ADDRESS_POST_08c", REWARD, { stake: STAKE.hash }),
    golden("ANY_ADDRESS_POST_09a", DELEGATING, { payment: PAYMENT.key, stake: STAKE.key }),
    golden("ANY_ADDRESS_POST_09b", DELEGATING, { payment: PAYMENT.extended, stake: STAKE.extended }),
    golden("ANY_ADDRESS_POST_09c", DELEGATING, { payment: PAYMENT.hash, stake: STAKE.hash }),
    golden("ANY_ADDRESS_POST_09d", DELEGATING, { payment: PAYMENT.hash, stake: STAKE.extended }),
    golden("ANY_ADDRESS_POST_09e", DELEGATING, { payment: PAYMENT.hash, stake: STAKE.key }),
    golden("ANY_ADDRESS_POST_09f", DELEGATING, { payment: PAYMENT.extended, stake: STAKE.hash }),
    golden(
      "ANY_ADDRESS_POST_10",
      "addr_test1zqqmnmwuh85e0fxaggl6ac2hfeqncg76gsr0ld8qdjd84af5rh7cflza8t3m5wlaj45sg53nvtwpc73mqk90ghv7vv7sq4jdnx",
      { payment: TWO_OF_THREE, stake: STAKE.key },
    ),
    golden(
      "ANY_ADDRESS_POST_11",
      "addr_test1ypqthemrg5kczwfjjnahwt65elhrl95e9hcgufnajtp6wfgph8kaew0fj7jd6s3l4ms4wnjp8s3a53qxl76wqmy60t6snk9ahl",
      { payment: PAYMENT.key, stake: TWO_OF_THREE },
    ),
    flow("ANY_ADDRESS_POST_12", async (world) => {
      const { id } = await world.sharedEmpty();
      const key = (path: string): Promise<string> => world.ok(200, "GET", `/wallets/${id}/keys/${path}`);
      const stake = await key("mutable_account/0");
      const made = [];
      for (let i = 0; i < 20; i++) {
        const { address } = await world.ok(202, "POST", "/addresses", {
          payment: await key(`utxo_external/${i}`),
          stake,
        });
        made.push(address);
      }
      expect((await world.addresses(id)).map((one) => one.id)).toEqual(made);
    }),
    golden(
      "ANY_ADDRESS_POST_13",
      "addr_test1xq756z909yycvf5ah8j5pc4cvuedkhvhyylmgfz400t8jdwmwa0hp024gu7dm6h8n252lkgnzemp93mm9kyd48p64mjs5kkua8",
      { payment: timelocked([KEYS[0]]), stake: timelocked([STAKES[1]]) },
    ),
    accepted("ANY_ADDRESS_POST_14a", { payment: some(0) }),
    accepted("ANY_ADDRESS_POST_14b", { payment: some(0), validation: "required" }),
    refused("ANY_ADDRESS_POST_14c", "At least's coefficient is 0 (which is not recommended).", {
      payment: some(0),
      validation: "recommended",
    }),
    accepted("ANY_ADDRESS_POST_15a", { payment: some(4) }),
    refused("ANY_ADDRESS_POST_15b", ILL_FORMED, { payment: some(4), validation: "required" }),
    refused("ANY_ADDRESS_POST_15c", ILL_FORMED, { payment: some(4), validation: "recommended" }),
    // the real scenario's list has no duplicate; this one has
    accepted("ANY_ADDRESS_POST_16a", { payment: some(2, [KEYS[0], KEYS[0], KEYS[2]]) }),
    accepted("ANY_ADDRESS_POST_16b", { payment: some(2, [KEYS[0], KEYS[0], KEYS[2]]), validation: "required" }),
    refused("ANY_ADDRESS_POST_16c", "The list inside a script has duplicate keys (which is not recommended).", {
      payment: some(2, [KEYS[0], KEYS[0], KEYS[2]]),
      validation: "recommended",
    }),
    accepted("ANY_ADDRESS_POST_17a", { payment: CONTRADICTORY, stake: timelocked([STAKES[1]]) }),
    accepted("ANY_ADDRESS_POST_17b", {
      payment: CONTRADICTORY,
      stake: timelocked(["script_vkh1yf07000d4ml3ywd3d439kmwp07xzgv6p35cwx8h605jfx0dtd4a"]),
      validation: "required",
    }),
    refused(
      "ANY_ADDRESS_POST_17c",
      "The timelocks used are contradictory when used with 'all' (which is not recommended).",
      {
        payment: timelocked([STAKES[1]], [{ active_until: 100 }]),
        stake: timelocked([STAKES[1]]),
        validation: "recommended",
      },
    ),
    refused(
      "ANY_ADDRESS_POST_17d",
      "All keys of a script must have the same role: either payment or delegation.",
      { payment: some(1, [KEYS[0], STAKES[1]]), validation: "required" },
    ),
    flow("POST_ACCOUNT_01", async (world) => {
      const { id } = await world.sharedEmpty();
      const post = (index: string, format: string) =>
        world.call("POST", `/wallets/${id}/keys/${index}`, { passphrase: PASSPHRASE, format });
      world.check(await post("0", "extended"), WRONG_INDEX);
      const keys = new Set<string>();
      for (let i = 0; i < 10; i++) {
        for (const [format, prefix] of [["extended", /^acct_xvk1/], ["non_extended", /^acct_vk1/]] as const) {
          const key = world.check(await post(`${i}H`, format), { status: 202 });
          expect(key).toMatch(prefix);
          keys.add(key);
        }
      }
      expect(keys.size).toBe(20);
    }),
    flow("POST_ACCOUNT_02", async (world) => {
      const { id } = await world.sharedEmpty();
      const post = (more: object) =>
        world.call("POST", `/wallets/${id}/keys/1H`, { passphrase: PASSPHRASE, format: "extended", ...more });
      const key = world.check(await post({}), { status: 202 });
      expect(key).toMatch(/^acct_xvk1/);
      expect(world.check(await post({ purpose: "1852H" }), { status: 202 })).toBe(key);
      expect(world.check(await post({ purpose: "1854H" }), { status: 202 })).toMatch(/^acct_shared_xvk1/);
      world.check(await post({ purpose: "1854" }), WRONG_INDEX);
    }),
    flow("ANY_ADDRESS_POST_15", async (world) => {
      const { id } = await world.sharedEmpty();
      const stake = await world.ok(200, "GET", `/wallets/${id}/keys/mutable_account/0`);
      expect(stake).toMatch(/^stake_vk1/);
      expect((await world.ok(202, "POST", "/addresses", { stake })).address).toMatch(/^stake_test1/);
    }),
    flow("ANY_ADDRESS_POST_16", async (world) => {
      const { id } = await world.sharedEmpty();
      const stake = await world.ok(200, "GET", `/wallets/${id}/keys/mutable_account/0?hash=true`);
      expect(stake).toMatch(/^stake_vkh1/);
      expect((await world.ok(202, "POST", "/addresses", { stake })).address).toMatch(/^stake_test1/);
    }),
  ],
};
