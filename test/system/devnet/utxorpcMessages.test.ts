/** Messages of UTxO RPC 0.18 and v1beta, over every transport, judged by the rows and by a library that the product does not use. */
import { ConnectError, createPromiseClient } from "@connectrpc/connect";
import type { PartialMessage } from "@bufbuild/protobuf";
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import type { cardano, query, sync } from "@utxorpc/spec/lib/index.mjs";
import { describe, expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { transactionCbor } from "#src/devnet/blocks/mempool.ts";
import { utxoOf } from "#src/devnet/blocks/rows.ts";
import { beta } from "#src/devnet/serve/utxorpc/messages/versions.ts";
import { servedWorld, TRANSPORTS, utxorpcClients } from "../../support/utxorpc/utxorpcChain.ts";

const world = servedWorld(36);

const hex = (bytes: Uint8Array | undefined) => toHex(bytes ?? new Uint8Array());
const keyOf = ({ txoRef }: query.AnyUtxoData) => `${hex(txoRef?.hash)}#${txoRef?.index}`;
/** A quantity. */
const int = (value: cardano.BigInt | undefined) => {
  if (value?.bigInt.case !== "int") throw new Error("a quantity is no small integer");
  return value.bigInt.value;
};
const unitsOf = (assets: readonly cardano.Multiasset[]) =>
  new Map(
    assets.flatMap(({ policyId, assets }) =>
      assets.map(({ name, quantity }) => [hex(policyId) + hex(name), int(quantity.value)] as const)
    ),
  );

/** All unspent outputs, from the rows. */
async function unspent(): Promise<Utxo[]> {
  const rows = await world.served.chain.store.sql<{ tx_hash: string; index: number; cbor: Uint8Array }[]>`
    select tx_hash, index, cbor from devnet_utxo where spent_height is null`;
  return rows.map(utxoOf);
}

/** A search; its predicate is written as plain members. */
async function search(predicate?: PartialMessage<query.UtxoPredicate>, maxItems = 0, startToken = "") {
  return await world.grpc.query.searchUtxos({ ...(predicate ? { predicate } : {}), maxItems, startToken });
}
const at = (address: string): PartialMessage<query.UtxoPredicate> => ({
  match: { utxoPattern: { case: "cardano", value: { address: { exactAddress: new Uint8Array(fromHex(address)) } } } },
});

describe.each(Object.keys(TRANSPORTS))("%s", (name) => {
  test("answers, streams and refuses", async () => {
    const clients = utxorpcClients(TRANSPORTS[name]!(world.served.messages));
    const { values, ledgerTip } = await clients.query.readParams({});
    const { slot, hash, height } = world.served.chain.devnet.tip();
    expect(ledgerTip).toMatchObject({
      slot: BigInt(slot),
      height: BigInt(height),
      timestamp: 1_800_000_000_000n + BigInt(slot) * 1_000n,
    });
    expect(hex(ledgerTip?.hash)).toBe(hash);
    expect(values?.params.value?.maxTxSize).toBe(16_384n);
    expect(int(values?.params.value?.poolDeposit)).toBe(500_000_000n);
    const included = scanBlock((await world.served.chain.blocks()).at(-1)!).transactions[0]?.hash ??
      (await transactions())[0]!.hash;
    const stages: number[] = [];
    for await (const { stage } of clients.submit.waitForTx({ ref: [fromHex(included)] })) stages.push(stage);
    expect(stages).toEqual([4]);
    const refusal = await clients.sync.fetchBlock({ ref: [{ hash: new Uint8Array(32) }] }).catch(ConnectError.from);
    expect(refusal).toMatchObject({ code: 5, rawMessage: expect.stringContaining("The chain has no block") });
    let first: string | undefined;
    for await (const { action } of clients.sync.followTip({})) {
      first = action.case;
      break;
    }
    expect(first).toBe("reset");
  });
});

/** All transactions of the chain: CBOR by hash. */
async function transactions() {
  return (await world.served.chain.blocks()).flatMap((bytes) => scanBlock(bytes).transactions);
}

test("v1beta is beside it", async () => {
  const client = createPromiseClient(beta().query, TRANSPORTS.gRPC!(world.served.messages)) as unknown as {
    searchUtxos(request: object): Promise<{ items: { nativeBytes: Uint8Array; parsedState: { value: BetaOutput } }[] }>;
  };
  const { items } = await client.searchUtxos({});
  expect(items.length).toBe((await unspent()).length);
  for (const { nativeBytes, parsedState: { value: { originalCbor } } } of items) {
    expect(hex(originalCbor)).toBe(hex(nativeBytes));
  }
  const quantities = items.flatMap(({ parsedState: { value: { assets } } }) =>
    assets.flatMap(({ policyId, assets }) =>
      assets.map(({ name, quantity }) => [hex(policyId) + hex(name), int(quantity)])
    )
  );
  const held = (await unspent()).flatMap(({ output }) => [...output.value.assets]);
  expect(quantities.map(String).sort()).toEqual(held.map(String).sort());
});

/** What of an output differs in v1beta. */
interface BetaOutput {
  readonly originalCbor: Uint8Array;
  readonly assets: { policyId: Uint8Array; assets: { name: Uint8Array; quantity: cardano.BigInt }[] }[];
}

test("every output has its bytes and what is in them", async () => {
  const all = await unspent();
  const { items, nextToken } = await search();
  expect(nextToken).toBe("");
  const byKey = new Map(all.map((one) => [refKey(one.ref), one.output]));
  expect(items.map(keyOf).sort()).toEqual([...byKey.keys()].sort());
  const seen = new Set<string>();
  for (const item of items) {
    const output = byKey.get(keyOf(item))!;
    expect(hex(item.nativeBytes)).toBe(toHex(output.raw));
    const parsed = item.parsedState.value!;
    expect(hex(parsed.address)).toBe(output.address);
    expect(int(parsed.coin)).toBe(output.value.lovelace);
    expect(unitsOf(parsed.assets)).toEqual(new Map(output.value.assets));
    expect(hex(parsed.datum?.originalCbor)).toBe(hex(output.datum));
    if (output.datumHash !== undefined) expect(hex(parsed.datum?.hash)).toBe(output.datumHash);
    if (output.datum) {
      expect(hex(parsed.datum?.hash)).toBe(csl.hash_plutus_data(csl.PlutusData.from_bytes(output.datum)).to_hex());
    }
    if (output.script) {
      const script = csl.TransactionOutput.from_bytes(output.raw).script_ref()!;
      const kind = script.is_native_script() ? "native" : "plutus";
      seen.add(`${kind} script`);
      expect(parsed.script?.script.case?.slice(0, 6)).toBe(kind);
      if (parsed.script?.script.value instanceof Uint8Array) {
        expect(hex(parsed.script.script.value)).toBe(toHex(script.plutus_script()!.bytes()));
      }
    }
    if (output.datum) seen.add("datum");
    if (output.datumHash) seen.add("datum hash");
    if (item.blockRef) seen.add("block");
  }
  for (const what of ["block", "datum", "datum hash", "plutus script"]) expect(seen).toContain(what);
});

test("predicates are combined, and pages follow each other", async () => {
  const all = await unspent();
  const [first, second] = [...new Set(all.map(({ output }) => output.address))];
  const keys = (matches: (one: Utxo) => boolean) => all.filter(matches).map(({ ref }) => refKey(ref)).sort();
  const found = async (predicate: PartialMessage<query.UtxoPredicate>) =>
    (await search(predicate)).items.map(keyOf).sort();
  expect(await found({ not: [at(first!)] })).toEqual(keys(({ output }) => output.address !== first));
  expect(await found({ anyOf: [at(first!), at(second!)] }))
    .toEqual(keys(({ output }) => output.address === first || output.address === second));
  expect(await found({ allOf: [at(first!), at(second!)] })).toEqual([]);
  expect(await found({ ...at(first!), not: [{ anyOf: [at(second!)] }] }))
    .toEqual(keys(({ output }) => output.address === first));
  const paged: string[] = [];
  for (let token = "", more = true; more;) {
    const page = await search(undefined, 7, token);
    expect(page.items.length).toBeLessThanOrEqual(7);
    paged.push(...page.items.map(keyOf));
    token = page.nextToken;
    more = token !== "";
  }
  expect(paged.length).toBe(new Set(paged).size);
  expect(paged.sort()).toEqual(keys(() => true));
});

test("every transaction is what another library reads in its bytes", async () => {
  const blocks: sync.AnyChainBlock[] = [];
  for (let next: sync.BlockRef | undefined | "first" = "first"; next;) {
    const page: sync.DumpHistoryResponse = await world.grpc.sync.dumpHistory({
      maxItems: 30,
      ...(next === "first" ? {} : { startToken: next }),
    });
    blocks.push(...page.block);
    next = page.nextToken;
  }
  const all = await world.served.chain.blocks();
  expect(blocks.length).toBe(all.length);
  const kinds = new Set<string>();
  const indexed = new Map<string, Utxo["output"]>();
  for (const [index, bytes] of all.entries()) {
    const scanned = scanBlock(bytes);
    const message = blocks[index]!;
    expect(hex(message.nativeBytes)).toBe(toHex(bytes));
    const block = message.chain.value!;
    expect(block.header).toMatchObject({ slot: BigInt(scanned.slot), height: BigInt(scanned.height) });
    expect(hex(block.header?.hash)).toBe(scanned.hash);
    expect(block.body?.tx.length).toBe(scanned.transactions.length);
    for (const [place, transaction] of scanned.transactions.entries()) {
      const tx = block.body!.tx[place]!;
      compare(tx, csl.FixedTransaction.from_bytes(transactionCbor(transaction)), kinds);
      expect(hex(tx.hash)).toBe(transaction.hash);
      for (const { txHash, outputIndex, asOutput } of tx.inputs) {
        const known = indexed.get(`${hex(txHash)}#${outputIndex}`);
        if (known) expect([hex(asOutput?.address), int(asOutput?.coin)]).toEqual([known.address, known.value.lovelace]);
      }
      transaction.outputs.forEach((output, i) => indexed.set(`${transaction.hash}#${i}`, output));
    }
  }
  for (const kind of ["collateral", "metadata", "mint", "redeemer"]) expect(kinds).toContain(kind);
});

/** Compares a message with the transaction as CSL reads it. */
function compare(tx: cardano.Tx, fixed: csl.FixedTransaction, kinds: Set<string>): void {
  const [body, witnesses] = [fixed.body(), fixed.witness_set()];
  const amount = (value: { to_str(): string } | undefined) => BigInt(value?.to_str() ?? 0);
  const inputs = (of: csl.TransactionInputs | undefined) =>
    Array.from({ length: of?.len() ?? 0 }, (_, i) => `${of!.get(i).transaction_id().to_hex()}#${of!.get(i).index()}`)
      .sort();
  const ours = (of: readonly cardano.TxInput[] = []) =>
    of.map(({ txHash, outputIndex }) => `${hex(txHash)}#${outputIndex}`).sort();
  expect(ours(tx.inputs)).toEqual(inputs(body.inputs()));
  expect(ours(tx.referenceInputs)).toEqual(inputs(body.reference_inputs()));
  expect(ours(tx.collateral?.collateral)).toEqual(inputs(body.collateral()));
  expect(int(tx.fee)).toBe(amount(body.fee()));
  expect(tx.successful).toBe(fixed.is_valid());
  expect(tx.validity).toMatchObject({
    start: amount(body.validity_start_interval_bignum()),
    ttl: amount(body.ttl_bignum()),
  });
  const outputs = body.outputs();
  expect(tx.outputs.map(({ address, coin }) => [hex(address), int(coin)])).toEqual(
    Array.from({ length: outputs.len() }, (_, i) => [
      toHex(outputs.get(i).address().to_bytes()),
      amount(outputs.get(i).amount().coin()),
    ]),
  );
  expect(tx.certificates.length).toBe(body.certs()?.len() ?? 0);
  expect(tx.withdrawals.length).toBe(body.withdrawals()?.len() ?? 0);
  expect(tx.witnesses?.vkeywitness.length).toBe(witnesses.vkeys()?.len() ?? 0);
  expect(tx.witnesses?.plutusDatums.length).toBe(witnesses.plutus_data()?.len() ?? 0);
  const redeemers = [...tx.inputs, ...tx.mint, ...tx.withdrawals, ...tx.certificates].flatMap(({ redeemer }) =>
    redeemer ?? []
  );
  const theirs = witnesses.redeemers();
  expect(redeemers.length).toBe(theirs?.len() ?? 0);
  expect(redeemers.map(({ originalCbor }) => hex(originalCbor)).sort()).toEqual(
    Array.from({ length: theirs?.len() ?? 0 }, (_, i) => toHex(theirs!.get(i).data().to_bytes())).sort(),
  );
  const mint = body.mint();
  const minted = new Map(
    (mint ? Array.from({ length: mint.keys().len() }, (_, i) => mint.keys().get(i)) : []).flatMap((policy) => {
      const assets = mint!.get(policy)!.get(0)!;
      return Array.from({ length: assets.len() }, (_, i) => {
        const name = assets.keys().get(i);
        return [policy.to_hex() + toHex(name.name()), BigInt(assets.get(name)!.to_str())] as const;
      });
    }),
  );
  expect(unitsOf(tx.mint)).toEqual(minted);
  const metadata = fixed.auxiliary_data()?.metadata();
  const labels = Array.from({ length: metadata?.len() ?? 0 }, (_, i) => metadata!.keys().get(i)).filter((label) => {
    const json = csl.decode_metadatum_to_json_str(metadata!.get(label)!, csl.MetadataJsonSchema.DetailedSchema);
    // the message has no place for integers of more than 64 bits
    return [...json.matchAll(/"int":(-?\d+)/g)].every(([, digits]) =>
      BigInt.asIntN(64, BigInt(digits!)) === BigInt(digits!)
    );
  });
  expect(tx.auxiliary?.metadata.map(({ label }) => label) ?? []).toEqual(labels.map(amount));
  if (tx.mint.length > 0) kinds.add("mint");
  if (redeemers.length > 0) kinds.add("redeemer");
  if (metadata) kinds.add("metadata");
  if (!tx.successful) kinds.add("failed");
  if (tx.withdrawals.length > 0) kinds.add("withdrawal");
  if (tx.collateral) kinds.add("collateral");
  for (const { certificate } of tx.certificates) kinds.add(`certificate ${certificate.case}`);
}
