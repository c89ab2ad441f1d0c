/** Every answer of Kupo's API about a random chain, against an oracle that reads only the blocks: after growth and after rollbacks. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { type Json, parseJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { addressText, rewardAddress } from "#src/cardano/address.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { parsePattern } from "#src/devnet/index/kupo/pattern.ts";
import { kupoApp } from "#src/devnet/serve/kupo/service.ts";
import { KupoApi } from "../../support/kupo/kupoApi.ts";
import { datumOf, type Match, matchOf, newestFirst, oracleMatches } from "../../support/kupo/kupoOracle.ts";
import { ExplorerChain } from "../../support/explorer/explorerChain.ts";
import { Oracle, type OracleOutput } from "../../support/explorer/explorerOracle.ts";

let chain: ExplorerChain;
let api: KupoApi;
let oracle: Oracle;

const readOracle = async () => oracle = new Oracle(chain.devnet.genesis, await chain.blocks());

beforeAll(async () => {
  chain = await ExplorerChain.start(21);
  await chain.complete();
  api = new KupoApi(kupoApp({ devnet: chain.devnet, store: chain.store, log: silentLog }));
  await readOracle();
}, 120_000);
afterAll(() => chain.stop());

/** The first few of what some function makes of outputs, each once. */
function few<T extends string>(of: (output: OracleOutput) => T | undefined, count = 4): T[] {
  return [...new Set(newestFirst(oracle).flatMap((output) => of(output) ?? []))].slice(0, count);
}

/** Texts of patterns of each form that match something. */
function patterns(): Record<string, string[]> {
  const kinds = (one: OracleOutput) => one.payment?.kind;
  return {
    wildcard: ["*", "*/*"],
    address: few((one) => one.address, 8),
    "address in hexadecimal": few((one) => one.output.address),
    "address of Byron": few((one) => one.payment ? undefined : one.address),
    "stake address": few((one) => one.stake && oracle.stakeAddress(one.stake)),
    payment: few((one) => one.payment && `${one.payment.hash}/*`),
    "payment in bech32": [
      ...few((one) => kinds(one) === "key" ? `${toBech32("addr_vkh", fromHex(one.payment!.hash))}/*` : undefined),
      ...few((one) => kinds(one) === "script" ? `${toBech32("script", fromHex(one.payment!.hash))}/*` : undefined),
    ],
    delegation: few((one) => one.stake && `*/${one.stake.slice(1)}`),
    both: few((one) => one.stake && `${one.payment!.hash}/${one.stake.slice(1)}`),
    transaction: few((one) => `*@${one.ref.txHash}`),
    "transaction of the genesis": few((one) => one.tx ? undefined : `*@${one.ref.txHash}`, 2),
    "failed transaction": few((one) => one.tx?.valid === false ? `*@${one.ref.txHash}` : undefined),
    output: few((one) => one.ref.index > 0 ? `${one.ref.index}@${one.ref.txHash}` : undefined),
    policy: few((one) => one.assets[0] && `${one.assets[0][0].slice(0, 56)}.*`),
    asset: few((one) => one.assets[0] && `${one.assets[0][0].slice(0, 56)}.${one.assets[0][0].slice(56)}`),
  };
}

/** The outputs that the oracle has for a pattern. */
const expected = (text: string, keep: (output: OracleOutput) => boolean = () => true) =>
  newestFirst(oracle).filter((output) => oracleMatches(parsePattern(text)!, output) && keep(output));

const path = (text: string) => `/matches/${text.split("/").map(encodeURIComponent).join("/")}`;

async function compareAll(): Promise<void> {
  for (const [form, texts] of Object.entries(patterns())) {
    expect(texts.length, form).toBeGreaterThan(0);
    for (const text of texts) {
      const outputs = expected(text);
      expect(outputs.length, text).toBeGreaterThan(0);
      expect(await api.get(path(text)), text).toEqual(outputs.map((one) => matchOf(oracle, one)));
      expect(await api.get(`${path(text)}?unspent&resolve_hashes`), text).toEqual(
        outputs.filter((one) => !one.spentBy).map((one) => matchOf(oracle, one, { resolve: true })),
      );
      expect(await api.get(`${path(text)}?spent&order=oldest_first`), text).toEqual(
        outputs.filter((one) => one.spentBy).reverse().map((one) => matchOf(oracle, one)),
      );
    }
  }
}

