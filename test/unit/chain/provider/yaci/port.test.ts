/** The port over Yaci Store's own API: what differs from Blockfrost's. */
import { afterEach, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import type { BlockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { erasAt, publicNetworkGenesis } from "#src/chain/provider/yaci/genesis.ts";
import { yaciPort } from "#src/chain/provider/yaci/port.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { serveBlockfrost, type Served } from "../../../../support/blockfrost/blockfrostServer.ts";
import { MemoryChain, memoryPort } from "../../../../support/chain/memoryChain.ts";
import { spend } from "../../../../support/devnet/devnet.ts";
import { mainnetEras } from "../../../../support/chain/mainnetEras.ts";
import { until } from "../../../../support/base/until.ts";
import { coin, person } from "../../../../support/wallets/person.ts";
import { type ServedYaci, serveYaciStore } from "../../../../support/blockfrost/yaciStore.ts";

/** The genesis of the chain in memory. */
const shelley = {
  activeSlotsCoeff: 0.05,
  epochLength: 100,
  maxLovelaceSupply: 45_000_000_000_000_000n,
  networkMagic: 42,
  securityParam: 5,
  slotLength: 1,
  systemStart: "1970-01-01T00:00:00Z",
};
const anna = person("anna");
const first = { slot: 1 };

let below: Served | undefined;
let store: ServedYaci | undefined;
let port: BlockfrostPort | undefined;

afterEach(async () => {
  port?.close();
  await store?.close();
  expect(below?.problems ?? []).toEqual([]);
  await below?.close();
  [below, store, port] = [undefined, undefined, undefined];
});

async function serve(chain: MemoryChain, more: Partial<RawChainPort> = {}, magic = 42) {
  const node = { ...memoryPort(chain, { random: () => 0.5 }), ...more };
  below = await serveBlockfrost(node);
  store = await serveYaciStore({ blockfrost: below.url, port: node, shelley });
  port = yaciPort({
    url: store.url,
    ...(magic === 42 ? { adminUrl: store.adminUrl } : {}),
    magic,
    log: silentLog,
    rate: { perSecond: 5_000, burst: 5_000 },
    firstWaitMs: 1,
    attempts: 2,
    pollMs: 5,
  });
  const tip = async () => until("the service", async () => below!.reached(chain.tip.hash));
  await tip();
  return { port, store, below, tip };
}

const payment = () =>
  spend({ from: anna, inputs: [coin(anna.enterprise, 5_000_000n)], outputs: [[anna.enterprise, 4_800_000n]] });

describe("a Yaci Store", () => {
  it("is followed by the bytes of its blocks, by height, through rollbacks", async () => {
    const chain = new MemoryChain();
    chain.add(payment().cbor);
    for (let i = 0; i < 40; i++) chain.add();
    const { port, store, tip } = await serve(chain);
    expect(await port.check()).toMatchObject(ok({ magic: 42, id: 0, securityParameter: 5 }));
    const stop = new AbortController();
    const hashes: string[] = [];
    let undone = 0;
    for await (const step of port.follow([], stop.signal)) {
      if (step.type === "scanned") throw new Error("the store gives bytes");
      if (step.type === "forward") hashes.push(scanBlock(step.block).hash);
      else if (step.point.slot >= 0) {
        undone++;
        hashes.splice(chain.blocks.findIndex(({ scanned }) => scanned.hash === step.point.hash) + 1);
      }
      if (hashes.length === 41 && undone === 0 && hashes.at(-1) === chain.tip.hash) {
        chain.rollback(3);
        chain.add();
        await tip();
      }
      if (undone > 0 && hashes.at(-1) === chain.tip.hash) stop.abort();
    }
    expect(hashes).toEqual(chain.blocks.map(({ scanned }) => scanned.hash));
    expect(undone).toBe(1);
    expect(store.requests.filter((path) => /next|mempool|eras|\/api\/v1\/genesis/.test(path))).toEqual([]);
  });

  it("gives unspent outputs at an address, and by reference", async () => {
    const chain = new MemoryChain();
    const { cbor, hash } = payment();
    chain.add(cbor);
    const { port } = await serve(chain);
    const [{ ref, output: { address, value } }] = [...chain.utxos().values()] as [Utxo];
    const utxo = expect.objectContaining({ ref, output: expect.objectContaining({ address, value }) });
    const point = { slot: first.slot, hash: chain.tip.hash };
    expect(await port.utxosByAddress([anna.enterprise])).toEqual(ok({ point, value: [utxo] }));
    // unused: an empty list, not 404
    expect(await port.utxosByAddress([person("nobody").enterprise])).toEqual(ok({ point, value: [] }));
    const refs = [{ txHash: hash, index: 0 }, { txHash: hash, index: 1 }, { txHash: "00".repeat(32), index: 0 }];
    expect(await port.utxosByRef(refs)).toEqual(ok({ point, value: [utxo] }));
  });

  it.each([true, false])("gives the parameters, cost models as lists: %s", async (rawCosts) => {
    const chain = new MemoryChain();
    chain.add();
    const { port, store } = await serve(chain);
    store.rawCosts = rawCosts;
    const { costModels, drepDeposit, govActionDeposit, prices, refScriptCostPerByte } = mainnetParameters;
    expect(await port.parameters()).toMatchObject(
      ok({ value: { costModels, drepDeposit, govActionDeposit, prices, refScriptCostPerByte } }),
    );
  });

  it("takes a transaction, and decodes the rejection of its node", async () => {
    const chain = new MemoryChain();
    chain.add();
    const { cbor, hash } = payment();
    const failure: LedgerFailure = { name: "FeeTooSmallUTxO", supplied: 1n, expected: 170_000n };
    let takes = false;
    const { port, tip } = await serve(chain, {
      submit: () => Promise.resolve(ok(takes ? { outcome: "accepted" } : { outcome: "refused", failures: [failure] })),
    });
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "refused", failures: [failure] }));
    expect(await port.inMempool(hash)).toEqual(ok(false));
    takes = true;
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "accepted" }));
    expect(await port.inMempool(hash)).toEqual(ok(true));
    // the node of the store has it already
    takes = false;
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "accepted" }));
    chain.add(cbor);
    await tip();
    expect(await port.inMempool(hash)).toEqual(ok(false));
  });

  it("gives rewards and pool of an account, which is registered if it has either", async () => {
    const chain = new MemoryChain();
    chain.add();
    const credential = { kind: "key", hash: toHex(new Uint8Array(28)) } as const;
    const state = { rewards: 0n, pool: undefined as string | undefined };
    const { port } = await serve(chain, {
      accounts: (wanted) =>
        Promise.resolve(ok({
          point: first as never,
          value: wanted.map((credential) => ({
            credential,
            registered: true,
            deposit: 2_000_000n,
            drep: undefined,
            ...state,
          })),
        })),
    });
    const account = async () => {
      const found = await port.accounts([credential]);
      return found.ok && found.value.value[0];
    };
    expect(await account()).toMatchObject({ registered: false, rewards: 0n, pool: undefined });
    state.pool = "1b".repeat(28);
    expect(await account()).toMatchObject({ registered: true, rewards: 0n, pool: state.pool });
    [state.pool, state.rewards] = [undefined, 7n];
    expect(await account()).toMatchObject({ registered: true, rewards: 7n, pool: undefined, deposit: undefined });
  });

  it("gives the genesis of its admin host, and the eras and the epoch that follow from it", async () => {
    const chain = new MemoryChain();
    chain.add();
    const { port } = await serve(chain);
    expect(await port.genesis()).toEqual(ok({
      hash: undefined,
      systemStart: 0,
      activeSlots: { numerator: 1n, denominator: 20n },
      securityParameter: 5,
      epochLength: 100,
      slotLength: 1_000,
      maxSupply: 45_000_000_000_000_000n,
    }));
    expect(await port.eras()).toMatchObject(ok({ value: { current: "Conway", systemStart: 0 } }));
    expect(await port.epoch()).toMatchObject(
      ok({ value: { number: 0, firstSlot: 0, length: 100, start: 0, end: 100_000 } }),
    );
  });

  it("cannot be followed without the bytes of blocks, and says so", async () => {
    const chain = new MemoryChain();
    chain.add();
    const { port, store } = await serve(chain);
    store.saveCbor = false;
    expect(await port.check()).toMatchObject({
      ok: false,
      error: { code: "lacking", message: expect.stringContaining("store.blocks.save-cbor=true") },
    });
    await expect((async () => {
      for await (const _ of port.follow([], new AbortController().signal));
    })()).rejects.toThrow("store.blocks.save-cbor=true");
  });

  it("of another network is refused by the time of its newest block", async () => {
    const chain = new MemoryChain();
    chain.add();
    const { port, store } = await serve(chain);
    store.shift = 3;
    expect(await port.check()).toMatchObject({ ok: false, error: { code: "refused" } });
    const { port: preprod } = await serve(chain, {}, 1);
    expect(await preprod.check()).toMatchObject({
      ok: false,
      error: { code: "refused", message: expect.stringContaining("another network than that with magic 1") },
    });
  });

  it("does not answer for pools, DReps and the mempool, and says so", async () => {
    const { port } = await serve(new MemoryChain());
    const none = port.guarantees.filter(({ holds }) => holds === "not at all").map(({ query }) => query);
    expect(none).toEqual(["mempool", "pools", "poolRanking", "dreps", "drepStatus", "actions"]);
    for (
      const answer of [
        port.mempool(new Set()),
        port.pools(),
        port.poolRanking(1n),
        port.dreps(),
        port.drepStatus([]),
        port.actions([]),
      ]
    ) {
      expect(await answer).toMatchObject({ ok: false, error: { code: "query_unsupported" } });
    }
  });
});

describe("the eras of a public network", () => {
  it("are those that a node of mainnet states", () => {
    const mainnet = mainnetEras();
    // a slot whose safe zone ends in the last epoch of that history
    const slot = 208 * 21_600 + (699 - 208) * 432_000 - 129_600;
    expect(erasAt(publicNetworkGenesis(764_824_073)!, slot)).toEqual(mainnet);
  });

  it.each([
    [1, 68_774_400, 163],
    [2, 55_814_400, 646],
  ])("with magic %d has Conway from slot %d", (magic, slot, epoch) => {
    const genesis = publicNetworkGenesis(magic)!;
    expect(erasAt(genesis, slot)).toMatchObject({ current: "Conway" });
    expect(erasAt(genesis, slot).history[6]!.start).toMatchObject({ slot, epoch });
    expect(erasAt(genesis, slot - 1)).toMatchObject({ current: "Babbage" });
  });
});
