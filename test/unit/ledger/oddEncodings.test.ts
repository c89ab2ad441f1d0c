/**
 * One transaction in every encoding that the ledger's decoder accepts: the rules give the same verdict for each, since
 * its scripts see the same.
 */
import { describe, expect, it } from "vitest";
import { concat, fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded } from "#src/cardano/cbor.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import { scriptDataHash } from "#src/cardano/integrity.ts";
import { sign } from "#src/cardano/keys/signingKey.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { readTransaction, type Transaction } from "#src/cardano/conway/transaction.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { ada, alice, atScript, bob, datumHash, output, reference, World } from "../../support/ledger/draft.ts";
import { oddEncodings } from "../../support/ledger/oddEncodings.ts";
import { agrees, plutusHash, refuses } from "../../support/plutus/scripts.ts";
import { cases } from "../../support/base/longTests.ts";

const data = encodeData(constr(1, 5n, new Uint8Array(40), [constr(0), 7n]));
const asset = (name: string) => ["ab".repeat(28) + name, 3n] as const;

/** A transaction with outputs of every form, inline datums, a datum of the witness set, a datum hash, tokens and metadata. */
function base(
  script: Uint8Array,
  valid: boolean,
  units: readonly [number | bigint, number | bigint] = [1_000, 1_000_000],
) {
  const world = new World();
  const datum = new Encoded(data);
  const inputs = [
    world.fund(atScript(plutusHash(3, script)), 10n * ada, { datum }),
    world.fund(alice.address, 20n * ada, { assets: new Map([asset(""), asset("aabb")]), datum }),
  ];
  const hash = datumHash(new Encoded(data));
  const made = [
    output(bob.address, 3n * ada, { datum }),
    output(bob.address, 3n * ada, { datumHash: hash }),
    new Map<Encodable, Encodable>([[0, fromHex(bob.address)], [1, 2n * ada]]),
    [fromHex(bob.address), [2n * ada, new Map([[fromHex("ab".repeat(28)), new Map([[new Uint8Array(), 1n]])]])]],
  ];
  const redeemers = new Map<Encodable, Encodable>([[[0, 0], [datum, units]]]);
  const collateral = world.fund(alice.address, 10n * ada);
  const change = output(alice.address, 18n * ada, { assets: new Map([["ab".repeat(28), 2n], asset("aabb")]) });
  const transaction = world.write({
    inputs,
    outputs: [...made, change],
    change: false,
    paid: 28n * ada,
    fee: 2n * ada,
    auxiliary: new Map([[1, ["text", new Uint8Array(8), new Map([[1, -2]])]]]),
    valid,
    plutus: { 3: [script] },
    datums: [datum],
    witnesses: { 5: redeemers },
    fields: {
      11: fromHex(
        scriptDataHash({
          redeemers: encode(redeemers),
          datums: encode([datum]),
          languages: [2],
          parameters,
        })!,
      ),
      13: [reference(collateral)],
    },
  });
  return { world, transaction };
}

/** The transaction with its hashes and its signature recomputed, in any encoding. */
function settled(transaction: Uint8Array, original: Transaction): Transaction | undefined {
  const read = readTransaction(transaction);
  if (!read.ok) return undefined;
  const { witnesses: { rawRedeemers, rawDatums, datums }, auxiliary } = read.value;
  const integrity = scriptDataHash({ redeemers: rawRedeemers, datums: rawDatums, languages: [2], parameters })!;
  const hashed = [
    [fromHex(original.body.scriptDataHash!), fromHex(integrity)],
    [fromHex(original.body.auxiliaryHash!), fromHex(auxiliary!.hash)],
    [fromHex([...original.witnesses.datums.keys()][0]!), fromHex([...datums.keys()][0]!)],
  ].reduce((bytes, [from, to]) => replaced(bytes, from!, to!), transaction);
  const again = readTransaction(hashed);
  if (!again.ok) return undefined;
  const signed = replaced(hashed, original.witnesses.keys[0]!.signature, sign(alice.payment, again.value.id));
  const done = readTransaction(signed);
  return done.ok ? done.value : undefined;
}

function replaced(bytes: Uint8Array, from: Uint8Array, to: Uint8Array): Uint8Array {
  for (let at = 0; at + from.length <= bytes.length; at++) {
    if (from.every((byte, i) => bytes[at + i] === byte)) {
      return concat(bytes.subarray(0, at), to, bytes.subarray(at + from.length));
    }
  }
  throw new Error("there is nothing to replace");
}

/** The rules' verdict on each form; in the test command on one of three, others for each script. */
async function verdicts(script: Uint8Array, valid: boolean, turn: number) {
  const { world, transaction } = base(script, valid);
  const original = readTransaction(transaction);
  if (!original.ok) throw new Error(original.error.message);
  const first = await world.judge(transaction);
  const found: { name: string; accepted: boolean; failures: readonly LedgerFailure[] }[] = [];
  for (const [i, { name, bytes }] of [...oddEncodings(transaction)].entries()) {
    if (i % cases(3, 1) !== turn % cases(3, 1)) continue;
    const odd = settled(bytes, original.value);
    if (!odd) continue;
    const judged = await world.judge(odd.bytes);
    found.push({ name, accepted: "hash" in judged, failures: "hash" in judged ? [] : judged });
  }
  return { first, found };
}

describe.each(
  [
    ["agrees", agrees, true, true, 0],
    ["agrees, though the transaction says that it fails", agrees, false, false, 1],
    ["refuses, as the transaction says", refuses, false, true, 2],
  ] as const,
)("a transaction whose script %s", (_, script, valid, good, turn) => {
  it("has one verdict in every encoding", async () => {
    const { first, found } = await verdicts(script, valid, turn);
    expect("hash" in first).toBe(good);
    expect(found.length).toBeGreaterThan(cases(100, 300));
    for (const { name, accepted, failures } of found) {
      expect([name, accepted, failures]).toEqual([name, good, good ? [] : first]);
    }
  });
});

describe("units of a redeemer", () => {
  const most = (1n << 63n) - 1n;
  it.each(
    [
      [[most, 0], ["FeeTooSmallUTxO", "ExUnitsTooBigUTxO"]],
      [[0, most], ["FeeTooSmallUTxO", "ExUnitsTooBigUTxO"]],
      [[most + 1n, 0], ["DeserialiseFailure"]],
      [[0, most + 1n], ["DeserialiseFailure"]],
      [[1n << 64n, 0], ["DeserialiseFailure"]],
    ] as const,
  )("have 63 bits (%s)", async (units, failures) => {
    const { world, transaction } = base(agrees, true, units);
    expect(await world.failures(transaction)).toEqual(failures);
  });
});