test("the matches of every form of pattern are those of the blocks", async () => {
  await compareAll();
  expect(await api.get("/matches")).toEqual(expected("*").map((one) => matchOf(oracle, one)));
  const spends = (await api.get<Match[]>("/matches?spent&order=oldest_first")).map(({ spent_at }) => spent_at as Match);
  // every kind of spend has been compared
  expect(spends.some(({ redeemer }) => redeemer !== null)).toBe(true);
  expect(spends.some(({ input_index }) => Number(input_index) > 0)).toBe(true);
  expect(oracle.outputs.some(({ tx }) => tx?.valid === false)).toBe(true);
}, 60_000);

test("bounds in slots and at points, inclusive, of creation and of spending", async () => {
  const slots = oracle.blocks.map(({ slot }) => slot);
  const [low, high] = [slots[Math.floor(slots.length / 3)]!, slots[Math.floor(slots.length * 2 / 3)]!];
  const created = ({ tx }: OracleOutput) => tx?.block.slot ?? 0;
  const spent = ({ spentBy }: OracleOutput) => spentBy?.block.slot ?? NaN;
  const point = (slot: number) => `${slot}.${oracle.blocks.find((one) => one.slot === slot)!.hash}`;
  const some = patterns();
  const bounded = async (text: string, query: string, keep: (output: OracleOutput) => boolean) =>
    expect(await api.get(`${path(text)}?${query}`), `${text} ${query}`).toEqual(
      expected(text, keep).map((one) => matchOf(oracle, one)),
    );
  for (const text of ["*", "*/*", some.address![0]!, some.policy![0]!, some.payment![0]!]) {
    await bounded(text, `created_after=${low}`, (one) => created(one) >= low);
    await bounded(text, `created_after=${low + 1}`, (one) => created(one) > low);
    await bounded(text, `created_before=${high}`, (one) => created(one) <= high);
    await bounded(text, `created_before=0`, (one) => created(one) <= 0);
    await bounded(text, `created_after=0`, () => true);
    await bounded(
      text,
      `created_after=${low}&created_before=${high}`,
      (one) => created(one) >= low && created(one) <= high,
    );
    await bounded(
      text,
      `created_after=${point(low)}&created_before=${point(high)}`,
      (one) => created(one) >= low && created(one) <= high,
    );
    await bounded(text, `spent_after=${low}&spent_before=${high}`, (one) => spent(one) >= low && spent(one) <= high);
    await bounded(
      text,
      `created_before=${low}&spent_after=${high}`,
      (one) => created(one) <= low && spent(one) >= high,
    );
    await bounded(text, `spent_after=0`, (one) => one.spentBy !== undefined);
    await bounded(text, `created_after=99999999999999999999`, () => false);
  }
});

test("a point that is not on the chain is refused, with the block before it", async () => {
  const [first, second] = oracle.blocks.slice(5, 7);
  for (const name of ["created_after", "created_before", "spent_after", "spent_before"]) {
    const { status, body } = await api.send("GET", `/matches?${name}=${second!.slot}.${first!.hash}`);
    expect([status, body]).toEqual([
      400,
      { hint: expect.any(String), details: { ancestor: { slot_no: first!.slot, header_hash: first!.hash } } },
    ]);
  }
});

test("filters by policy, asset, transaction and output", async () => {
  const assets = newestFirst(oracle).filter(({ assets }) => assets.length > 0);
  for (const { assets: [asset], payment, address, ref } of assets.slice(0, 5)) {
    const policy = asset![0].slice(0, 56), name = asset![0].slice(56);
    const holds = (unit: string) => (one: OracleOutput) => one.assets.some(([held]) => held.startsWith(unit));
    const compare = async (text: string, query: string, keep: (output: OracleOutput) => boolean) =>
      expect(await api.get(`${path(text)}?${query}`), query).toEqual(
        expected(text, keep).map((one) => matchOf(oracle, one)),
      );
    for (const text of ["*", address, ...(payment ? [`${payment.hash}/*`] : [])]) {
      await compare(text, `policy_id=${policy}`, holds(policy));
      await compare(
        text,
        `unspent&asset_name=${name}&policy_id=${policy}`,
        (one) => !one.spentBy && one.assets.some(([unit]) => unit === policy + name),
      );
      await compare(text, `transaction_id=${ref.txHash}`, (one) => one.ref.txHash === ref.txHash);
      await compare(
        text,
        `transaction_id=${ref.txHash}&output_index=${ref.index}&unknown=1`,
        (one) => one.ref.txHash === ref.txHash && one.ref.index === ref.index,
      );
    }
  }
});

