/** Submission through a Blockfrost service, and its answers. */
import { afterEach, describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { type BlockfrostPort, blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import { decodeRefusal } from "#src/chain/provider/blockfrost/refusal.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { serveBlockfrost, type Served, type ServedSettings } from "../../../../support/blockfrost/blockfrostServer.ts";
import { MemoryChain, memoryPort } from "../../../../support/chain/memoryChain.ts";
import { spend } from "../../../../support/devnet/devnet.ts";
import { until } from "../../../../support/base/until.ts";
import { coin, person } from "../../../../support/wallets/person.ts";

const anna = person("anna");
const HASH = "5176274bef11d575edd6aa72392aaf993a07f736e70239c1fb22d4b1426b22bc";
const refusal: LedgerFailure = { name: "InputSetEmptyUTxO" };

let served: Served | undefined;
let port: BlockfrostPort | undefined;

afterEach(async () => {
  port?.close();
  expect(served?.problems ?? []).toEqual([]);
  await served?.close();
  [served, port] = [undefined, undefined];
});

const payment = () =>
  spend({ from: anna, inputs: [coin(anna.enterprise, 5_000_000n)], outputs: [[anna.enterprise, 4_800_000n]] });

/** A node with a mempool: accepts what it does not have yet and its rule allows. */
function nodeOf(chain: MemoryChain, takes: () => boolean): RawChainPort & { readonly held: Map<string, Uint8Array> } {
  const held = new Map<string, Uint8Array>();
  return {
    ...memoryPort(chain, { random: () => 0.5 }),
    held,
    submit: (transaction) => {
      const { hash } = scanTransaction(transaction);
      const known = held.has(hash) ||
        chain.blocks.some(({ scanned }) => scanned.transactions.some((one) => one.hash === hash));
      if (known || !takes()) return Promise.resolve(ok({ outcome: "refused", failures: [refusal] }));
      held.set(hash, transaction);
      return Promise.resolve(ok({ outcome: "accepted" }));
    },
    inMempool: (hash) => Promise.resolve(ok(held.has(hash))),
  };
}

async function serve(chain: MemoryChain, settings: ServedSettings = {}, takes = () => true) {
  const node = nodeOf(chain, takes);
  served = await serveBlockfrost(node, settings);
  port = blockfrostPort({
    url: served.url,
    magic: 42,
    log: silentLog,
    rate: { perSecond: 5_000, burst: 5_000 },
    firstWaitMs: 1,
  });
  await until("the service", async () => served!.reached(chain.tip.hash));
  return { node, port };
}

describe("a submission", () => {
  it("arrives unchanged, is in the mempool, and is accepted again", async () => {
    const chain = new MemoryChain();
    const { port, node } = await serve(chain);
    const { cbor, hash } = payment();
    expect(await port.inMempool(hash)).toEqual(ok(false));
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "accepted" }));
    expect(node.held.get(hash)).toEqual(cbor);
    expect(await port.inMempool(hash)).toEqual(ok(true));
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "accepted" }));
    chain.add(cbor);
    node.held.clear();
    await until("the block", async () => served!.reached(chain.tip.hash));
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "accepted" }));
  });

  it("is refused with the service's reason", async () => {
    const words =
      `{"tag":"TxSubmitFail","contents":{"error":["ConwayUtxowFailure (UtxoFailure (BadInputsUTxO (fromList [TxIn (TxId {unTxId = SafeHash \\"${HASH}\\"}) (TxIx {unTxIx = 1})])))"]}}`;
    const { port } = await serve(new MemoryChain(), { refusal: () => words }, () => false);
    expect(await port.submit(payment().cbor)).toEqual(
      ok({ outcome: "refused", failures: [{ name: "BadInputsUTxO", inputs: [{ txHash: HASH, index: 1 }] }] }),
    );
  });

  it("is not sent if it is not a transaction", async () => {
    const { port } = await serve(new MemoryChain());
    const said = await port.submit(Uint8Array.of(0x83, 1, 2));
    expect(said).toMatchObject({ ok: true, value: { outcome: "refused", failures: [{ name: "DeserialiseFailure" }] } });
    expect(served!.requests).toEqual([]);
  });

  it("is retried while the service is full, and unanswered if it stays so", async () => {
    const { port } = await serve(new MemoryChain());
    const full = { status: 425, body: `{"status_code":425,"error":"Mempool Full","message":"Mempool is full."}` };
    served!.fault = (path, times) => path.includes("submit") && times < 4 ? full : undefined;
    expect(await port.submit(payment().cbor)).toEqual(ok({ outcome: "accepted" }));
    served!.fault = () => full;
    expect(await port.submit(payment().cbor)).toMatchObject({ ok: false, error: { code: "network_unreachable" } });
  });

  it("is not reported as refused if it cannot be known whether it was accepted before", async () => {
    const { port } = await serve(new MemoryChain(), {}, () => false);
    served!.fault = (path) => path.includes("/mempool/") ? { status: 500, body: "{}" } : undefined;
    expect(await port.submit(payment().cbor)).toMatchObject({ ok: false, error: { code: "network_unreachable" } });
  });

  it("is remembered for a service without mempool requests", async () => {
    const chain = new MemoryChain();
    const { port, node } = await serve(chain);
    served!.lacks = ["/mempool/{hash}"];
    const { cbor, hash } = payment();
    expect(await port.inMempool(hash)).toEqual(ok(false));
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "accepted" }));
    expect(await port.inMempool(hash)).toEqual(ok(true));
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "accepted" }));
    chain.add(cbor);
    node.held.clear();
    await until("the block", async () => served!.reached(chain.tip.hash));
    expect(await port.inMempool(hash)).toEqual(ok(false));
  });
});

