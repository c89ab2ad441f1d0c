/** API/Shelley/Wallets.hs */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { expect } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { cases, flow, type Table } from "../table.ts";
import {
  headerAnswer,
  HEADERS,
  HEADERS_WITHOUT_BODY,
  NAMES,
  noSuchWallet,
  WRONG_MNEMONIC,
  WRONG_PASSPHRASE,
} from "../words.ts";
import { ADA, lovelace, type Made, MIN_UTXO, PASSPHRASE, payment, type World } from "../world.ts";

const NEW_PASSPHRASE = "cardano-wallet2";
/** A soft index is required. */
const OUT_OF_BOUND = {
  status: 403,
  code: "soft_derivation_required",
  message: "It looks like you've provided a derivation index that is out of bound.",
};
const NOTHING = lovelace(0);
const EMPTY = {
  address_pool_gap: 20,
  balance: { available: NOTHING, total: NOTHING, reward: NOTHING },
  assets: { available: [], total: [] },
  delegation: { active: { status: "not_delegating" }, next: [] },
};
const WITH_PASSPHRASE = { passphrase: { last_updated_at: expect.stringMatching(/Z$/) } };

const ready = (world: World, id: string) =>
  world.eventually(`${id} is ready`, async () => {
    world.check(await world.call("GET", `/wallets/${id}`), { status: 200, body: { state: { status: "ready" } } });
  });
const boundaries = (least: number, most: number, letter: string) => ({
  [`${least} characters`]: letter.repeat(least),
  [`${most} characters`]: letter.repeat(most),
});
const names = { ...boundaries(1, 255, "ą"), ...NAMES };
const passphrases = { ...boundaries(10, 255, "ź"), ...NAMES };

const byOld = (old_passphrase: string, new_passphrase: string) => ({ old_passphrase, new_passphrase });
const byWords = ({ words }: Pick<Made, "words">, new_passphrase: string, factor?: readonly string[]) => ({
  mnemonic_sentence: words,
  ...(factor ? { mnemonic_second_factor: factor } : {}),
  new_passphrase,
});
const both = { "by the old passphrase": false, "by the words": true };

/** Wallets of these ids, in the order of a list. */
const listed = async (world: World, prefix: string, ids: readonly string[]) =>
  (await world.ok(200, "GET", `/${prefix}`) as { id: string; name: string }[]).filter(({ id }) => ids.includes(id))
    .map(({ name }) => name);
const used = async (world: World, id: string) => {
  const addresses = await world.addresses(id);
  return [addresses.length, addresses.filter(({ state }) => state === "used").length];
};