test("quantities are integers with all digits, or text where the client wants it", async () => {
  const large = newestFirst(oracle).filter(({ output }) => output.value.lovelace > BigInt(Number.MAX_SAFE_INTEGER));
  expect(large.length).toBeGreaterThan(0);
  const [output] = large;
  const { text } = await api.send("GET", path(`${output!.ref.index}@${output!.ref.txHash}`));
  expect(text).toContain(`"coins":${output!.output.value.lovelace}`);
  const headers = { accept: "application/json;asset-quantity=string" };
  const answer = await api.send("GET", "/matches", { headers });
  expect(answer.headers.get("content-type")).toBe("application/json;charset=utf-8;asset-quantity=string");
  expect(answer.body).toEqual(expected("*").map((one) => matchOf(oracle, one, { text: true })));
});

test("datums and scripts by their hashes", async () => {
  const datums = new Set([
    ...oracle.outputs.flatMap(({ dataHash }) => dataHash ?? []),
    ...oracle.txs.flatMap(({ datums }) => [...datums.keys()]),
  ]);
  let unknown = 0;
  for (const hash of datums) {
    const datum = datumOf(oracle, hash);
    if (datum === null) unknown++;
    expect(await api.get(`/datums/${hash}`)).toEqual(datum === null ? null : { datum });
    if (datum !== null) expect(hash256(fromHex(datum))).toBe(hash);
  }
  expect(datums.size).toBeGreaterThan(unknown + 2);
  const scripts = new Map(oracle.txs.flatMap((tx) => tx.scripts).map((one) => [one.hash, one]));
  expect(scripts.size).toBeGreaterThan(4);
  for (const [hash, { type, bytes }] of scripts) {
    const language = { timelock: "native", plutusV1: "plutus:v1", plutusV2: "plutus:v2", plutusV3: "plutus:v3" }[type];
    expect(await api.get(`/scripts/${hash.toUpperCase()}`)).toEqual({ language, script: toHex(bytes) });
  }
  expect(await api.get(`/datums/${"0".repeat(64)}`)).toBeNull();
  expect(await api.get(`/scripts/${"0".repeat(56)}`)).toBeNull();
});

test("metadata of blocks, checkpoints", async () => {
  const carrying = oracle.txs.filter(({ scanned }) => scanned.auxiliaryData !== undefined);
  expect(carrying.length).toBeGreaterThan(2);
  for (const { block, hash } of carrying.slice(-6)) {
    const texts = carrying.filter((one) => one.block === block);
    const { body, headers } = await api.send("GET", `/metadata/${block.slot}`);
    expect(headers.get("x-block-header-hash")).toBe(block.hash);
    const list = body as Match[];
    expect(list.map(({ hash, raw }) => [hash, raw])).toEqual(
      texts.map(({ scanned: { auxiliaryData } }) => [hash256(auxiliaryData!), toHex(auxiliaryData!)]),
    );
    list.forEach(({ schema }, i) =>
      // metadata of a transaction that failed in phase 2 is in its block too
      expect(Object.keys(schema as Match).sort()).toEqual(
        [...readAuxiliaryData(texts[i]!.scanned.auxiliaryData!).metadata.keys()].map(String).sort(),
      )
    );
    const one = await api.get<Match[]>(`/metadata/${block.slot}?transaction_id=${hash}`);
    expect(one).toEqual([list[texts.findIndex((text) => text.hash === hash)]]);
    // slots without a block lead to the next one
    const before = oracle.blocks[block.height - 1];
    if (before && before.slot + 1 < block.slot) expect(await api.get(`/metadata/${before.slot + 1}`)).toEqual(body);
  }
  expect(await api.get("/metadata/0")).toEqual([]);
  const tip = oracle.tip!;
  expect(await api.refused("GET", `/metadata/${tip.slot + 1}`)).toEqual([400, expect.stringContaining("no block")]);

  const points = await api.get<{ slot_no: number; header_hash: string }[]>("/checkpoints");
  expect(points[0]).toEqual({ slot_no: tip.slot, header_hash: tip.hash });
  expect(points.length).toBeGreaterThan(3);
  expect(points).toEqual([...points].sort((a, b) => b.slot_no - a.slot_no));
  for (const { slot_no, header_hash } of points) {
    expect(oracle.blocks.some(({ slot, hash }) => slot === slot_no && hash === header_hash)).toBe(true);
  }
  const gap = oracle.blocks.findIndex(({ slot }, i) => slot + 1 < (oracle.blocks[i + 1]?.slot ?? 0));
  const at = oracle.blocks[gap]!;
  const point = { slot_no: at.slot, header_hash: at.hash };
  expect(await api.get(`/checkpoints/${at.slot}`)).toEqual(point);
  expect(await api.get(`/checkpoints/${at.slot}?strict`)).toEqual(point);
  expect(await api.get(`/checkpoints/${at.slot + 1}`)).toEqual(point);
  expect(await api.get(`/checkpoints/${at.slot + 1}?strict`)).toBeNull();
});

