/**
 * A wallet's life in the whole product, and then a search for its secrets in every byte that left the process or was
 * stored.
 */
import { Buffer } from "node:buffer";
import { connect, type NatsConnection } from "nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { mnemonicEntropy, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { openStore } from "#src/store/store.ts";
import { descender, masterKey } from "#src/cardano/keys/master.ts";
import { accountPath } from "#src/cardano/keys/paths.ts";
import { Arbor } from "../../../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../../../support/infra/infra.ts";
import { receiveTraces } from "../../../support/runtime/otlpReceiver.ts";
import { until } from "../../../support/base/until.ts";

const words = newMnemonic(24);
const second = newMnemonic(9);
/** Of no wallet here: a payment redeems its rewards. */
const foreign = newMnemonic(15);
const PASSPHRASES = ["kestrel over the weir", "heron under the weir", "a wrong one: bittern"];

/** A text in lower case, with any separators between its words. */
const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, " ");

/** The forms in which some bytes might be encoded, in lower case. */
function forms(bytes: Uint8Array): string[] {
  return [toHex(bytes), Buffer.from(bytes).toString("base64").replace(/=+$/, "").toLowerCase(), bytes.join(",")];
}

/** What must occur nowhere, by name: texts in the form of `plain`, and forms of bytes. */
function secrets(): [name: string, texts: string[], forms: string[]][] {
  const root = masterKey({ style: "shelley", words, secondFactor: second });
  const entropy = mnemonicEntropy(words);
  if (!root.ok || !entropy.ok) throw new Error("no root key");
  const account = descender("shelley", root.value)(accountPath("shelley"));
  const payment = descender("shelley", account)([0, 0]);
  const pairs = (list: string[]) => list.slice(1).map((word, i) => `${list[i]} ${word}`);
  const keys = [["root", root.value], ["account", account], ["payment", payment]] as const;
  return [
    ...PASSPHRASES.map((text, i): [string, string[], string[]] => [
      `passphrase ${i}`,
      [plain(text)],
      forms(utf8(text)),
    ]),
    ["words", pairs(words), []],
    ["second factor", pairs(second), []],
    ["foreign words", pairs(foreign), []],
    ["entropy", [], forms(entropy.value)],
    ...keys.map(([name, { key }]): [string, string[], string[]] => [
      `${name} key`,
      [],
      [key.subarray(0, 32), key.subarray(32)].flatMap(forms),
    ]),
  ];
}

const SECRETS = secrets();

/** Names of the secrets that a text contains. */
function leaks(text: string): string[] {
  const bytes = text.toLowerCase();
  const read = plain(text);
  return SECRETS
    .filter(([, texts, forms]) => texts.some((one) => read.includes(one)) || forms.some((one) => bytes.includes(one)))
    .map(([name]) => name);
}

test("the search finds the secrets", () => {
  expect(leaks(`x ${words[3]} ${words[4]} y`)).toEqual(["words"]);
  expect(leaks(JSON.stringify({ mnemonic_second_factor: second }))).toEqual(["second factor"]);
  expect(leaks(JSON.stringify({ passphrase: PASSPHRASES[1] }))).toEqual(["passphrase 1"]);
  expect(leaks(toHex(utf8(PASSPHRASES[0]!)).toUpperCase())).toEqual(["passphrase 0"]);
  expect(leaks("nothing of the kind")).toEqual([]);
});