export const wallets: Table = {
  file: "Shelley.Wallets",
  rows: [
    flow("WALLETS_CREATE_01", async (world) => {
      const body = world.walletBody({
        name: "1st Wallet",
        gap: 30,
        more: { mnemonic_second_factor: newMnemonic(12) },
      });
      const { id } = world.check(await world.call("POST", "/wallets", body), {
        status: 201,
        body: { ...EMPTY, ...WITH_PASSPHRASE, name: "1st Wallet", address_pool_gap: 30 },
      });
      await ready(world, id);
    }),
    flow("WALLETS_CREATE_01.1", async (world) => {
      const { id } = await world.emptyWallet({ name: "Wallet from tip", more: { restoration_mode: "from_tip" } });
      await ready(world, id);
      expect(await world.wallet(id)).toMatchObject({
        name: "Wallet from tip",
        address_pool_gap: 20,
        balance: { available: NOTHING },
      });
    }),
    ...cases("OWASP_INJECTION_CREATE_WALLET_01", {
      quotes: `new wallet",'',''); DROP TABLE "wallet"; --`,
      "other letters": `new wallet','ŚεℒℇℂƮ’','ŚεℒℇℂƮ’'); DROP TABLE "wallet"; --`,
    }, async (world, name) => {
      const body = world.walletBody({ name, words: newMnemonic(24), passphrase: "12345678910" });
      const { id } = world.check(await world.call("POST", "/wallets", body), {
        status: 201,
        body: { ...EMPTY, ...WITH_PASSPHRASE, name },
      });
      await ready(world, id);
    }),
    flow("WALLETS_CREATE_02", async (world) => {
      const source = await world.fixtureWallet();
      const body = world.walletBody({});
      const { id } = world.check(await world.call("POST", "/wallets", body), { status: 201, body: EMPTY });
      await world.pay(source.id, [payment(await world.address(id, 1), MIN_UTXO)]);
      const funded = {
        balance: { available: lovelace(Number(MIN_UTXO)), total: lovelace(Number(MIN_UTXO)) },
        assets: { available: [], total: [] },
      };
      expect(await world.untilAvailable(id, MIN_UTXO)).toMatchObject(funded);
      await world.ok(204, "DELETE", `/wallets/${id}`);
      await world.ok(201, "POST", "/wallets", body);
      expect(await world.untilAvailable(id, MIN_UTXO)).toMatchObject(funded);
    }),
    flow("WALLETS_CREATE_03,09", async (world) => {
      const body = world.walletBody({ words: newMnemonic(21) });
      const { id } = await world.ok(201, "POST", "/wallets", body);
      world.check(await world.call("POST", "/wallets", body), {
        status: 409,
        code: "wallet_already_exists",
        message:
          `This operation would yield a wallet with the following id: ${id} However, I already know of a wallet ` +
          "with this id.",
      });
    }),
    ...cases("WALLETS_CREATE_04", names, async (world, name) => {
      const wallet = await world.emptyWallet({ name, words: newMnemonic(24) });
      expect(wallet.name).toBe(name);
    }),
    ...cases(
      "WALLETS_CREATE_05",
      { "15 words": 15, "18 words": 18, "21 words": 21, "24 words": 24 } as const,
      (world, count) => world.emptyWallet({ words: newMnemonic(count) }),
    ),
    ...cases(
      "WALLETS_CREATE_06",
      { "9 words": 9, "12 words": 12 } as const,
      (world, count) => world.emptyWallet({ more: { mnemonic_second_factor: newMnemonic(count) } }),
    ),
    ...cases(
      "WALLETS_CREATE_07",
      passphrases,
      (world, passphrase) => world.emptyWallet({ passphrase, words: newMnemonic(24) }),
    ),
    ...cases("WALLETS_CREATE_08", { "the least": 10, "1,000": 1_000 }, async (world, gap) => {
      const wallet = await world.emptyWallet({ gap });
      expect(wallet.address_pool_gap).toBe(gap);
      expect(await world.addresses(wallet.id)).toHaveLength(gap);
      await world.ok(204, "DELETE", `/wallets/${wallet.id}`);
    }),
    flow("WALLETS_CREATE_08 (2)", async (world) => {
      expect((await world.emptyWallet({ words: newMnemonic(21) })).address_pool_gap).toBe(20);
    }),
    ...cases("WALLETS_CREATE_09", HEADERS, async (world, [headers, refused]) => {
      const body = world.walletBody({ words: newMnemonic(21) });
      world.check(await world.call("POST", "/wallets", body, headers), headerAnswer(refused, 201));
    }),
    flow("WALLETS_CREATE_10", async (world) => {
      const [one, fixture] = await Promise.all([
        world.emptyWallet({ more: { one_change_address_mode: true } }),
        world.fixtureWallet(),
      ]);
      expect([await used(world, one.id), await used(world, fixture.id)]).toEqual([[20, 0], [30, 10]]);
      const pay = async (from: string, to: string, ada: bigint) => {
        const { id } = await world.pay(from, [payment(to, ada * ADA)]);
        for (const wallet of [one.id, fixture.id]) await world.untilInLedger(wallet, id);
      };
      const toOne = await world.address(one.id);
      for (let i = 0; i < 3; i++) await pay(fixture.id, toOne, 10n);
      // each payment has a change address of its own; all are to one address
      expect([await used(world, fixture.id), await used(world, one.id)]).toEqual([[33, 13], [21, 1]]);
      const toFixture = await world.address(fixture.id);
      for (let i = 0; i < 5; i++) await pay(one.id, toFixture, 1n);
      expect([await used(world, fixture.id), await used(world, one.id)]).toEqual([[33, 13], [22, 2]]);
      world.check(await world.call("PUT", `/wallets/${one.id}`, { one_change_address_mode: false }), {
        status: 200,
        body: { id: one.id, address_pool_gap: 20 },
      });
      for (let i = 0; i < 2; i++) await pay(one.id, toFixture, 1n);
      expect(await used(world, one.id)).toEqual([24, 4]);
    }),

    flow("WALLETS_GET_01", async (world) => {
      const { id } = await world.sharedEmpty();
      await world.eventually("all details", async () =>
        world.check(await world.call("GET", `/wallets/${id}`), {
          status: 200,
          body: { ...EMPTY, ...WITH_PASSPHRASE, id, name: "Empty Wallet", state: { status: "ready" } },
        }));
    }),
    flow("WALLETS_GET_02, WALLETS_DELETE_01", async (world) => {
      const { id } = await world.deleted();
      world.check(await world.call("GET", `/wallets/${id}`), noSuchWallet(id));
    }),
    flow("WALLETS_LIST_01", async (world) => {
      const { id } = await world.emptyWallet({
        name: "Wallet to be listed",
        words: newMnemonic(18),
        more: { mnemonic_second_factor: newMnemonic(9) },
      });
      const all = await world.ok(200, "GET", "/wallets") as { id: string }[];
      expect(all.filter((one) => one.id === id)).toMatchObject([{ ...EMPTY, name: "Wallet to be listed" }]);
    }),
    flow("WALLETS_LIST_01 (2)", async (world) => {
      const ids = [];
      for (const [name, count] of [["1", 15], ["2", 18], ["3", 21]] as const) {
        ids.push((await world.emptyWallet({ name, words: newMnemonic(count) })).id);
      }
      expect(await listed(world, "wallets", ids)).toEqual(["1", "2", "3"]);
    }),
    flow("WALLETS_LIST_02", async (world) => {
      expect(await listed(world, "wallets", [(await world.deleted()).id])).toEqual([]);
    }),

    flow("WALLETS_UPDATE_01", async (world) => {
      const { id, passphrase } = await world.emptyWallet();
      const expected = { status: 200, body: { ...EMPTY, id, passphrase, name: "New great name" } };
      world.check(await world.call("PUT", `/wallets/${id}`, { name: "New great name" }), expected);
      world.check(await world.call("GET", `/wallets/${id}`), expected);
    }),
    ...cases("WALLETS_UPDATE_02", names, async (world, name) => {
      const { id } = await world.emptyWallet();
      world.check(await world.call("PUT", `/wallets/${id}`, { name }), { status: 200, body: { name } });
    }),
    flow("WALLETS_UPDATE_03", async (world) => {
      const { id } = await world.deleted();
      world.check(await world.call("PUT", `/wallets/${id}`, { name: "new name" }), noSuchWallet(id));
    }),
    ...cases("WALLETS_UPDATE_04", HEADERS, async (world, [headers, refused]) => {
      const { id } = await world.emptyWallet();
      const answer = await world.call("PUT", `/wallets/${id}`, { name: "new name" }, headers);
      world.check(answer, headerAnswer(refused, 200));
    }),

    flow("WALLETS_UPDATE_PASS_01a", async (world) => {
      const { id, passphrase } = await world.emptyWallet();
      await world.ok(204, "PUT", `/wallets/${id}/passphrase`, byOld(PASSPHRASE, "New passphrase"));
      expect((await world.wallet(id)).passphrase).not.toEqual(passphrase);
    }),
    flow("WALLETS_UPDATE_PASS_01b", async (world) => {
      const made = await world.emptyWallet();
      await world.ok(204, "PUT", `/wallets/${made.id}/passphrase`, byWords(made, "New passphrase"));
      expect((await world.wallet(made.id)).passphrase).not.toEqual(made.passphrase);
    }),
    flow("WALLETS_UPDATE_PASS_01c", async (world) => {
      const factor = newMnemonic(12);
      const made = await world.emptyWallet({ more: { mnemonic_second_factor: factor } });
      await world.ok(204, "PUT", `/wallets/${made.id}/passphrase`, byWords(made, "New passphrase", factor));
      expect((await world.wallet(made.id)).passphrase).not.toEqual(made.passphrase);
    }),
    ...cases("WALLETS_UPDATE_PASS_02", passphrases, async (world, passphrase) => {
      const made = await world.emptyWallet();
      await world.ok(204, "PUT", `/wallets/${made.id}/passphrase`, byOld(PASSPHRASE, passphrase));
      await world.ok(204, "PUT", `/wallets/${made.id}/passphrase`, byWords(made, passphrase));
    }),
    flow("WALLETS_UPDATE_PASS_03", async (world) => {
      const { id } = await world.emptyWallet({ passphrase: "cardano-passphrase" });
      const body = byOld("incorrect-passphrase", "whatever-pass");
      world.check(await world.call("PUT", `/wallets/${id}/passphrase`, body), WRONG_PASSPHRASE);
    }),
    flow("WALLETS_UPDATE_PASS_03 (2)", async (world) => {
      const { id } = await world.emptyWallet();
      const body = byWords({ words: newMnemonic(24) }, "whatever-pass");
      world.check(await world.call("PUT", `/wallets/${id}/passphrase`, body), WRONG_MNEMONIC);
    }),
    ...cases("WALLETS_UPDATE_PASS_03 (3)", passphrases, async (world, old) => {
      const made = await world.emptyWallet({ passphrase: old, words: newMnemonic(24) });
      const next = "💘".repeat(255);
      await world.ok(204, "PUT", `/wallets/${made.id}/passphrase`, byOld(old, next));
      await world.ok(204, "PUT", `/wallets/${made.id}/passphrase`, byWords(made, next));
    }),
    flow("WALLETS_UPDATE_PASS_04", async (world) => {
      const { id } = await world.deleted();
      const body = byOld(PASSPHRASE, "Secure passphrase2");
      world.check(await world.call("PUT", `/wallets/${id}/passphrase`, body), noSuchWallet(id));
    }),
    flow("WALLETS_UPDATE_PASS_04 (2)", async (world) => {
      const made = await world.deleted();
      const body = byWords(made, "Secure passphrase2");
      world.check(await world.call("PUT", `/wallets/${made.id}/passphrase`, body), noSuchWallet(made.id));
    }),
    ...cases("WALLETS_UPDATE_PASS_05,06", both, async (world, words) => {
      const made = await world.walletWith([10n * ADA]);
      const body = words ? byWords(made, NEW_PASSPHRASE) : byOld(PASSPHRASE, NEW_PASSPHRASE);
      await world.ok(204, "PUT", `/wallets/${made.id}/passphrase`, body);
      const send = async (passphrase: string) =>
        world.call("POST", `/wallets/${made.id}/transactions`, {
          payments: [payment(world.elsewhere[0]!, MIN_UTXO)],
          passphrase,
        });
      world.check(await send(PASSPHRASE), WRONG_PASSPHRASE);
      world.check(await send(NEW_PASSPHRASE), { status: 202 });
    }),
    // an answer without a body suits every client
    ...cases("WALLETS_UPDATE_PASS_07", HEADERS, async (world, [headers, refused]) => {
      const { id } = await world.emptyWallet({ words: newMnemonic(24) });
      const body = byOld(PASSPHRASE, "Passphrase");
      const answer = await world.call("PUT", `/wallets/${id}/passphrase`, body, headers);
      world.check(answer, headerAnswer(refused === 406 ? undefined : refused, 204));
    }),

    flow("WALLETS_UTXO_01", async (world) => {
      const { id } = await world.sharedEmpty();
      const { total, scale, distribution } = await world.ok(200, "GET", `/wallets/${id}/statistics/utxos`);
      expect([total, scale, Object.values(distribution).every((count) => count === 0)])
        .toEqual([NOTHING, "log10", true]);
    }),
    flow("WALLET_UTXO_SNAPSHOT_01", async (world) => {
      const { id } = await world.sharedEmpty();
      expect(await world.ok(200, "GET", `/wallets/${id}/utxo`)).toEqual({ entries: [] });
    }),
    flow("WALLET_UTXO_SNAPSHOT_02", async (world) => {
      const { id } = await world.sharedFixture();
      expect((await world.ok(200, "GET", `/wallets/${id}/utxo`)).entries).toHaveLength(10);
    }),
    flow("WALLET_UTXO_SNAPSHOT_03", async (world) => {
      const { id } = await world.sharedMultiAsset();
      expect((await world.ok(200, "GET", `/wallets/${id}/utxo`)).entries).toHaveLength(3);
    }),
    flow("WALLETS_UTXO_02", async (world) => {
      const [source, target] = await Promise.all([world.fixtureWallet(), world.emptyWallet()]);
      const coins = [13n, 43n, 66n, 101n, 1339n].map((ada) => ada * ADA);
      const address = await world.address(target.id, 1);
      await world.pay(source.id, coins.map((coin) => payment(address, coin)));
      await world.untilAvailable(target.id, coins.reduce((sum, coin) => sum + coin, 0n));
      expect(await world.distribution(target.id)).toEqual({ "100000000": 3, "1000000000": 1, "10000000000": 1 });
    }),
    flow("WALLETS_UTXO_03", async (world) => {
      const { id } = await world.deleted();
      world.check(await world.call("GET", `/wallets/${id}/statistics/utxos`), noSuchWallet(id));
    }),
    ...cases("WALLETS_UTXO_04", HEADERS_WITHOUT_BODY, async (world, [headers, refused]) => {
      const { id } = await world.sharedEmpty();
      const answer = await world.call("GET", `/wallets/${id}/statistics/utxos`, undefined, headers);
      world.check(answer, headerAnswer(refused, 200));
    }),

    flow("WALLETS_GET_KEY_01", async (world) => {
      const words =
        "pulp ten light rhythm replace vessel slow drift kingdom amazing negative join auction ugly symptom";
      const { id } = await world.emptyWallet({ words: words.split(" ") });
      const keys = {
        "utxo_external/0": "addr_vk1tmdggpmj7r2mqfhneqsc5fzfj2j4sxf4j7mqwwsa8w58vz94zr4seun089",
        "utxo_internal/100": "addr_vk1wchen6vz4zz7kpfjld3g89zdcpdv2hzvtsufphgvpjxjkl49pqrqaj4j0e",
        "mutable_account/2147483647": "stake_vk1qy9tp370ze3cfre8f6daz7l85pgk3wpg6s5zqae2yjljwqkx4htqc7kr4p",
      };
      for (const [path, key] of Object.entries(keys)) {
        expect(await world.ok(200, "GET", `/wallets/${id}/keys/${path}`), path).toBe(key);
      }
    }),
    flow("WALLETS_GET_KEY_02", async (world) => {
      const { id } = await world.sharedEmpty();
      world.check(await world.call("GET", `/wallets/${id}/keys/utxo_external/0H`), OUT_OF_BOUND);
    }),
    flow("WALLETS_GET_KEY_03", async (world) => {
      const { id } = await world.deleted();
      world.check(await world.call("GET", `/wallets/${id}/keys/utxo_external/0`), noSuchWallet(id));
    }),
    flow("WALLETS_SIGNATURES_01", async (world) => {
      const words = "vintage poem topic machine hazard cement dune glimpse fix brief account badge mass silly business";
      const { id } = await world.emptyWallet({ words: words.split(" ") });
      const signature: Uint8Array = world.check(
        await world.call("POST", `/wallets/${id}/signatures/mutable_account/0`, {
          passphrase: PASSPHRASE,
          metadata: { 0: { string: "please sign this." } },
        }, { accept: "*/*", "content-type": "application/json" }),
        { status: 200 },
      );
      expect(toHex(signature)).toBe(
        "680739414d89eb9f4377192171ce3990c7beea6132a04f327d7c954ae9e7fcfe747dd7b4b9b11acefa1aa75216b837fc81e59c24001b9635" +
          "6ba65598ec159d0c",
      );
      const key = fromBech32(await world.ok(200, "GET", `/wallets/${id}/keys/mutable_account/0`));
      // the metadata as CBOR: a map of 0 to the text
      const message = blake2b256(fromHex(`a10071${toHex(new TextEncoder().encode("please sign this."))}`));
      const verified = csl.PublicKey.from_bytes(key!.bytes).verify(message, csl.Ed25519Signature.from_bytes(signature));
      expect(verified).toBe(true);
    }),
    flow("WALLETS_SIGNATURES_02", async (world) => {
      const { id } = await world.sharedEmpty();
      const body = { passphrase: PASSPHRASE, metadata: { 0: { int: 1 } } };
      world.check(await world.call("POST", `/wallets/${id}/signatures/utxo_external/0H`, body), OUT_OF_BOUND);
    }),
    flow("WALLETS_SIGNATURES_03", async (world) => {
      const { id } = await world.deleted();
      const body = { passphrase: PASSPHRASE, metadata: { 0: { int: 1 } } };
      world.check(await world.call("POST", `/wallets/${id}/signatures/utxo_external/0`, body), noSuchWallet(id));
    }),

    flow("BYRON_WALLETS_UTXO", async (world) => {
      const { id } = await world.sharedRandom();
      world.check(await world.call("GET", `/wallets/${id}/statistics/utxos`), noSuchWallet(id));
    }),
    flow("BYRON_WALLETS_UPDATE_PASS", async (world) => {
      const { id } = await world.sharedRandom();
      const body = byOld(PASSPHRASE, "Secure passphrase2");
      world.check(await world.call("PUT", `/wallets/${id}/passphrase`, body), noSuchWallet(id));
    }),
    flow("BYRON_WALLETS_UPDATE", async (world) => {
      const { id } = await world.sharedRandom();
      world.check(await world.call("PUT", `/wallets/${id}`, { name: "new name" }), noSuchWallet(id));
    }),
    flow("BYRON_WALLETS_GET_02", async (world) => {
      const { id } = await world.sharedEmpty();
      world.check(await world.call("GET", `/byron-wallets/${id}`), noSuchWallet(id));
    }),
    flow("BYRON_WALLETS_GET_03", async (world) => {
      const { id } = await world.sharedRandom();
      world.check(await world.call("GET", `/wallets/${id}`), noSuchWallet(id));
    }),
    flow("BYRON_WALLETS_LIST_02,03", async (world) => {
      const ids = [];
      for (const name of ["byron1", "byron2", "byron3"]) ids.push((await world.randomWallet(name)).id);
      for (const name of ["shelley1", "shelley2", "shelley3"]) ids.push((await world.emptyWallet({ name })).id);
      expect(await listed(world, "byron-wallets", ids)).toEqual(["byron1", "byron2", "byron3"]);
      expect(await listed(world, "wallets", ids)).toEqual(["shelley1", "shelley2", "shelley3"]);
    }),
    flow("BYRON_WALLETS_LIST_04, DELETE_01", async (world) => {
      const ids: string[] = [];
      for (const name of ["byron1", "byron2", "byron3"]) ids.push((await world.randomWallet(name)).id);
      for (const name of ["shelley1", "shelley2", "shelley3"]) ids.push((await world.emptyWallet({ name })).id);
      await world.ok(204, "DELETE", `/byron-wallets/${ids[1]}`);
      await world.ok(204, "DELETE", `/wallets/${ids[5]}`);
      expect(await listed(world, "byron-wallets", ids)).toEqual(["byron1", "byron3"]);
      expect(await listed(world, "wallets", ids)).toEqual(["shelley1", "shelley2"]);
    }),
    flow("BYRON_WALLETS_DELETE_02", async (world) => {
      const { id } = await world.sharedEmpty();
      world.check(await world.call("DELETE", `/byron-wallets/${id}`), noSuchWallet(id));
    }),
    flow("BYRON_WALLETS_DELETE_03", async (world) => {
      const { id } = await world.sharedRandom();
      world.check(await world.call("DELETE", `/wallets/${id}`), noSuchWallet(id));
    }),
    flow("WALLETS_NETWORK_SHELLEY", async (world) => {
      const { id } = await world.sharedEmpty();
      await world.eventually("one tip", async () => {
        const { sync_progress, node_tip } = await world.ok(200, "GET", "/network/information");
        expect(sync_progress.status).toBe("ready");
        const { state, tip } = await world.wallet(id);
        expect([state.status, tip.epoch_number, tip.slot_number, tip.height])
          .toEqual(["ready", node_tip.epoch_number, node_tip.slot_number, node_tip.height]);
      });
    }),
  ],
};