test("after a rollback and other blocks, the answers are those of the new chain", async () => {
  await chain.rollback(20);
  for (let i = 0; i < 5; i++) await chain.step();
  await chain.present();
  await readOracle();
  await compareAll();
  // reference scripts of several languages were among them
  expect(new Set(oracle.outputs.flatMap(({ script }) => script?.type ?? [])).size).toBeGreaterThan(1);
}, 120_000);

test("the calls of Lucid, Blaze, pycardano and client-lib", async () => {
  const [output] = newestFirst(oracle).filter((one) => !one.spentBy && one.stake && one.payment?.kind === "key");
  const { ref, address, payment } = output!;
  const unspent = (text: string) => expected(text, (one) => !one.spentBy).map((one) => matchOf(oracle, one));
  const account = rewardAddress(0, {
    kind: output!.stake![0] === "k" ? "key" : "script",
    hash: output!.stake!.slice(1),
  });
  const calls: Record<string, Json> = {
    [`/matches/${address}?unspent`]: unspent(address),
    [`/v1/matches/${address}?unspent`]: unspent(address),
    [`/matches/${payment!.hash}/*?unspent`]: unspent(`${payment!.hash}/*`),
    [`/matches/*@${ref.txHash}?unspent`]: unspent(`*@${ref.txHash}`),
    [`/matches/*@${ref.txHash}`]: expected(`*@${ref.txHash}`).map((one) => matchOf(oracle, one)),
    [`/v1/matches/${ref.index}@${ref.txHash}`]: [matchOf(oracle, output!)],
    [`/matches/${ref.index}%40${ref.txHash}?unspent`]: [matchOf(oracle, output!)],
    [`//matches/${addressText(account)}?unspent`]: unspent(addressText(account)),
  };
  for (const [url, answer] of Object.entries(calls)) {
    const response = await kupoApp({ devnet: chain.devnet, store: chain.store, log: silentLog }).request(url);
    expect([url, parseJson(await response.text())]).toEqual([url, answer]);
  }
});

test("patterns of each form, as the only one, have the matches that the oracle has for them", async () => {
  const labels = [...new Set(oracle.txs.flatMap(({ metadata }) => metadata.map(([label]) => `{${label}}`)))];
  expect(labels.length).toBeGreaterThan(2);
  await api.change("DELETE", "/patterns/*");
  for (const text of [...Object.values(patterns()).flatMap((texts) => texts.slice(0, 2)), ...labels]) {
    const put = `/patterns/${encodeURIComponent(text)}`;
    await api.change("DELETE", "/matches/*");
    await api.change("PUT", put, { rollback_to: { slot_no: 0 } });
    expect(await api.get("/matches"), text).toEqual(expected(text).map((one) => matchOf(oracle, one)));
    expect(expected(text).length, text).toBeGreaterThan(0);
    expect(await api.change("DELETE", put)).toEqual({ deleted: 1 });
  }
  // two at once, of which one outlasts the other
  const [label = "", asset = ""] = [labels[0], patterns().asset![0]];
  await api.change("DELETE", "/matches/*");
  await api.change("PUT", "/patterns", { patterns: [label, asset], rollback_to: { slot_no: 0 } });
  const both = newestFirst(oracle).filter((one) =>
    [label, asset].some((text) => oracleMatches(parsePattern(text)!, one))
  );
  expect(await api.get("/matches")).toEqual(both.map((one) => matchOf(oracle, one)));
  expect(await api.change("DELETE", `/patterns/${encodeURIComponent(label)}`)).toEqual({ deleted: 1 });
  expect(await api.refused("DELETE", `/matches/${asset.slice(0, 56)}.*`)).toEqual([400, expect.any(String)]);
  expect(await api.get("/matches")).toEqual(both.map((one) => matchOf(oracle, one)));
}, 60_000);