/** The text as services wrap it: in a string, in a document, in a document within a string. */
const wrappings: readonly [string, (failures: string) => string][] = [
  [
    "plain",
    (failures) =>
      `transaction submit error ShelleyTxValidationError ShelleyBasedEraConway (ApplyTxError (${failures} :| []))`,
  ],
  [
    "quoted",
    (failures) => JSON.stringify({ message: JSON.stringify({ contents: { error: [failures] }, tag: "TxSubmitFail" }) }),
  ],
  ["quoted twice", (failures) => JSON.stringify(JSON.stringify(JSON.stringify({ error: [failures] })))],
];

const KEY = "868e39685a4c0a57aeb579ce30edec4daaf49cf62a5cd055f9b8a06b";
const readable: readonly [string, readonly LedgerFailure[]][] = [
  [
    `ConwayUtxowFailure (UtxoFailure (BadInputsUTxO (fromList [TxIn (TxId {unTxId = SafeHash "${HASH}"}) (TxIx {unTxIx = 50}),TxIn (TxId {unTxId = SafeHash "${HASH}"}) (TxIx {unTxIx = 0})])))`,
    [{ name: "BadInputsUTxO", inputs: [{ txHash: HASH, index: 50 }, { txHash: HASH, index: 0 }] }],
  ],
  [
    `UtxowFailure (UtxoFailure (FromAlonzoUtxoFail (BadInputsUTxO (fromList [TxIn (TxId {_unTxId = SafeHash "${HASH}"}) (TxIx 1)]))))`,
    [{ name: "BadInputsUTxO", inputs: [{ txHash: HASH, index: 1 }] }],
  ],
  [
    "ConwayUtxowFailure (UtxoFailure (ValueNotConservedUTxO (Mismatch {mismatchSupplied = MaryValue (Coin 0) (MultiAsset (fromList [])), mismatchExpected = MaryValue (Coin 7492046341) (MultiAsset (fromList []))})))",
    [{
      name: "ValueNotConservedUTxO",
      consumed: { lovelace: 0n, assets: new Map() },
      produced: { lovelace: 7_492_046_341n, assets: new Map() },
    }],
  ],
  [
    "ConwayUtxowFailure (UtxoFailure (ValueNotConservedUTxO (MaryValue (Coin 9498687280) (MultiAsset (fromList []))) (MaryValue (Coin 9994617117) (MultiAsset (fromList [])))))",
    [{
      name: "ValueNotConservedUTxO",
      consumed: { lovelace: 9_498_687_280n, assets: new Map() },
      produced: { lovelace: 9_994_617_117n, assets: new Map() },
    }],
  ],
  [
    "ConwayUtxowFailure (UtxoFailure (FeeTooSmallUTxO (Coin 166909) (Coin 173)))",
    [{ name: "FeeTooSmallUTxO", supplied: 173n, expected: 166_909n }],
  ],
  [
    "ConwayUtxowFailure (UtxoFailure (FeeTooSmallUTxO (Mismatch {mismatchSupplied = Coin 173, mismatchExpected = Coin 166909})))",
    [{ name: "FeeTooSmallUTxO", supplied: 173n, expected: 166_909n }],
  ],
  [
    "ConwayUtxowFailure (UtxoFailure (OutsideValidityIntervalUTxO (ValidityInterval {invalidBefore = SNothing, invalidHereafter = SJust (SlotNo 5)}) (SlotNo 99)))",
    [{ name: "OutsideValidityIntervalUTxO", to: 5, slot: 99 }],
  ],
  [
    `ConwayUtxowFailure (MissingVKeyWitnessesUTXOW (NonEmptySet (fromList [KeyHash {unKeyHash = "${KEY}"}])))`,
    [{ name: "MissingVKeyWitnessesUTXOW", keys: [KEY] }],
  ],
  [
    `ConwayMempoolFailure "All inputs are spent. Transaction has probably already been included"`,
    [{ name: "ConwayMempoolFailure", message: "All inputs are spent. Transaction has probably already been included" }],
  ],
  [
    'ConwayMempoolFailure "Unelected: KeyHash {unKeyHash = \\"ab\\"} votes"',
    [{ name: "ConwayMempoolFailure", message: 'Unelected: KeyHash {unKeyHash = "ab"} votes' }],
  ],
];

describe("the text of a refusal", () => {
  it.each(
    wrappings.flatMap(([wrapping, wrap]) =>
      readable.map(([words, failures]) => [failures[0]!.name, wrapping, wrap(words), failures] as const)
    ),
  )(
    "are read as %s (%s)",
    (_name, _wrapping, words, failures) => {
      expect(decodeRefusal(words)).toEqual(failures);
    },
  );

  it("is kept, shortened, if nothing in it is recognised", () => {
    expect(decodeRefusal("the service is in a mood")).toEqual([{
      name: "ConwayMempoolFailure",
      message: "the service is in a mood",
    }]);
    const [long] = decodeRefusal("x".repeat(100_000));
    expect((long as { message: string }).message).toHaveLength(2_000);
  });

  it("with assets is kept as text: a value is decoded completely or not at all", () => {
    const words =
      `ValueNotConservedUTxO (MaryValue (Coin 1) (MultiAsset (fromList [(PolicyID {policyID = ScriptHash "${KEY}"},fromList [("00",1)])]))) (MaryValue (Coin 1) (MultiAsset (fromList [])))`;
    expect(decodeRefusal(words)[0]!.name).toBe("ConwayMempoolFailure");
  });
});
