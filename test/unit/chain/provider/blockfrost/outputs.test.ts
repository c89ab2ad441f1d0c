/** Unspent outputs through a Blockfrost service, compared with the outputs in the blocks. */
import { afterEach, describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { addressText, readAddressHex, scriptAddress } from "#src/cardano/address.ts";
import { type Encodable, encode, Encoded, Indefinite, Tagged } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { compareRefs, type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { type BlockfrostPort, blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import { serveBlockfrost, type Served } from "../../../../support/blockfrost/blockfrostServer.ts";
import { byronAddress } from "../../../../support/chain/byron.ts";
import { MemoryChain, memoryPort } from "../../../../support/chain/memoryChain.ts";
import { until } from "../../../../support/base/until.ts";
import { coin, newRef, person } from "../../../../support/wallets/person.ts";

const anna = person("anna");
const bert = person("bert");
const script = scriptAddress(0, "ab".repeat(28)).hex;
const byron = byronAddress({ root: new Uint8Array(28).fill(7) });
const asset = "cd".repeat(28);

let served: Served | undefined;
let port: BlockfrostPort | undefined;

afterEach(async () => {
  port?.close();
  expect(served?.problems ?? []).toEqual([]);
  await served?.close();
  [served, port] = [undefined, undefined];
});

async function serve(chain: MemoryChain, genesis: readonly Utxo[] = []): Promise<BlockfrostPort> {
  served = await serveBlockfrost(memoryPort(chain, { random: () => 0.5 }), { genesis });
  port = blockfrostPort({
    url: served.url,
    magic: 42,
    log: silentLog,
    rate: { perSecond: 5_000, burst: 5_000 },
    firstWaitMs: 1,
    attempts: 20,
  });
  await until("the service", async () => served!.reached(chain.tip.hash));
  return port;
}

/** A transaction of some outputs, in CBOR. */
function making(
  outputs: readonly Encodable[],
  { inputs = [newRef()], more = [], valid = true }: {
    inputs?: readonly OutRef[];
    more?: readonly [number, Encodable][];
    valid?: boolean;
  } = {},
): { cbor: Uint8Array; hash: string } {
  const refs = (some: readonly OutRef[]) => some.map(({ txHash, index }) => [fromHex(txHash), index]);
  const body = encode(
    new Map<number, Encodable>([[0, new Tagged(258, refs(inputs))], [1, outputs], [2, 200_000], ...more]),
  );
  return { cbor: encode([new Encoded(body), new Map(), valid, null]), hash: hash256(body) };
}

const at = (address: string, lovelace: number | bigint, ...more: [number, Encodable][]) =>
  new Map<number, Encodable>([[0, fromHex(address)], [1, lovelace], ...more]);

/** An output's content, independent of its bytes. */
function plain({ ref, output }: Utxo) {
  const { address, value, datum, datumHash, script } = output;
  return {
    ref: refKey(ref),
    address,
    lovelace: value.lovelace,
    assets: new Map([...value.assets].sort()),
    ...{ datum: datum && toHex(datum), datumHash, script: script && toHex(script) },
  };
}

const sorted = (utxos: Iterable<Utxo>) => [...utxos].sort((a, b) => compareRefs(a.ref, b.ref)).map(plain);

async function expectTruth(chain: MemoryChain, addresses: readonly string[]): Promise<void> {
  const found = await port!.utxosByAddress(addresses);
  if (!found.ok) throw new Error(found.error.message);
  const truth = [...chain.utxos().values()].filter(({ output }) => addresses.includes(output.address));
  expect(sorted(found.value.value)).toEqual(sorted(truth));
  const { slot, hash } = chain.tip;
  expect(found.value.point).toEqual({ slot, hash });
}

describe("outputs by address", () => {
  it("are empty at an unused address", async () => {
    const chain = new MemoryChain();
    chain.add();
    await serve(chain);
    await expectTruth(chain, [anna.enterprise]);
  });

  it("are those of the blocks, whatever they hold", async () => {
    const chain = new MemoryChain();
    const datum = encode(new Tagged(121, new Indefinite([1, new Uint8Array(3), 2n ** 70n])));
    const inline = [1, new Tagged(24, datum)];
    const native = encode([0, [0, fromHex(anna.key)]]);
    const plutus = encode([3, fromHex("4e4d01000033222220051200120011")]);
    const assets = [
      9_000_000,
      new Map([[
        fromHex(asset),
        new Map<Encodable, Encodable>([[new Uint8Array(0), 2n ** 63n - 1n], [fromHex("00ff"), 1]]),
      ]]),
    ];
    chain.add(
      making([
        at(anna.enterprise, 3_000_000),
        at(anna.base, 2n ** 55n),
        [fromHex(anna.enterprise), 1_000_000],
        [fromHex(script), 1_000_000, fromHex("ee".repeat(32))],
        at(script, 2_000_000, [2, inline]),
        at(script, 2_000_000, [2, [0, fromHex("dd".repeat(32))]]),
        at(anna.enterprise, 4_000_000, [3, new Tagged(24, native)]),
        at(script, 4_000_000, [2, inline], [3, new Tagged(24, plutus)]),
        new Map<number, Encodable>([[0, fromHex(bert.base)], [1, assets]]),
        at(byron, 7_000_000),
      ]).cbor,
    );
    await serve(chain);
    await expectTruth(chain, [anna.enterprise, anna.base, bert.base, script, byron]);
  });

  it("come in pages", async () => {
    const chain = new MemoryChain();
    for (let i = 0; i < 5; i++) {
      chain.add(making(Array.from({ length: 50 }, (_, n) => at(anna.base, 1_000_000 + n))).cbor);
    }
    await serve(chain);
    await expectTruth(chain, [anna.base]);
    expect(served!.requests.filter((path) => path.includes("/utxos"))).toHaveLength(3);
  });

  it("are decoded by the library without their transactions, unless they have a script", async () => {
    const chain = new MemoryChain();
    const datum = encode(new Tagged(121, [1]));
    const assets = [2_000_000, new Map([[fromHex(asset), new Map([[fromHex("00ff"), 1]])]])];
    chain.add(
      making([
        at(anna.enterprise, 3_000_000),
        new Map<number, Encodable>([[0, fromHex(anna.enterprise)], [1, assets]]),
        at(anna.enterprise, 2_000_000, [2, [1, new Tagged(24, datum)]]),
        at(anna.enterprise, 2_000_000, [2, [0, fromHex("dd".repeat(32))]]),
      ]).cbor,
    );
    await serve(chain);
    await expectTruth(chain, [anna.enterprise]);
    // another version of the library that cannot decode them would leave them to the slower way
    expect(served!.requests.filter((path) => path.includes("/cbor"))).toEqual([]);
  });

  it("include those that no transaction created", async () => {
    const chain = new MemoryChain();
    chain.add();
    const first = coin(anna.enterprise, 45_000_000n);
    await serve(chain, [first, coin(byron, 5n)]);
    for (const [address, lovelace] of [[anna.enterprise, 45_000_000n], [byron, 5n]] as const) {
      const found = await port!.utxosByAddress([address]);
      expect(found.ok && found.value.value.map(({ output }) => output.value.lovelace)).toEqual([lovelace]);
    }
  });

  it("are requested again if a block arrives meanwhile, and hold at that block", async () => {
    const chain = new MemoryChain();
    const made = making([at(anna.enterprise, 3_000_000)]);
    chain.add(made.cbor);
    await serve(chain);
    served!.fault = (path, times) => {
      // the request for the newest block after the outputs
      if (!path.endsWith("/blocks/latest") || times < 2) return undefined;
      if (times === 2) {
        chain.add(making([at(anna.enterprise, 2_000_000)], { inputs: [{ txHash: made.hash, index: 0 }] }).cbor);
      }
      return served!.reached(chain.tip.hash) ? undefined : { status: 503, body: "{}" };
    };
    await expectTruth(chain, [anna.enterprise]);
    expect(chain.blocks).toHaveLength(2);
  });

  it("are refused if they are at another address", async () => {
    const chain = new MemoryChain();
    chain.add(making([at(bert.base, 3_000_000)]).cbor);
    await serve(chain);
    const elsewhere = readAddressHex(anna.base);
    const found = {
      ...{ address: elsewhere.ok && addressText(elsewhere.value), tx_hash: "00".repeat(32), output_index: 0 },
      amount: [{ unit: "lovelace", quantity: "5" }],
    };
    served!.fault = (path) => path.includes("/utxos") ? { body: JSON.stringify([found]) } : undefined;
    expect(await port!.utxosByAddress([bert.base])).toMatchObject({
      ok: false,
      error: { code: "network_unreachable", message: expect.stringContaining("of another address") },
    });
  });
});

describe("outputs by reference", () => {
  it("are only the unspent ones", async () => {
    const chain = new MemoryChain();
    const first = making([
      at(anna.enterprise, 3_000_000),
      at(byron, 1_000_000),
      at(script, 5_000_000, [2, [0, fromHex("dd".repeat(32))]]),
    ]);
    chain.add(first.cbor);
    chain.add(making([at(bert.base, 2_000_000)], { inputs: [{ txHash: first.hash, index: 0 }] }).cbor);
    await serve(chain);
    const refs = [0, 1, 2, 3].map((index) => ({ txHash: first.hash, index }));
    const found = await port!.utxosByRef([...refs, ...refs, newRef()]);
    if (!found.ok) throw new Error(found.error.message);
    const truth = [...chain.utxos().values()].filter(({ ref }) => ref.txHash === first.hash);
    expect(sorted(found.value.value)).toEqual(sorted(truth));
    expect(found.value.value).toHaveLength(2);
  });

  it("are looked up by address if the service does not say whether they are spent", async () => {
    const chain = new MemoryChain();
    const first = making([at(anna.enterprise, 3_000_000), at(anna.enterprise, 4_000_000)]);
    chain.add(first.cbor);
    chain.add(making([at(bert.base, 2_000_000)], { inputs: [{ txHash: first.hash, index: 0 }] }).cbor);
    await serve(chain);
    const whole = await (await fetch(`${served!.url}/txs/${first.hash}/utxos`)).json();
    const outputs = whole.outputs.map(({ consumed_by_tx: _, ...found }: Record<string, unknown>) => found);
    served!.fault = (path) => path.includes("/txs/") ? { body: JSON.stringify({ ...whole, outputs }) } : undefined;
    const found = await port!.utxosByRef([0, 1].map((index) => ({ txHash: first.hash, index })));
    expect(found.ok && found.value.value.map(({ ref }) => ref.index)).toEqual([1]);
  });

  it("exclude the collateral return, unless phase 2 failed", async () => {
    const chain = new MemoryChain();
    const back: [number, Encodable][] = [[13, new Tagged(258, [[fromHex(newRef().txHash), 0]])], [
      16,
      at(anna.base, 9_000_000),
    ]];
    const good = making([at(anna.enterprise, 3_000_000)], { more: back });
    const bad = making([at(anna.enterprise, 3_000_000)], { more: back, valid: false });
    chain.add(good.cbor, bad.cbor);
    await serve(chain);
    const found = await port!.utxosByRef(
      [good, bad].flatMap(({ hash }) => [0, 1].map((index) => ({ txHash: hash, index }))),
    );
    if (!found.ok) throw new Error(found.error.message);
    expect(found.value.value.map(({ ref }) => refKey(ref)).sort()).toEqual([`${bad.hash}#1`, `${good.hash}#0`].sort());
    expect(sorted(found.value.value)).toEqual(sorted(chain.utxos().values()));
  });
});
