/** UTxO RPC of a devnet: what it answers, by its own client library in the form of 0.17, and by the messages of 0.18. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { CardanoQueryClient, CardanoSubmitClient, CardanoSyncClient } from "@utxorpc/sdk";
import { describe, expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { utxoOf } from "#src/devnet/blocks/rows.ts";
import { credentialsOf } from "#src/devnet/index/outputRows.ts";
import { servedWorld } from "../../support/utxorpc/utxorpcChain.ts";

const world = servedWorld(35);

/** Bytes in the type of the library. */
const bytes = (text: string) => new Uint8Array(fromHex(text));
const hex = (bytes: Uint8Array | undefined) => toHex(bytes ?? new Uint8Array());
/** All unspent outputs, from the rows. */
async function unspent(): Promise<Utxo[]> {
  const rows = await world.served.chain.store.sql<{ tx_hash: string; index: number; cbor: Uint8Array }[]>`
    select tx_hash, index, cbor from devnet_utxo where spent_height is null`;
  return rows.map(utxoOf);
}

/** References in an order. */
const refs = (of: readonly { readonly ref: OutRef }[]) => of.map(({ ref }) => refKey(ref)).sort();

describe("@utxorpc/sdk 0.7", () => {
  const uri = () => ({ uri: world.served.integers, headers: { "dmtr-api-key": "unknown metadata is ignored" } });
  /** The references that a search of the library gives. */
  const found = (items: readonly { readonly txoRef: { readonly hash: Uint8Array; readonly index: number } }[]) =>
    items.map(({ txoRef: { hash, index } }) => `${hex(hash)}#${index}`).sort();

  test("reads parameters, genesis and eras", async () => {
    const client = new CardanoQueryClient(uri());
    const { devnet } = world.served.chain;
    expect(await client.readParams()).toMatchObject({
      coinsPerUtxoByte: 4310n,
      minFeeCoefficient: 44n,
      minFeeConstant: 155_381n,
      maxTxSize: 16_384n,
      protocolVersion: { major: 11, minor: 0 },
      prices: { memory: { numerator: 577, denominator: 10_000 }, steps: { numerator: 721, denominator: 10_000_000 } },
      maxExecutionUnitsPerTransaction: { memory: 16_500_000n, steps: 10_000_000_000n },
      minFeeScriptRefCostPerByte: { numerator: 15, denominator: 1 },
      costModels: { plutusV3: { values: [...devnet.genesis.parameters.costModels.get(2) ?? []] } },
    });
    expect(await client.readGenesis()).toMatchObject({
      networkMagic: 42,
      maxLovelaceSupply: 45_000_000_000_000_000n,
      securityParam: 40,
      epochLength: 10,
      systemStart: "2027-01-15T08:00:00Z",
    });
    const eras = await client.readErasummary();
    expect(eras.map(({ name }) => name)).toEqual([
      "byron",
      "shelley",
      "allegra",
      "mary",
      "alonzo",
      "babbage",
      "conway",
    ]);
    expect(eras.at(-1)).toMatchObject({ start: { time: 1_800_000_000_000n, slot: 0n, epoch: 0n } });
    expect(eras.at(-1)?.protocolParams?.minFeeConstant).toBe(155_381n);
  });

  test("finds outputs by each pattern", async () => {
    const client = new CardanoQueryClient(uri());
    const all = await unspent();
    const one = all.find(({ output }) => output.value.assets.size > 0 && credentialsOf(output.address).stake);
    if (!one) throw new Error("no output with assets at an address with stake");
    const { address } = one.output;
    const { payment = "", stake = "" } = credentialsOf(address);
    const [unit = ""] = one.output.value.assets.keys();
    const [policy, name] = [bytes(unit.slice(0, 56)), bytes(unit.slice(56))];
    const has = ({ output }: Utxo) => output.value.assets.has(unit);
    const at = ({ output }: Utxo) => output.address === address;
    const paysTo = ({ output }: Utxo) => credentialsOf(output.address).payment?.slice(1) === payment.slice(1);
    const delegatesTo = ({ output }: Utxo) => credentialsOf(output.address).stake?.slice(1) === stake.slice(1);
    const hasPolicy = ({ output }: Utxo) =>
      [...output.value.assets.keys()].some((id) => id.startsWith(unit.slice(0, 56)));
    const [paymentPart, delegationPart] = [bytes(payment.slice(1)), bytes(stake.slice(1))];
    const searches = [
      [client.searchUtxosByAddress(bytes(address)), at],
      // Mesh sends the text of the bytes
      [client.searchUtxosByAddress(new TextEncoder().encode(address)), at],
      [client.searchUtxosByPaymentPart(paymentPart), paysTo],
      [client.searchUtxosByDelegationPart(delegationPart), delegatesTo],
      [client.searchUtxosByAsset(policy, name), has],
      [client.searchUtxosByAsset(policy), hasPolicy],
      // Blaze sends the whole unit as a name
      [client.searchUtxosByAsset(undefined, bytes(unit)), has],
      [client.searchUtxosByAddressWithAsset(bytes(address), policy, name), (of: Utxo) => at(of) && has(of)],
      [client.searchUtxosByPaymentPartWithAsset(paymentPart, policy, name), (of: Utxo) => paysTo(of) && has(of)],
      [
        client.searchUtxosByDelegationPartWithAsset(delegationPart, policy),
        (of: Utxo) => delegatesTo(of) && hasPolicy(of),
      ],
    ] as const;
    for (const [search, matches] of searches) {
      const expected = refs(all.filter(matches));
      expect(found(await search)).toEqual(expected);
      expect(expected).not.toEqual([]);
    }
    const [read] = await client.readUtxosByOutputRef([
      { txHash: bytes(one.ref.txHash), outputIndex: one.ref.index },
      { txHash: new Uint8Array(32), outputIndex: 0 },
    ]);
    expect(hex(read?.nativeBytes)).toBe(toHex(one.output.raw));
    expect(read?.parsedValued?.coin).toBe(one.output.value.lovelace);
    const assets = read?.parsedValued?.assets.flatMap(({ policyId, assets }) =>
      assets.map(({ name, outputCoin }) => [hex(policyId) + hex(name), outputCoin])
    );
    expect(new Map(assets as [string, bigint][])).toEqual(new Map(one.output.value.assets));
  });

  test("reads the tip, blocks and history", async () => {
    const client = new CardanoSyncClient(uri());
    const blocks = (await world.served.chain.blocks()).map(scanBlock);
    const tip = await client.readTip();
    expect(tip).toMatchObject({ slot: String(blocks.at(-1)?.slot), hash: blocks.at(-1)?.hash });
    const fetched = await client.fetchBlock(tip);
    expect(fetched.parsedBlock?.header?.height).toBe(BigInt(blocks.length - 1));
    const first = blocks[2]!;
    const history = await client.fetchHistory({ slot: String(first.slot), hash: first.hash }, 5);
    expect(history.map(({ parsedBlock }) => hex(parsedBlock?.header?.hash))).toEqual(
      blocks.slice(2, 7).map(({ hash }) => hash),
    );
    await expect(client.fetchBlock({ slot: "1", hash: "00".repeat(32) })).rejects.toThrow("not_found");
  });

  test("submits a transaction, waits for it, and sees it in the mempool", async () => {
    const client = new CardanoSubmitClient(uri());
    const cbor = await world.served.chain.draft("pay");
    const watching = client.watchMempool()[Symbol.asyncIterator]();
    const ref = await client.submitTx(cbor!);
    let seen = await watching.next();
    while (hex(seen.value?.txoRef) !== hex(ref)) seen = await watching.next();
    expect(hex(seen.value?.nativeBytes)).toBe(toHex(cbor!));
    const stages: number[] = [];
    for await (const stage of client.waitForTx(ref)) {
      stages.push(stage);
      if (stage === 2) await world.served.chain.devnet.makeBlock();
    }
    expect(stages).toEqual([2, 4]);
    // one that is in a block already is confirmed at once
    for await (const stage of client.waitForTx(ref)) stages.push(stage);
    expect(stages).toEqual([2, 4, 4]);
    await watching.return?.(undefined);
    await expect(client.submitTx(cbor!)).rejects.toThrow(
      /invalid_argument.*could not process tx: ConwayMempoolFailure/,
    );
    await expect(client.submitTx(bytes("80"))).rejects.toThrow(/invalid_argument.*could not process tx/);
  });

  test("evaluates a transaction", async () => {
    const client = new CardanoSubmitClient(uri());
    const cbor = await draftOf("unlock");
    const { report: [report] } = await client.evalTx(cbor);
    expect(report?.chain.value?.errors).toEqual([]);
    // as the witness set has them, for clients read them by position
    const redeemers = csl.Transaction.from_bytes(cbor).witness_set().redeemers()!;
    const expected = Array.from({ length: redeemers.len() }, (_, i) => Number(redeemers.get(i).index().to_str()));
    expect(report?.chain.value?.redeemers.map(({ index }) => index)).toEqual(expected);
    expect(report?.chain.value?.fee).toBe(BigInt(csl.Transaction.from_bytes(cbor).body().fee().to_str()));
  });
});

/** A transaction of a kind that is possible on the chain. */
async function draftOf(kind: Parameters<typeof world.served.chain.draft>[0]): Promise<Uint8Array> {
  for (let i = 0; i < 60; i++) {
    const cbor = await world.served.chain.draft(kind);
    if (cbor) return cbor;
    await world.served.chain.block();
  }
  throw new Error(`nothing to ${kind}`);
}
