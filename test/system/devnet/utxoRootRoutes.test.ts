/** The routes for the root of a devnet's unspent outputs: every answer is verified as a client does. */
import { beforeEach, describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { hexAddressText } from "#src/cardano/address.ts";
import { decode } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { type OutRef, readOutput, readRef } from "#src/cardano/output.ts";
import { type ShownOutput, verifyAddress, verifyNoOutput, verifyOutput } from "#src/csmt/verify.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { spend } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { modelOf } from "../../support/devnet/utxoRoot.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const alice = person("alice");
const bob = person("bob");
const carol = person("carol");
const world = devnetWorld();
let devnet: Devnet;
let app: ReturnType<typeof devnetApp>;
let spent: OutRef;
let kept: OutRef;

beforeEach(async () => {
  devnet = await world.start();
  const { store, rows: port } = world;
  app = devnetApp({ devnet, store, port, files: [], health: () => {}, log: silentLog });
  const coin = await give(devnet, alice.base, 10n * ada);
  await makeBlock(devnet);
  const paid = spend({
    from: alice,
    inputs: [coin],
    outputs: [[bob.base, 2n * ada], [bob.base, 3n * ada], [alice.base, 4n * ada]],
  });
  valueOf(await devnet.submit(paid.cbor));
  await makeBlock(devnet);
  spent = coin.ref;
  kept = paid.created[2]!.ref;
});

// deno-lint-ignore no-explicit-any
async function get(path: string): Promise<{ status: number; body: any }> {
  const answer = await app.request(path);
  return { status: answer.status, body: await answer.json() };
}

const path = ({ txHash, index }: OutRef) => `${txHash}/${index}`;
const tipPoint = () => ({ slot: devnet.tip().slot, hash: devnet.tip().hash });

describe("the root", () => {
  it("is the same in all three APIs, at one block", async () => {
    const { root } = await modelOf(world.store);
    expect(await get("/utxo-root")).toEqual({ status: 200, body: { point: tipPoint(), root } });
    expect(await get("/utxo/root")).toEqual({ status: 200, body: root });
    const { body } = await get("/utxo-csmt/merkle-roots");
    expect(body).toHaveLength(2);
    expect(body[0]).toEqual({ slotNo: devnet.tip().slot, blockHash: devnet.tip().hash, merkleRoot: root });
    expect(body[1].slotNo).toBeLessThan(body[0].slotNo);
    expect(body[1].merkleRoot).toMatch(/^[0-9a-f]{64}$/);
    expect(await get("/utxo-csmt/ready")).toEqual({
      status: 200,
      body: { ready: true, tipSlot: devnet.tip().slot, processedSlot: devnet.tip().slot, slotsBehind: 0 },
    });
  });

  it("is not served before the tree is at the newest block", async () => {
    const { sql } = world.store;
    await sql`update devnet_utxo_tree_place set hash = 'earlier'`;
    for (
      const route of [
        "/utxo-root",
        `/utxo-root/addresses/${alice.base}`,
        `/utxo-root/addresses/${alice.base}/outputs/${path(kept)}`,
        "/utxo/root",
        `/utxo/${path(kept)}`,
        `/utxo/${path(kept)}/proof`,
        "/utxo-csmt/merkle-roots",
        `/utxo-csmt/proof/${path(kept)}`,
        `/utxo-csmt/utxos-by-address/${alice.base}`,
      ]
    ) {
      expect(await get(route), route).toMatchObject({ status: 503, body: { code: "utxo_root_unavailable" } });
    }
    expect(await get("/utxo-csmt/ready")).toMatchObject({ status: 200, body: { ready: false } });
    await makeBlock(devnet);
    expect(await get("/utxo-root")).toMatchObject({ status: 200, body: { point: tipPoint() } });
  });

  it("of a damaged tree is not served with a proof, and the tree is built again", async () => {
    const { sql } = world.store;
    await sql`update devnet_utxo_tree set nodes = set_byte(nodes, 20, (get_byte(nodes, 20) + 1) % 256)`;
    for (const route of [`/utxo/${path(kept)}`, `/utxo-root/addresses/${bob.base}`]) {
      expect(await get(route), route).toMatchObject({ status: 503, body: { code: "utxo_root_unavailable" } });
    }
    await makeBlock(devnet);
    expect(await get(`/utxo-root/addresses/${bob.base}`)).toMatchObject({ status: 200 });
    expect((await get("/utxo-root")).body.root).toBe((await modelOf(world.store)).root);
  });
});

describe("an output", () => {
  it("that is unspent is proved", async () => {
    const { body: { root } } = await get("/utxo-root");
    const one = await get(`/utxo-root/addresses/${hexAddressText(alice.base)}/outputs/${path(kept)}`);
    expect(one).toMatchObject({ status: 200, body: { point: tipPoint(), root } });
    const shown: ShownOutput = { ref: kept, cbor: fromHex(one.body.output) };
    const output = valueOf(verifyOutput(fromHex(root), shown, fromHex(one.body.proof)));
    expect(output).toMatchObject({ address: alice.base, value: { lovelace: 4n * ada } });
    expect(await get(`/utxo-csmt/proof/${path(kept)}`)).toEqual({
      status: 200,
      body: {
        slotNo: devnet.tip().slot,
        blockHash: devnet.tip().hash,
        proof: one.body.proof,
        txOut: one.body.output,
      },
    });
    expect(await get(`/utxo/${path(kept)}`)).toEqual({ status: 200, body: one.body.output });
    expect(await get(`/utxo/${path({ ...kept, txHash: kept.txHash.toUpperCase() })}/proof`)).toEqual({
      status: 200,
      body: one.body.proof,
    });
  });

  it("that is spent, was never there or is at another address is proved not to be there", async () => {
    for (
      const [address, ref] of [
        [alice.base, spent],
        [alice.base, { ...kept, index: 9 }],
        [carol.base, kept],
        [bob.base, { txHash: "00".repeat(32), index: 65_535 }],
      ] as const
    ) {
      const { status, body } = await get(`/utxo-root/addresses/${address}/outputs/${path(ref)}`);
      expect(status).toBe(200);
      expect(body.output).toBeNull();
      valueOf(verifyNoOutput(fromHex(body.root), { address, ref }, fromHex(body.proof)));
    }
    for (const route of ["/utxo-csmt/proof/", "/utxo/"]) {
      expect(await get(route + path(spent))).toMatchObject({ status: 404, body: { code: "output_unknown" } });
    }
  });

  it("is awaited, for the time that is given", async () => {
    const waiting = get(`/utxo-csmt/await/${path(kept)}`);
    expect((await waiting).body).toMatchObject({ txId: kept.txHash, txIx: 2 });
    expect(await get(`/utxo-csmt/await/${path(spent)}?timeout=0`)).toMatchObject({
      status: 408,
      body: { code: "output_not_seen" },
    });
    const { ref } = await give(devnet, carol.base, 5n * ada);
    const later = get(`/utxo-csmt/await/${path(ref)}?timeout=60`);
    await makeBlock(devnet);
    const { status, body } = await later;
    expect(status).toBe(200);
    expect(readOutput(decode(fromHex(body.txOut))).address).toBe(carol.base);
  });
});

describe("an address", () => {
  it("has all of its outputs, with a proof that there are no others", async () => {
    const { status, body } = await get(`/utxo-root/addresses/${bob.base}`);
    expect(status).toBe(200);
    expect(body.entries).toHaveLength(2);
    const outputs: ShownOutput[] = body.entries.map((one: { txHash: string; index: number; cbor: string }) => ({
      ref: { txHash: one.txHash, index: one.index },
      cbor: fromHex(one.cbor),
    }));
    const verify = (outputs: readonly ShownOutput[]) =>
      verifyAddress(fromHex(body.root), { address: body.address, outputs }, fromHex(body.proof));
    expect(valueOf(verify(outputs)).map(({ value }) => value.lovelace).sort()).toEqual([2n * ada, 3n * ada]);
    expect(verify(outputs.slice(1)).ok).toBe(false);
    expect(verify([]).ok).toBe(false);
    const { body: plain } = await get(`/utxo-csmt/utxos-by-address/${bob.base}`);
    expect(
      plain.map((
        { txIn, txOut }: Record<string, string>,
      ) => [readRef(decode(fromHex(txIn!))).txHash, hash256(fromHex(txOut!))]).sort(),
    )
      .toEqual(outputs.map(({ ref, cbor }) => [ref.txHash, hash256(cbor)]).sort());
  });

  it("without outputs is proved to be empty", async () => {
    const { status, body } = await get(`/utxo-root/addresses/${carol.base}`);
    expect([status, body.entries]).toEqual([200, []]);
    valueOf(verifyAddress(fromHex(body.root), { address: carol.base, outputs: [] }, fromHex(body.proof)));
    expect(verifyAddress(fromHex(body.root), { address: bob.base, outputs: [] }, fromHex(body.proof)).ok).toBe(false);
    expect(await get(`/utxo-csmt/utxos-by-address/${carol.base}`)).toEqual({ status: 200, body: [] });
  });

  it("of the faucet is proved too", async () => {
    const { body } = await get(`/utxo-root/addresses/${devnet.faucet.address}`);
    const outputs = body.entries.map((one: { txHash: string; index: number; cbor: string }) => ({
      ref: { txHash: one.txHash, index: one.index },
      cbor: fromHex(one.cbor),
    }));
    expect(outputs.length).toBeGreaterThan(0);
    valueOf(verifyAddress(fromHex(body.root), { address: devnet.faucet.address, outputs }, fromHex(body.proof)));
  });
});

it("refuses an address with too many outputs, or too large ones", async () => {
  const { sql } = world.store;
  const [many, large] = [person("many").enterprise, person("large").enterprise];
  const insert = (address: string, count: number, bytes: number) =>
    sql`
      insert into devnet_utxo (tx_hash, index, address, cbor, created_height)
      select md5(${address}) || md5(n::text), 0, ${address}, decode(repeat('00', ${bytes}), 'hex'), -1
      from generate_series(1, ${count}) as n`;
  await insert(many, 20_001, 1);
  await insert(large, 100, 160_001);
  for (const route of [`/utxo-root/addresses/`, `/utxo-csmt/utxos-by-address/`]) {
    expect(await get(route + many)).toMatchObject({ status: 413, body: { code: "too_many_outputs" } });
    expect(await get(route + large)).toMatchObject({ status: 413, body: { code: "answer_too_large" } });
  }
  await sql`delete from devnet_utxo where address in (${many}, ${large})`;
});

it("refuses nonsense", async () => {
  const txId = kept.txHash;
  for (
    const route of [
      `/utxo/${txId.slice(1)}/0`,
      `/utxo/${txId}00/0/proof`,
      `/utxo/${"g".repeat(64)}/0`,
      `/utxo/${txId}/-1`,
      `/utxo/${txId}/65536`,
      `/utxo/${txId}/1e1`,
      `/utxo-csmt/proof/${txId}/x`,
      `/utxo-csmt/proof/0/0`,
      "/utxo-csmt/utxos-by-address/xyz",
      "/utxo-csmt/utxos-by-address/abc",
      `/utxo-csmt/await/${txId}/0?timeout=-1`,
      `/utxo-csmt/await/${txId}/0?timeout=301`,
      `/utxo-csmt/await/${txId}/0?timeout=1&timeout=2`,
      `/utxo-csmt/await/${txId}/0?wait=1`,
      "/utxo-root/addresses/nonsense",
      `/utxo-root/addresses/${alice.base.slice(2)}`,
      `/utxo-root/addresses/e0${"ab".repeat(28)}`,
      "/utxo-root/addresses/addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8",
      `/utxo-root/addresses/${alice.base}/outputs/${txId}`.replace(txId, `${txId}/70000`),
    ]
  ) {
    const { status, body } = await get(route);
    expect([status, body.code], route).toEqual([400, expect.stringMatching(/^bad_(request|address)$/)]);
  }
});
