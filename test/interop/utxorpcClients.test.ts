/**
 * Clients of UTxO RPC on the devnet, by gRPC over plain HTTP/2: Go's by connect-go, Rust's by tonic. Both are given
 * requests in protobuf's JSON, and their own types read the answers.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { spend } from "../support/devnet/devnet.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { http } from "../support/service/user.ts";
import { until } from "../support/base/until.ts";
import { person } from "../support/wallets/person.ts";
import type {} from "./build.ts";
import { type LibraryWorld, type Peer, REDEEMER, startPeer, startWorld, validator } from "./library.ts";
import { unlocking } from "./unlocking.ts";

const ada = 1_000_000n;
const alice = person("alice");
const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64");
const hexOf = (text: string) => Buffer.from(text, "base64").toString("hex");
const script = validator(3);

interface Amount {
  readonly int: string;
}
interface Item {
  readonly nativeBytes: string;
  readonly txoRef: { readonly hash: string; readonly index?: number };
  readonly cardano: { readonly address: string; readonly coin: Amount };
}
interface Block {
  readonly nativeBytes: string;
}
interface Params {
  readonly values: {
    readonly cardano: {
      readonly coinsPerUtxoByte: Amount;
      readonly costModels: { readonly plutusV3: { values: unknown } };
    };
  };
  readonly ledgerTip: { readonly hash: string };
}
interface Evaluated {
  readonly redeemers: readonly { purpose: string; index?: number; exUnits: { steps: string } }[];
  readonly errors: readonly unknown[];
}
interface Following {
  readonly apply?: Block;
  readonly undo?: Block;
  readonly reset?: { readonly slot: string; readonly hash: string };
}

const CLIENTS = [
  { name: "go-codegen with connect-go", program: inject("utxorpcGo"), prefix: "" },
  { name: "the crate utxorpc with tonic", program: inject("rustClients"), prefix: "utxorpc." },
];

describe.each(CLIENTS)("$name", ({ program, prefix }) => {
  describe.skipIf(program === "")("on the devnet", () => {
    let world: LibraryWorld;
    let peer: Peer;
    const call = <T>(name: string, request: object = {}, take = 1) =>
      peer.call<T>(`${prefix}${name}`, { request, take });

    beforeAll(async () => {
      world = await startWorld();
      const settings = { url: world.utxorpc, utxorpc: world.utxorpc, ogmiosPort: Number(new URL(world.ogmios).port) };
      peer = startPeer({ program, args: [], cwd: "." }, settings);
      await world.fund(addressText(valueOf(readAddressHex(alice.enterprise))), 100);
    });
    afterAll(async () => {
      await peer?.stop();
      await world?.stop();
    });

    const mine = async () =>
      (await call<{ items: Item[] }>("SearchUtxos", {
        predicate: { match: { cardano: { address: { exactAddress: base64(alice.enterprise) } } } },
      })).items;

    test("reads parameters, genesis and eras", async () => {
      const { values, ledgerTip } = await call<Params>("ReadParams");
      expect(values.cardano.coinsPerUtxoByte).toEqual({ int: "4310" });
      expect(values.cardano.costModels.plutusV3.values).toHaveLength(350);
      expect(hexOf(ledgerTip.hash)).toMatch(/^[0-9a-f]{64}$/);
      expect(await call("ReadGenesis")).toMatchObject({ caip2: "cardano:42" });
      const eras = await call<{ cardano: { summaries: readonly unknown[] } }>("ReadEraSummary");
      expect(eras.cardano.summaries.at(-1)).toMatchObject({ name: expect.stringMatching(/conway/i) });
    });

    test("finds outputs by address and by reference", async () => {
      const [own] = await world.outputs(addressText(valueOf(readAddressHex(alice.enterprise))));
      const [found] = await mine();
      expect(hexOf(found!.txoRef.hash)).toBe(own!.ref.txHash);
      expect(found!.cardano).toMatchObject({ address: base64(alice.enterprise), coin: { int: "100000000" } });
      const { items } = await call<{ items: Item[] }>("ReadUtxos", { keys: [found!.txoRef] });
      expect(items).toEqual([found]);
      const unknown = { hash: base64("00".repeat(32)), index: 0 };
      expect((await call<{ items?: Item[] }>("ReadUtxos", { keys: [unknown] })).items ?? []).toEqual([]);
    });

    test("submits a payment, and follows it until it is in a block", async () => {
      const inputs = await world.outputs(addressText(valueOf(readAddressHex(alice.enterprise))));
      const made = spend({ from: alice, inputs, outputs: [[alice.enterprise, 98n * ada]] });
      const { ref } = await call<{ ref: string }>("SubmitTx", { tx: { raw: base64(toHex(made.cbor)) } });
      expect(hexOf(ref)).toBe(made.hash);
      await world.landed(made.hash);
      expect(await call("WaitForTx", { ref: [ref] })).toEqual([{ ref, stage: "STAGE_CONFIRMED" }]);
      const { tx } = await call<{ tx: Block & { cardano: unknown } }>("ReadTx", { hash: ref });
      expect(hexOf(tx.nativeBytes)).toBe(toHex(made.cbor));
      expect(tx.cardano).toMatchObject({ hash: ref, fee: { int: "2000000" } });
      // its coins are spent
      await expect(call("SubmitTx", { tx: { raw: base64(toHex(made.cbor)) } })).rejects.toThrow(/could not process tx/);
    });

    test("evaluates a script, and names why it fails", async () => {
      await world.fund(script.address, 10);
      const [locked] = await world.outputs(script.address);
      const coins = await world.outputs(addressText(valueOf(readAddressHex(alice.enterprise))));
      const evaluated = async (redeemer: bigint) => {
        const { index, hex } = unlocking({ by: alice, script, locked: locked!, coins, redeemer });
        const { report } = await call<{ report: { cardano: Evaluated } }>("EvalTx", { tx: { raw: base64(hex) } });
        return { index, report: report.cardano };
      };
      const { index, report } = await evaluated(BigInt(REDEEMER));
      expect(report.redeemers).toMatchObject([{ purpose: "REDEEMER_PURPOSE_SPEND" }]);
      expect(report.redeemers[0]!.index ?? 0).toBe(index);
      expect(Number(report.redeemers[0]!.exUnits.steps)).toBeGreaterThan(0);
      expect((await evaluated(BigInt(REDEEMER) + 1n)).report.errors).toHaveLength(1);
    });

    test("follows the chain, and a rollback", async () => {
      const history = await call<{ block: Block[] }>("DumpHistory", { maxItems: 3 });
      const first = history.block.map(({ nativeBytes }) => scanBlock(fromHex(hexOf(nativeBytes))));
      expect(first.map(({ height }) => height)).toEqual([0, 1, 2]);
      const { slot, hash } = first[0]!;
      const intersect = [{ slot: String(slot), hash: base64(hash) }];
      const steps = await call<Following[]>("FollowTip", { intersect }, 3);
      expect(steps[0]!.reset).toMatchObject({ hash: base64(hash) });
      const followed = steps.slice(1).map(({ apply }) => scanBlock(fromHex(hexOf(apply!.nativeBytes))).hash);
      expect(followed).toEqual(first.slice(1).map((block) => block.hash));
      const { block } = await call<{ block: Block[] }>("FetchBlock", { ref: intersect });
      expect(scanBlock(fromHex(hexOf(block[0]!.nativeBytes))).hash).toBe(hash);
      const tip = await until("a dozen blocks", async () => {
        const { tip } = await call<{ tip: { height: string } }>("ReadTip");
        return Number(tip.height) > 12 ? tip : undefined;
      });
      const below = await call<{ block: Block[] }>("FetchBlock", { ref: [{ height: String(Number(tip.height) - 5) }] });
      const from = scanBlock(fromHex(hexOf(below.block[0]!.nativeBytes)));
      const events = call<Following[]>("FollowTip", {
        intersect: [{ slot: String(from.slot), hash: base64(from.hash) }],
      }, 30);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const back = await http(world.devnet, "POST", "/rollback", { blocks: 2 });
      expect(back.status).toBe(200);
      expect((await events).filter(({ undo }) => undo !== undefined)).toHaveLength(2);
    });

    test("reads an empty mempool, and refuses nonsense", async () => {
      expect((await call<{ items?: unknown[] }>("ReadMempool")).items ?? []).toEqual([]);
      await expect(call("SubmitTx", { tx: { raw: base64("80") } })).rejects.toThrow(/could not process tx/);
      await expect(call("FetchBlock", { ref: [{ hash: base64("00".repeat(32)) }] })).rejects.toThrow(/not.?found/i);
    });
  });
});