describe("a wallet's life", () => {
  let infra: Infra;
  /** Two processes, so that commands go over the bus. */
  let arbor: Arbor;
  let edge: Arbor;
  let nats: NatsConnection;
  let traces: Awaited<ReturnType<typeof receiveTraces>>;
  const messages: string[] = [];
  const answers: string[] = [];

  beforeAll(async () => {
    infra = await sharedInfra();
    traces = await receiveTraces();
    nats = await connect({ servers: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
    // not ">": it would look like a stream server that does not answer
    for (const subject of ["arbor.>", "_INBOX.>"]) {
      nats.subscribe(subject, {
        callback: (_, { subject, data, headers }) => {
          const headerText = headers ? headers.keys().map((key) => headers.values(key).join()).join() : "";
          messages.push(`${subject} ${headerText} ${Buffer.from(data).toString("latin1")}`);
        },
      });
    }
    await nats.flush();
    const env = { ...traces.env("arbor"), ARBOR_LOG_LEVEL: "debug", ARBOR_WALLET_PORT: "0" };
    arbor = await Arbor.start({ infra, ownProcess: true, roles: "devnet,follower,worker", env });
    edge = await Arbor.start({ infra, ownProcess: true, roles: "edge", env });
  });
  afterAll(async () => {
    await nats?.close();
    await edge?.end();
    await arbor?.end();
    await traces?.stop();
    await infra?.stop();
  });

  const send = async (method: string, path: string, body?: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(edge.wallets + path, {
      method,
      headers: { "content-type": "application/json" },
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await response.text();
    answers.push(`${answer} ${[...response.headers].join()}`);
    return { status: response.status, body: answer === "" ? undefined : answer };
  };

  test("leaves its words, passphrases and private keys nowhere", async () => {
    const [passphrase, next, wrong] = PASSPHRASES as [string, string, string];
    const creation = {
      name: "kept",
      mnemonic_sentence: words,
      mnemonic_second_factor: second,
      passphrase,
    };
    // a refusal is reported without the refused value
    expect((await send("POST", "/wallets", { ...creation, mnemonic_sentence: words.slice(1) })).status).toBe(400);
    // the checksum of some orders of the words is right by chance
    const turned = words.map((_, i) => [...words.slice(i), ...words.slice(0, i)]).find((some) =>
      !mnemonicEntropy(some).ok
    );
    expect((await send("POST", "/wallets", { ...creation, mnemonic_sentence: turned })).status).toBe(400);
    expect((await send("POST", "/wallets", { ...creation, mnemonic_sentence: words.join(" ") })).status).toBe(400);
    expect((await send("POST", "/wallets", { ...creation, passphrase: [passphrase] })).status).toBe(400);
    expect((await send("POST", "/wallets", JSON.stringify(creation).slice(0, -1))).status).toBe(400);
    expect((await send("POST", "/wallets", `"${passphrase}" ${words.join(" ")}`)).status).toBe(400);

    const made = await send("POST", "/wallets", creation);
    expect(made.status).toBe(201);
    const { id } = JSON.parse(made.body!) as { id: string };
    expect((await send("POST", "/wallets", creation)).status).toBe(409);
    const wallet = `/wallets/${id}`;
    expect((await send("POST", `${wallet}/policy-key`, { passphrase: wrong })).status).toBe(403);
    expect((await send("POST", `${wallet}/policy-key`, { passphrase })).status).toBe(202);
    expect((await send("POST", `${wallet}/keys/0H`, { passphrase, format: "extended" })).status).toBe(202);
    const redeeming = { payments: [], withdrawal: foreign, passphrase };
    expect((await send("POST", `${wallet}/payment-fees`, redeeming)).status).toBe(403);
    expect((await send("POST", `${wallet}/transactions`, redeeming)).status).toBe(403);
    expect((await send("POST", `${wallet}/transactions`, { ...redeeming, withdrawal: foreign.slice(1) })).status).toBe(
      400,
    );
    const metadata = { 0: { string: "signed" } };
    expect((await send("POST", `${wallet}/signatures/utxo_external/0`, { passphrase, metadata })).status).toBe(200);
    const transaction = "not base 64";
    expect((await send("POST", `${wallet}/transactions-sign`, { passphrase, transaction })).status).toBe(400);
    const change = { old_passphrase: passphrase, new_passphrase: next };
    expect((await send("PUT", `${wallet}/passphrase`, { ...change, old_passphrase: wrong })).status).toBe(403);
    expect((await send("PUT", `${wallet}/passphrase`, change)).status).toBe(204);
    const reset = { mnemonic_sentence: words, mnemonic_second_factor: second, new_passphrase: passphrase };
    expect((await send("PUT", `${wallet}/passphrase`, reset)).status).toBe(204);
    const others = { ...reset, mnemonic_sentence: newMnemonic(24) };
    expect((await send("PUT", `${wallet}/passphrase`, others)).status).toBe(403);
    expect((await send("GET", wallet)).status).toBe(200);
    await until(
      "the wallet's transitions",
      async () => messages.some((text) => text.startsWith(`arbor.event.wallet.${id}`)),
    );

    const store = openStore(infra.databaseUrl, { max: 1 });
    const tables = await store.sql<{ name: string }[]>`
      select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`;
    expect(tables.map(({ name }) => name)).toContain("vault_key");
    for (const { name } of tables) {
      const [row] = await store.sql.unsafe<{ all: string | null }[]>(
        `select string_agg(t::text, ' ') as all from ${name} t`,
      );
      expect({ table: name, leaks: leaks(row!.all ?? "") }).toEqual({ table: name, leaks: [] });
    }
    const keys = async () => (await store.sql`select from vault_key`).length;
    expect(await keys()).toBe(1);
    expect((await send("DELETE", wallet)).status).toBe(204);
    await until("the key is erased", async () => await keys() === 0);
    await store.close();

    await edge.end();
    await arbor.end();
    await until("spans were received", async () => traces.raw.length > 0);
    for (const { printed } of [edge, arbor]) {
      expect(leaks(printed)).toEqual([]);
      expect(printed).toContain(`"level":`);
    }
    expect(leaks(traces.raw)).toEqual([]);
    expect(messages.flatMap(leaks)).toEqual([]);
    for (const part of ["POLICY_KEY_SET", `arbor.event.wallet.${id}`]) expect(messages.join()).toContain(part);
    expect(answers.flatMap(leaks)).toEqual([]);
  });
});
